//! A case with the edits that outcomes ask for: `assay accept` writes it, and `assay generate` what it drafts.

use super::known::{self, Notice, Seen};
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
    // An edit moves whatever stands below it, so each begins with the file as it is then; none is asked for twice.
    loop {
        let mut notices = known::passing(&cells, seen.outcomes);
        notices.extend(known::changed(&cells, seen));
        let mut left = Vec::new();
        let mut edits = notices.into_iter().filter_map(|notice| {
            let edited = known::edited(&cells, &notice).and_then(|text| {
                let source = Source {
                    text: text.into(),
                    ..source.clone()
                };
                let cells = check::case(&source, names).map_err(|_| Unedited::NoCase)?;
                Ok((source, cells))
            });
            edited.map_err(|why| left.push((notice, why))).ok()
        });
        let Some(next) = edits.next() else {
            drop(edits);
            return Ok(Amended {
                text: source.text,
                left,
            });
        };
        drop(edits);
        (source, cells) = next;
    }
}
