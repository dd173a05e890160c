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

/// An exact filter that asks for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unmatched<'a> {
    /// No trial has this name.
    NoTrial(&'a str),
    /// The trial of this name is left out by another flag.
    LeftOut(&'a str),
}

/// The exact filter, if no trial is left for it.
///
/// libtest-mimic runs nothing and ends with success when `--exact` matches nothing, so a rerun command with a slip
/// in it would be green.
pub fn unmatched_exact<'a>(arguments: &'a Arguments, trials: &[Trial]) -> Option<Unmatched<'a>> {
    let filter = arguments.filter.as_deref().filter(|_| arguments.exact)?;
    let mut named = trials.iter().filter(|trial| trial.name() == filter).peekable();
    if named.peek().is_none() {
        return Some(Unmatched::NoTrial(filter));
    }
    named
        .all(|trial| arguments.is_filtered_out(trial))
        .then_some(Unmatched::LeftOut(filter))
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
            Some(Unmatched::NoTrial("ops::sum"))
        );
        assert_eq!(
            unmatched_exact(&arguments("ops::sum::float32", true), &trials),
            None
        );
        assert_eq!(unmatched_exact(&arguments("ops::sum", false), &trials), None);
        let name = "ops::sum::float32";
        let ignored = Arguments {
            ignored: true,
            ..arguments(name, true)
        };
        let skipped = Arguments {
            skip: vec![name.to_owned()],
            ..arguments(name, true)
        };
        for left_out in [ignored, skipped] {
            assert_eq!(
                unmatched_exact(&left_out, &trials),
                Some(Unmatched::LeftOut(name))
            );
        }
    }
}
