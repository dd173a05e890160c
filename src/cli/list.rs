//! `assay list`: the ids of all cells.

use super::command::Format;
use super::context::{matching, print_problems, CliError, Context};
use super::output::say;
use crate::scorecard::exit::Exit;
use clap::Args;
use serde::Serialize;

/// What to list.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Parts of cell ids; a cell is listed if its id contains any of them
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Serialize)]
struct Line<'a> {
    cell: &'a str,
    file: &'a str,
    covers: &'a [String],
}

/// Lists.
pub fn list(context: &Context<'_>, arguments: &Arguments) -> Result<Exit, CliError> {
    let store = context.store()?;
    let loaded = context.suite(&store)?;
    let cells = matching(&loaded, &arguments.filters)?;
    match arguments.format {
        Format::Text => cells.iter().for_each(|cell| say(format_args!("{}\n", cell.id))),
        Format::Json => {
            let line = |cell: &&'_ crate::case::cell::Cell| -> serde_json::Result<String> {
                serde_json::to_string(&Line {
                    cell: &cell.id,
                    file: &cell.case.file,
                    covers: &cell.case.covers,
                })
            };
            for cell in &cells {
                say(format_args!("{}\n", line(cell)?));
            }
        }
    }
    print_problems(&loaded);
    Ok(if loaded.problems.is_empty() {
        Exit::Clean
    } else {
        Exit::Suite
    })
}
