//! Expected x observed -> verdicts and findings, as pure functions.

use super::about::about;
use super::findings::Findings;
use super::judge_outputs::judge_outputs;
use super::judge_trace::judge_trace;
use super::seam::{Cell, Observed};
use crate::case::cell::Located;
use crate::case::position::Path;
use crate::case::schema::{Check, ExpectedFail, Fails};
use crate::scorecard::about::Distance;
use crate::scorecard::cells::signature_of;
use crate::scorecard::otherwise::{Edit, Otherwise};
use crate::scorecard::outcome::{Checked, Ending, Evidence, Fate, Finding, FindingKind, Outcome, Verdict};
use crate::vocabulary::State;
use std::collections::BTreeSet;
use std::time::Duration;

/// The outcome of a cell of which this was observed.
pub fn conclude(cell: &Cell, observed: Observed, elapsed: Duration) -> Outcome {
    let Judged { findings, distances } = judged(cell, &observed);
    let ending = &observed.evidence.ending;
    let verdict = |check| verdict(cell, check, ending, &findings);
    let changed = cell
        .expected_fail
        .iter()
        .filter(|fail| verdict(fail.item.check) == Verdict::ChangedFail);
    let otherwise = changed
        .map(|fail| otherwise(cell, fail, ending, &findings))
        .collect();
    Outcome {
        cell: cell.id.clone(),
        file: cell.case.file.clone(),
        line: cell.line(),
        covers: cell.case.covers.clone(),
        record: verdict(Check::Record),
        value: claims_values(cell).then(|| verdict(Check::Value)),
        otherwise,
        rerun: None,
        findings,
        evidence: observed.evidence,
        about: about(cell),
        distances,
        values: observed.shown,
        millis: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
        output: String::new(),
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
        // Without a trace there are no values, so none of them is right.
        _ if of_check.is_empty() && (check == Check::Record || *ending == Ending::Traced) => Verdict::Pass,
        Ending::Crashed { .. } | Ending::OutOfMemory { .. } => Verdict::Crash,
        Ending::TimedOut { .. } => Verdict::Timeout,
        _ => Verdict::Fail,
    };
    let entry = cell.expected_fail.iter().find(|fail| fail.item.check == check);
    let excused = |fail: &ExpectedFail| fail.fails.cover(&signature_of(checked(check), findings, ending));
    match (entry, plain) {
        (None, plain) => plain,
        (Some(_), Verdict::Pass) => Verdict::UnexpectedPass,
        (Some(entry), _) if excused(&entry.item) => Verdict::ExpectedFail,
        (Some(_), _) => Verdict::ChangedFail,
    }
}

/// What a failure was to be by its entry, and what the entry must say for it to be excused. What it says already stays,
/// since other cells may show it.
fn otherwise(cell: &Cell, fail: &Located<ExpectedFail>, ending: &Ending, findings: &[Finding]) -> Otherwise {
    let check = checked(fail.item.check);
    let was = fail.item.fails.0.clone();
    let now = signature_of(check, findings, ending);
    let all: BTreeSet<String> = was.iter().chain(&now).cloned().collect();
    let edit = Edit {
        line: cell.case.index.value(&fail.path).position.line.max(1),
        fails: Fails(all.into_iter().collect()).to_string(),
    };
    Otherwise {
        check,
        was,
        now,
        edit: Some(edit),
    }
}

/// A verdict's name in a case, as outcomes have it.
pub(super) const fn checked(check: Check) -> Checked {
    match check {
        Check::Record => Checked::Record,
        Check::Value => Checked::Value,
    }
}

/// What comparing with the expectations yields.
struct Judged {
    findings: Vec<Finding>,
    distances: Vec<Distance>,
}

/// Everything that differs, in the order in which the case says it, and how near the values came.
fn judged(cell: &Cell, observed: &Observed) -> Judged {
    let mut found = Findings {
        cell,
        list: Vec::new(),
        distances: Vec::new(),
    };
    judge(&mut found, observed);
    Judged {
        findings: found.list,
        distances: found.distances,
    }
}

fn judge(found: &mut Findings<'_>, observed: &Observed) {
    let (cell, evidence) = (found.cell, &observed.evidence);
    match &evidence.ending {
        Ending::Skipped { .. } => return,
        Ending::Invalid { message } => {
            return found.add(
                Checked::Record,
                FindingKind::Suite,
                &Path::root().key("expect"),
                message.clone(),
            );
        }
        _ => {}
    }
    judge_ending(found, evidence);
    if evidence.ending != Ending::Traced {
        // What a forward recorded before it failed may be expected too.
        if matches!(evidence.ending, Ending::Error { .. }) {
            for expectation in &cell.expect {
                judge_trace(found, expectation, evidence);
            }
        }
        return;
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
        judge_trace(found, expectation, evidence);
        judge_outputs(found, expectation, observed);
    }
}

// How the capture ended, and the state.

fn judge_ending(found: &mut Findings<'_>, evidence: &Evidence) {
    let cell = found.cell;
    let claim = cell.expect.iter().find_map(|it| {
        if let Some((key, text)) = it.item.endings().next() {
            return Some((it.path.key(key), Claim::Ends { key, text }));
        }
        it.item
            .state
            .map(|state| (it.path.key("state"), Claim::State(state)))
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
        (Claim::Ends { key, text }, ending) if ends_so(ending, key, text) => return,
        (claim, ending) => (
            FindingKind::Ending,
            format!("found {}, expected {claim}", describe(ending)),
        ),
    };
    found.add(Checked::Record, kind, &path, message);
}

/// Whether a capture ended in the way that `key` names, with `text` in the report.
fn ends_so(ending: &Ending, key: &str, text: &str) -> bool {
    match (key, ending) {
        ("refusal", Ending::Refused { code, .. }) => code.name() == text,
        ("error", Ending::Error { message })
        | ("panic", Ending::Panicked { message })
        | ("pending", Ending::Pending { message }) => message.contains(text),
        ("crash", Ending::Crashed { .. })
        | ("timeout", Ending::TimedOut { .. })
        | ("memory", Ending::OutOfMemory { .. }) => ending.to_string().contains(text),
        _ => false,
    }
}

/// How a case says that a capture ends.
enum Claim<'a> {
    State(State),
    Ends { key: &'static str, text: &'a str },
}

impl std::fmt::Display for Claim<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Claim::State(state) => write!(f, "a trace that is {state}"),
            Claim::Ends { key: "refusal", text } => write!(f, "refusal {text}"),
            Claim::Ends { key: "error", text } => write!(f, "an error with \"{text}\""),
            Claim::Ends { key, text } => write!(f, "a {key} with \"{text}\""),
        }
    }
}

/// How a capture ended, for messages.
pub fn describe(ending: &Ending) -> String {
    match ending {
        Ending::Refused { code, message, .. } => format!("refusal {code} ({message})"),
        Ending::Error { message } => format!("the error \"{message}\""),
        Ending::OutOfMemory { .. } | Ending::Invalid { .. } => ending.to_string(),
        other => format!("a {other}"),
    }
}

fn with_detail(message: String, evidence: &Evidence) -> String {
    match evidence.message.as_str() {
        "" => message,
        detail => format!("{message} ({detail})"),
    }
}
