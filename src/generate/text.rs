//! What was asked and answered, as a case file.

use super::cover::{selections, Selection};
use super::decided::decided;
use super::plan::{head, list, Subject};
use super::probe::{ask, read, Answer, Asked, DraftError};
use crate::case::load::Source;
use crate::case::matrix::Point;
use crate::case::value::Value;
use crate::harness::amend::amended;
use crate::harness::backend::Backend;
use crate::harness::known::Seen;
use crate::scorecard::cells::CellBook;
use crate::scorecard::outcome::Outcome;
use std::collections::BTreeMap;

/// When a difference found today must be looked at again.
const EXPIRES: &str = "2027-06-01";

/// The day that the differences of this version of MLX were entered.
const OPENED: &str = "2026-11-29";

/// The whole file of a subject: the same text each time, as long as MLX answers the same.
///
/// # Errors
///
/// The subject's draft cannot be read.
pub fn file(subject: &Subject, backend: &Backend) -> Result<String, DraftError> {
    let text = written(subject, &ask(subject, backend)?);
    named(subject, text, backend)
}

/// The file with `fails:` in its known failures: what the cells that they excuse show once they are held to it.
fn named(subject: &Subject, text: String, backend: &Backend) -> Result<String, DraftError> {
    let cells = read(subject, &text, backend)?;
    let failing = cells.iter().filter(|cell| !cell.expected_fail.is_empty());
    let outcomes: Vec<Outcome> = failing.map(|cell| backend.runner.run(cell)).collect();
    let source = Source {
        id: subject.id(),
        file: subject.file(),
        text: text.into(),
    };
    let seen = Seen {
        runs: &[(backend.device, &outcomes)],
        recorded: &CellBook::default(),
    };
    match amended(&source, &backend.names, seen) {
        Ok(amended) => Ok(amended.text.to_string()),
        Err(problems) => Err(DraftError {
            file: subject.file(),
            problems,
        }),
    }
}

fn written(subject: &Subject, asked: &[Asked]) -> String {
    let mut text = head(subject);
    let mut answers: BTreeMap<&Answer, Vec<&Point>> = BTreeMap::new();
    for it in asked {
        answers.entry(&it.answer).or_default().push(&it.point);
    }
    let points = |keep: &dyn Fn(&Asked) -> bool| {
        asked
            .iter()
            .filter(|it| keep(it))
            .map(|it| &it.point)
            .collect::<Vec<_>>()
    };
    if let [(answer, _)] = &answers.iter().collect::<Vec<_>>()[..] {
        text.push_str(&mark(subject, answer, ""));
        text.push_str(&format!("expect: {{{}}}\n", claim(answer)));
    } else {
        text.push_str("expect:\n");
        for answer in answers.keys() {
            let wanted = points(&|it| it.answer == **answer);
            let others = points(&|it| it.answer != **answer);
            text.push_str(&mark(subject, answer, "  "));
            for selection in selections(&wanted, &others) {
                text.push_str(&entry(&selection, &claim(answer)));
            }
        }
    }
    let mut differences: BTreeMap<String, Vec<&Asked>> = BTreeMap::new();
    for it in asked.iter().filter(|it| it.differs.is_some()) {
        differences.entry(kind_of_difference(it)).or_default().push(it);
    }
    let broken: Vec<(&Asked, &str)> = asked
        .iter()
        .filter_map(|it| Some((it, it.broken.as_deref()?)))
        .collect();
    if !(differences.is_empty() && broken.is_empty()) {
        text.push_str("expected_fail:\n");
    }
    for (kind, those) in &differences {
        let wanted: Vec<&Point> = those.iter().map(|it| &it.point).collect();
        let others = points(&|it| it.differs.is_none() || kind_of_difference(it) != *kind);
        let example = those
            .first()
            .and_then(|it| it.differs.as_deref())
            .unwrap_or_default();
        let name = subject.signature().name;
        for selection in selections(&wanted, &others) {
            text.push_str(&entry(
                &selection,
                &format!(
                    "check: value, because: {},\n     issue: {}, opened: {OPENED}, expires: {EXPIRES}",
                    quoted(example),
                    quoted(&format!("upstream: {name} {kind}, not yet filed")),
                ),
            ));
        }
    }
    for (it, message) in broken {
        let others = points(&|other| other.point != it.point);
        for selection in selections(&[&it.point], &others) {
            text.push_str(&format!(
                "  # decide: what is wrong with the record here?\n{}",
                entry(
                    &selection,
                    &format!(
                        "check: record, because: {},\n     issue: {}, opened: {OPENED}, expires: {EXPIRES}",
                        quoted(message),
                        quoted("ours: a record that is not proven"),
                    ),
                )
            ));
        }
    }
    text
}

/// What is claimed of the cells with this answer.
fn claim(answer: &Answer) -> String {
    match answer {
        Answer::Proven => "reference: true".to_owned(),
        Answer::Unreferenced { .. } => "state: passed".to_owned(),
        Answer::Open { state, reference, .. } => match reference {
            true => format!("state: {state}, reference: true"),
            false => format!("state: {state}"),
        },
        Answer::Refused { text, panics: false } => format!("error: {}", quoted(text)),
        Answer::Refused { text, panics: true } => format!("panic: {}", quoted(text)),
    }
}

/// What a person must decide of an answer, or has decided.
fn mark(subject: &Subject, answer: &Answer, indent: &str) -> String {
    let (question, why) = match answer {
        Answer::Proven | Answer::Refused { .. } => return String::new(),
        Answer::Unreferenced { why } => ("no reference:", why),
        Answer::Open { why, .. } => ("is this right?", why),
    };
    match decided(&subject.id(), why) {
        Some(decision) => format!("{indent}# decided: {decision}\n"),
        None => format!("{indent}# decide: {question} {why}\n"),
    }
}

/// In which way a value differs, without the figures.
fn kind_of_difference(asked: &Asked) -> String {
    let message = asked.differs.as_deref().unwrap_or_default();
    let says = |word: &str| message.contains(word);
    match () {
        () if says("found shape") => "yields another shape",
        () if says("found dtype") => "yields another element type",
        () if says("outputs: found") => "yields another number of results",
        () if off_by_little(message) => "is less precise than its type allows",
        () => "differs from its reference",
    }
    .to_owned()
}

/// Whether a message's two numbers are the same but for a ten-thousandth: a matter of precision, not of meaning.
fn off_by_little(message: &str) -> bool {
    let after = |word: &str| {
        let (_, rest) = message.split_once(word)?;
        rest.split([',', ' ', '(']).next()?.parse::<f64>().ok()
    };
    match (after("found "), after("expected ")) {
        (Some(found), Some(expected)) => (found - expected).abs() <= 1e-4 * expected.abs(),
        _ => false,
    }
}

fn entry(selection: &Selection, claim: &str) -> String {
    if selection.is_empty() {
        return format!("  - {{{claim}}}\n");
    }
    let axes: Vec<String> = selection
        .iter()
        .map(|(axis, values)| format!("{axis}: {}", values_of(values)))
        .collect();
    let one = format!("  - {{where: {{{}}}, {claim}}}\n", axes.join(", "));
    if one.lines().all(|line| line.len() <= 120) {
        return one;
    }
    let mut text = "  - where:\n".to_owned();
    for (axis, values) in selection {
        let items: Vec<String> = values.iter().map(spelled).collect();
        let key = format!("      {axis}: ");
        match &items[..] {
            [only] if !matches!(values[0], Value::List(_)) => text.push_str(&format!("{key}{only}\n")),
            items => text.push_str(&list(&key, items)),
        }
    }
    for part in claim.split(",\n     ").flat_map(parts) {
        text.push_str(&format!("    {part}\n"));
    }
    text
}

/// The `key: value` pairs of a flow map, none of whose values holds a comma outside quotes.
fn parts(claim: &str) -> Vec<String> {
    let (mut found, mut part, mut quoted) = (Vec::new(), String::new(), false);
    for letter in claim.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => {
                found.push(std::mem::take(&mut part).trim().to_owned());
                continue;
            }
            _ => {}
        }
        part.push(letter);
    }
    found.push(part.trim().to_owned());
    found.retain(|it| !it.is_empty());
    found
}

/// One value, or a list of them; a lone list is put into another, since it would be read as several values.
fn values_of(values: &[Value]) -> String {
    match values {
        [only] if !matches!(only, Value::List(_)) => spelled(only),
        several => format!("[{}]", several.iter().map(spelled).collect::<Vec<_>>().join(", ")),
    }
}

fn spelled(value: &Value) -> String {
    match value {
        Value::Text(text)
            if text
                .chars()
                .all(|it| it.is_ascii_alphanumeric() || "_$".contains(it)) =>
        {
            text.clone()
        }
        Value::Text(text) => quoted(text),
        Value::List(items) => format!("[{}]", items.iter().map(spelled).collect::<Vec<_>>().join(", ")),
        Value::Map(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{key}: {}", spelled(value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        plain => plain.to_string(),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "/").replace('"', "'"))
}
