//! What a run changed, on its own device: what is worse, what is better, what is new.

use super::card::Scorecard;
use super::cells::{CellBook, CellRecord};
use super::outcome::Verdict;
use super::verdict::Standing;
use crate::vocabulary::Device;
use serde::Serialize;

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Which way it goes.
    pub direction: Direction,
    /// The capability or cell.
    pub what: String,
    /// From what to what.
    pub detail: String,
}

/// Which way a change goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Worse, or less evidence.
    Regression,
    /// Better.
    Improvement,
    /// New, and not worse than nothing.
    Addition,
    /// Neither: another number of ops, another mutant.
    Other,
}

/// One version of both files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Version {
    /// The capabilities.
    pub card: Scorecard,
    /// The cells.
    pub cells: CellBook,
}

/// All changes of the device's column, regressions first.
pub fn changes(before: &Version, after: &Version, device: Device) -> Vec<Change> {
    let mut changes = capability_changes(&before.card, &after.card, device);
    changes.extend(cell_changes(&before.cells, &after.cells, device));
    changes.sort_by(|a, b| (a.direction, &a.what).cmp(&(b.direction, &b.what)));
    changes
}

fn capability_changes(before: &Scorecard, after: &Scorecard, device: Device) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut push = |direction, what: &str, detail: String| {
        changes.push(Change {
            direction,
            what: what.to_owned(),
            detail,
        });
    };
    for new in &after.capabilities {
        let Some(now) = new.devices.get(&device) else {
            continue;
        };
        let old = before.capabilities.iter().find(|row| row.id == new.id);
        let Some((old, was)) = old.and_then(|old| Some((old, old.devices.get(&device)?))) else {
            push(Direction::Addition, &new.id, now.verdict.phrase().to_owned());
            continue;
        };
        let verdicts = || format!("{} -> {}", was.verdict.phrase(), now.verdict.phrase());
        if old.flag != new.flag {
            let direction = if new.flag {
                Direction::Improvement
            } else {
                Direction::Regression
            };
            push(direction, &new.id, format!("flag {} -> {}", old.flag, new.flag));
        }
        match (was.verdict, now.verdict) {
            (was, now) if was == now => {}
            (Standing::NotYetProven, _) => push(Direction::Improvement, &new.id, verdicts()),
            (Standing::Unsupported, Standing::Supported) => push(Direction::Improvement, &new.id, verdicts()),
            _ => push(Direction::Regression, &new.id, verdicts()),
        }
        if now.passing < was.passing {
            let detail = format!("{} -> {} passing cells", was.passing, now.passing);
            push(Direction::Regression, &new.id, detail);
        }
    }
    for old in before
        .capabilities
        .iter()
        .filter(|old| old.devices.contains_key(&device))
    {
        if !after.capabilities.iter().any(|new| new.id == old.id) {
            push(
                Direction::Regression,
                &old.id,
                "the capability is gone".to_owned(),
            );
        }
    }
    changes
}

fn cell_changes(before: &CellBook, after: &CellBook, device: Device) -> Vec<Change> {
    let mut changes = Vec::new();
    for row in &after.cells {
        let Some(now) = row.devices.get(&device) else {
            continue;
        };
        let (direction, detail) = match before.record(&row.cell, device) {
            None if is_red(now) => (Direction::Regression, format!("new, {}", spell(now))),
            None => (Direction::Addition, format!("new, {}", spell(now))),
            Some(was) if was == now => continue,
            Some(was) => (direction(was, now), format!("{} -> {}", spell(was), spell(now))),
        };
        changes.push(Change {
            direction,
            what: row.cell.clone(),
            detail,
        });
    }
    for row in &before.cells {
        let (Some(was), None) = (row.devices.get(&device), after.record(&row.cell, device)) else {
            continue;
        };
        let detail = format!("{} -> gone", spell(was));
        changes.push(Change {
            direction: Direction::Regression,
            what: row.cell.clone(),
            detail,
        });
    }
    changes
}

fn is_red(record: &CellRecord) -> bool {
    record.record.is_red() || record.value.is_some_and(Verdict::is_red)
}

/// Each verdict goes its own way; one that gets worse decides.
fn direction(was: &CellRecord, now: &CellRecord) -> Direction {
    let pairs = [(Some(was.record), Some(now.record)), (was.value, now.value)];
    let ways = pairs.map(|(was, now)| rank(now).cmp(&rank(was)));
    if ways.contains(&std::cmp::Ordering::Less) || is_red(now) {
        Direction::Regression
    } else if ways.contains(&std::cmp::Ordering::Greater) {
        Direction::Improvement
    } else {
        Direction::Other
    }
}

/// How much a verdict is worth as evidence.
fn rank(verdict: Option<Verdict>) -> u8 {
    match verdict {
        Some(Verdict::Pass) => 5,
        Some(Verdict::UnexpectedPass) => 4,
        Some(Verdict::ExpectedFail) => 3,
        None => 2,
        Some(Verdict::Skipped) => 1,
        Some(_) => 0,
    }
}

fn spell(record: &CellRecord) -> String {
    let value = record
        .value
        .map(|value| format!(", value {value}"))
        .unwrap_or_default();
    let state = record.state.map(|state| format!(", {state}")).unwrap_or_default();
    format!("record {}{value}{state}", record.record)
}
