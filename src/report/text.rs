//! A run's end and a cell's trace, as plain text.

use super::table::Table;
use crate::scorecard::changes::{Change, Direction};
use crate::scorecard::label::Standing;
use crate::scorecard::outcome::{Ending, EvaluationKind, EvaluationPlace, Evidence, Fate, OpRow, Outcome};
use crate::scorecard::settle::{Settled, Update};
use crate::scorecard::store::{CARD, PENDING_CARD};
use crate::scorecard::totals::Totals;
use crate::vocabulary::{Device, Shape};

/// The totals of each device, what became of the scorecard, and where the page lies.
pub fn summary(totals: &[(Device, Totals)], settled: &Settled, label: &Standing, page: &str) -> String {
    let many = totals.len() > 1;
    let of_device = |(device, totals): &(Device, Totals)| match many {
        true => format!("{device}: {}", totals_line(totals)),
        false => totals_line(totals),
    };
    let mut lines: Vec<String> = totals.iter().map(of_device).collect();
    lines.extend(change_lines(settled, Direction::Regression, "worse ", many));
    lines.extend(change_lines(settled, Direction::Improvement, "better", many));
    let new = settled
        .changes
        .iter()
        .filter(|change| change.direction == Direction::Addition)
        .count();
    if new > 0 {
        lines.push(format!("new     {} in the scorecard", counted(new, "row")));
    }
    for (id, missing) in &settled.over_claims {
        lines.push(format!("over-claim  {id}: {missing}"));
    }
    if matches!(settled.update, Update::Pending | Update::Differs) {
        lines.extend(shortened(settled.diff.lines(), MOST_DIFF_LINES));
    }
    lines.push(update_line(&settled.update));
    lines.push(format!("label: {}", label.phrase()));
    lines.extend(label.broken.iter().map(|why| format!("broken  {why}")));
    lines.push(format!("report: {page}"));
    lines.join("\n") + "\n"
}

/// How many changes of one kind are listed.
const MOST_CHANGES: usize = 20;

/// How much of a diff is printed; all of it lies in the files.
const MOST_DIFF_LINES: usize = 60;

fn change_lines(settled: &Settled, direction: Direction, word: &str, names_devices: bool) -> Vec<String> {
    let line = |change: &Change| match change.device.filter(|_| names_devices) {
        Some(device) => format!("{word}  {} on {device}: {}", change.what, change.detail),
        None => format!("{word}  {}: {}", change.what, change.detail),
    };
    let changes = settled.changes.iter();
    let of_kind: Vec<String> = changes
        .filter(|change| change.direction == direction)
        .map(line)
        .collect();
    shortened(of_kind.iter().map(String::as_str), MOST_CHANGES)
}

fn shortened<'a>(lines: impl Iterator<Item = &'a str>, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = lines.map(str::to_owned).collect();
    if lines.len() > most {
        let more = lines.len() - most;
        lines.truncate(most);
        lines.push(format!("… and {more} more"));
    }
    lines
}

/// `1 cell`, `3,412 cells`.
pub fn counted(number: usize, what: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{} {what}{s}", grouped(number))
}

fn totals_line(totals: &Totals) -> String {
    let mut parts = vec![
        format!("{} of {} cells ran", grouped(totals.ran), grouped(totals.cells)),
        format!("record {} pass", grouped(totals.record_pass)),
    ];
    if totals.value_claims > 0 {
        parts.push(format!(
            "value {} of {} pass",
            grouped(totals.value_pass),
            grouped(totals.value_claims)
        ));
    }
    let others = [
        (totals.red, "red"),
        (totals.expected_fail, "expected to fail"),
        (totals.unexpected_pass, "pass unexpectedly"),
        (totals.skipped, "skipped"),
    ];
    parts.extend(
        others
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}")),
    );
    parts.join(", ")
}

/// One line on what became of the scorecard.
pub fn update_line(update: &Update) -> String {
    match update {
        Update::Partial { ran, of } => {
            format!(
                "scorecard not updated: {} of {} cells ran",
                grouped(*ran),
                grouped(*of)
            )
        }
        Update::Invalid { cells } => format!(
            "scorecard not updated: the suite is at fault in {}",
            counted(*cells, "cell")
        ),
        Update::Flaky { cells } => format!(
            "scorecard not updated: {} did not come out alike, which is no evidence",
            counted(*cells, "cell")
        ),
        Update::Current => format!("scorecard current: {CARD}"),
        Update::Written => format!("scorecard written: {CARD}; commit it"),
        Update::Pending => format!("scorecard not updated: {PENDING_CARD} waits for `assay accept`"),
        Update::Differs => {
            format!("scorecard differs from this run: {CARD}; nothing is written where CI is set")
        }
        Update::NothingToCompare => {
            "scorecard has no column for this device; nothing is written where CI is set".to_owned()
        }
    }
}

/// A number with its thousands apart: `3,412`.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A cell's trace: how it ended, the ops as a table, modules, evaluations, warnings, findings.
pub fn trace(outcome: &Outcome) -> String {
    let evidence = &outcome.evidence;
    let value = outcome
        .value
        .map(|value| format!(", value {value}"))
        .unwrap_or_default();
    let mut text = format!("{}   record {}{value}\n", outcome.cell, outcome.record);
    text.push_str(&format!("{}:{}\n", outcome.file, outcome.line));
    text.push_str(&shown(evidence));
    for finding in &outcome.findings {
        text.push_str(&format!(
            "\n{}:{}  {}\n{}\n",
            outcome.file, finding.line, finding.at, finding.message
        ));
    }
    text
}

/// What was found of a trace: how it ended, the ops as a table, modules, evaluations, insides, notes, warnings.
pub fn shown(evidence: &Evidence) -> String {
    let mut text = state_line(evidence);
    if !evidence.ops.is_empty() {
        text.push('\n');
        text.push_str(&ops(&evidence.ops).to_string());
    }
    if !evidence.modules.is_empty() {
        text.push('\n');
        text.push_str(&modules(evidence).to_string());
    }
    if !evidence.evaluations.is_empty() {
        text.push('\n');
        for evaluation in &evidence.evaluations {
            let kind = match evaluation.kind {
                EvaluationKind::Explicit => "explicit",
                EvaluationKind::Implicit => "implicit",
            };
            let source = evaluation
                .source
                .as_deref()
                .map(|source| format!(" at {source}"))
                .unwrap_or_default();
            let place = match &evaluation.place {
                EvaluationPlace::End => "at the end of the forward".to_owned(),
                EvaluationPlace::Beginning => "! inside the forward, before anything else".to_owned(),
                EvaluationPlace::After(op) => format!("! inside the forward, after {op}"),
                EvaluationPlace::Inside => "! inside a transform's closure".to_owned(),
            };
            let function = &evaluation.function;
            text.push_str(&format!("evaluation  {kind}, {function}{source}, {place}\n"));
        }
    }
    for inside in &evidence.insides {
        let state = inside.state.map_or("not validated", |state| state.name());
        text.push_str(&format!(
            "\ninside {}: {state}\n{}",
            inside.op,
            ops(&inside.forward)
        ));
        if !inside.backward.is_empty() {
            text.push_str(&format!("\nbackward of {}\n{}", inside.op, ops(&inside.backward)));
        }
    }
    for note in &evidence.notes {
        text.push_str(&format!("\nnote  {note}\n"));
    }
    for warning in &evidence.warnings {
        text.push_str(&format!("\nwarning  {warning}\n"));
    }
    text
}

fn state_line(evidence: &Evidence) -> String {
    let ending = match (&evidence.ending, evidence.state) {
        (Ending::Traced, Some(state)) if evidence.message.is_empty() => format!("state {state}"),
        (Ending::Traced, Some(state)) => format!("state {state}: {}", evidence.message),
        (ending, _) => self::ending(ending),
    };
    let work = match evidence.ending {
        Ending::Traced => format!(
            "; {} ops, {} calls, {} replays, {} perturbations",
            evidence.ops.len(),
            evidence.calls,
            evidence.work.replays,
            evidence.work.perturbations
        ),
        _ => String::new(),
    };
    let mutant = mutant_of(evidence).map(|it| format!("; mutant {it}"));
    format!("{ending}{work}{}\n", mutant.unwrap_or_default())
}

/// The seeded fault of a cell, and what became of it.
pub fn mutant(outcome: &Outcome) -> Option<String> {
    mutant_of(&outcome.evidence)
}

fn mutant_of(evidence: &Evidence) -> Option<String> {
    let mutant = evidence.mutant.as_ref()?;
    let fate = match mutant.fate {
        Fate::Killed(reason) => format!("killed, {reason}"),
        Fate::Misnamed(reason) => format!("flagged with a reason that does not fit, {reason}"),
        Fate::Survived => "survived".to_owned(),
    };
    Some(format!("{} in {}: {fate}", mutant.name, mutant.op))
}

/// How a capture without a state ended.
pub fn ending(ending: &Ending) -> String {
    match ending {
        Ending::Traced => "not validated".to_owned(),
        Ending::Refused {
            code,
            message,
            remedy,
            ..
        } => format!("refused, {code}: {message}; {remedy}"),
        Ending::Error { message } => format!("error: {message}"),
        Ending::Skipped { reason } => format!("skipped: {reason}"),
        other => other.to_string(),
    }
}

fn ops(ops: &[OpRow]) -> Table {
    let lines = ops.iter().any(|op| op.source.is_some());
    let columns = [
        "op", "name", "parents", "shape", "dtype", "module", "decision", "line",
    ];
    let mut table = Table::new(&columns[..columns.len() - usize::from(!lines)]);
    for op in ops {
        let each = |spell: &dyn Fn(&crate::scorecard::outcome::ArrayRow) -> String| {
            op.results.iter().map(spell).collect::<Vec<_>>().join(" ")
        };
        let parents = match &op.input {
            Some(input) => format!("={input}"),
            None => op.parents.join(" "),
        };
        let module = match (&op.module, &op.scope) {
            (Some(module), _) if module.is_empty() => ".".to_owned(),
            (Some(module), _) => module.clone(),
            (None, Some(scope)) => scope.clone(),
            (None, None) => "-".to_owned(),
        };
        let line = lines.then(|| op.source.clone().unwrap_or_else(|| "-".to_owned()));
        let cells = [
            op.label.clone(),
            op.name.clone(),
            if parents.is_empty() {
                "-".to_owned()
            } else {
                parents
            },
            each(&|it| Shape(&it.shape).to_string()),
            each(&|it| it.dtype.clone()),
            module,
            decision(op),
        ];
        table.row(cells.into_iter().chain(line));
    }
    table
}

/// `verified`, or `unproven: perturbation_insensitive`.
pub fn decision(op: &OpRow) -> String {
    match (op.decision, op.reason) {
        (None, _) => "-".to_owned(),
        (Some(decision), None) => decision.to_string(),
        (Some(decision), Some(reason)) => format!("{decision}: {reason}"),
    }
}

fn modules(evidence: &Evidence) -> Table {
    let mut table = Table::new(&["module", "class", "calls", "parameters"]);
    for module in &evidence.modules {
        let address = if module.address.is_empty() {
            "."
        } else {
            &module.address
        };
        let parameters = if module.parameters.is_empty() {
            "-".to_owned()
        } else {
            module.parameters.join(" ")
        };
        table.row([
            address.to_owned(),
            module.class.clone(),
            module.calls.to_string(),
            parameters,
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        assert_eq!(
            [12, 999, 3_412, 1_000_000].map(grouped),
            ["12", "999", "3,412", "1,000,000"]
        );
    }
}
