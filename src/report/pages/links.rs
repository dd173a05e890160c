//! Where a page lies, and how another one leads there. All pages but the first lie in one folder of their kind, so that
//! `../` leads from each of them to the top.

use crate::scorecard::outcome::{Outcome, Verdict};

/// The page of a case.
pub(super) fn case(id: &str) -> String {
    format!("cases/{}.html", file(id))
}

/// A cell, on its case's page.
pub(super) fn cell(case_id: &str, cell: &str) -> String {
    format!("{}#{}", case(case_id), anchor(cell))
}

/// The page of a function.
pub(super) fn function(name: &str) -> String {
    format!("functions/{}.html", file(name))
}

/// The page of a capability.
pub(super) fn capability(id: &str) -> String {
    format!("capabilities/{}.html", file(id))
}

/// An id as a file's name: what is no letter, digit, dot, dash or underscore becomes something that is.
fn file(id: &str) -> String {
    let plain = id.replace("::", ".");
    let safe = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    plain.chars().map(|it| if safe(it) { it } else { '-' }).collect()
}

/// A name as an anchor, which may hold anything but white space; `%` would be read as an escape.
pub(super) fn anchor(name: &str) -> String {
    format!("at-{}", plain(name))
}

/// A name without what may not stand in an anchor.
pub(in crate::report) fn plain(name: &str) -> String {
    let safe = |letter: char| letter.is_ascii_alphanumeric() || "._:=,-".contains(letter);
    name.chars().map(|it| if safe(it) { it } else { '-' }).collect()
}

/// The CSS class of what a cell comes to.
pub(super) fn tone(outcome: &Outcome) -> &'static str {
    match (outcome.is_red(), outcome.record, outcome.value) {
        (true, ..) => "bad",
        (false, Verdict::Pass, None | Some(Verdict::Pass)) => "good",
        _ => "open",
    }
}

/// Both verdicts in words.
pub(super) fn verdicts(outcome: &Outcome) -> String {
    match outcome.value {
        Some(value) => format!("record {}, value {value}", outcome.record),
        None => format!("record {}", outcome.record),
    }
}
