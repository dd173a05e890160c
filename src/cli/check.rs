//! `assay check`: reads every case and says everything that is wrong, at once.

use super::context::{print_problems, CliError, Context};
use super::output::say;
use crate::report::text::counted;
use crate::scorecard::exit::Exit;

/// Checks.
pub fn check(context: &Context<'_>) -> Result<Exit, CliError> {
    let store = context.store()?;
    let loaded = context.suite(&store)?;
    print_problems(&loaded);
    let (files, cells) = (loaded.files, loaded.cells.len());
    match loaded.problems.len() {
        0 => {
            say(format_args!(
                "{}, {}, nothing wrong\n",
                counted(files, "case"),
                counted(cells, "cell")
            ));
            Ok(Exit::Clean)
        }
        wrong => {
            let files_wrong = {
                let mut names: Vec<&str> = loaded
                    .problems
                    .iter()
                    .map(|problem| problem.file.as_str())
                    .collect();
                names.dedup();
                names.len()
            };
            eprintln!(
                "{}, in {files_wrong} of {}",
                counted(wrong, "problem"),
                counted(files, "file")
            );
            Ok(Exit::Suite)
        }
    }
}
