//! `assay show CELL`: runs one cell and prints its trace.

use super::command::Format;
use super::context::{exactly, print_problems, CliError, Context};
use super::output::say;
use crate::harness::suite::Recorder;
use crate::report::text;
use crate::scorecard::exit::Exit;
use crate::scorecard::outcome::Verdict;
use clap::Args;
use std::sync::Arc;

/// Which cell.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The cell's id, whole
    #[arg(value_name = "CELL")]
    cell: String,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Shows.
pub fn show(context: &Context<'_>, arguments: &Arguments) -> Result<Exit, CliError> {
    let store = context.store()?;
    let loaded = context.suite(&store)?;
    let cell = exactly(&loaded.cells, &arguments.cell).inspect_err(|_| print_problems(&loaded))?;
    let recorded = store.committed()?.cells;
    let recorder = Recorder::new(Arc::new(context.workers()?), recorded, context.backend);
    let Some(outcome) = recorder.run(cell) else {
        return Ok(Exit::Clean);
    };
    match arguments.format {
        Format::Text => say(text::trace(&outcome)),
        Format::Json => say(format_args!("{}\n", serde_json::to_string_pretty(&outcome)?)),
    }
    Ok(match outcome.record {
        Verdict::Invalid => Exit::Suite,
        _ if outcome.is_red() => Exit::Regression,
        _ => Exit::Clean,
    })
}
