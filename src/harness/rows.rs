//! From a trace and its status to rows of plain data, as reports and files have them.

use crate::capture::{self, Evaluation, EvaluationKind, Op, Primitive, Trace, ValueId};
use crate::model::dtype_name;
use crate::scorecard::outcome::{
    ArrayRow, Ending, EvaluationKind as Kind, EvaluationPlace, EvaluationRow, Evidence, InsideRow, ModuleRow,
    OpRow, OutputRow, Routes, Work,
};
use crate::validate::{OpDecision, PrimitiveDecision, Status};

/// What is reported of a trace and what validation made of it.
pub fn evidence(trace: &Trace, status: &Status) -> Evidence {
    let ops = trace.ops();
    let labels: Vec<String> = ops.iter().map(Op::label).collect();
    let rows = ops
        .iter()
        .zip(status.ops())
        .map(|(op, decision)| op_row(trace, op, decision, &labels))
        .collect();
    let outputs = trace
        .outputs()
        .iter()
        .map(|output| {
            let giver = ops.iter().rposition(|op| op.results().contains(&output.value()));
            OutputRow {
                path: output.path().to_string(),
                op: giver.map(|place| labels[place].clone()).unwrap_or_default(),
                array: array_row(trace, output.value()),
            }
        })
        .collect();
    Evidence {
        ending: Ending::Traced,
        state: Some(status.state()),
        message: status.message().to_string(),
        warnings: trace.warnings(),
        ops: rows,
        calls: trace.calls().len() as u64,
        modules: trace.modules().iter().map(module_row).collect(),
        evaluations: trace
            .evaluations()
            .iter()
            .map(|evaluation| EvaluationRow {
                function: evaluation.function().to_string(),
                kind: match evaluation.kind() {
                    EvaluationKind::Explicit => Kind::Explicit,
                    EvaluationKind::Implicit => Kind::Implicit,
                },
                source: evaluation.source().map(ToString::to_string),
                place: place_of(trace, evaluation, &ops),
            })
            .collect(),
        outputs,
        work: Work {
            replays: status.work().replays,
            perturbations: status.work().perturbations,
        },
        mutant: None,
        notes: Vec::new(),
        insides: inside_rows(trace, status, "", &ops),
        unordered: false,
    }
}

/// Where in the forward an evaluation happened.
fn place_of(trace: &Trace, evaluation: &Evaluation, ops: &[Op]) -> EvaluationPlace {
    if evaluation.inside_transform() {
        return EvaluationPlace::Inside;
    }
    let Some(after) = evaluation.after() else {
        return EvaluationPlace::Beginning;
    };
    match ops.iter().find(|op| op.calls().contains(&after)) {
        Some(op) if !trace.is_last(after) => EvaluationPlace::After(op.label()),
        _ => EvaluationPlace::End,
    }
}

/// The insides of the ops that ran a closure, with those inside them.
fn inside_rows(trace: &Trace, status: &Status, around: &str, ops: &[Op]) -> Vec<InsideRow> {
    let mut rows = Vec::new();
    for (transform, inside) in trace.transforms().iter().zip(status.insides()) {
        let op = ops.iter().find(|op| op.calls().contains(&transform.call()));
        let label = format!("{around}{}", op.map(Op::label).unwrap_or_default());
        let (forward, own) = (transform.forward(), transform.forward().ops());
        let labels: Vec<String> = own.iter().map(Op::label).collect();
        let rows_of_forward = own
            .iter()
            .zip(inside.forward().ops())
            .map(|(op, decision)| op_row(forward, op, decision, &labels))
            .collect();
        let primitives = transform.primitives();
        let backward = primitives
            .iter()
            .zip(inside.derivative())
            .map(|(primitive, decision)| primitive_row(primitive, decision, &primitives, &own, forward))
            .collect();
        rows.push(InsideRow {
            op: label.clone(),
            state: Some(inside.forward().state()),
            forward: rows_of_forward,
            backward,
        });
        rows.extend(inside_rows(forward, inside.forward(), &format!("{label}/"), &own));
    }
    rows
}

/// A primitive of a derivative as a row.
fn primitive_row(
    primitive: &Primitive,
    decision: &PrimitiveDecision,
    all: &[Primitive],
    forward: &[Op],
    trace: &Trace,
) -> OpRow {
    let parent = |source: &capture::Source| match *source {
        capture::Source::Forward(value) => {
            let giver = forward.iter().rev().find(|op| op.results().contains(&value));
            giver.map_or_else(|| trace.describe(value), Op::label)
        }
        capture::Source::Made => "made".to_owned(),
        capture::Source::Primitive(place) => all[place].label(),
    };
    OpRow {
        label: primitive.label(),
        name: primitive.name.clone(),
        parents: primitive.parents.iter().map(parent).collect(),
        results: decision
            .results
            .iter()
            .map(|(shape, dtype)| ArrayRow::new(shape.as_slice(), dtype_name(*dtype)))
            .collect(),
        decision: Some(decision.decision),
        reason: decision.reason,
        routes: Routes::Graph,
        ..OpRow::default()
    }
}

fn op_row(trace: &Trace, op: &Op, decision: &OpDecision, labels: &[String]) -> OpRow {
    let routes = decision.routes();
    OpRow {
        decision: Some(decision.decision()),
        reason: decision.reason(),
        routes: match (routes.function, routes.graph) {
            (true, true) => Routes::Both,
            (true, false) => Routes::Function,
            (false, true) => Routes::Graph,
            (false, false) => Routes::None,
        },
        ..plain_row(trace, op, labels)
    }
}

/// An op without what validation makes of it.
pub(super) fn plain_row(trace: &Trace, op: &Op, labels: &[String]) -> OpRow {
    OpRow {
        label: op.label(),
        name: op.func_name().to_string(),
        input: input_name(trace, op),
        parents: op
            .parents()
            .iter()
            .map(|parent| labels[*parent].clone())
            .collect(),
        results: op
            .results()
            .iter()
            .map(|value| array_row(trace, *value))
            .collect(),
        module: op.module().map(str::to_string),
        scope: op.scope().map(str::to_string),
        functions: op
            .calls()
            .iter()
            .map(|call| trace.call(*call).function().name.to_string())
            .collect(),
        source: op.source().map(ToString::to_string),
        ..OpRow::default()
    }
}

/// The path of an input row.
fn input_name(trace: &Trace, op: &Op) -> Option<String> {
    match trace.value(*op.results().first()?).origin() {
        crate::capture::Origin::Input { path } if op.calls().is_empty() && !path.is_empty() => {
            Some(path.clone())
        }
        _ => None,
    }
}

fn array_row(trace: &Trace, value: ValueId) -> ArrayRow {
    let value = trace.value(value);
    ArrayRow::new(value.shape(), dtype_name(value.dtype()))
}

fn module_row(module: &crate::capture::ModuleRecord) -> ModuleRow {
    ModuleRow {
        address: module.address().to_string(),
        class: module.class().unwrap_or("module").to_string(),
        calls: module.calls(),
        parameters: module.parameters().iter().map(|(name, _)| name.clone()).collect(),
    }
}
