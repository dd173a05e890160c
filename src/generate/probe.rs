//! Asking: each cell of a draft is run, and what came out says what its file must expect.

use super::plan::{head, Subject};
use crate::case::check;
use crate::case::error::Problem;
use crate::case::load::Source;
use crate::case::matrix::Point;
use crate::harness::backend::Backend;
use crate::harness::seam::Cell;
use crate::scorecard::outcome::{Checked, Ending, FindingKind, Outcome};
use crate::vocabulary::State;

/// A draft cannot be read: a fault of its recipe.
#[derive(Debug, thiserror::Error)]
#[error("the draft of {file} cannot be read, so its recipe in src/generate/recipes.rs is wrong:\n{}", .problems.iter().map(Problem::render).collect::<String>())]
pub struct DraftError {
    /// The file that it would become.
    pub file: String,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
}

/// What one cell must be expected to do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// It traces, its record is proven, and it is held to its reference.
    Proven,
    /// It traces and its record is proven; there is no reference for it.
    Unreferenced {
        /// Why.
        why: String,
    },
    /// It traces, but asking cannot show its record to be true.
    Open {
        /// The trace's state.
        state: State,
        /// Whether it is held to its reference.
        reference: bool,
        /// What the status says.
        why: String,
    },
    /// It is refused, with this in the message.
    Refused {
        /// The part of the message that is the same everywhere.
        text: String,
        /// Whether mlx-rs panics with it instead of giving it back.
        panics: bool,
    },
}

/// One cell, asked.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The cell's point.
    pub point: Point,
    /// What it must be expected to do.
    pub answer: Answer,
    /// How its value differs from the reference, if it does.
    pub differs: Option<String>,
    /// What else is wrong with it, which no expectation may hide.
    pub broken: Option<String>,
}

/// Asks every cell of a subject's draft.
///
/// # Errors
///
/// The draft cannot be read.
pub fn ask(subject: &Subject, backend: &Backend) -> Result<Vec<Asked>, DraftError> {
    let cells = read(
        subject,
        &format!("{}expect: {{reference: true}}\n", head(subject)),
        backend,
    )?;
    Ok(cells
        .iter()
        .map(|cell| asked(cell, &backend.runner.run(cell)))
        .collect())
}

/// The cells of a subject's text.
pub(super) fn read(subject: &Subject, text: &str, backend: &Backend) -> Result<Vec<Cell>, DraftError> {
    let source = Source {
        id: subject.id(),
        file: subject.file(),
        text: text.into(),
    };
    check::case(&source, &backend.names).map_err(|problems| DraftError {
        file: subject.file(),
        problems,
    })
}

fn asked(cell: &Cell, outcome: &Outcome) -> Asked {
    let point = cell.axes.clone();
    let of = |check: Checked, kinds: &[FindingKind]| {
        let mut found = outcome.findings.iter();
        found
            .find(|it| it.check == check && kinds.contains(&it.kind))
            .map(|it| it.message.clone())
    };
    if let Ending::Error { message } | Ending::Panicked { message } = &outcome.evidence.ending {
        return Asked {
            point,
            answer: Answer::Refused {
                text: fixed_part(message),
                panics: matches!(outcome.evidence.ending, Ending::Panicked { .. }),
            },
            differs: None,
            broken: None,
        };
    }
    if let Ending::Invalid { message } = &outcome.evidence.ending {
        return Asked {
            point,
            answer: Answer::Unreferenced { why: short(message) },
            differs: None,
            broken: Some(short(message)),
        };
    }
    let missing = of(Checked::Value, &[FindingKind::Suite, FindingKind::Vacuous]);
    let state = outcome.evidence.state.unwrap_or(State::Unavailable);
    let answer = match (state, &missing) {
        (State::Passed, None) => Answer::Proven,
        (State::Passed, Some(why)) => Answer::Unreferenced { why: short(why) },
        (state, missing) => Answer::Open {
            state,
            reference: missing.is_none(),
            why: short(&outcome.evidence.message),
        },
    };
    let differs = of(
        Checked::Value,
        &[
            FindingKind::Values,
            FindingKind::Shape,
            FindingKind::Dtype,
            FindingKind::Outputs,
        ],
    );
    Asked {
        point,
        answer,
        differs,
        broken: of(
            Checked::Record,
            &[FindingKind::Mutant, FindingKind::Ending, FindingKind::Suite],
        ),
    }
}

/// The part of an error's message that does not depend on the cell: up to the first number, one sentence.
fn fixed_part(message: &str) -> String {
    let message = message.trim();
    // A panic of mlx-rs shows the error as Rust's `{:?}` does: what MLX said stands in it.
    let quoted = message.split_once("what: \"").map(|(_, rest)| rest);
    // Behind it stands where in mlx-rs, by a path of this machine.
    let quoted = quoted.map(|rest| rest.split_once(" at /").map_or(rest, |(said, _)| said));
    let message = quoted.unwrap_or_else(|| message.split_once(": ").map_or(message, |(_, rest)| rest));
    let end = message
        .char_indices()
        .find(|(at, letter)| *at >= 8 && (letter.is_ascii_digit() || "\n\"'".contains(*letter)))
        .map_or(message.len(), |(at, _)| at);
    let sentence = message[..end].trim_end_matches([' ', '(', '[', ',', '-']);
    sentence
        .chars()
        .take(90)
        .collect::<String>()
        .trim_end()
        .to_owned()
}

/// One line, without what only a person needs.
fn short(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    let line = line.split("; give `outputs:`").next().unwrap_or(line);
    line.chars().take(100).collect()
}
