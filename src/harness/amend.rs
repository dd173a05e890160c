//! A case with the edits that outcomes ask for: `assay accept` writes it, and `assay generate` what it drafts.

use super::known::{self, Notice, Seen};
use crate::case::cell::Cell;
use crate::case::check;
use crate::case::edit::Unedited;
use crate::case::error::Problem;
use crate::case::load::Source;
use crate::case::names::Names;
use std::sync::Arc;

/// A case after all edits that a program can make.
#[derive(Debug)]
pub struct Amended {
    /// Its text.
    pub text: Arc<str>,
    /// What is left to a person, and why.
    pub left: Vec<(Notice, Unedited)>,
}

/// Takes entries out of `expected_fail:` that excuse nothing any more, and has the others name what fails. After every edit
/// the file is still a case.
///
/// # Errors
///
/// It was none before.
pub fn amended(source: &Source, names: &Names, seen: Seen<'_>) -> Result<Amended, Vec<Problem>> {
    let mut source = source.clone();
    let mut cells = check::case(&source, names)?;
    // An edit moves whatever stands below it, so each begins with the file as it is then. What an entry is to name does not
    // depend on whether it names it yet, so none is asked for twice, and the loop ends.
    'edits: loop {
        let notices = known::open(&cells, seen);
        let mut left = Vec::new();
        for notice in notices {
            match edit(&source, &cells, &notice, names) {
                Ok(edited) => {
                    (source, cells) = edited;
                    continue 'edits;
                }
                Err(why) => left.push((notice, why)),
            }
        }
        return Ok(Amended {
            text: source.text,
            left,
        });
    }
}

/// The file with the edit that a notice asks for, and its cells then.
fn edit(
    source: &Source,
    cells: &[Cell],
    notice: &Notice,
    names: &Names,
) -> Result<(Source, Vec<Cell>), Unedited> {
    let source = Source {
        text: known::edited(cells, notice)?.into(),
        ..source.clone()
    };
    let cells = check::case(&source, names).map_err(|_| Unedited::NoCase)?;
    Ok((source, cells))
}
