//! `assay worker`: the inside of a worker process. Not for people.

use super::context::{CliError, Context};
use crate::harness::worker;
use crate::scorecard::exit::Exit;
use clap::Args;
use std::sync::Arc;

/// Where it works.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The processor to keep to, of those that may be used
    #[arg(long, default_value_t = 0)]
    place: usize,
}

/// Answers until whoever started it is gone.
pub fn worker(context: &Context<'_>, arguments: &Arguments) -> Result<Exit, CliError> {
    let runner = Arc::clone(&context.backend.runner);
    worker::serve(context.backend.names, runner, arguments.place)?;
    Ok(Exit::Clean)
}
