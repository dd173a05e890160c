//! `assay worker`: the inside of a worker process. Not for people.

use super::context::{CliError, Context};
use crate::harness::worker;
use crate::scorecard::exit::Exit;
use std::sync::Arc;

/// Answers until whoever started it is gone.
pub fn worker(context: &Context<'_>) -> Result<Exit, CliError> {
    worker::serve(context.backend.names, Arc::clone(&context.backend.runner))?;
    Ok(Exit::Clean)
}
