//! `assay check`: reads every case and says everything that is wrong, at once.

use super::context::{print_problems, CliError, Context};
use crate::scorecard::exit::Exit;

/// Checks.
pub fn check(context: &Context<'_>) -> Result<Exit, CliError> {
    let store = context.store()?;
    let loaded = context.suite(&store)?;
    print_problems(&loaded);
    let (files, cells) = (loaded.files, loaded.cells.len());
    match loaded.problems.len() {
        0 => {
            println!("{files} cases, {cells} cells, nothing wrong");
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
            eprintln!("{wrong} problems in {files_wrong} of {files} files");
            Ok(Exit::Suite)
        }
    }
}
