//! The scorecard's second file: a row for each cell.
//!
//! It holds what is the same wherever the device is of the same kind: no times, no distances, no machine names.

use super::card::{BACKEND, SCHEMA};
use super::lines::{self, ReadError};
use super::outcome::{Checked, Ending, Fate, Outcome, Verdict};
use crate::vocabulary::{Device, State};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `scorecards/mlx.cells.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellBook {
    /// The layout's version.
    pub schema: u32,
    /// The backend.
    pub backend: String,
    /// A row for each cell, sorted by id.
    pub cells: Vec<CellRow>,
}

/// One cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellRow {
    /// Its id.
    pub cell: String,
    /// What it yielded, by device.
    pub devices: BTreeMap<Device, CellRecord>,
}

/// What a cell yielded on one device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellRecord {
    /// The verdict about the record.
    pub record: Verdict,
    /// The verdict about the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Verdict>,
    /// The trace's state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// How many ops the trace has.
    pub ops: usize,
    /// The mutant of this cell, and what became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutant: Option<String>,
    /// What fails and how, without figures: `value values expect.reference`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signature: Vec<String>,
}

impl CellRecord {
    /// The record of an outcome.
    pub fn of(outcome: &Outcome) -> Self {
        let mutant = outcome.evidence.mutant.as_ref().map(|mutant| match mutant.fate {
            Fate::Killed(reason) => format!("{}: killed, {reason}", mutant.name),
            Fate::Misnamed(reason) => format!("{}: misnamed, {reason}", mutant.name),
            Fate::Survived => format!("{}: survived", mutant.name),
        });
        Self {
            record: outcome.record,
            value: outcome.value,
            state: outcome.evidence.state,
            ops: outcome.evidence.ops.len(),
            mutant,
            signature: signature(outcome),
        }
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
        let old: BTreeMap<&str, &CellRow> = before.cells.iter().map(|row| (row.cell.as_str(), row)).collect();
        let mut cells: Vec<CellRow> = outcomes
            .iter()
            .map(|outcome| {
                let mut devices = old
                    .get(outcome.cell.as_str())
                    .map(|row| row.devices.clone())
                    .unwrap_or_default();
                devices.insert(device, CellRecord::of(outcome));
                CellRow {
                    cell: outcome.cell.clone(),
                    devices,
                }
            })
            .collect();
        cells.sort_by(|a, b| a.cell.cmp(&b.cell));
        Self {
            schema: SCHEMA,
            backend: BACKEND.to_owned(),
            cells,
        }
    }

    /// What a cell yielded on a device, if that is recorded.
    pub fn record(&self, cell: &str, device: Device) -> Option<&CellRecord> {
        let place = self
            .cells
            .binary_search_by(|row| row.cell.as_str().cmp(cell))
            .ok()?;
        self.cells[place].devices.get(&device)
    }

    /// Whether the device has a column at all.
    pub fn has_column(&self, device: Device) -> bool {
        self.cells.iter().any(|row| row.devices.contains_key(&device))
    }

    /// Reads the content of `file`.
    pub fn read(file: &str, text: &str) -> Result<Self, ReadError> {
        let mut book: Self = lines::read(file, text, SCHEMA)?;
        // A merge by hand may leave rows out of order, and looking up relies on it.
        book.cells.sort_by(|a, b| a.cell.cmp(&b.cell));
        Ok(book)
    }

    /// The file's content.
    pub fn write(&self) -> serde_json::Result<String> {
        let head = [
            ("schema", self.schema.into()),
            ("backend", self.backend.as_str().into()),
        ];
        lines::write(&head, "cells", &self.cells)
    }
}
