//! Edits of a case's text that leave everything else as it was written, comments and all.

use super::position::Path;
use super::yaml::Index;

/// The text without the entry of a list at `path`, and without the list where it was the only one; `None` where the list
/// is not written one entry a line, so that lines cannot tell them apart.
pub fn without_entry(text: &str, index: &Index, path: &Path) -> Option<String> {
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
    let alone = lines.windows(2).all(|pair| pair[0] < pair[1]) && lines.first() > Some(&key_line);
    if key_line == 0 || from >= to || (lines.len() > 1 && !alone) {
        return None;
    }
    Some([&all[..from - 1], &all[to - 1..]].concat().concat())
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
        without_entry(text, &read.index, &Path::root().key("expected_fail").index(place))
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
            format!("op: sum\nexpected_fail:\n  # why\n  - {{{ENTRY}\nshape: [3]\n")
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
}
