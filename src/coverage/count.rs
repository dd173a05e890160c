//! What the cells of a run showed of each operation and each item.

use super::excluded::Excluded;
use super::surface::{CALLED, ITEMS};
use super::uses::{mentioned, reached};
use crate::case::cell::{Cell, Program};
use crate::case::spec::{Children, Spec};
use crate::case::value::Value;
use crate::model::{functions, layers};
use crate::scorecard::outcome::{Ending, Outcome, Routes, Verdict};
use crate::vocabulary::Decision;
use mlx_sys::function::{Class, Function};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// One operation of mlx-c, or one item of mlx-rs, and what was shown of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    /// Its name or path.
    pub name: String,
    /// What it is counted under.
    pub module: String,
    /// How many cells' records pass in which it took part.
    pub cells: usize,
    /// The element types of what it yielded there, or for an item of the cells.
    pub dtypes: BTreeSet<String>,
    /// In how many of them it was recorded.
    pub traced: usize,
    /// In how many it was replayed, to the same bits.
    pub replayed: usize,
    /// In how many it was shown to depend on each operand.
    pub perturbed: usize,
    /// In how many the result is held to a reference or to written values.
    pub referenced: usize,
    /// In how many a refusal of it is pinned.
    pub refused: usize,
    /// What that comes to.
    pub standing: Standing,
    /// Why it is left out, if it is.
    pub reason: Option<String>,
}

/// What the evidence for one row comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// No passing cell.
    #[default]
    Missing,
    /// Some, but nothing replayed, or nothing held to a value.
    Partial,
    /// Recorded, replayed, and held to a value.
    Covered,
    /// Left out, for a reason.
    Excluded,
}

impl Standing {
    /// As people read it.
    pub const fn name(self) -> &'static str {
        match self {
            Standing::Missing => "missing",
            Standing::Partial => "partial",
            Standing::Covered => "covered",
            Standing::Excluded => "excluded",
        }
    }
}

/// Both tables.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Coverage {
    /// The operations of mlx-c that mlx-rs calls.
    pub mlx_c: Vec<Row>,
    /// The public items of mlx-rs.
    pub mlx_rs: Vec<Row>,
}

/// The operations of mlx-c that mlx-rs calls.
pub fn operations() -> Vec<&'static str> {
    let called = CALLED.iter().copied();
    called
        .filter(|name| Function::by_name(name).is_some_and(|it| it.class == Class::Operation))
        .collect()
}

/// What the outcomes of these cells show.
pub fn count(cells: &[Cell], outcomes: &[Outcome], excluded: &Excluded) -> Coverage {
    let by_id: HashMap<&str, &Cell> = cells.iter().map(|cell| (cell.id.as_str(), cell)).collect();
    let mut mlx_c: BTreeMap<&str, Row> = operations()
        .into_iter()
        .map(|name| (name, row(name, c_module(name))))
        .collect();
    let mut mlx_rs: BTreeMap<&str, Row> = ITEMS
        .iter()
        .map(|item| (item.path, row(item.path, item.module())))
        .collect();
    for outcome in outcomes.iter().filter(|it| it.record == Verdict::Pass) {
        let Some(cell) = by_id.get(outcome.cell.as_str()) else {
            continue;
        };
        // A failure that is written down is held to what is right as well, also one that fails otherwise: accepting it
        // must not change what is shown.
        let known = matches!(
            outcome.value,
            Some(Verdict::Pass | Verdict::ExpectedFail | Verdict::ChangedFail)
        );
        let held = known && cell.expects_values();
        count_operations(outcome, held, &mut mlx_c);
        let seen = Seen::of(outcome);
        for item in items_of(cell) {
            if let Some(row) = mlx_rs.get_mut(item) {
                seen.add_to(row, held, cell);
            }
        }
    }
    let settled = |rows: BTreeMap<&str, Row>, reasons: &BTreeMap<String, String>| {
        rows.into_values().map(|row| settled(row, reasons)).collect()
    };
    Coverage {
        mlx_c: settled(mlx_c, &excluded.mlx_c),
        mlx_rs: settled(mlx_rs, &excluded.mlx_rs),
    }
}

fn row(name: &str, module: &str) -> Row {
    Row {
        name: name.to_owned(),
        module: module.to_owned(),
        ..Row::default()
    }
}

/// mlx-c says in a function's name which header it is of.
fn c_module(name: &str) -> &'static str {
    ["linalg", "fft", "fast", "random", "distributed"]
        .into_iter()
        .find(|module| name.starts_with(&format!("mlx_{module}_")))
        .unwrap_or("ops")
}

fn settled(mut row: Row, reasons: &BTreeMap<String, String>) -> Row {
    row.reason = Excluded::reason(reasons, &row.name).map(str::to_owned);
    row.standing = match () {
        () if row.cells > 0 && row.replayed > 0 && row.referenced > 0 => Standing::Covered,
        () if row.reason.is_some() => Standing::Excluded,
        () if row.cells > 0 => Standing::Partial,
        () => Standing::Missing,
    };
    row
}

fn count_operations(outcome: &Outcome, held: bool, rows: &mut BTreeMap<&str, Row>) {
    let mut seen: BTreeMap<&str, (bool, bool, BTreeSet<String>)> = BTreeMap::new();
    for op in &outcome.evidence.ops {
        for function in &op.functions {
            let entry = seen.entry(function).or_default();
            entry.0 |= op.routes != Routes::None;
            entry.1 |= op.decision == Some(Decision::Verified);
            entry
                .2
                .extend(op.results.iter().map(|result| result.dtype.clone()));
        }
    }
    for (function, (replayed, perturbed, dtypes)) in seen {
        if let Some(row) = rows.get_mut(function) {
            row.cells += 1;
            row.traced += 1;
            row.replayed += usize::from(replayed);
            row.perturbed += usize::from(perturbed);
            row.referenced += usize::from(held);
            row.dtypes.extend(dtypes);
        }
    }
}

/// What one outcome shows of whatever its cell uses.
struct Seen {
    traced: bool,
    replayed: bool,
    perturbed: bool,
    refused: bool,
}

impl Seen {
    fn of(outcome: &Outcome) -> Self {
        let ops = &outcome.evidence.ops;
        Self {
            traced: outcome.evidence.ending == Ending::Traced,
            replayed: ops.iter().any(|op| op.routes != Routes::None),
            perturbed: ops.iter().any(|op| op.decision == Some(Decision::Verified)),
            refused: matches!(
                outcome.evidence.ending,
                Ending::Error { .. } | Ending::Refused { .. }
            ),
        }
    }

    fn add_to(&self, row: &mut Row, held: bool, cell: &Cell) {
        row.cells += 1;
        row.traced += usize::from(self.traced);
        row.replayed += usize::from(self.replayed);
        row.perturbed += usize::from(self.perturbed);
        row.referenced += usize::from(held);
        row.refused += usize::from(self.refused);
        let axis = cell.axes.iter().find(|(axis, _)| axis == "dtype");
        row.dtypes
            .extend(axis.and_then(|(_, value)| value.as_text()).map(str::to_owned));
    }
}

/// The items of mlx-rs that a cell's program uses.
pub fn items_of(cell: &Cell) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    match &cell.program {
        Program::Model(spec) => layer_items(spec, &mut found),
        Program::Forward { layers, steps, .. } => {
            layers.values().for_each(|spec| layer_items(spec, &mut found));
            for step in steps {
                let Some(function) = functions::function(&step.callee) else {
                    continue;
                };
                let bound = step.arguments.bind(&function.signature).unwrap_or_default();
                found.extend(reached(&mentioned(&step.callee, function.text), &bound));
            }
        }
    }
    found
}

fn layer_items(spec: &Spec, found: &mut BTreeSet<&'static str>) {
    if let Some(entry) = layers::layer(&spec.name) {
        let arguments: BTreeMap<&str, Value> = BTreeMap::new();
        found.extend(reached(&mentioned(&spec.name, entry.text), &arguments));
    }
    match &spec.children {
        Children::None => {}
        Children::List(items) => items.iter().for_each(|item| layer_items(item, found)),
        Children::Map(entries) => entries.iter().for_each(|(_, item)| layer_items(item, found)),
    }
}
