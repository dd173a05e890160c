//! `assay coverage`: what the last run showed of mlx-c and mlx-rs.

use super::command::Format;
use super::context::{CliError, Context};
use super::output::say;
use crate::coverage::count::{count, operations, Standing};
use crate::coverage::excluded;
use crate::coverage::surface::ITEMS;
use crate::coverage::text::{text, Rows};
use crate::scorecard::exit::Exit;
use crate::scorecard::outcomes::Outcomes;
use crate::scorecard::store::OUTCOMES;
use clap::Args;

/// What to show.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Every row, not only those that are not covered
    #[arg(long)]
    all: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Counts what the outcomes of the last run show; ends with missing evidence where something is missing.
pub fn coverage(context: &Context<'_>, arguments: &Arguments) -> Result<Exit, CliError> {
    let store = context.store()?;
    let loaded = context.suite(&store)?;
    let excluded = excluded::read(store.root())?;
    let items: Vec<&str> = ITEMS.iter().map(|item| item.path).collect();
    if items.is_empty() {
        return Err(CliError::NoSurface);
    }
    excluded.check(&operations(), &items)?;
    let written = std::fs::read_to_string(store.path(OUTCOMES)).map_err(|_| CliError::NoOutcomes)?;
    let outcomes = Outcomes::read(OUTCOMES, &written)?.outcomes;
    let coverage = count(&loaded.cells, &outcomes, &excluded);
    match arguments.format {
        Format::Text => {
            if outcomes.len() < loaded.cells.len() {
                let (ran, all) = (outcomes.len(), loaded.cells.len());
                say(format_args!(
                    "the last run was of {ran} of {all} cells; `assay run` runs all\n\n"
                ));
            }
            say(text(
                &coverage,
                if arguments.all { Rows::All } else { Rows::Open },
            ));
        }
        Format::Json => say(format_args!("{}\n", serde_json::to_string_pretty(&coverage)?)),
    }
    let missing = coverage
        .mlx_c
        .iter()
        .chain(&coverage.mlx_rs)
        .any(|row| row.standing == Standing::Missing);
    Ok(if missing { Exit::Evidence } else { Exit::Clean })
}
