//! What a case expects of the trace x what the trace holds.

use super::findings::Findings;
use crate::case::cell::Located;
use crate::case::position::Path;
use crate::case::schema::{Expectation, ModuleExpectation};
use crate::scorecard::outcome::{Checked, Evidence, FindingKind, InsideRow};
use crate::vocabulary::Reason;

/// Judges ops, parents, decisions and modules.
pub(super) fn judge_trace(found: &mut Findings<'_>, expectation: &Located<Expectation>, evidence: &Evidence) {
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
    for (label, wanted) in &item.inside {
        let found_ops = inside(found, label, evidence, &path.key("inside").key(label));
        let names = found_ops.map(|row| row.forward.iter().map(|op| op.name.clone()).collect());
        judge_names(
            found,
            names,
            label,
            wanted,
            &path.key("inside").key(label),
            "inside",
        );
    }
    for (label, wanted) in &item.backward {
        let row = inside(found, label, evidence, &path.key("backward").key(label));
        let names = row.map(|row| sorted(row.backward.iter().map(|op| op.name.clone())));
        let wanted = sorted(wanted.iter().cloned());
        judge_names(
            found,
            names,
            label,
            &wanted,
            &path.key("backward").key(label),
            "backward of",
        );
    }
    if let Some(wanted) = &item.paths {
        let paths: Vec<String> = evidence.outputs.iter().map(|it| it.path.clone()).collect();
        judge_names(
            found,
            Some(paths),
            "",
            wanted,
            &path.key("paths"),
            "paths of the outputs",
        );
    }
    if let Some(wanted) = &item.notes {
        let said = wanted.len() == evidence.notes.len()
            && evidence
                .notes
                .iter()
                .zip(wanted)
                .all(|(note, wanted)| note.contains(wanted.as_str()));
        if !said {
            let message = format!("notes: found {:?}, expected {wanted:?}", evidence.notes);
            found.add(Checked::Record, FindingKind::Ops, &path.key("notes"), message);
        }
    }
    if let Some(wanted) = &item.evaluations {
        let functions: Vec<&str> = evidence
            .evaluations
            .iter()
            .map(|it| it.function.as_str())
            .collect();
        let fits = functions.len() == wanted.len()
            && functions
                .iter()
                .zip(wanted)
                .all(|(function, wanted)| function.contains(wanted.as_str()));
        if !fits {
            let message = format!("evaluations: found {functions:?}, expected {wanted:?}");
            found.add(
                Checked::Record,
                FindingKind::Ops,
                &path.key("evaluations"),
                message,
            );
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

fn sorted(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// The inside of the op with a label.
fn inside<'e>(
    found: &mut Findings<'_>,
    label: &str,
    evidence: &'e Evidence,
    at: &Path,
) -> Option<&'e InsideRow> {
    let short = |label: &str| label.strip_suffix(":1").unwrap_or(label).to_owned();
    let row = evidence.insides.iter().find(|row| short(&row.op) == short(label));
    if row.is_none() {
        let known: Vec<String> = evidence.insides.iter().map(|row| short(&row.op)).collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        found.no_such("op with an inside", label, &known, at);
    }
    row
}

fn judge_names(
    found: &mut Findings<'_>,
    names: Option<Vec<String>>,
    label: &str,
    wanted: &[String],
    at: &Path,
    what: &str,
) {
    if let Some(names) = names.filter(|names| names != wanted) {
        let message = format!(
            "{what} {label}: found [{}], expected [{}]",
            names.join(", "),
            wanted.join(", ")
        );
        found.add(Checked::Record, FindingKind::Ops, at, message);
    }
}

fn spell(decision: &str, reason: Option<Reason>) -> String {
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
