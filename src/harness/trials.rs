//! Cells as libtest trials: one trial a cell, by the cell's id.

use super::block::block;
use super::suite::Recorder;
use crate::case::cell::Cell;
use crate::case::error::Problem;
use libtest_mimic::{Arguments, Failed, Trial};
use std::sync::Arc;

/// A trial for each cell, and one that fails for each file with which something is wrong.
pub fn trials(cells: &[Cell], problems: &[Problem], recorder: &Arc<Recorder>) -> Vec<Trial> {
    let cells = cells.iter().map(|cell| {
        let (cell, recorder) = (cell.clone(), Arc::clone(recorder));
        let lacks = recorder.lacks(&cell);
        let ignored = lacks.is_some();
        Trial::test(cell.id.clone(), move || {
            // Only where ignored trials are asked for: one that cannot run must not look like a pass.
            if let Some(reason) = lacks {
                return Err(Failed::from(format!("cannot run here: {reason}")));
            }
            let Some(outcome) = recorder.run(&cell) else {
                return Err(Failed::from("the run was interrupted"));
            };
            if outcome.is_red() {
                return Err(Failed::from(format!("{}\n", block(&cell, &outcome))));
            }
            // Only kept where it is asked for.
            if !outcome.output.is_empty() {
                print!("{}", outcome.output);
            }
            Ok(())
        })
        .with_ignored_flag(ignored)
    });
    let mut files: Vec<&str> = problems.iter().map(|problem| problem.file.as_str()).collect();
    files.dedup();
    let files = files.into_iter().map(|file| {
        let of_file = problems.iter().filter(|problem| problem.file == file);
        let text: String = of_file.map(Problem::render).collect::<Vec<_>>().join("\n");
        Trial::test(format!("check::{file}"), move || Err(Failed::from(text)))
    });
    cells.chain(files).collect()
}

/// The names that an exact filter asks for and that no trial has.
///
/// libtest-mimic runs nothing and ends with success when `--exact` matches nothing, so a rerun command with a slip
/// in it would be green.
pub fn unmatched_exact<'a>(arguments: &'a Arguments, trials: &[Trial]) -> Option<&'a str> {
    let filter = arguments.filter.as_deref().filter(|_| arguments.exact)?;
    (!trials.iter().any(|trial| trial.name() == filter)).then_some(filter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(filter: &str, exact: bool) -> Arguments {
        Arguments {
            filter: Some(filter.to_owned()),
            exact,
            ..Arguments::default()
        }
    }

    #[test]
    fn an_exact_name_that_no_trial_has_is_noticed() {
        let trials = [Trial::test("ops::sum::float32", || Ok(()))];
        assert_eq!(
            unmatched_exact(&arguments("ops::sum", true), &trials),
            Some("ops::sum")
        );
        assert_eq!(
            unmatched_exact(&arguments("ops::sum::float32", true), &trials),
            None
        );
        assert_eq!(unmatched_exact(&arguments("ops::sum", false), &trials), None);
    }
}
