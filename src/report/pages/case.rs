//! One case: its file, each of its cells, and the traces they have. Cells whose traces are alike share one drawing.

use super::links;
use crate::report::graph::{graph, Graph};
use crate::report::site::Report;
use crate::report::text;
use crate::scorecard::outcome::{EvaluationKind, OpRow, Outcome, Routes, Verdict};
use crate::vocabulary::Shape;
use serde::Serialize;
use std::collections::BTreeMap;

/// The page.
#[derive(Clone, Debug, Serialize)]
pub struct View {
    root: &'static str,
    title: String,
    id: String,
    file: String,
    yaml: String,
    covers: Vec<(String, String)>,
    function: Option<(String, String)>,
    cells: Vec<CellView>,
    traces: Vec<TraceView>,
}

#[derive(Clone, Debug, Serialize)]
struct CellView {
    id: String,
    anchor: String,
    tone: &'static str,
    word: String,
    summary: String,
    millis: u64,
    calls: u64,
    replays: u64,
    perturbations: u64,
    mutant: Option<String>,
    findings: Vec<FindingView>,
    warnings: Vec<String>,
    evaluations: Vec<String>,
    values: Vec<ValueView>,
    distances: Vec<String>,
    output: String,
    rerun: String,
    fix: Option<String>,
    /// Which of the page's traces is like this cell's, from 1; 0 is none.
    trace: usize,
}

#[derive(Clone, Debug, Serialize)]
struct FindingView {
    place: String,
    at: String,
    message: String,
    hint: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
struct ValueView {
    array: String,
    value: String,
}

#[derive(Clone, Debug, Serialize)]
struct TraceView {
    number: usize,
    of: String,
    cells: usize,
    graph: Option<Graph>,
    ops: Vec<OpView>,
}

#[derive(Clone, Debug, Serialize)]
struct OpView {
    label: String,
    anchor: String,
    name: String,
    parents: String,
    shape: String,
    dtype: String,
    module: String,
    functions: String,
    source: String,
    value: String,
    routes: &'static str,
    decision: String,
    tone: &'static str,
}

impl View {
    /// Where it lies.
    pub fn path(&self) -> String {
        links::case(&self.id)
    }
}

/// The outcomes of each case, in order of their ids.
pub fn by_case<'a>(report: &Report<'a>) -> Vec<Vec<&'a Outcome>> {
    let mut found: BTreeMap<&str, Vec<&Outcome>> = BTreeMap::new();
    for outcome in report.outcomes {
        found.entry(&outcome.file).or_default().push(outcome);
    }
    found.into_values().collect()
}

/// What a case's page shows; the outcomes are all of one case.
pub fn view(report: &Report<'_>, outcomes: &[&Outcome]) -> View {
    let first = outcomes.first();
    let id = first.map(|it| it.case()).unwrap_or_default();
    let file = first.map(|it| it.file.clone()).unwrap_or_default();
    let mut traces: Vec<(&Outcome, TraceView)> = Vec::new();
    let mut cells = Vec::new();
    for outcome in outcomes {
        let trace = trace_of(outcome, &mut traces);
        cells.push(cell(outcome, trace));
    }
    let covers = first.into_iter().flat_map(|it| &it.covers);
    let function = first.and_then(|it| it.about.function.clone());
    View {
        root: "../",
        title: id.clone(),
        yaml: report.sources.get(&file).cloned().unwrap_or_default(),
        covers: covers.map(|id| (id.clone(), links::capability(id))).collect(),
        function: function.map(|name| (name.clone(), links::function(&name))),
        id,
        file,
        cells,
        traces: traces.into_iter().map(|(_, trace)| trace).collect(),
    }
}

/// The number of the trace that is like this cell's, which is new where none is; 0 where there is no trace.
fn trace_of<'a>(outcome: &'a Outcome, traces: &mut Vec<(&'a Outcome, TraceView)>) -> usize {
    if outcome.evidence.ops.is_empty() {
        return 0;
    }
    let known = traces.iter_mut().find(|(other, _)| alike(other, outcome));
    if let Some((_, trace)) = known {
        trace.cells += 1;
        return trace.number;
    }
    let number = traces.len() + 1;
    let trace = TraceView {
        number,
        of: outcome.cell.clone(),
        cells: 1,
        graph: graph(&outcome.evidence.ops, &outcome.evidence.modules),
        ops: outcome
            .evidence
            .ops
            .iter()
            .map(|op| op_view(op, outcome, number))
            .collect(),
    };
    traces.push((outcome, trace));
    number
}

/// Whether two traces differ in nothing but shapes and element types.
fn alike(a: &Outcome, b: &Outcome) -> bool {
    let (a, b) = (&a.evidence.ops, &b.evidence.ops);
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| {
            (&a.label, &a.parents, &a.module, &a.functions) == (&b.label, &b.parents, &b.module, &b.functions)
                && (a.decision, a.reason, a.routes) == (b.decision, b.reason, b.routes)
        })
}

fn cell(outcome: &Outcome, trace: usize) -> CellView {
    let evidence = &outcome.evidence;
    let summary = match evidence.state {
        Some(state) if evidence.message.is_empty() => state.to_string(),
        Some(state) => format!("{state}: {}", evidence.message),
        None => text::ending(&evidence.ending),
    };
    let evaluations = evidence.evaluations.iter().map(|it| {
        let kind = match it.kind {
            EvaluationKind::Explicit => "explicit",
            EvaluationKind::Implicit => "implicit",
        };
        let source = it.source.as_ref().map(|at| format!(" at {at}"));
        format!("{kind}, {}{}", it.function, source.unwrap_or_default())
    });
    let values = evidence.outputs.iter().map(|output| ValueView {
        array: format!(
            "{} {} {}",
            output.op,
            output.array.dtype,
            Shape(&output.array.shape)
        ),
        value: outcome
            .values
            .get(&output.op)
            .cloned()
            .unwrap_or_else(|| "not kept".to_owned()),
    });
    CellView {
        id: outcome.cell.clone(),
        anchor: links::anchor(&outcome.cell),
        tone: links::tone(outcome),
        word: links::verdicts(outcome),
        summary,
        millis: outcome.millis,
        calls: evidence.calls,
        replays: evidence.work.replays,
        perturbations: evidence.work.perturbations,
        mutant: text::mutant(outcome),
        findings: outcome
            .findings
            .iter()
            .map(|it| FindingView {
                place: format!("{}:{}", outcome.file, it.line),
                at: it.at.clone(),
                message: it.message.clone(),
                hint: it.hint.clone(),
            })
            .collect(),
        warnings: evidence.warnings.iter().chain(&evidence.notes).cloned().collect(),
        evaluations: evaluations.collect(),
        values: values.collect(),
        distances: outcome.distances.iter().map(distance).collect(),
        output: outcome.output.clone(),
        rerun: outcome.rerun_command(),
        fix: fix(outcome),
        trace,
    }
}

fn distance(it: &crate::scorecard::about::Distance) -> String {
    let ratio = match it.ratio {
        Some(0.0) => "equal".to_owned(),
        Some(ratio) => format!("error {ratio:.3} of the tolerance"),
        None => "off, and may not be".to_owned(),
    };
    format!("{}: {ratio} ({})", it.what, it.tolerance())
}

/// How a red or excused cell gets green.
fn fix(outcome: &Outcome) -> Option<String> {
    let any = |verdict| outcome.record == verdict || outcome.value == Some(verdict);
    let said = if any(Verdict::Invalid) {
        "The suite is at fault: mend the case as the finding says."
    } else if any(Verdict::UnexpectedPass) {
        "It passes where a failure is expected: run assay accept, which removes the entry."
    } else if any(Verdict::ChangedFail) {
        return Some(changed(outcome));
    } else if outcome.record.is_red() {
        "The record is wrong: look at the op that the finding names, and mend the backend, or the case."
    } else if outcome.value.is_some_and(Verdict::is_red) {
        "If MLX is wrong, add an expected_fail with an issue and a date; the right value stays."
    } else if any(Verdict::ExpectedFail) {
        "It fails as expected; the entry in expected_fail says until when."
    } else {
        return None;
    };
    Some(said.to_owned())
}

/// How an expected failure that fails otherwise gets green.
fn changed(outcome: &Outcome) -> String {
    let mut text = "It fails otherwise than expected: look at the finding.".to_owned();
    for it in &outcome.otherwise {
        let (was, now) = (it.before(), it.now.join(", "));
        text.push_str(&format!(
            " Was: {was}. Now: {now}. If that is right: {}.",
            it.remedy(&outcome.file)
        ));
    }
    text
}

/// Each function once, in order of the first call, with how often it was called.
fn counted_calls(functions: &[String]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for function in functions {
        match counts.iter_mut().find(|(name, _)| name == function) {
            Some((_, count)) => *count += 1,
            None => counts.push((function, 1)),
        }
    }
    let words = counts.into_iter().map(|(name, count)| match count {
        1 => name.to_owned(),
        count => format!("{name} ({count} times)"),
    });
    words.collect::<Vec<_>>().join(", ")
}

fn op_view(op: &OpRow, outcome: &Outcome, trace: usize) -> OpView {
    let each = |spell: &dyn Fn(&crate::scorecard::outcome::ArrayRow) -> String| {
        op.results.iter().map(spell).collect::<Vec<_>>().join(" ")
    };
    OpView {
        anchor: links::anchor(&format!("{trace}-{}", op.label)),
        label: op.label.clone(),
        name: op.name.clone(),
        parents: op.parents.join(" "),
        shape: each(&|it| Shape(&it.shape).to_string()),
        dtype: each(&|it| it.dtype.clone()),
        module: op.module.clone().unwrap_or_default(),
        functions: counted_calls(&op.functions),
        source: op.source.clone().unwrap_or_default(),
        value: outcome.values.get(&op.label).cloned().unwrap_or_default(),
        routes: match op.routes {
            Routes::None => "none",
            Routes::Function => "function",
            Routes::Graph => "graph",
            Routes::Both => "both",
        },
        decision: text::decision(op),
        tone: op.decision.map_or("none", |decision| decision.name()),
    }
}
