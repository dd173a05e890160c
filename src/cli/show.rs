//! `assay show`: runs one cell and prints its trace, or prints a trace that was saved.

use super::command::Format;
use super::context::{exactly, print_problems, CliError, Context};
use super::output::say;
use super::saved;
use crate::harness::in_process::trace_of;
use crate::harness::suite::Recorder;
use crate::report::text;
use crate::scorecard::exit::Exit;
use crate::scorecard::outcome::{Ending, Verdict};
use crate::store::is_saved_trace;
use clap::Args;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Which cell.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The cell's id, whole; or a trace that was saved
    #[arg(value_name = "CELL")]
    cell: String,
    /// Save the cell's trace: into a folder, or into one file that ends in `.safetensors`
    #[arg(long, value_name = "PATH")]
    save: Option<PathBuf>,
    /// Draw the ops into a file
    #[arg(long, value_name = "FILE.svg")]
    draw: Option<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Shows.
pub fn show(context: &Context<'_>, arguments: &Arguments) -> Result<Exit, CliError> {
    let path = Path::new(&arguments.cell);
    if is_saved_trace(path) {
        if arguments.save.is_some() {
            return Err(CliError::SavedAlready);
        }
        return saved::show(path, arguments.format, arguments.draw.as_deref());
    }
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
    if let Some(drawing) = &arguments.draw {
        saved::draw(&outcome.evidence, drawing)?;
    }
    if let Some(path) = &arguments.save {
        let untraced = |why: String| CliError::Untraced {
            cell: cell.id.clone(),
            why,
        };
        // The worker has shown that the cell does not end its process.
        if outcome.evidence.ending != Ending::Traced {
            return Err(untraced(text::ending(&outcome.evidence.ending)));
        }
        trace_of(cell).map_err(untraced)?.save(path)?;
    }
    Ok(match outcome.record {
        Verdict::Invalid => Exit::Suite,
        _ if outcome.is_red() => Exit::Regression,
        _ => Exit::Clean,
    })
}
