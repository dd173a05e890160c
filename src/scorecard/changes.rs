//! What changed between two versions of a scorecard: pure functions, one for each level.

use super::about::spelled_tolerance;
use super::card::{CapabilityRow, Ground, Scorecard};
use super::cells::{CellBook, CellRecord, CellRow};
use super::lines::ReadError;
use super::outcome::Verdict;
use super::retired::Retired;
use super::seal;
use super::verdict::{Evidence, Standing};
use crate::vocabulary::Device;
use serde::Serialize;
use std::collections::BTreeSet;

/// One change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Which way it goes.
    pub direction: Direction,
    /// What kind of change it is.
    pub kind: Kind,
    /// What it is a change of.
    pub level: Level,
    /// On which device, where it is of one.
    pub device: Option<Device>,
    /// The capability, function, cell or whatever it is.
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

/// What kind of change it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The suite itself asks less: an expectation went, a tolerance widened, a case went.
    Weakened,
    /// It was better.
    Regressed,
    /// It was worse.
    NewlyPassing,
    /// It was not there.
    New,
    /// It is no longer there, for a reason that is written down.
    Gone,
    /// It fails otherwise.
    Signature,
    /// Another tolerance, which is no wider.
    Tolerance,
    /// Other versions.
    Environment,
    /// Anything else.
    Other,
}

/// What a change is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// The label.
    Label,
    /// A capability.
    Capability,
    /// A function and element type.
    Function,
    /// An operation of mlx-c or an item of mlx-rs.
    Surface,
    /// A cell.
    Cell,
    /// What the suite ran with.
    Environment,
}

/// One version of both files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Version {
    /// The capabilities.
    pub card: Scorecard,
    /// The cells.
    pub cells: CellBook,
}

impl Version {
    /// Reads both files, each as its name and content.
    pub fn read(card: (&str, &str), cells: (&str, &str)) -> Result<Self, ReadError> {
        let book = CellBook::read(cells.0, cells.1)?;
        let read = Scorecard::read(card.0, card.1)?;
        seal::check(card.0, &read, &book)?;
        Ok(Self {
            card: read,
            cells: book,
        })
    }

    /// The version that accepting this one comes to: a failure that has changed is expected as it is now.
    pub fn accepted(mut self) -> serde_json::Result<Self> {
        let records = self
            .cells
            .cells
            .iter_mut()
            .flat_map(|row| row.devices.values_mut());
        records.for_each(CellRecord::accept);
        let card = Scorecard::derived(&Ground::of(&self.card), &self.cells);
        self.card = seal::seal(card, &self.cells)?;
        Ok(self)
    }
}

/// All changes of a device's capabilities and cells, regressions first.
pub fn changes(before: &Version, after: &Version, device: Device, retired: &Retired) -> Vec<Change> {
    let mut changes = capability_changes(&before.card, &after.card, device);
    changes.extend(cell_changes(&before.cells, &after.cells, device, retired));
    sort(&mut changes);
    changes
}

/// Regressions first, then by level and name.
pub fn sort(changes: &mut [Change]) {
    changes.sort_by(|a, b| {
        let key = |it: &Change| (it.direction, it.level, it.kind, it.device);
        (key(a), &a.what).cmp(&(key(b), &b.what))
    });
}

fn capability_changes(before: &Scorecard, after: &Scorecard, device: Device) -> Vec<Change> {
    let mut changes = Vec::new();
    let change = |direction, kind, what: &str, detail: String| Change {
        direction,
        kind,
        level: Level::Capability,
        device: Some(device),
        what: what.to_owned(),
        detail,
    };
    for new in &after.capabilities {
        let Some(now) = new.devices.get(&device) else {
            continue;
        };
        let old = before.capability(&new.id);
        if old.and_then(|old| old.devices.get(&device)).is_none() {
            let detail = now.verdict.phrase().to_owned();
            changes.push(change(Direction::Addition, Kind::New, &new.id, detail));
            continue;
        }
        let of_row = old.into_iter().flat_map(|old| row_changes(old, new, device));
        changes.extend(of_row.map(|(direction, kind, detail)| change(direction, kind, &new.id, detail)));
    }
    for old in &before.capabilities {
        let gone = after.capability(&old.id).and_then(|new| new.devices.get(&device));
        if old.devices.contains_key(&device) && gone.is_none() {
            let detail = "the capability is gone".to_owned();
            changes.push(change(Direction::Regression, Kind::Weakened, &old.id, detail));
        }
    }
    changes
}

fn row_changes(old: &CapabilityRow, new: &CapabilityRow, device: Device) -> Vec<(Direction, Kind, String)> {
    let mut changes = Vec::new();
    let (Some(was), Some(now)) = (old.devices.get(&device), new.devices.get(&device)) else {
        return changes;
    };
    let worse = (Direction::Regression, Kind::Regressed);
    let better = (Direction::Improvement, Kind::NewlyPassing);
    let mut push = |(direction, kind), detail| changes.push((direction, kind, detail));
    if old.flag != new.flag {
        let way = if new.flag { better } else { worse };
        push(way, format!("flag {} -> {}", old.flag, new.flag));
    }
    if old.code != new.code && !new.flag {
        let code = |row: &CapabilityRow| row.code.map_or("none", |code| code.name());
        let detail = format!("refusal code {} -> {}", code(old), code(new));
        push((Direction::Other, Kind::Other), detail);
    }
    let way = match (was.verdict, now.verdict) {
        (was, now) if was == now => None,
        (Standing::NotYetProven, _) | (Standing::Unsupported, Standing::Supported) => Some(better),
        _ => Some(worse),
    };
    if let Some(way) = way {
        let detail = format!("{} -> {}", was.verdict.phrase(), now.verdict.phrase());
        push(way, detail);
    }
    // Whether a cell might go is said of the cell.
    let failing = |it: &Evidence| it.cells.saturating_sub(it.passing);
    if failing(now) > failing(was) {
        let detail = format!(
            "{} of {} cells pass -> {} of {}",
            was.passing, was.cells, now.passing, now.cells
        );
        push(worse, detail);
    }
    changes
}

fn cell_changes(before: &CellBook, after: &CellBook, device: Device, retired: &Retired) -> Vec<Change> {
    let mut changes = Vec::new();
    for (row, now) in after.column(device) {
        let old = before.row(&row.cell);
        let was = old.and_then(|old| Some((old, old.devices.get(&device)?)));
        let found = match was {
            None if now.is_red() => vec![(
                Direction::Regression,
                Kind::Regressed,
                format!("new, {}", spell(now)),
            )],
            None => vec![(Direction::Addition, Kind::New, format!("new, {}", spell(now)))],
            Some((old, was)) => of_cell((old, was), (row, now)),
        };
        changes.extend(found.into_iter().map(|(direction, kind, detail)| Change {
            direction,
            kind,
            level: Level::Cell,
            device: Some(device),
            what: row.cell.clone(),
            detail,
        }));
    }
    for (row, was) in before.column(device) {
        if after.record(&row.cell, device).is_some() {
            continue;
        }
        let (direction, kind, why) = match retired.entry(&row.cell) {
            Some(entry) => (
                Direction::Other,
                Kind::Gone,
                format!("retired: {}", entry.because),
            ),
            None => (
                Direction::Regression,
                Kind::Weakened,
                "gone without an entry in cases/retired.yaml".to_owned(),
            ),
        };
        changes.push(Change {
            direction,
            kind,
            level: Level::Cell,
            device: Some(device),
            what: row.cell.clone(),
            detail: format!("{} -> {why}", spell(was)),
        });
    }
    changes
}

/// What a cell asks for and yielded, twice.
fn of_cell(
    (old, was): (&CellRow, &CellRecord),
    (new, now): (&CellRow, &CellRecord),
) -> Vec<(Direction, Kind, String)> {
    let mut changes = weakened(old, new);
    changes.extend(tolerances(was, now));
    let direction = direction(was, now);
    let verdicts = || format!("{} -> {}", spell(was), spell(now));
    let kind = match direction {
        Direction::Regression => Some(Kind::Regressed),
        Direction::Improvement => Some(Kind::NewlyPassing),
        _ if was.signature != now.signature => Some(Kind::Signature),
        _ if spell(was) != spell(now) || was.mutant != now.mutant || was.ops != now.ops => Some(Kind::Other),
        _ => None,
    };
    let detail = match kind {
        Some(Kind::Signature) => format!(
            "fails otherwise: {} -> {}",
            list(&was.signature),
            list(&now.signature)
        ),
        Some(Kind::Other) if spell(was) == spell(now) => inner(was, now),
        _ => verdicts(),
    };
    changes.extend(kind.map(|kind| (direction, kind, detail)));
    changes
}

/// Another number of ops, another mutant.
fn inner(was: &CellRecord, now: &CellRecord) -> String {
    let mutant = |it: &CellRecord| it.mutant.clone().unwrap_or_else(|| "no mutant".to_owned());
    match was.ops == now.ops {
        true => format!("{} -> {}", mutant(was), mutant(now)),
        false => format!("{} -> {} ops", was.ops, now.ops),
    }
}

fn list(items: &[String]) -> String {
    match items {
        [] => "nothing".to_owned(),
        items => items.join(", "),
    }
}

/// Expectations and covered claims that went are a weaker suite; those that came are not.
fn weakened(old: &CellRow, new: &CellRow) -> Vec<(Direction, Kind, String)> {
    let mut changes = Vec::new();
    let mut compare = |was: &[String], now: &[String], does: &str| {
        let gone = was.iter().filter(|it| !now.contains(it));
        changes.extend(gone.map(|it| {
            (
                Direction::Regression,
                Kind::Weakened,
                format!("no longer {does} {it}"),
            )
        }));
        let came = now.iter().filter(|it| !was.contains(it));
        changes.extend(came.map(|it| (Direction::Improvement, Kind::Other, format!("{does} {it} too"))));
    };
    compare(&old.about.expects, &new.about.expects, "expects");
    compare(&old.covers, &new.covers, "covers");
    changes
}

/// A tolerance that widened is a weaker suite.
fn tolerances(was: &CellRecord, now: &CellRecord) -> Vec<(Direction, Kind, String)> {
    let of = |record: &'_ CellRecord| {
        let spelled = record.tolerances.clone();
        move |at: &str| {
            let found = spelled.iter().filter_map(|it| spelled_tolerance(it));
            let mut found = found.filter(|(place, ..)| *place == at);
            found.next().map(|(_, absolute, relative)| (absolute, relative))
        }
    };
    let (before, after) = (of(was), of(now));
    let places: BTreeSet<&str> = now
        .tolerances
        .iter()
        .filter_map(|it| Some(spelled_tolerance(it)?.0))
        .collect();
    let mut changes = Vec::new();
    for at in places {
        let (Some(old), Some(new)) = (before(at), after(at)) else {
            continue;
        };
        if old == new {
            continue;
        }
        let detail = format!(
            "tolerance of {at} {:e} {:e} -> {:e} {:e}",
            old.0, old.1, new.0, new.1
        );
        changes.push(match new.0 > old.0 || new.1 > old.1 {
            true => (Direction::Regression, Kind::Weakened, detail),
            false => (Direction::Improvement, Kind::Tolerance, detail),
        });
    }
    changes
}

/// Each verdict goes its own way; one that gets worse decides.
fn direction(was: &CellRecord, now: &CellRecord) -> Direction {
    let pairs = [(Some(was.record), Some(now.record)), (was.value, now.value)];
    let ways = pairs.map(|(was, now)| rank(now).cmp(&rank(was)));
    let still_red = now.is_red() && (was != now);
    if ways.contains(&std::cmp::Ordering::Less) || still_red {
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
