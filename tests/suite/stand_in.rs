//! A stand-in for the runner: it says what a capture of these programs would show, or what it is told to.

use mlx_assay::case::cell::{Cell, Program};
use mlx_assay::case::data::{Data, Input};
use mlx_assay::case::spec::{Children, Spec};
use mlx_assay::harness::expect::conclude;
use mlx_assay::harness::seam::{Observed, Runner};
use mlx_assay::scorecard::outcome::{
    ArrayRow, Evidence, Fate, ModuleRow, MutantRow, OpRow, Outcome, OutputRow, Routes, Work,
};
use mlx_assay::vocabulary::{Decision, Reason, State};
use std::time::Duration;

/// Runs a cell as if every op verified, then lets `change` have its way.
pub struct StandIn<F: Fn(&Cell, &mut Observed) + Send + Sync>(pub F);

impl<F: Fn(&Cell, &mut Observed) + Send + Sync> Runner for StandIn<F> {
    fn run(&self, cell: &Cell) -> Outcome {
        let mut observed = observe(cell);
        (self.0)(cell, &mut observed);
        conclude(cell, observed, Duration::from_millis(3))
    }
}

/// A passed trace: a row for each input and each leaf layer or step, one after another.
pub fn observe(cell: &Cell) -> Observed {
    let mut ops: Vec<OpRow> = Vec::new();
    let mut last = ArrayRow::default();
    for (place, (name, input)) in cell.inputs.iter().enumerate() {
        if let Input::Array(array) = input {
            last = ArrayRow::new(array.shape.clone(), array.dtype.name());
        }
        ops.push(OpRow {
            input: Some(name.clone()),
            ..OpRow::new(format!("input_{}:1", place + 1), "input", last.clone())
        });
    }
    let mut names = Vec::new();
    match &cell.program {
        Program::Model(spec) => leaves(spec, &mut names),
        Program::Forward { steps, .. } => names.extend(steps.iter().map(|step| step.callee.clone())),
    }
    for (place, name) in names.iter().enumerate() {
        let number = names[..=place].iter().filter(|it| *it == name).count();
        let parents = vec![ops[ops.len() - 1].label.clone()];
        ops.push(OpRow {
            parents,
            module: Some(format!("layers.{place}")),
            functions: vec![format!("mlx_{name}")],
            decision: Some(Decision::Verified),
            routes: Routes::Both,
            ..OpRow::new(format!("{name}_{number}:1"), name, last.clone())
        });
    }
    let made = ops[ops.len() - 1].label.clone();
    let evidence = Evidence {
        state: Some(State::Passed),
        calls: names.len() as u64,
        modules: vec![ModuleRow {
            address: "layers".into(),
            class: "list".into(),
            calls: 0,
            parameters: vec![],
        }],
        outputs: vec![OutputRow {
            op: made.clone(),
            path: String::new(),
            array: last,
        }],
        work: Work {
            replays: 2 * names.len() as u64,
            perturbations: names.len() as u64,
        },
        mutant: Some(MutantRow {
            name: "parent_dropped".into(),
            op: made,
            fate: Fate::Killed(Reason::DeclaredParentsInconsistent),
        }),
        ops,
        ..Evidence::default()
    };
    Observed {
        evidence,
        values: vec![Data::Float(vec![])],
        ..Observed::default()
    }
}

fn leaves(spec: &Spec, names: &mut Vec<String>) {
    match &spec.children {
        Children::None => names.push(spec.name.clone()),
        Children::List(items) => items.iter().for_each(|item| leaves(item, names)),
        Children::Map(entries) => entries.iter().for_each(|(_, item)| leaves(item, names)),
    }
}
