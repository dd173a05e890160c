//! What has become of known failures: expired ones, those that no longer fail, and those that fail otherwise, with the
//! edit to make.

use super::expect::checked;
use crate::case::cell::{Cell, Located};
use crate::case::date::Date;
use crate::case::edit::{self, Unedited};
use crate::case::position::Path;
use crate::case::schema::{ExpectedFail, Fails};
use crate::report::text::counted;
use crate::scorecard::cells::{signature_of, CellBook, CellRecord};
use crate::scorecard::failure::FailureRow;
use crate::scorecard::outcome::{Outcome, Verdict};
use crate::vocabulary::Device;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// How many cells a notice names.
const MOST_CELLS: usize = 10;

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
    /// Some cells that it excuses no longer fail, but not all.
    PassesPartly {
        /// They.
        passing: Vec<String>,
        /// Those that still fail, or did not run.
        others: Vec<String>,
    },
    /// Some cells that it selects fail otherwise than it says.
    FailsOtherwise {
        /// How many.
        cells: usize,
        /// What it must name for all of them to be excused.
        fails: Fails,
    },
}

/// What is known of how cells fail.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    /// What a run yielded, on each device that it was of.
    pub runs: &'a [(Device, &'a [Outcome])],
    /// What is recorded, of other devices too.
    pub recorded: &'a CellBook,
}

/// Each entry of `expected_fail:`, by file and place, with the cells that it selects.
type Entries<'a> = BTreeMap<(&'a str, &'a Path), (&'a ExpectedFail, Vec<&'a Cell>)>;

fn entries(cells: &[Cell]) -> Entries<'_> {
    let mut entries = Entries::new();
    for cell in cells {
        for Located { path, item } in &cell.expected_fail {
            let entry = entries.entry((&cell.case.file, path));
            entry.or_insert_with(|| (item, Vec::new())).1.push(cell);
        }
    }
    entries
}

/// The entries as the scorecard lists them.
pub fn rows(cells: &[Cell]) -> Vec<FailureRow> {
    let listed = entries(cells).into_values().filter_map(|(item, selected)| {
        Some(FailureRow {
            case: selected.first()?.case.id.clone(),
            check: checked(item.check),
            cells: u32::try_from(selected.len()).unwrap_or(u32::MAX),
            because: item.because.clone(),
            issue: item.issue.clone(),
            opened: item.opened.to_string(),
            expires: item.expires.to_string(),
        })
    });
    let mut rows: Vec<FailureRow> = listed.collect();
    rows.sort();
    rows
}

/// The entries that expired before `today`.
pub fn expired(cells: &[Cell], today: Date) -> Vec<Notice> {
    let old = entries(cells)
        .into_iter()
        .filter(|(_, (item, _))| item.expires < today);
    let notices = old.filter_map(|((_, path), (item, selected))| {
        let what = What::Expired {
            on: item.expires,
            cells: selected.len(),
        };
        Some(notice(selected.first()?, path, what))
    });
    notices.collect()
}

/// The entries that outcomes show somebody must see to.
pub fn open(cells: &[Cell], seen: Seen<'_>) -> Vec<Notice> {
    let mut notices = passing(cells, seen);
    notices.extend(changed(cells, seen));
    notices
}

/// The entries that excuse cells which pass. Only cells that ran count, and where some of an entry's did not, nobody knows
/// whether they fail: then it is not said that nothing needs it. Nor is it where the cell fails on another device, of this
/// run or as recorded.
pub fn passing(cells: &[Cell], seen: Seen<'_>) -> Vec<Notice> {
    let ran = Ran::new(seen);
    let found = entries(cells)
        .into_iter()
        .filter_map(|((_, path), (item, selected))| {
            let known: Vec<(&Cell, bool)> = selected
                .iter()
                .filter_map(|cell| Some((*cell, ran.passes(item, cell)?)))
                .collect();
            let passing: Vec<&Cell> = known.iter().filter(|it| it.1).map(|it| it.0).collect();
            let first = *passing.first()?;
            let what = match passing.len() == known.len() {
                true if known.len() == selected.len() => What::Passes,
                true => return None,
                false => What::PassesPartly {
                    others: selected
                        .iter()
                        .map(|cell| cell.id.clone())
                        .filter(|id| !passing.iter().any(|cell| cell.id == *id))
                        .collect(),
                    passing: passing.iter().map(|cell| cell.id.clone()).collect(),
                },
            };
            Some(notice(first, path, what))
        });
    found.collect()
}

/// The entries that do not name what fails in some of their cells. What an entry names already stays where a cell shows it,
/// here or by what is recorded of a device that did not run, and where some of its cells did not run.
pub fn changed(cells: &[Cell], seen: Seen<'_>) -> Vec<Notice> {
    let ran = Ran::new(seen);
    let found = entries(cells)
        .into_iter()
        .filter_map(|((_, path), (item, selected))| {
            let check = checked(item.check);
            let known: Vec<(&Cell, &Outcome)> = selected
                .iter()
                .flat_map(|cell| ran.of(item, cell).into_iter().map(|outcome| (*cell, outcome)))
                .collect();
            let is_changed = |it: &&(&Cell, &Outcome)| it.1.verdict(check) == Some(Verdict::ChangedFail);
            let changed: BTreeSet<&str> = known
                .iter()
                .filter(is_changed)
                .map(|it| it.0.id.as_str())
                .collect();
            let (first, _) = known.iter().find(is_changed)?;
            let here = known
                .iter()
                .flat_map(|(_, outcome)| signature_of(check, &outcome.findings, &outcome.evidence.ending));
            let elsewhere: BTreeSet<String> = selected
                .iter()
                .flat_map(|cell| ran.elsewhere(cell))
                .flat_map(|record| record.fails(check))
                .collect();
            let all_ran = known.len() == selected.len() * seen.runs.len();
            let stays = |line: &&String| !all_ran || elsewhere.contains(*line);
            let fails: BTreeSet<String> = here.chain(item.fails.0.iter().filter(stays).cloned()).collect();
            // Where it names just that, only the scorecard says something else.
            let listed: BTreeSet<String> = item.fails.0.iter().cloned().collect();
            let what = What::FailsOtherwise {
                cells: changed.len(),
                fails: Fails(fails.iter().cloned().collect()),
            };
            (fails != listed).then(|| notice(first, path, what))
        });
    found.collect()
}

/// Outcomes by cell.
struct Ran<'a> {
    seen: Seen<'a>,
    outcomes: BTreeMap<&'a str, Vec<&'a Outcome>>,
}

impl<'a> Ran<'a> {
    fn new(seen: Seen<'a>) -> Self {
        let mut outcomes: BTreeMap<&str, Vec<&Outcome>> = BTreeMap::new();
        for outcome in seen.runs.iter().flat_map(|(_, outcomes)| *outcomes) {
            outcomes.entry(&outcome.cell).or_default().push(outcome);
        }
        Self { seen, outcomes }
    }

    /// What a cell came to where that says something about an entry: where it ran, and came out alike each time.
    fn of(&self, item: &ExpectedFail, cell: &Cell) -> Vec<&'a Outcome> {
        let check = checked(item.check);
        let judged = move |outcome: &&Outcome| {
            let verdict = outcome.verdict(check);
            !matches!(verdict, None | Some(Verdict::Skipped | Verdict::Invalid)) && !outcome.is_flaky()
        };
        let outcomes = self.outcomes.get(cell.id.as_str()).into_iter().flatten();
        outcomes.copied().filter(judged).collect()
    }

    /// What is recorded of a cell on devices that did not run.
    fn elsewhere(&self, cell: &Cell) -> Vec<&'a CellRecord> {
        let runs = self.seen.runs;
        let devices = self
            .seen
            .recorded
            .row(&cell.id)
            .into_iter()
            .flat_map(|row| &row.devices);
        let others = devices.filter(move |(device, _)| runs.iter().all(|(ran, _)| ran != *device));
        others.map(|(_, record)| record).collect()
    }

    /// Whether a cell passes wherever it is known; `None` where it did not run.
    fn passes(&self, item: &ExpectedFail, cell: &Cell) -> Option<bool> {
        let check = checked(item.check);
        let here = self.of(item, cell);
        here.first()?;
        let fails = |record: &CellRecord| {
            let verdict = record.verdict(check);
            verdict.is_some_and(|it| it == Verdict::ExpectedFail || it.is_red())
        };
        let passes = here
            .iter()
            .all(|outcome| outcome.verdict(check) == Some(Verdict::UnexpectedPass));
        Some(passes && !self.elsewhere(cell).into_iter().any(fails))
    }
}

fn notice(cell: &Cell, path: &Path, what: What) -> Notice {
    Notice {
        file: cell.case.file.clone(),
        line: cell.case.index.value(path).position.line.max(1),
        path: path.clone(),
        what,
    }
}

/// The file's text with the edit that a notice asks for.
///
/// # Errors
///
/// Only a person can make it, and why.
pub fn edited(cells: &[Cell], notice: &Notice) -> Result<String, Unedited> {
    let cell = cells.iter().find(|cell| cell.case.file == notice.file);
    let case = &cell.ok_or(Unedited::NoCase)?.case;
    match &notice.what {
        What::Passes => edit::without_entry(&case.text, &case.index, &notice.path),
        What::FailsOtherwise { fails, .. } => edit::with_fails(&case.text, &case.index, &notice.path, fails),
        What::Expired { .. } | What::PassesPartly { .. } => Err(Unedited::Judgement),
    }
}

impl Notice {
    /// What a person must write, where nobody else can, and why.
    pub fn by_hand(&self, why: Unedited) -> String {
        let Self { file, line, path, .. } = self;
        let todo = match &self.what {
            What::Expired { .. } => format!("set the `expires:` of {path}"),
            What::Passes => format!("remove {path}"),
            What::PassesPartly { others, .. } => {
                format!("narrow the `where:` of {path} to {}", some(others))
            }
            What::FailsOtherwise { fails, .. } => format!("write `fails: {fails}` into {path}"),
        };
        format!("by hand  {file}:{line}  {todo}, since {why}")
    }
}

/// The first few names.
fn some(cells: &[String]) -> String {
    let named = &cells[..cells.len().min(MOST_CELLS)];
    match cells.len() - named.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
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
            What::PassesPartly { passing, others } => write!(
                f,
                "passes   {file}:{line}  of the {} that {path} excuses these pass: {}; narrow its `where:` to the others: {}",
                counted(passing.len() + others.len(), "cell"),
                some(passing),
                some(others)
            ),
            What::FailsOtherwise { cells, fails } => write!(
                f,
                "changed  {file}:{line}  {path} does not name what fails in {}; write `fails: {fails}`, or let `assay accept` \
                 do it",
                counted(*cells, "cell")
            ),
        }
    }
}
