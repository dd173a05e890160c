//! What is known of each cell: the ground that everything in the scorecard follows from.
//!
//! It holds what is the same wherever the device is of the same kind: no times, no distances, no machine names. How it
//! lies in its file, a line a case, is [`book`](super::book)'s.

use super::about::About;
use super::otherwise::Otherwise;
use super::outcome::{Checked, Ending, Fate, Finding, Outcome, Verdict};
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

    /// One of its verdicts, where there is one.
    pub fn verdict(&self, check: Checked) -> Option<Verdict> {
        match check {
            Checked::Record => Some(self.record),
            Checked::Value => self.value,
        }
    }

    /// The lines of the signature that are of one verdict, without the word for it.
    pub fn fails(&self, check: Checked) -> Vec<String> {
        let of_check = |line: &String| Some(line.strip_prefix(check.name())?.strip_prefix(' ')?.to_owned());
        self.signature.iter().filter_map(of_check).collect()
    }

    /// What it is once somebody has accepted it: a failure that has changed is expected as it is now.
    pub fn accept(&mut self) {
        let expected = |verdict: &mut Verdict| {
            if *verdict == Verdict::ChangedFail {
                *verdict = Verdict::ExpectedFail;
            }
        };
        expected(&mut self.record);
        self.value.iter_mut().for_each(expected);
    }

    /// Whether either verdict is red.
    pub fn is_red(&self) -> bool {
        self.record.is_red() || self.value.is_some_and(Verdict::is_red)
    }
}

/// What fails and how, a line each with the verdict before it; sorted, each once.
pub fn signature(outcome: &Outcome) -> Vec<String> {
    let judged = Checked::ALL
        .into_iter()
        .filter(|check| outcome.verdict(*check).is_some());
    let lines = judged.flat_map(|check| {
        let of_check = signature_of(check, &outcome.findings, &outcome.evidence.ending).into_iter();
        of_check.map(move |line| format!("{} {line}", check.name()))
    });
    lines.collect()
}

/// What of one verdict fails and how, free of figures that depend on the processor: the findings, and how the capture
/// ended where there is no trace. Without one no value is right. Sorted, each once.
pub fn signature_of(check: Checked, findings: &[Finding], ending: &Ending) -> Vec<String> {
    let of_check = findings.iter().filter(|finding| finding.check == check);
    let mut lines: Vec<String> = of_check
        .map(|finding| format!("{} {}", finding.kind.name(), finding.at))
        .collect();
    if !lines.is_empty() || check == Checked::Value {
        lines.extend(untraced(ending));
    }
    lines.sort();
    lines.dedup();
    lines
}

/// How a capture ended that left no trace: for a process in which op, without the operands that the op had.
fn untraced(ending: &Ending) -> Option<String> {
    match ending {
        Ending::Crashed { .. } | Ending::TimedOut { .. } | Ending::OutOfMemory { .. } => {
            let text = ending.to_string();
            let end = text.find(", parents").unwrap_or(text.len());
            Some(text[..end].to_owned())
        }
        Ending::Refused { code, .. } => Some(format!("refusal {code}")),
        Ending::Error { .. } => Some("error".to_owned()),
        Ending::Panicked { .. } => Some("panic".to_owned()),
        Ending::Pending { .. } => Some("pending".to_owned()),
        Ending::Traced | Ending::Skipped { .. } | Ending::Invalid { .. } => None,
    }
}

/// The outcome, with an expected failure that fails otherwise than recorded turned into a changed one.
pub fn against_recorded(mut outcome: Outcome, book: &CellBook, device: Device) -> Outcome {
    let Some(recorded) = book.record(&outcome.cell, device) else {
        return outcome;
    };
    for check in Checked::ALL {
        let verdicts = [recorded.verdict(check), outcome.verdict(check)];
        if verdicts != [Some(Verdict::ExpectedFail); 2] {
            continue;
        }
        let was = recorded.fails(check);
        let now = signature_of(check, &outcome.findings, &outcome.evidence.ending);
        if was == now {
            continue;
        }
        match check {
            Checked::Record => outcome.record = Verdict::ChangedFail,
            Checked::Value => outcome.value = Some(Verdict::ChangedFail),
        }
        let edit = None;
        outcome.otherwise.push(Otherwise {
            check,
            was,
            now,
            edit,
        });
    }
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
