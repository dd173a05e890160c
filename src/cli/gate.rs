//! `assay gate`: what is missing for a label.

use super::command::Format;
use super::context::{CliError, Context};
use super::output::say;
use crate::case::cell::Cell;
use crate::case::date::Date;
use crate::harness::suite::origin;
use crate::report::gate::{lacking, open};
use crate::scorecard::decision::{self, Decision, Digests, Label};
use crate::scorecard::exit::Exit;
use crate::scorecard::gate::missing;
use crate::scorecard::git;
use crate::scorecard::store::{Store, CARD};
use clap::{Args, ValueEnum};

/// What to ask for.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The label that is to be reached
    #[arg(long, value_enum, default_value_t)]
    to: Target,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// A label that takes evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Target {
    /// What the scorecard shows stays so.
    #[default]
    Stable,
}

/// Says what is missing; ends with missing evidence until nothing is.
pub fn gate(context: &Context<'_>, arguments: &Arguments) -> Result<Exit, CliError> {
    let store = context.store()?;
    let version = store.committed()?;
    let rules = store.gate()?;
    let today = Date::today().to_string();
    let found = missing(&rules, &version, &today);
    let exit = if found.is_empty() {
        Exit::Clean
    } else {
        Exit::Evidence
    };
    match (arguments.format, arguments.to) {
        (Format::Json, _) => say(format_args!("{}\n", serde_json::to_string_pretty(&found)?)),
        (Format::Text, _) if !found.is_empty() => say(lacking(&found)),
        (Format::Text, Target::Stable) => {
            let decision = Decision {
                label: Label::Stable,
                when: today,
                revision: revision(&store, &version.card.digest)?,
                digest: version.card.digest.clone(),
                digests: digests(context, &store)?,
                ..Decision::default()
            };
            say(open(&decision, decision::FILE));
        }
    }
    Ok(exit)
}

/// The revision that has the scorecard as it lies here.
fn revision(store: &Store, digest: &str) -> Result<String, CliError> {
    let committed = git::show(store.root(), "HEAD", CARD)?;
    let spelled = serde_json::to_string(digest)?;
    if !committed.contains(&spelled) {
        return Err(CliError::NotCommitted);
    }
    Ok(git::resolve(store.root(), "HEAD")?)
}

fn digests(context: &Context<'_>, store: &Store) -> Result<Digests, CliError> {
    let loaded = context.suite(store)?;
    let cells: Vec<&Cell> = loaded.cells.iter().collect();
    let origin = origin(context.backend, &cells);
    Ok(Digests {
        cases: origin.cases(),
        harness: origin.harness,
        backend: origin.backend,
    })
}
