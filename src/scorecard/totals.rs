//! How many cells yielded what.

use super::outcome::{Outcome, Verdict};
use serde::Serialize;

/// Counts of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Cells that the root has.
    pub cells: usize,
    /// Cells that ran.
    pub ran: usize,
    /// Record verdicts that pass.
    pub record_pass: usize,
    /// Cells that claim something about values.
    pub value_claims: usize,
    /// Value verdicts that pass.
    pub value_pass: usize,
    /// Cells with an expected failure.
    pub expected_fail: usize,
    /// Cells that pass where a failure was expected.
    pub unexpected_pass: usize,
    /// Cells that were skipped.
    pub skipped: usize,
    /// Cells that are red.
    pub red: usize,
}

impl Totals {
    /// The counts of these outcomes.
    pub fn of(outcomes: &[Outcome], cells: usize) -> Self {
        let count = |wanted: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|it| wanted(it)).count();
        let has = |verdict| move |it: &Outcome| it.record == verdict || it.value == Some(verdict);
        Self {
            cells,
            ran: outcomes.len(),
            record_pass: count(&|it| it.record == Verdict::Pass),
            value_claims: count(&|it| it.value.is_some()),
            value_pass: count(&|it| it.value == Some(Verdict::Pass)),
            expected_fail: count(&has(Verdict::ExpectedFail)),
            unexpected_pass: count(&has(Verdict::UnexpectedPass)),
            skipped: count(&|it| it.record == Verdict::Skipped),
            red: count(&|it| it.is_red()),
        }
    }
}
