//! Everything in this process: what a cell leaves behind stays, and is told with whatever is red after it.

use super::seam::{Cell, Mutated, Runner};
use crate::scorecard::outcome::Outcome;
use std::sync::{Arc, Mutex, PoisonError};

/// Runs cells where they stand, and remembers the first that left something.
pub struct OneProcess {
    runner: Arc<dyn Runner>,
    left_by: Mutex<Option<String>>,
}

impl OneProcess {
    /// Cells run by `runner`, which does so in this process.
    pub fn new(runner: Arc<dyn Runner>) -> Self {
        Self {
            runner,
            left_by: Mutex::new(None),
        }
    }
}

impl Runner for OneProcess {
    fn run(&self, cell: &Cell) -> Outcome {
        let mut outcome = self.runner.run(cell);
        // A panic elsewhere leaves the name as it was: it is set in one step.
        let mut left_by = self.left_by.lock().unwrap_or_else(PoisonError::into_inner);
        match left_by.as_ref() {
            Some(other) if outcome.is_red() => {
                outcome.output = format!(
                    "this process is not as it was since {other}, which may be why: run it without `--workers 0`\n"
                );
            }
            Some(_) => {}
            None if !self.runner.is_fit_after(cell, &outcome) => *left_by = Some(cell.id.clone()),
            None => {}
        }
        outcome
    }

    fn is_fit_after(&self, cell: &Cell, outcome: &Outcome) -> bool {
        self.runner.is_fit_after(cell, outcome)
    }

    fn mutate(&self, cell: &Cell, bound: usize) -> Result<Mutated, String> {
        self.runner.mutate(cell, bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::check;
    use crate::case::load::Source;
    use crate::harness::expect::conclude;
    use crate::harness::seam::Observed;
    use crate::scorecard::outcome::{Ending, Evidence};
    use crate::under_test::backend;
    use std::time::Duration;

    /// Every cell ends with an error.
    struct Failing;

    impl Runner for Failing {
        fn run(&self, cell: &Cell) -> Outcome {
            let evidence = Evidence::ended(Ending::error("no"));
            let observed = Observed {
                evidence,
                ..Observed::default()
            };
            conclude(cell, observed, Duration::ZERO)
        }

        fn is_fit_after(&self, cell: &Cell, _: &Outcome) -> bool {
            cell.id != "b"
        }
    }

    #[test]
    fn what_a_cell_leaves_is_told_with_those_after_it() {
        let runner = OneProcess::new(Arc::new(Failing));
        let printed = |id: &str| {
            let source = Source {
                id: id.to_owned(),
                file: format!("cases/{id}.yaml"),
                text: "inputs: {x: {shape: [2]}}\nmodel: gelu\nexpect: {}\n".into(),
            };
            let cells = check::case(&source, &backend().names).expect("a case");
            runner.run(&cells[0]).output
        };
        assert_eq!((printed("a"), printed("b")), (String::new(), String::new()));
        for later in ["c", "d"] {
            assert!(printed(later).contains("not as it was since b,"));
        }
    }
}
