//! `assay merge`: joins outcomes of shards and devices into one scorecard.

use super::context::{CliError, Context};
use super::summary::print_ended;
use crate::case::cell::Cell;
use crate::harness::suite::{self, Scope};
use crate::scorecard::environment::Environment;
use crate::scorecard::exit::Exit;
use crate::scorecard::lines::ReadError;
use crate::scorecard::merge::merge as join;
use crate::scorecard::outcomes::Outcomes;
use crate::vocabulary::Device;
use clap::Args;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What to join.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Files of outcomes, as `assay run` leaves them in `target/assay/outcomes.jsonl`
    #[arg(value_name = "OUTCOMES", required = true)]
    files: Vec<PathBuf>,
}

/// Joins.
pub fn merge(context: &Context<'_>, arguments: &Arguments) -> Result<Exit, CliError> {
    let parts = arguments
        .files
        .iter()
        .map(|file| read(file))
        .collect::<Result<_, _>>()?;
    merge_parts(context, parts)
}

/// A file of outcomes, with its name.
pub fn read(file: &Path) -> Result<(String, Outcomes), ReadError> {
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file).map_err(|source| ReadError::Unreadable {
        file: name.clone(),
        source,
    })?;
    let outcomes = Outcomes::read(&name, &text)?;
    Ok((name, outcomes))
}

/// Joins outcomes that were read.
pub fn merge_parts(context: &Context<'_>, parts: Vec<(String, Outcomes)>) -> Result<Exit, CliError> {
    let store = context.store()?;
    let loaded = context.suite(&store)?;
    let cells: Vec<&Cell> = loaded.cells.iter().collect();
    let mut origin = suite::origin(context.backend, &cells);
    let mut devices = parts
        .iter()
        .map(|(_, part)| (part.origin.device, part.origin.environment.clone()));
    if let Some((device, environment)) = devices.next() {
        (origin.device, origin.environment) = (device, environment);
    }
    let environments: BTreeMap<Device, Environment> = parts
        .iter()
        .map(|(_, part)| (part.origin.device, part.origin.environment.clone()))
        .collect();
    let joined = join(&origin, parts)?;
    let scope = Scope::of(context.backend, &store, &origin, &loaded);
    let mut columns = Vec::new();
    for (device, outcomes) in joined {
        let environment = environments.get(&device).cloned().unwrap_or_default();
        columns.push(scope.column(device, environment, outcomes)?);
    }
    let ended = match (columns.pop(), columns.is_empty()) {
        (Some(only), true) => suite::end(&scope, only.outcomes)?,
        (last, _) => {
            columns.extend(last);
            suite::end_columns(&scope, columns)?
        }
    };
    print_ended(&ended);
    Ok(ended.settled.exit)
}
