//! `assay merge`: joins outcomes of shards and devices into one scorecard.

use super::context::{CliError, Context};
use super::output::say;
use super::summary::print_ended;
use crate::case::cell::Cell;
use crate::case::check::Suite;
use crate::harness::block::block;
use crate::harness::suite::{self, Ended, Scope};
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
    let parts: Vec<_> = arguments
        .files
        .iter()
        .map(|file| read(file))
        .collect::<Result<_, _>>()?;
    merge_parts(context, parts.concat())
}

/// The outcomes in a file, each device's with the file's name.
pub fn read(file: &Path) -> Result<Vec<(String, Outcomes)>, ReadError> {
    let name = file.display().to_string();
    let text = std::fs::read_to_string(file).map_err(|source| ReadError::Unreadable {
        file: name.clone(),
        source,
    })?;
    let parts = Outcomes::read(&name, &text)?.into_iter();
    Ok(parts.map(|part| (name.clone(), part)).collect())
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
    let ended = suite::end_columns(&scope, columns)?;
    print_red(&loaded, &ended);
    print_ended(&ended);
    Ok(ended.settled.exit)
}

/// Prints the block of each red cell, below its device where there are several.
fn print_red(loaded: &Suite, ended: &Ended) {
    let cells: BTreeMap<&str, &Cell> = loaded.cells.iter().map(|cell| (cell.id.as_str(), cell)).collect();
    for run in &ended.devices {
        for outcome in run.outcomes.iter().filter(|it| it.is_red()) {
            if ended.devices.len() > 1 {
                say(format_args!("on {}:\n", run.device));
            }
            if let Some(cell) = cells.get(outcome.cell.as_str()) {
                say(format_args!("{}\n\n", block(cell, outcome)));
            }
        }
    }
}
