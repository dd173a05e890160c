//! The block that a failing cell prints: what, where, which op, and how to go on.

use super::seam::Cell;
use crate::case::schema::Fails;
use crate::case::value::Value;
use crate::scorecard::cells::signature_of;
use crate::scorecard::outcome::{Checked, Evidence, Finding, OpRow, Outcome, Routes, Verdict};
use crate::vocabulary::{Decision, Shape};

/// How many findings one block shows; what follows from the first few is seldom news.
const MOST_FINDINGS: usize = 5;

/// How many lines of a cell's output one block shows.
const MOST_LINES: usize = 10;

/// How many characters of such a line.
const LONGEST_LINE: usize = 200;

/// The block, without a line break at its end.
pub fn block(cell: &Cell, outcome: &Outcome) -> String {
    let mut lines = vec![head(outcome)];
    if outcome.findings.is_empty() {
        lines.push(format!("  {}:{}", outcome.file, outcome.line));
        lines.push(format!("  {}", super::expect::describe(&outcome.evidence.ending)));
    }
    for finding in outcome.findings.iter().take(MOST_FINDINGS) {
        lines.push(format!("  {}:{}  {}", outcome.file, finding.line, finding.at));
        lines.push(format!("  {}", finding.message));
        lines.extend(finding.hint.as_ref().map(|hint| format!("  {hint}")));
    }
    if let Some(more) = outcome
        .findings
        .len()
        .checked_sub(MOST_FINDINGS)
        .filter(|more| *more > 0)
    {
        lines.push(format!("  and {more} more"));
    }
    lines.extend(suspect(outcome).map(|op| format!("  {}", op_line(op, &outcome.evidence))));
    lines.extend(printed(&outcome.output));
    lines.push(format!("  rerun  {}", outcome.rerun_command()));
    lines.push(format!("  look   {}", cell.show_command()));
    for it in &outcome.otherwise {
        lines.push(format!("  was    {}", it.before()));
        lines.push(format!("  now    {}", it.now.join(", ")));
        lines.push(format!("  edit   {}", it.remedy(&outcome.file)));
    }
    if outcome.value == Some(Verdict::Fail) {
        let fails = signature_of(Checked::Value, &outcome.findings, &outcome.evidence.ending);
        lines.push(format!(
            "  if MLX is wrong, add:  expected_fail: [{{{}check: value, fails: {}, because: …, issue: …, opened: …, \
             expires: …}}]",
            selection(cell),
            Fails(fails)
        ));
    }
    lines.join("\n")
}

/// The last lines of what the cell printed.
fn printed(output: &str) -> Vec<String> {
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    let from = lines.len().saturating_sub(MOST_LINES);
    lines[from..]
        .iter()
        .map(|line| {
            // Nothing a cell prints may steer a terminal, or fill it.
            let text: String = line
                .chars()
                .filter(|it| !it.is_control())
                .take(LONGEST_LINE)
                .collect();
            format!("  | {text}")
        })
        .collect()
}

fn head(outcome: &Outcome) -> String {
    let value = outcome
        .value
        .map(|value| format!(", value {value}"))
        .unwrap_or_default();
    format!("FAIL {}   record {}{value}", outcome.cell, outcome.record)
}

/// `where: {dtype: float16, shape: [4096]}, `; nothing for a case without matrix.
fn selection(cell: &Cell) -> String {
    if cell.axes.is_empty() {
        return String::new();
    }
    let axes: Vec<String> = cell
        .axes
        .iter()
        .map(|(axis, value): &(String, Value)| format!("{axis}: {value}"))
        .collect();
    format!("where: {{{}}}, ", axes.join(", "))
}

/// The op to look at: for a record the first that failed or is unproven, for a value the one that made the output.
fn suspect(outcome: &Outcome) -> Option<&OpRow> {
    let ops = &outcome.evidence.ops;
    let first = |decision| ops.iter().find(|op| op.decision == Some(decision));
    let of_record = || first(Decision::Failed).or_else(|| first(Decision::Unproven));
    let of_value = || {
        let finding: &Finding = outcome
            .findings
            .iter()
            .find(|finding| finding.check == Checked::Value)?;
        // Every finding about an output begins with its place.
        let place = finding
            .message
            .strip_prefix("output ")?
            .split([':', ' '])
            .next()?
            .parse::<usize>()
            .ok()?;
        outcome.evidence.op(&outcome.evidence.outputs.get(place)?.op)
    };
    if outcome.record.is_red() {
        of_record()
    } else {
        of_value()
    }
}

/// `op sum_1, call 1 mlx_sum, x float16 (4096): verified, both routes`.
fn op_line(op: &OpRow, evidence: &Evidence) -> String {
    let label = op.label.strip_suffix(":1").unwrap_or(&op.label);
    let mut parts = vec![format!("op {label}")];
    parts.extend(op.functions.first().map(|function| format!("call 1 {function}")));
    parts.extend(op.parents.iter().filter_map(|parent| {
        let parent = evidence.op(parent)?;
        let array = parent.results.first()?;
        let name = parent
            .input
            .as_deref()
            .unwrap_or(parent.label.strip_suffix(":1").unwrap_or(&parent.label));
        Some(format!("{name} {} {}", array.dtype, Shape(&array.shape)))
    }));
    let decision = op.decision.map_or("not validated", Decision::name);
    let reason = op.reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    format!("{}: {decision}{reason}{}", parts.join(", "), routes(op.routes))
}

fn routes(routes: Routes) -> &'static str {
    match routes {
        Routes::None => "",
        Routes::Function => ", function route",
        Routes::Graph => ", graph route",
        Routes::Both => ", both routes",
    }
}
