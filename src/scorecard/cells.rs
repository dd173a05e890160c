//! What is known of each cell: the ground that everything in the scorecard follows from.
//!
//! It holds what is the same wherever the device is of the same kind: no times, no distances, no machine names. How it
//! lies in its file, a line a case, is [`book`](super::book)'s.

use super::about::About;
use super::outcome::{Checked, Ending, Fate, Outcome, Verdict};
use crate::capability::RefusalCode;
use crate::vocabulary::{Device, State};
use std::collections::BTreeMap;

/// All cells, sorted by id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CellBook {
    /// A row for each.
    pub cells: Vec<CellRow>,
}

/// One cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CellRow {
    /// Its id.
    pub cell: String,
    /// The id of its case, with which its own begins.
    pub case: String,
    /// Ids of the capabilities that the case covers.
    pub covers: Vec<String>,
    /// What it is about.
    pub about: About,
    /// What it yielded, by device.
    pub devices: BTreeMap<Device, CellRecord>,
}

/// What a cell yielded on one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellRecord {
    /// The verdict about the record.
    pub record: Verdict,
    /// The verdict about the value.
    pub value: Option<Verdict>,
    /// The trace's state.
    pub state: Option<State>,
    /// How many ops the trace has.
    pub ops: usize,
    /// The mutant of this cell, and what became of it.
    pub mutant: Option<String>,
    /// With which code the backend refused.
    pub refused: Option<RefusalCode>,
    /// The tolerances that its values were held to; see [`Distance::tolerance`](super::about::Distance::tolerance).
    pub tolerances: Vec<String>,
    /// What fails and how, without figures: `value values expect.reference`.
    pub signature: Vec<String>,
}

/// What becomes of a mutant, as the first words after its name.
const KILLED: &str = ": killed, ";

impl CellRecord {
    /// The record of an outcome.
    pub fn of(outcome: &Outcome) -> Self {
        let mutant = outcome.evidence.mutant.as_ref().map(|mutant| match mutant.fate {
            Fate::Killed(reason) => format!("{}{KILLED}{reason}", mutant.name),
            Fate::Misnamed(reason) => format!("{}: misnamed, {reason}", mutant.name),
            Fate::Survived => format!("{}: survived", mutant.name),
        });
        let mut tolerances: Vec<String> = outcome.distances.iter().map(|it| it.tolerance()).collect();
        tolerances.sort();
        tolerances.dedup();
        Self {
            record: outcome.record,
            value: outcome.value,
            state: outcome.evidence.state,
            ops: outcome.evidence.ops.len(),
            mutant,
            refused: match outcome.evidence.ending {
                Ending::Refused { code, .. } => Some(code),
                _ => None,
            },
            tolerances,
            signature: signature(outcome),
        }
    }

    /// Whether the cell's mutant was killed; `None` where it had none.
    pub fn killed(&self) -> Option<bool> {
        self.mutant.as_ref().map(|mutant| mutant.contains(KILLED))
    }

    /// Whether either verdict is red.
    pub fn is_red(&self) -> bool {
        self.record.is_red() || self.value.is_some_and(Verdict::is_red)
    }
}

/// What fails and how, free of figures that depend on the processor; sorted, each once.
pub fn signature(outcome: &Outcome) -> Vec<String> {
    let spelled = |check| match check {
        Checked::Record => "record",
        Checked::Value => "value",
    };
    let mut lines: Vec<String> = outcome
        .findings
        .iter()
        .map(|finding| {
            format!(
                "{} {} {}",
                spelled(finding.check),
                finding.kind.name(),
                finding.at
            )
        })
        .collect();
    if !lines.is_empty() {
        lines.extend(abnormal(&outcome.evidence.ending));
    }
    lines.sort();
    lines.dedup();
    lines
}

/// How a process ended that should not have, and in which op; what operands the op had is left out.
fn abnormal(ending: &Ending) -> Option<String> {
    match ending {
        Ending::Crashed { .. } | Ending::TimedOut { .. } | Ending::OutOfMemory { .. } => {
            let text = ending.to_string();
            let end = text.find(", parents").unwrap_or(text.len());
            Some(text[..end].to_owned())
        }
        Ending::Panicked { .. } => Some("panic".to_owned()),
        Ending::Pending { .. } => Some("pending".to_owned()),
        _ => None,
    }
}

/// The outcome, with an expected failure that fails otherwise than recorded turned into a changed one.
pub fn against_recorded(mut outcome: Outcome, book: &CellBook, device: Device) -> Outcome {
    let Some(recorded) = book.record(&outcome.cell, device) else {
        return outcome;
    };
    if recorded.signature == signature(&outcome) {
        return outcome;
    }
    let changed = |before: Option<Verdict>, now: Verdict| {
        let both = before == Some(Verdict::ExpectedFail) && now == Verdict::ExpectedFail;
        if both {
            Verdict::ChangedFail
        } else {
            now
        }
    };
    outcome.record = changed(Some(recorded.record), outcome.record);
    outcome.value = outcome.value.map(|now| changed(recorded.value, now));
    outcome
}

impl CellBook {
    /// The book after a complete run on `device`. Cells that no longer exist go, on every device.
    pub fn updated(before: &CellBook, device: Device, outcomes: &[Outcome]) -> Self {
        let mut cells: Vec<CellRow> = outcomes
            .iter()
            .map(|outcome| {
                let old = before.row(&outcome.cell);
                let mut devices = old.map(|row| row.devices.clone()).unwrap_or_default();
                devices.insert(device, CellRecord::of(outcome));
                CellRow {
                    cell: outcome.cell.clone(),
                    case: outcome.case(),
                    covers: outcome.covers.clone(),
                    about: outcome.about.clone(),
                    devices,
                }
            })
            .collect();
        cells.sort_by(|a, b| a.cell.cmp(&b.cell));
        Self { cells }
    }

    /// The row of a cell.
    pub fn row(&self, cell: &str) -> Option<&CellRow> {
        let place = self
            .cells
            .binary_search_by(|row| row.cell.as_str().cmp(cell))
            .ok()?;
        Some(&self.cells[place])
    }

    /// What a cell yielded on a device, if that is recorded.
    pub fn record(&self, cell: &str, device: Device) -> Option<&CellRecord> {
        self.row(cell)?.devices.get(&device)
    }

    /// Whether the device has a column at all.
    pub fn has_column(&self, device: Device) -> bool {
        self.cells.iter().any(|row| row.devices.contains_key(&device))
    }

    /// The rows that have a record of a device, with it.
    pub fn column(&self, device: Device) -> impl Iterator<Item = (&CellRow, &CellRecord)> {
        let of = move |row: &'_ CellRow| row.devices.contains_key(&device);
        self.cells
            .iter()
            .filter(move |row| of(row))
            .filter_map(move |row| Some((row, row.devices.get(&device)?)))
    }
}
