//! What has become of known failures: expired ones, and those that no longer fail, with the edit to make.

use crate::case::cell::{Cell, Located};
use crate::case::date::Date;
use crate::case::edit;
use crate::case::position::Path;
use crate::case::schema::Check;
use crate::report::text::counted;
use crate::scorecard::failure::FailureRow;
use crate::scorecard::outcome::{Checked, Outcome, Verdict};
use std::collections::BTreeMap;
use std::fmt;

/// An entry of `expected_fail:` that somebody must see to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The case's file.
    pub file: String,
    /// The line of the entry.
    pub line: u32,
    /// The way to the entry.
    pub path: Path,
    /// What it is about.
    pub what: What,
}

/// Why somebody must see to an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// It was to be looked at again by now.
    Expired {
        /// The day.
        on: Date,
        /// How many cells it excuses.
        cells: usize,
    },
    /// No cell that it excuses fails any more.
    Passes,
    /// Some cells that it excuses no longer fail.
    PassesPartly {
        /// They.
        cells: Vec<String>,
        /// Of how many.
        of: usize,
    },
}

/// Each entry of `expected_fail:`, by file and place, with the cells that it selects.
type Entries<'a> = BTreeMap<(&'a str, Path), Vec<(&'a Cell, Check, Date)>>;

fn entries(cells: &[Cell]) -> Entries<'_> {
    let mut entries = Entries::new();
    for cell in cells {
        for fail in &cell.expected_fail {
            let selected = entries.entry((&cell.case.file, fail.path.clone())).or_default();
            selected.push((cell, fail.item.check, fail.item.expires));
        }
    }
    entries
}

/// The entries as the scorecard lists them.
pub fn rows(cells: &[Cell]) -> Vec<FailureRow> {
    let mut found: BTreeMap<(&str, Path), FailureRow> = BTreeMap::new();
    for cell in cells {
        for Located { path, item } in &cell.expected_fail {
            let row = found
                .entry((&cell.case.file, path.clone()))
                .or_insert_with(|| FailureRow {
                    case: cell.case.id.clone(),
                    check: match item.check {
                        Check::Record => Checked::Record,
                        Check::Value => Checked::Value,
                    },
                    cells: 0,
                    because: item.because.clone(),
                    issue: item.issue.clone(),
                    opened: item.opened.to_string(),
                    expires: item.expires.to_string(),
                });
            row.cells += 1;
        }
    }
    let mut rows: Vec<FailureRow> = found.into_values().collect();
    rows.sort();
    rows
}

/// The entries that expired before `today`.
pub fn expired(cells: &[Cell], today: Date) -> Vec<Notice> {
    let old = entries(cells).into_iter().filter_map(|((file, path), selected)| {
        let (cell, _, on) = *selected.first()?;
        let what = What::Expired {
            on,
            cells: selected.len(),
        };
        (on < today).then(|| notice(cell, file, path, what))
    });
    old.collect()
}

/// The entries that excuse cells which pass.
pub fn passing(cells: &[Cell], outcomes: &[Outcome]) -> Vec<Notice> {
    let outcomes: BTreeMap<&str, &Outcome> = outcomes.iter().map(|it| (it.cell.as_str(), it)).collect();
    let passes = |cell: &Cell, check| {
        outcomes.get(cell.id.as_str()).is_some_and(|outcome| match check {
            Check::Record => outcome.record == Verdict::UnexpectedPass,
            Check::Value => outcome.value == Some(Verdict::UnexpectedPass),
        })
    };
    let found = entries(cells).into_iter().filter_map(|((file, path), selected)| {
        let passing: Vec<&Cell> = selected
            .iter()
            .filter(|(cell, check, _)| passes(cell, *check))
            .map(|(cell, ..)| *cell)
            .collect();
        let first = *passing.first()?;
        let what = match passing.len() == selected.len() {
            true => What::Passes,
            false => What::PassesPartly {
                cells: passing.iter().map(|cell| cell.id.clone()).collect(),
                of: selected.len(),
            },
        };
        Some(notice(first, file, path, what))
    });
    found.collect()
}

fn notice(cell: &Cell, file: &str, path: Path, what: What) -> Notice {
    Notice {
        file: file.to_owned(),
        line: cell.case.index.value(&path).position.line.max(1),
        path,
        what,
    }
}

/// The file's text without an entry that nothing needs any more; `None` where only a person can tell what to write.
pub fn without(cells: &[Cell], notice: &Notice) -> Option<String> {
    let cell = cells.iter().find(|cell| cell.case.file == notice.file)?;
    (notice.what == What::Passes)
        .then(|| edit::without_entry(&cell.case.text, &cell.case.index, &notice.path))?
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, path, .. } = self;
        match &self.what {
            What::Expired { on, cells } => write!(
                f,
                "expired  {file}:{line}  {path} excuses {} until {on}; if they still fail, set `expires:` to when somebody \
                 must look again, else remove the entry",
                counted(*cells, "cell")
            ),
            What::Passes => write!(
                f,
                "passes   {file}:{line}  nothing that {path} excuses fails any more; remove it, or let `assay accept` do it"
            ),
            What::PassesPartly { cells, of } => write!(
                f,
                "passes   {file}:{line}  {path} excuses {} that fail no more, of {of}; narrow its `where:` to the others: {}",
                counted(cells.len(), "cell"),
                cells.join(", ")
            ),
        }
    }
}
