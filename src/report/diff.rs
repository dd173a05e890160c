//! A difference between scorecards, as text for a terminal and as Markdown for a pull request.

use super::text::counted;
use crate::scorecard::changes::{Change, Direction, Kind, Level};
use crate::scorecard::diff::Diff;
use crate::scorecard::settle::unified;
use crate::scorecard::store::CARD;
use std::fmt::Write as _;

/// How many changes of a kind the text lists; all of them stand in the JSON.
const MOST_CHANGES: usize = 40;

/// How many lines of the scorecard's own difference are printed.
const MOST_LINES: usize = 40;

const DIRECTIONS: [(Direction, &str); 4] = [
    (Direction::Regression, "worse"),
    (Direction::Improvement, "better"),
    (Direction::Addition, "new"),
    (Direction::Other, "else"),
];

/// As text. `cards` are both scorecards' files, if the changed lines are to be shown.
pub fn text(diff: &Diff, cards: Option<(&str, &str)>) -> String {
    let mut text = format!("{} -> {}\n{}\n", diff.base, diff.head, headline(diff));
    for line in &diff.why {
        push(&mut text, format_args!("why    {line}\n"));
    }
    for (direction, word) in DIRECTIONS {
        let changes: Vec<&Change> = diff.going(direction).collect();
        for change in changes.iter().take(MOST_CHANGES) {
            push(&mut text, format_args!("{word:<6} {}\n", line(diff, change)));
        }
        let left = changes.len().saturating_sub(MOST_CHANGES);
        if left > 0 {
            push(&mut text, format_args!("{word:<6} … and {left} more\n"));
        }
    }
    let lines = cards
        .map(|(base, head)| unified(&[(CARD, base, head)]))
        .unwrap_or_default();
    let lines: Vec<&str> = lines.lines().collect();
    if !lines.is_empty() {
        text.push('\n');
    }
    for line in lines.iter().take(MOST_LINES) {
        push(&mut text, format_args!("{}\n", shortened(line)));
    }
    if lines.len() > MOST_LINES {
        push(
            &mut text,
            format_args!("… and {} lines more\n", lines.len() - MOST_LINES),
        );
    }
    text
}

/// As Markdown.
pub fn markdown(diff: &Diff) -> String {
    let mut text = format!(
        "### Scorecard: {} → {}\n\n{}\n",
        escaped(&diff.base),
        escaped(&diff.head),
        headline(diff)
    );
    for why in &diff.why {
        push(&mut text, format_args!("\n- {}", escaped(why)));
    }
    if !diff.why.is_empty() {
        text.push('\n');
    }
    for (direction, word) in DIRECTIONS {
        let changes: Vec<&Change> = diff.going(direction).collect();
        if changes.is_empty() {
            continue;
        }
        let open = if direction == Direction::Regression {
            " open"
        } else {
            ""
        };
        push(
            &mut text,
            format_args!(
                "\n<details{open}><summary>{word}: {}</summary>\n\n",
                counted(changes.len(), "change")
            ),
        );
        text.push_str("| what | device | kind | detail |\n|---|---|---|---|\n");
        for change in changes.iter().take(MOST_CHANGES) {
            let because = diff.because.get(&change.what);
            let because = because.map(|it| format!(" ({it})")).unwrap_or_default();
            push(
                &mut text,
                format_args!(
                    "| `{}` | {} | {} | {}{} |\n",
                    change.what.replace('|', "\\|").replace('`', "'"),
                    change.device.map_or("", |device| device.name()),
                    kind(change.kind),
                    escaped(&change.detail),
                    because
                ),
            );
        }
        let left = changes.len().saturating_sub(MOST_CHANGES);
        if left > 0 {
            push(&mut text, format_args!("\n… and {left} more\n"));
        }
        text.push_str("\n</details>\n");
    }
    text
}

/// One sentence: what it comes to.
pub fn headline(diff: &Diff) -> String {
    let count = |direction| diff.going(direction).count();
    let weakened = diff.changes.iter().filter(|it| it.kind == Kind::Weakened).count();
    if diff.changes.is_empty() {
        return "nothing changed".to_owned();
    }
    let mut parts = Vec::new();
    for (direction, word) in DIRECTIONS {
        let count = count(direction);
        if count > 0 {
            parts.push(format!("{count} {word}"));
        }
    }
    if weakened > 0 {
        parts.push(format!("the suite is weaker in {}", counted(weakened, "place")));
    }
    let (settled, all) = diff.new_upstream();
    if let Some(share) = (100 * settled).checked_div(all) {
        parts.push(format!(
            "{settled} of {all} new upstream covered: {share} %, wanted 100 %"
        ));
    }
    parts.join(", ")
}

fn line(diff: &Diff, change: &Change) -> String {
    let level = match change.level {
        Level::Label => "",
        Level::Capability => "capability ",
        Level::Function => "function ",
        Level::Surface => "surface ",
        Level::Cell => "",
        Level::Environment => "environment ",
    };
    let device = change
        .device
        .map(|device| format!(" [{device}]"))
        .unwrap_or_default();
    let because = diff.because.get(&change.what);
    let because = because.map(|it| format!(" ({it})")).unwrap_or_default();
    format!(
        "{} {level}{}{device}: {}{because}",
        kind(change.kind),
        change.what,
        change.detail
    )
}

/// As people read it.
pub fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Weakened => "weakened",
        Kind::Regressed => "regressed",
        Kind::NewlyPassing => "newly passing",
        Kind::New => "new",
        Kind::Gone => "gone",
        Kind::Signature => "changed signature",
        Kind::Tolerance => "changed tolerance",
        Kind::Environment => "changed environment",
        Kind::Other => "changed",
    }
}

/// A row of the scorecard may be long.
fn shortened(line: &str) -> String {
    const MOST: usize = 160;
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// Text from cases must not become markup.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' => {
                safe.push('\\');
                safe.push(letter);
            }
            '\n' => safe.push(' '),
            _ => safe.push(letter),
        }
    }
    safe
}

fn push(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = text.write_fmt(line);
}
