//! The whole difference between two versions: label, capabilities, functions, surface, cells, environments; and, where
//! both come with the runs' origins, what made it.

use super::changes::{changes, sort, Change, Direction, Kind, Level, Version};
use super::decision::{Decision, Label};
use super::functions::{FunctionRow, Shown};
use super::gate::{missing, Gate};
use super::outcomes::Origin;
use super::retired::Retired;
use crate::vocabulary::Device;
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// One side of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// What it is called: a file, a revision.
    pub name: String,
    /// The scorecard.
    pub version: Version,
    /// What was decided on the label, if it is there.
    pub decision: Option<Decision>,
    /// Where a run's outcomes come from, if it is those.
    pub origin: Option<Origin>,
}

/// What the comparison goes by.
#[derive(Clone, Debug)]
pub struct Terms<'a> {
    /// Cases that went on purpose.
    pub retired: &'a Retired,
    /// What `stable` takes.
    pub gate: &'a Gate,
    /// The day by which known failures expire.
    pub today: &'a str,
}

/// A difference.
#[derive(Clone, Debug, Serialize)]
pub struct Diff {
    /// What is compared with.
    pub base: String,
    /// What is compared.
    pub head: String,
    /// All changes, regressions first.
    pub changes: Vec<Change>,
    /// What may have made them, where both sides say where they come from; most likely first.
    pub why: Vec<String>,
    /// For cells, by id, what of their own changed.
    pub because: BTreeMap<String, String>,
}

impl Diff {
    /// The changes that go one way.
    pub fn going(&self, direction: Direction) -> impl Iterator<Item = &Change> {
        self.changes
            .iter()
            .filter(move |change| change.direction == direction)
    }

    /// Of the names that are new upstream, how many are covered or left out for a reason, and how many there are.
    pub fn new_upstream(&self) -> (usize, usize) {
        let new = self.changes.iter().filter_map(|change| match change.level {
            Level::Surface => change.detail.strip_prefix(NEW_UPSTREAM),
            _ => None,
        });
        new.fold((0, 0), |(settled, all), standing| {
            (settled + usize::from(is_settled(standing)), all + 1)
        })
    }

    /// Whether anything got worse or weaker.
    pub fn is_worse(&self) -> bool {
        self.going(Direction::Regression).next().is_some()
    }
}

/// Compares.
pub fn diff(base: &Side, head: &Side, terms: &Terms<'_>) -> Diff {
    let mut found = environments(&base.version, &head.version);
    found.extend(labels(base, head, terms));
    for device in devices(base, head) {
        found.extend(changes(&base.version, &head.version, device, terms.retired));
        found.extend(functions(&base.version, &head.version, device));
        found.extend(surface(&base.version, &head.version, device));
    }
    mark_renamed(&base.version, &head.version, &mut found);
    sort(&mut found);
    let (why, because) = reasons(base, head, &found);
    Diff {
        base: base.name.clone(),
        head: head.name.clone(),
        changes: found,
        why,
        because,
    }
}

/// The devices that either side speaks for. Outcomes speak for those that ran: the other columns are then no loss.
fn devices(base: &Side, head: &Side) -> BTreeSet<Device> {
    let of = |side: &Side| -> BTreeSet<Device> {
        side.version.card.devices.iter().map(|row| row.device).collect()
    };
    match (&base.origin, &head.origin) {
        (Some(_), Some(_)) => &of(base) & &of(head),
        (Some(_), None) => of(base),
        (None, Some(_)) => of(head),
        (None, None) => &of(base) | &of(head),
    }
}

fn environments(base: &Version, head: &Version) -> Vec<Change> {
    let mut found = Vec::new();
    for new in &head.card.devices {
        let old = base.card.devices.iter().find(|row| row.device == new.device);
        let (kind, direction, detail) = match old {
            None => (Kind::New, Direction::Addition, new.environment.to_string()),
            Some(old) if old.environment == new.environment => continue,
            Some(old) => (
                Kind::Environment,
                Direction::Other,
                format!("{} -> {}", old.environment, new.environment),
            ),
        };
        found.push(Change {
            direction,
            kind,
            level: Level::Environment,
            device: Some(new.device),
            what: new.device.name().to_owned(),
            detail,
        });
    }
    found
}

fn labels(base: &Side, head: &Side, terms: &Terms<'_>) -> Option<Change> {
    let label = |side: &Side| side.decision.as_ref().map_or(Label::Preview, |it| it.label);
    let (was, now) = (label(base), label(head));
    let lacking = match now {
        Label::Stable => missing(terms.gate, &head.version, terms.today).len(),
        Label::Preview => 0,
    };
    if was == now && lacking == 0 {
        return None;
    }
    let (direction, kind, more) = match (was, now, lacking) {
        (_, Label::Stable, 0) => (Direction::Improvement, Kind::NewlyPassing, String::new()),
        (_, Label::Stable, lacking) => (
            Direction::Regression,
            Kind::Weakened,
            format!(", without evidence: {lacking} missing; see `assay gate --to stable`"),
        ),
        (..) => (Direction::Regression, Kind::Regressed, String::new()),
    };
    Some(Change {
        direction,
        kind,
        level: Level::Label,
        device: None,
        what: "label".to_owned(),
        detail: format!("{} -> {}{more}", was.name(), now.name()),
    })
}

fn functions(base: &Version, head: &Version, device: Device) -> Vec<Change> {
    let table = |rows: &'_ [FunctionRow]| -> BTreeMap<(String, String), Shown> {
        let of = |row: &FunctionRow| {
            let shown = row.shown(device).into_iter();
            let named = shown.map(|(dtype, shown)| ((row.function.clone(), dtype.to_owned()), shown));
            named.collect::<Vec<_>>()
        };
        rows.iter().flat_map(of).collect()
    };
    let (before, after) = (table(&base.card.functions), table(&head.card.functions));
    let names: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let mut found = Vec::new();
    for name in names {
        let (direction, kind, detail) = match (before.get(name), after.get(name)) {
            (None, Some(now)) => (Direction::Addition, Kind::New, now.to_string()),
            // Whether its cells might go is said of the cells.
            (Some(was), None) => (Direction::Other, Kind::Gone, format!("{was} -> gone")),
            (Some(was), Some(now)) if was != now => {
                let (direction, kind) = match now.failing().cmp(&was.failing()) {
                    Ordering::Greater => (Direction::Regression, Kind::Regressed),
                    Ordering::Less => (Direction::Improvement, Kind::NewlyPassing),
                    Ordering::Equal if now.cells > was.cells => (Direction::Addition, Kind::New),
                    Ordering::Equal => (Direction::Other, Kind::Other),
                };
                (direction, kind, format!("{was} -> {now}"))
            }
            _ => continue,
        };
        found.push(Change {
            direction,
            kind,
            level: Level::Function,
            device: Some(device),
            what: format!("{} {}", name.0, name.1),
            detail,
        });
    }
    found
}

/// How the detail of a name begins that was not there before; what its evidence comes to follows.
const NEW_UPSTREAM: &str = "new upstream, ";

/// Whether nothing is left to do for a name: it is covered, or left out for a reason.
fn is_settled(standing: &str) -> bool {
    matches!(standing, "covered" | "excluded")
}

fn surface(base: &Version, head: &Version, device: Device) -> Vec<Change> {
    let table = |version: &'_ Version| -> BTreeMap<String, &'static str> {
        let mut names = BTreeMap::new();
        for row in &version.card.surface {
            let Some(standings) = row.devices.get(&device) else {
                continue;
            };
            for (standing, list) in standings.lists() {
                for name in list {
                    names.insert(format!("{} {}::{name}", row.of, row.module), standing);
                }
            }
        }
        names
    };
    let (before, after) = (table(base), table(head));
    // A first column is no news about upstream, and outcomes alone say nothing about it.
    if before.is_empty() || after.is_empty() {
        return Vec::new();
    }
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let rank = |standing: &str| {
        ["missing", "excluded", "partial", "covered"]
            .iter()
            .position(|it| *it == standing)
    };
    let mut found = Vec::new();
    for name in names {
        let (direction, kind, detail) = match (before.get(name), after.get(name)) {
            // What is new is to be covered as soon as it is there.
            (None, Some(now)) => (
                if is_settled(now) {
                    Direction::Addition
                } else {
                    Direction::Regression
                },
                Kind::New,
                format!("{NEW_UPSTREAM}{now}"),
            ),
            (Some(was), None) => (Direction::Other, Kind::Gone, format!("{was} -> gone upstream")),
            (Some(was), Some(now)) if was != now => {
                let detail = format!("{was} -> {now}");
                match rank(now) < rank(was) {
                    true => (Direction::Regression, Kind::Regressed, detail),
                    false => (Direction::Improvement, Kind::NewlyPassing, detail),
                }
            }
            _ => continue,
        };
        found.push(Change {
            direction,
            kind,
            level: Level::Surface,
            device: Some(device),
            what: name.clone(),
            detail,
        });
    }
    found
}

/// Says of cells that went where one that came asks for the same and yields the same.
fn mark_renamed(base: &Version, head: &Version, found: &mut [Change]) {
    let came: Vec<String> = found
        .iter()
        .filter(|it| it.level == Level::Cell && it.kind == Kind::New)
        .map(|it| it.what.clone())
        .collect();
    for change in found.iter_mut() {
        if change.level != Level::Cell || change.kind != Kind::Weakened || !change.detail.contains("-> gone")
        {
            continue;
        }
        let Some(old) = base.cells.row(&change.what) else {
            continue;
        };
        let suffix = |cell: &str, case: &str| cell[case.len()..].to_owned();
        let same = came.iter().filter_map(|cell| head.cells.row(cell)).find(|new| {
            (&new.about, &new.covers) == (&old.about, &old.covers)
                && suffix(&new.cell, &new.case) == suffix(&old.cell, &old.case)
        });
        if let Some(new) = same {
            change.detail.push_str(&format!("; renamed to {}?", new.cell));
        }
    }
}

/// What differs in where two runs come from.
fn reasons(base: &Side, head: &Side, found: &[Change]) -> (Vec<String>, BTreeMap<String, String>) {
    let (Some(was), Some(now)) = (&base.origin, &head.origin) else {
        return (Vec::new(), BTreeMap::new());
    };
    let mut why = Vec::new();
    let files: BTreeSet<&String> = was.files.keys().chain(now.files.keys()).collect();
    let changed: BTreeSet<&String> = files
        .into_iter()
        .filter(|file| was.files.get(*file) != now.files.get(*file))
        .collect();
    if !changed.is_empty() {
        let names: Vec<&str> = changed.iter().take(5).map(|file| file.as_str()).collect();
        let more = changed.len().saturating_sub(names.len());
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        why.push(format!("cases changed: {}{more}", names.join(", ")));
    }
    if was.environment != now.environment {
        why.push(format!(
            "the environment changed: {} -> {}",
            was.environment, now.environment
        ));
    }
    if was.backend != now.backend {
        why.push(format!("the backend changed: {} -> {}", was.backend, now.backend));
    }
    // The backend's sources are some of the harness's.
    if was.harness != now.harness {
        why.push(format!("the harness changed: {} -> {}", was.harness, now.harness));
    }
    if why.is_empty() && !found.is_empty() {
        why.push("nothing changed that is digested: run both again with --repeat 20".to_owned());
    }
    let rest = || match () {
        () if was.environment != now.environment => "the environment changed",
        () if was.backend != now.backend => "the backend changed",
        () if was.harness != now.harness => "the harness changed",
        () => "nothing that is digested changed",
    };
    let cells = found.iter().filter(|change| change.level == Level::Cell);
    let because = cells.map(|change| {
        let row = head.version.cells.row(&change.what);
        let row = row.or_else(|| base.version.cells.row(&change.what));
        let file = row.map(|row| format!("cases/{}.yaml", row.case.replace("::", "/")));
        let own = file.is_some_and(|file| changed.contains(&file));
        let reason = if own { "its case changed" } else { rest() };
        (change.what.clone(), reason.to_owned())
    });
    (why, because.collect())
}
