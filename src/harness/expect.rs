//! Expected x observed -> verdicts and findings, as pure functions.

use super::compare::{self, Comparison};
use super::seam::{Cell, Observed, Reference};
use crate::case::cell::Located;
use crate::case::data::Input;
use crate::case::elements;
use crate::case::error::nearest;
use crate::case::position::Path;
use crate::case::schema::{Check, Expectation, ModuleExpectation, OutputExpectation};
use crate::scorecard::outcome::{
    Checked, Ending, Evidence, Fate, Finding, FindingKind, Outcome, OutputRow, Verdict,
};
use crate::vocabulary::{DType, Shape, State};
use std::time::Duration;

/// The outcome of a cell of which this was observed.
pub fn conclude(cell: &Cell, observed: Observed, elapsed: Duration) -> Outcome {
    let findings = findings(cell, &observed);
    let verdict = |check| verdict(cell, check, &observed.evidence.ending, &findings);
    Outcome {
        cell: cell.id.clone(),
        file: cell.case.file.clone(),
        line: cell.line(),
        covers: cell.case.covers.clone(),
        record: verdict(Check::Record),
        value: claims_values(cell).then(|| verdict(Check::Value)),
        findings,
        evidence: observed.evidence,
        millis: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
    }
}

/// Whether the case claims anything about the cell's values, so that there is a verdict about them.
pub fn claims_values(cell: &Cell) -> bool {
    cell.expect.iter().any(|it| it.item.claims_values())
}

fn verdict(cell: &Cell, check: Check, ending: &Ending, findings: &[Finding]) -> Verdict {
    let of_check: Vec<&Finding> = findings
        .iter()
        .filter(|finding| checked(check) == finding.check)
        .collect();
    let plain = match ending {
        Ending::Skipped { .. } => return Verdict::Skipped,
        Ending::Invalid { .. } => return Verdict::Invalid,
        _ if of_check
            .iter()
            .any(|it| matches!(it.kind, FindingKind::Suite | FindingKind::Vacuous)) =>
        {
            return Verdict::Invalid
        }
        Ending::Crashed { .. } => Verdict::Crash,
        Ending::TimedOut { .. } => Verdict::Timeout,
        _ if of_check.is_empty() => Verdict::Pass,
        _ => Verdict::Fail,
    };
    let expected_to_fail = cell.expected_fail.iter().any(|fail| fail.item.check == check);
    match (expected_to_fail, plain) {
        (false, plain) => plain,
        (true, Verdict::Pass) => Verdict::UnexpectedPass,
        (true, _) => Verdict::ExpectedFail,
    }
}

const fn checked(check: Check) -> Checked {
    match check {
        Check::Record => Checked::Record,
        Check::Value => Checked::Value,
    }
}

/// Everything that differs, in the order in which the case says it.
pub fn findings(cell: &Cell, observed: &Observed) -> Vec<Finding> {
    let evidence = &observed.evidence;
    let mut found = Findings {
        cell,
        list: Vec::new(),
    };
    match &evidence.ending {
        Ending::Skipped { .. } => return found.list,
        Ending::Invalid { message } => {
            found.add(
                Checked::Record,
                FindingKind::Suite,
                &Path::root().key("expect"),
                message.clone(),
            );
            return found.list;
        }
        _ => {}
    }
    judge_ending(&mut found, evidence);
    if evidence.ending != Ending::Traced {
        return found.list;
    }
    if let Some(mutant) = &evidence.mutant {
        let (name, op) = (&mutant.name, &mutant.op);
        match mutant.fate {
            Fate::Killed(_) => {}
            Fate::Misnamed(reason) => found.whole(
                FindingKind::Mutant,
                format!("mutant {name} in {op}: flagged as {reason}, which does not fit the fault"),
            ),
            Fate::Survived => found.whole(
                FindingKind::Mutant,
                format!("mutant {name} in {op} survived validation"),
            ),
        }
    }
    for expectation in &cell.expect {
        judge_trace(&mut found, expectation, evidence);
        judge_outputs(&mut found, expectation, observed);
    }
    found.list
}

/// Collects findings of one cell.
struct Findings<'a> {
    cell: &'a Cell,
    list: Vec<Finding>,
}

impl Findings<'_> {
    fn add(&mut self, check: Checked, kind: FindingKind, path: &Path, message: String) {
        self.add_with_hint(check, kind, path, message, None);
    }

    fn whole(&mut self, kind: FindingKind, message: String) {
        self.add(Checked::Record, kind, &Path::root().key("expect"), message);
    }

    fn add_with_hint(
        &mut self,
        check: Checked,
        kind: FindingKind,
        path: &Path,
        message: String,
        hint: Option<String>,
    ) {
        let line = self.cell.case.index.key_position(path).line.max(1);
        self.list.push(Finding {
            check,
            at: path.to_string(),
            line,
            kind,
            message,
            hint,
        });
    }

    fn no_such(&mut self, what: &str, name: &str, known: &[&str], path: &Path) {
        let near = nearest(name, known.iter().copied());
        let list = |names: &[&str]| names.join(", ");
        let hint = match (near.is_empty(), known.is_empty()) {
            (_, true) => format!("the trace has no {what}"),
            (false, _) => format!("did you mean {}? there are {}", list(&near), list(known)),
            (true, _) => format!("there are {}", list(known)),
        };
        let message = format!("no {what} `{name}`");
        self.add_with_hint(
            Checked::Record,
            FindingKind::NoSuchName,
            path,
            message,
            Some(hint),
        );
    }
}

// How the capture ended, and the state.

fn judge_ending(found: &mut Findings<'_>, evidence: &Evidence) {
    let cell = found.cell;
    let claim = cell
        .expect
        .iter()
        .find_map(|it| match (&it.item.refusal, &it.item.error, it.item.state) {
            (Some(code), _, _) => Some((it.path.key("refusal"), Claim::Refusal(*code))),
            (_, Some(text), _) => Some((it.path.key("error"), Claim::Error(text.clone()))),
            (_, _, Some(state)) => Some((it.path.key("state"), Claim::State(state))),
            _ => None,
        });
    let (path, claim) = claim.unwrap_or_else(|| {
        let path = cell
            .expect
            .first()
            .map_or_else(|| Path::root().key("expect"), |it| it.path.clone());
        (path, Claim::State(State::Passed))
    });
    let (kind, message) = match (&claim, &evidence.ending) {
        (Claim::State(wanted), Ending::Traced) => match evidence.state {
            Some(state) if state == *wanted => return,
            Some(state) => (
                FindingKind::State,
                with_detail(format!("state: found {state}, expected {wanted}"), evidence),
            ),
            None => (
                FindingKind::State,
                format!("the trace was not validated, expected {wanted}"),
            ),
        },
        (Claim::Refusal(code), Ending::Refused { code: found, .. }) if code == found => return,
        (Claim::Error(text), Ending::Error { message }) if message.contains(text.as_str()) => return,
        (claim, ending) => (
            FindingKind::Ending,
            format!("found {}, expected {claim}", describe(ending)),
        ),
    };
    found.add(Checked::Record, kind, &path, message);
}

/// How a case says that a capture ends.
enum Claim {
    State(State),
    Refusal(crate::capability::RefusalCode),
    Error(String),
}

impl std::fmt::Display for Claim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Claim::State(state) => write!(f, "a trace that is {state}"),
            Claim::Refusal(code) => write!(f, "refusal {code}"),
            Claim::Error(text) => write!(f, "an error with \"{text}\""),
        }
    }
}

/// How a capture ended, for messages.
pub fn describe(ending: &Ending) -> String {
    match ending {
        Ending::Traced => "a trace".to_owned(),
        Ending::Refused { code, message, .. } => format!("refusal {code} ({message})"),
        Ending::Error { message } => format!("the error \"{message}\""),
        Ending::Crashed {
            op: Some(op),
            message,
        } => format!("a crash in {op} ({message})"),
        Ending::Crashed { op: None, message } => format!("a crash ({message})"),
        Ending::TimedOut {
            op: Some(op),
            seconds,
        } => format!("no end after {seconds} s in {op}"),
        Ending::TimedOut { op: None, seconds } => format!("no end after {seconds} s"),
        Ending::Skipped { reason } => format!("a skip ({reason})"),
        Ending::Invalid { message } => format!("the suite's own fault ({message})"),
    }
}

fn with_detail(message: String, evidence: &Evidence) -> String {
    match evidence.message.as_str() {
        "" => message,
        detail => format!("{message} ({detail})"),
    }
}

// The trace.

fn judge_trace(found: &mut Findings<'_>, expectation: &Located<Expectation>, evidence: &Evidence) {
    let Located { path, item } = expectation;
    let labels: Vec<&str> = evidence
        .ops
        .iter()
        .map(|op| op.label.strip_suffix(":1").unwrap_or(&op.label))
        .collect();

    if let Some(wanted) = &item.ops {
        let names: Vec<&str> = evidence.ops.iter().map(|op| op.name.as_str()).collect();
        if names != wanted.iter().map(String::as_str).collect::<Vec<_>>() {
            let place = names.iter().zip(wanted).position(|(name, wanted)| name != wanted);
            let place = place.unwrap_or(names.len().min(wanted.len()));
            let message = format!(
                "ops: found [{}], expected [{}]; they part at {place}",
                names.join(", "),
                wanted.join(", ")
            );
            found.add(Checked::Record, FindingKind::Ops, &path.key("ops"), message);
        }
    }
    for (label, wanted) in &item.parents {
        let at = path.key("parents").key(label);
        let Some(op) = evidence.op(label) else {
            found.no_such("op", label, &labels, &at);
            continue;
        };
        let short = |label: &str| label.strip_suffix(":1").unwrap_or(label).to_owned();
        let parents: Vec<String> = op.parents.iter().map(|parent| short(parent)).collect();
        if parents != wanted.iter().map(|parent| short(parent)).collect::<Vec<_>>() {
            let message = format!(
                "parents of {label}: found [{}], expected [{}]",
                parents.join(", "),
                wanted.join(", ")
            );
            found.add(Checked::Record, FindingKind::Parents, &at, message);
        }
    }
    for (label, wanted) in &item.decisions {
        let at = path.key("decisions").key(label);
        let Some(op) = evidence.op(label) else {
            found.no_such("op", label, &labels, &at);
            continue;
        };
        let fits =
            op.decision == Some(wanted.decision) && (wanted.reason.is_none() || op.reason == wanted.reason);
        if !fits {
            let seen = op.decision.map_or("no decision".to_owned(), |decision| {
                spell(decision.name(), op.reason)
            });
            let wanted = spell(wanted.decision.name(), wanted.reason);
            let message = format!("op {label}: found {seen}, expected {wanted}");
            found.add(Checked::Record, FindingKind::Decision, &at, message);
        }
    }
    for (address, wanted) in &item.modules {
        judge_module(
            found,
            address,
            wanted,
            evidence,
            &path.key("modules").key(address),
        );
    }
}

fn spell(decision: &str, reason: Option<crate::vocabulary::Reason>) -> String {
    match reason {
        Some(reason) => format!("{decision}: {reason}"),
        None => decision.to_owned(),
    }
}

fn judge_module(
    found: &mut Findings<'_>,
    address: &str,
    wanted: &ModuleExpectation,
    evidence: &Evidence,
    path: &Path,
) {
    let Some(module) = evidence.modules.iter().find(|module| module.address == address) else {
        let known: Vec<&str> = evidence
            .modules
            .iter()
            .map(|module| module.address.as_str())
            .collect();
        return found.no_such("module", address, &known, path);
    };
    let mut differ = |key: &str, seen: String, wanted: String| {
        let message = format!("module `{address}`, {key}: found {seen}, expected {wanted}");
        found.add(Checked::Record, FindingKind::Module, &path.key(key), message);
    };
    if let Some(class) = wanted.class.as_ref().filter(|class| **class != module.class) {
        differ("class", module.class.clone(), class.clone());
    }
    if let Some(calls) = wanted.calls.filter(|calls| *calls != module.calls) {
        differ("calls", module.calls.to_string(), calls.to_string());
    }
    if let Some(parameters) = &wanted.parameters {
        let sorted = |names: &[String]| {
            let mut names = names.to_vec();
            names.sort();
            format!("[{}]", names.join(", "))
        };
        let (seen, wanted) = (sorted(&module.parameters), sorted(parameters));
        if seen != wanted {
            differ("parameters", seen, wanted);
        }
    }
}

// The outputs.

fn judge_outputs(found: &mut Findings<'_>, expectation: &Located<Expectation>, observed: &Observed) {
    let Located { path, item } = expectation;
    let outputs = &observed.evidence.outputs;
    if let Some(wanted) = &item.outputs {
        let at = path.key("outputs");
        if wanted.len() != outputs.len() {
            let message = format!("outputs: found {}, expected {}", outputs.len(), wanted.len());
            found.add(Checked::Record, FindingKind::Outputs, &at, message);
        }
        for (place, (wanted, output)) in wanted.iter().zip(outputs).enumerate() {
            judge_output(found, place, wanted, output, observed, &at.index(place));
        }
    }
    if let (Some(rule), Some(own)) = (&item.dtype, own_dtype(found.cell)) {
        for (place, output) in outputs.iter().enumerate() {
            let wanted = rule.resolve(own).map(DType::name);
            if let Some(wanted) = wanted.filter(|wanted| *wanted != output.array.dtype) {
                let message = format!(
                    "output {place}: found dtype {}, expected {wanted}",
                    output.array.dtype
                );
                found.add(Checked::Value, FindingKind::Dtype, &path.key("dtype"), message);
            }
        }
    }
    if item.reference {
        judge_reference(found, observed, &path.key("reference"));
    }
}

/// The element type that `same` means: the axis's, or else the first array's.
fn own_dtype(cell: &Cell) -> Option<DType> {
    let axis = cell.axes.iter().find(|(axis, _)| axis == "dtype");
    let of_axis = axis.and_then(|(_, value)| value.as_text()).and_then(DType::named);
    of_axis.or_else(|| cell.inputs.values().find_map(first_dtype))
}

fn first_dtype(input: &Input) -> Option<DType> {
    match input {
        Input::Array(array) => Some(array.dtype),
        Input::List(items) => items.iter().find_map(first_dtype),
        Input::Map(entries) => entries.values().find_map(first_dtype),
        Input::Int(_) | Input::Float(_) | Input::Bool(_) => None,
    }
}

fn judge_output(
    found: &mut Findings<'_>,
    place: usize,
    wanted: &OutputExpectation,
    output: &OutputRow,
    observed: &Observed,
    path: &Path,
) {
    if let Some(shape) = wanted
        .shape
        .as_ref()
        .filter(|shape| **shape != output.array.shape)
    {
        let message = format!(
            "output {place}: found shape {}, expected {}",
            Shape(&output.array.shape),
            Shape(shape)
        );
        found.add(Checked::Value, FindingKind::Shape, &path.key("shape"), message);
    }
    if let Some(dtype) = wanted.dtype.filter(|dtype| dtype.name() != output.array.dtype) {
        let message = format!(
            "output {place}: found dtype {}, expected {dtype}",
            output.array.dtype
        );
        found.add(Checked::Value, FindingKind::Dtype, &path.key("dtype"), message);
    }
    let Some(values) = &wanted.values else { return };
    let at = path.key("values");
    let (Some(dtype), Some(seen)) = (DType::named(&output.array.dtype), observed.values.get(place)) else {
        let message = format!("output {place}: its elements were not read");
        return found.add(Checked::Value, FindingKind::Suite, &at, message);
    };
    match elements::parse(values, dtype, "values") {
        Err(fault) => found.add(
            Checked::Value,
            FindingKind::Values,
            &at,
            format!("output {place}: {fault}"),
        ),
        Ok((shape, _)) if shape != output.array.shape => {
            let message = format!(
                "output {place}: found shape {}, expected {}",
                Shape(&output.array.shape),
                Shape(&shape)
            );
            found.add(Checked::Value, FindingKind::Shape, &at, message);
        }
        Ok((shape, data)) => {
            let tolerance = wanted.tolerance.unwrap_or_default();
            let policy = if wanted.tolerance.is_some() {
                "tolerance"
            } else {
                "exact"
            };
            let comparison = compare::compare(seen, &data, tolerance);
            judge_comparison(found, comparison, place, &shape, policy, dtype, &at);
        }
    }
}

fn judge_reference(found: &mut Findings<'_>, observed: &Observed, at: &Path) {
    let rows = &observed.evidence.outputs;
    let Reference::Expected { policy, outputs } = &observed.reference else {
        let message =
            "there is no reference for this program; give `outputs:` with `values:` instead".to_owned();
        return found.add(Checked::Value, FindingKind::Suite, at, message);
    };
    if outputs.len() != rows.len() {
        let message = format!(
            "outputs: found {}, the reference has {}",
            rows.len(),
            outputs.len()
        );
        return found.add(Checked::Value, FindingKind::Outputs, at, message);
    }
    for (place, (wanted, row)) in outputs.iter().zip(rows).enumerate() {
        if wanted.shape != row.array.shape {
            let message = format!(
                "output {place}: found shape {}, expected {}",
                Shape(&row.array.shape),
                Shape(&wanted.shape)
            );
            found.add(Checked::Value, FindingKind::Shape, at, message);
            continue;
        }
        let (Some(dtype), Some(seen)) = (DType::named(&row.array.dtype), observed.values.get(place)) else {
            let message = format!("output {place}: its elements were not read");
            found.add(Checked::Value, FindingKind::Suite, at, message);
            continue;
        };
        let comparison = compare::compare(seen, &wanted.data, wanted.tolerance);
        if let Comparison::Same { compared: 0, nan } = comparison {
            // An empty output is compared by its shape; one of nothing but NaN says nothing about a function.
            if nan > 0 {
                let message =
                    format!("output {place}: every element is NaN on both sides, which compares nothing");
                found.add(Checked::Value, FindingKind::Vacuous, at, message);
            }
            continue;
        }
        judge_comparison(found, comparison, place, &wanted.shape, policy, dtype, at);
    }
}

fn judge_comparison(
    found: &mut Findings<'_>,
    comparison: Comparison,
    place: usize,
    shape: &[i32],
    policy: &str,
    dtype: DType,
    at: &Path,
) {
    let message = match comparison {
        Comparison::Same { .. } => return,
        Comparison::OtherKind => {
            format!("output {place}: its elements are of another kind than those expected")
        }
        Comparison::OtherLength { found, expected } => {
            format!("output {place}: found {found} elements, expected {expected}")
        }
        Comparison::Differ {
            at,
            found,
            expected,
            count,
            of,
        } => {
            let index = elements::place(shape, at);
            let index = if index.is_empty() {
                index
            } else {
                format!(" at [{index}]")
            };
            let more = if count > 1 {
                format!("; {count} of {of} differ")
            } else {
                String::new()
            };
            format!(
                "output {place}{index}: found {found}, expected {expected} (policy {policy}, {dtype}){more}"
            )
        }
    };
    found.add(Checked::Value, FindingKind::Values, at, message);
}
