//! Edits of a case's text that leave everything else as it was written, comments and all.

use super::position::{Path, Position, Step};
use super::schema::{CaseFile, ExpectedFail, Fails};
use super::yaml::{self, Index, Mark};
use std::ops::Range;
use thiserror::Error;

/// Why an edit is left to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unedited {
    /// Lines cannot tell the entries apart.
    #[error("it shares a line with another entry")]
    SharedLine,
    /// Where the text stands is where it is meant, too.
    #[error("it is written elsewhere in the file")]
    Alias,
    /// A comment would go with what it is about.
    #[error("a comment stands in its `fails:`")]
    Comment,
    /// It is written in a way that this does not know.
    #[error("the way in which it is written is too rare for a program to edit")]
    Rare,
    /// With the edit the file would be no case.
    #[error("something else is wrong with the file")]
    NoCase,
    /// Only a person knows which cells to name.
    #[error("its other cells pass, and only a person knows what they share")]
    Judgement,
}

/// The longest line that an edit makes where it can be had shorter, in characters.
const LONGEST_LINE: usize = 120;

/// The text without the entry of a list at `path`, and without the list where it was the only one.
///
/// # Errors
///
/// The list is not written one entry a line, so that lines cannot tell them apart.
pub fn without_entry(text: &str, index: &Index, path: &Path) -> Result<String, Unedited> {
    removed(text, index, path).ok_or(Unedited::SharedLine)
}

fn removed(text: &str, index: &Index, path: &Path) -> Option<String> {
    let list = path.parent()?;
    let key_line = index.key(&list).position.line as usize;
    let places = (0..)
        .map(|place| list.index(place))
        .take_while(|entry| index.contains(entry));
    let lines: Vec<usize> = places
        .map(|entry| index.value(&entry).position.line as usize)
        .collect();
    let place = (0..lines.len()).find(|place| list.index(*place) == *path)?;
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    // Lines count from 1.
    let after_list = (key_line..all.len())
        .find(|at| begins_a_key(all[*at]))
        .unwrap_or(all.len())
        + 1;
    let (from, to) = match lines.len() {
        1 => (key_line, after_list),
        _ => (lines[place], lines.get(place + 1).copied().unwrap_or(after_list)),
    };
    // A comment or an empty line at the end is about what follows.
    let says = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let last = all[from.checked_sub(1)?..to.checked_sub(1)?]
        .iter()
        .rposition(says)?;
    let to = from + last + 1;
    let alone = lines.windows(2).all(|pair| pair[0] < pair[1]) && lines.first() > Some(&key_line);
    if key_line == 0 || from >= to || (lines.len() > 1 && !alone) {
        return None;
    }
    Some([&all[..from - 1], &all[to - 1..]].concat().concat())
}

/// The text with these `fails:` in the entry of `expected_fail:` at `path`, in place of those that it has or behind its
/// `check:`.
///
/// # Errors
///
/// See [`Unedited`]. Whatever comes out is read again, and says what it should.
pub fn with_fails(text: &str, index: &Index, path: &Path, fails: &Fails) -> Result<String, Unedited> {
    let (check, old) = (path.key("check"), path.key("fails"));
    if !index.contains(&check) {
        return Err(Unedited::Alias);
    }
    let (place, new) = match index.contains(&old) {
        true => (written(text, index, &old)?, fails.to_string()),
        false => added(text, index, path, fails).ok_or(Unedited::Rare)?,
    };
    let edited = [&text[..place.start], &new, &text[place.end..]].concat();
    says(&edited, text, path, fails)
        .then_some(edited)
        .ok_or(Unedited::Rare)
}

/// Where the value of a `fails:` stands, whose key is at `path`.
fn written(text: &str, index: &Index, path: &Path) -> Result<Range<usize>, Unedited> {
    let mark = index.value(path);
    let start = offset(text, mark.position).ok_or(Unedited::Rare)?;
    let is_flow = text[start..].starts_with('[');
    if !is_flow && !text[start..].starts_with("- ") {
        return Ok(start..end(text, mark).ok_or(Unedited::Rare)?);
    }
    // Between the items of a list stands nothing but what makes it one, or a comment.
    let between = |text: &str| text.chars().all(|it| it.is_whitespace() || ",-".contains(it));
    let mut at = start + usize::from(is_flow);
    let items = (0..).map(|place| path.index(place));
    for item in items.take_while(|item| index.contains(item)) {
        let mark = index.value(&item);
        let begins = offset(text, mark.position).ok_or(Unedited::Rare)?;
        if !text.get(at..begins).is_some_and(between) {
            return Err(Unedited::Comment);
        }
        at = end(text, mark).ok_or(Unedited::Rare)?;
    }
    if !is_flow {
        return Ok(start..at);
    }
    let close = at + text[at..].find(']').ok_or(Unedited::Rare)?;
    match between(&text[at..close]) {
        true => Ok(start..close + 1),
        false => Err(Unedited::Comment),
    }
}

/// Where a `fails:` goes into an entry that has none, and the text of it.
fn added(text: &str, index: &Index, path: &Path, fails: &Fails) -> Option<(Range<usize>, String)> {
    let check = path.key("check");
    let entry = index.value(path).position;
    let at = end(text, index.value(&check))?;
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let line_end = at + text[at..].find(newline).unwrap_or(text.len() - at);
    if !text[offset(text, entry)?..].starts_with('{') {
        let indent = index.key_position(&check).column as usize - 1;
        return Some((
            line_end..line_end,
            format!("{newline}{:indent$}fails: {fails}", ""),
        ));
    }
    let alone = format!("fails: {fails}");
    let begins = text[..at].rfind('\n').map_or(0, |it| it + 1);
    let (before, behind) = (&text[begins..at], &text[at..line_end]);
    let fits = |parts: &[&str]| parts.iter().map(|it| it.chars().count()).sum::<usize>() <= LONGEST_LINE;
    if fits(&[before, ", ", &alone, behind]) {
        return Some((at..at, format!(", {alone}")));
    }
    let indent = " ".repeat(entry.column as usize);
    match behind.strip_prefix(", ") {
        Some(rest) if !fits(&[&indent, &alone, ", ", rest]) => {
            Some((at..at + 2, format!(",{newline}{indent}{alone},{newline}{indent}")))
        }
        _ => Some((at..at, format!(",{newline}{indent}{alone}"))),
    }
}

/// Whether an edited text says what the old one does, but for these `fails:`.
fn says(edited: &str, text: &str, path: &Path, fails: &Fails) -> bool {
    let entries =
        |text| -> Option<Vec<ExpectedFail>> { Some(yaml::read::<CaseFile>(text).ok()?.said.expected_fail) };
    let (Some(Step::Index(place)), Some(mut wanted)) = (path.0.last(), entries(text)) else {
        return false;
    };
    if let Some(entry) = wanted.get_mut(*place) {
        entry.fails = fails.clone();
    }
    entries(edited) == Some(wanted)
}

/// Where a place stands, in bytes from the start.
fn offset(text: &str, position: Position) -> Option<usize> {
    let (line, column) = (position.line.checked_sub(1)?, position.column.checked_sub(1)?);
    let lines = text.split_inclusive('\n');
    let start: usize = lines.take(line as usize).map(str::len).sum();
    let rest = &text[start..];
    let mut places = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
    Some(start + places.nth(column as usize)?)
}

/// Where the text ends that a mark covers.
fn end(text: &str, mark: Mark) -> Option<usize> {
    let Position { line, column } = mark.position;
    let column = column + mark.length;
    offset(text, Position { line, column })
}

/// Whether a line begins a key of the file itself.
fn begins_a_key(line: &str) -> bool {
    line.starts_with(|letter: char| !letter.is_whitespace() && letter != '#' && letter != '-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::schema::CaseFile;
    use crate::case::yaml;

    fn edited(text: &str, place: usize) -> Option<String> {
        let read = yaml::read::<CaseFile>(text).expect("a case");
        without_entry(text, &read.index, &Path::root().key("expected_fail").index(place)).ok()
    }

    /// The text with these `fails:` in an entry.
    fn failing(text: &str, place: usize, fails: &[&str]) -> Result<String, Unedited> {
        let read = yaml::read::<CaseFile>(text).expect("a case");
        let path = Path::root().key("expected_fail").index(place);
        let fails = Fails(fails.iter().map(|it| (*it).to_owned()).collect());
        with_fails(text, &read.index, &path, &fails)
    }

    const ENTRY: &str = "check: value, because: b, issue: i, opened: 2026-01-01, expires: 2027-01-01}";

    #[test]
    fn an_entry_goes_and_everything_else_stays() {
        let text = format!(
            "op: sum\nexpected_fail:\n  # why\n  - {{{ENTRY}\n  - {{where: {{dtype: float16}},\n     {ENTRY}\n# end\nshape: [3]\n"
        );
        let first = edited(&text, 0).expect("edited");
        assert_eq!(
            first,
            format!("op: sum\nexpected_fail:\n  # why\n  - {{where: {{dtype: float16}},\n     {ENTRY}\n# end\nshape: [3]\n")
        );
        let second = edited(&text, 1).expect("edited");
        assert_eq!(
            second,
            format!("op: sum\nexpected_fail:\n  # why\n  - {{{ENTRY}\n# end\nshape: [3]\n")
        );
        let apart = format!(
            "op: sum\nexpected_fail:\n  - {{{ENTRY}\n  # about the second\n  - {{where: {{dtype: float16}}, {ENTRY}\n\n# about the shape\nshape: [3]\n"
        );
        assert_eq!(
            edited(&apart, 0).as_deref(),
            Some(&*apart.replace(&format!("  - {{{ENTRY}\n"), ""))
        );
        let second = format!("  - {{where: {{dtype: float16}}, {ENTRY}\n");
        assert_eq!(edited(&apart, 1).as_deref(), Some(&*apart.replace(&second, "")));
        let single = format!("op: sum\nexpected_fail:\n  - {{{ENTRY}\n\n# about the shape\nshape: [3]\n");
        assert_eq!(
            edited(&single, 0).as_deref(),
            Some("op: sum\n\n# about the shape\nshape: [3]\n")
        );
    }

    #[test]
    fn the_last_entry_takes_the_list_with_it() {
        for list in [
            format!("expected_fail: [{{{ENTRY}]\n"),
            format!("expected_fail:\n  - {{{ENTRY}\n"),
        ] {
            let text = format!("op: sum\n{list}shape: [3]\n");
            assert_eq!(edited(&text, 0).as_deref(), Some("op: sum\nshape: [3]\n"));
        }
    }

    #[test]
    fn entries_on_one_line_are_left_to_a_person() {
        let text = format!("op: sum\nexpected_fail: [{{{ENTRY}, {{where: {{a: 1}}, {ENTRY}]\n");
        assert_eq!(edited(&text, 0), None);
    }

    const REST: &str = "because: b, issue: i, opened: 2026-01-01, expires: 2027-01-01}";

    /// A case whose second entry begins so.
    fn case(begins: &str) -> String {
        format!(
            "op: sum # ä\nexpected_fail:\n  - {{{ENTRY}   # one\n  # two\n  - {begins}\n# end\nshape: [3]\n"
        )
    }

    #[test]
    fn fails_go_behind_the_check_of_an_entry_in_braces() {
        let text = case(&format!(
            "{{where: {{dtype: int8}}, check: value, # why\n     {REST}"
        ));
        assert_eq!(
            failing(&text, 1, &["values expect.reference"]),
            Ok(text.replace(
                "int8}, check: value,",
                "int8}, check: value, fails: values expect.reference,"
            ))
        );
        let last =
            case("{because: é, issue: i, opened: 2026-01-01, expires: 2027-01-01,\n     check: value}");
        assert_eq!(
            failing(&last, 1, &["dtype expect[0].reference", "values expect.x"]),
            Ok(last.replace(
                "value}\n#",
                "value, fails: [\"dtype expect[0].reference\", values expect.x]}\n#"
            ))
        );
    }

    #[test]
    fn a_line_that_would_be_too_long_is_broken() {
        let long =
            "because: a reason that takes up nearly all of the line so that nothing fits behind it, here";
        let text = case(&format!(
            "{{check: record, {long},\n     issue: i, opened: 2026-01-01, expires: 2027-01-01}}"
        ));
        assert_eq!(
            failing(&text, 1, &["ending expect"]),
            Ok(text.replace("record,", "record,\n     fails: ending expect,"))
        );
        let crash = "crash: SIGFPE in sum (call 1); not when evaluated call by call";
        assert_eq!(
            failing(&text, 1, &[crash]),
            Ok(text.replace("record, ", &format!("record,\n     fails: \"{crash}\",\n     ")))
        );
    }

    #[test]
    fn fails_get_a_line_in_an_entry_of_lines() {
        let text = case(
            "where:\n      dtype: int8\n    check: record  # both\n    because: b\n    issue: i\n    \
             opened: 2026-01-01\n    expires: 2027-01-01",
        );
        let crash = ["crash: SIGFPE in sum (call 1)", "ending expect"];
        assert_eq!(
            failing(&text, 1, &crash),
            Ok(text.replace(
                "# both\n",
                "# both\n    fails: [\"crash: SIGFPE in sum (call 1)\", ending expect]\n"
            ))
        );
    }

    #[test]
    fn fails_that_are_there_are_replaced() {
        for old in [
            "a",
            "a b",
            "\"a[0]\"",
            "'it''s'",
            "[]",
            "[a, \"b, c\"]",
            "[a,\n       b,\n      ]",
        ] {
            let text = case(&format!("{{check: value, fails: {old}, {REST} # why"));
            let wanted = case(&format!("{{check: value, fails: [d, e], {REST} # why"));
            assert_eq!(failing(&text, 1, &["d", "e"]), Ok(wanted), "{old}");
        }
        let entry = |fails: &str| {
            let end = "because: b\n    issue: i\n    opened: 2026-01-01\n    expires: 2027-01-01";
            case(&format!("fails:{fails}\n    check: value\n    {end}"))
        };
        for old in [" a", " [a, b]", "\n      - a"] {
            let new = old
                .replace("a, b", "d")
                .replace("- a", "d")
                .replace("[d]", "d")
                .replace('a', "d");
            assert_eq!(failing(&entry(old), 1, &["d"]), Ok(entry(&new)), "{old}");
        }
        let lines = entry("\n      - a\n      - b  # the last");
        assert_eq!(
            failing(&lines, 1, &["d", "e"]),
            Ok(entry("\n      [d, e]  # the last"))
        );
    }

    #[test]
    fn fails_that_would_take_something_else_with_them_are_left_to_a_person() {
        let comment = case(&format!("{{check: value, fails: [a, # why\n       b], {REST}"));
        assert_eq!(failing(&comment, 1, &["c"]), Err(Unedited::Comment));
        let alias = format!("expected_fail:\n  - &one {{{ENTRY}\n  - *one\nop: sum\n");
        assert_eq!(failing(&alias, 1, &["c"]), Err(Unedited::Alias));
        assert_eq!(failing(&alias, 0, &["c"]), Err(Unedited::Rare));
        let folded = case(
            "check: value\n    fails: >-\n      a\n      b\n    because: b\n    issue: i\n    \
             opened: 2026-01-01\n    expires: 2027-01-01",
        );
        assert_eq!(failing(&folded, 1, &["c"]), Err(Unedited::Rare));
    }
}
