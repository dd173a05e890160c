//! `assay coverage`: what the last run showed of mlx-c and mlx-rs.

use super::command::Format;
use super::context::{CliError, Context};
use super::output::say;
use crate::coverage::count::{count, operations, Coverage, Standing};
use crate::coverage::excluded;
use crate::coverage::surface::ITEMS;
use crate::coverage::text::{text, Rows};
use crate::scorecard::exit::Exit;
use crate::scorecard::outcomes::Outcomes;
use crate::scorecard::store::OUTCOMES;
use crate::vocabulary::Device;
use clap::Args;
use std::collections::BTreeMap;

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
    let parts = Outcomes::read(OUTCOMES, &written)?;
    let many = parts.len() > 1;
    let coverages: BTreeMap<Device, Coverage> = parts
        .iter()
        .map(|part| {
            (
                part.origin.device,
                count(&loaded.cells, &part.outcomes, &excluded),
            )
        })
        .collect();
    match arguments.format {
        Format::Text => {
            for Outcomes { origin, outcomes } in &parts {
                if many {
                    say(format_args!("on {}:\n", origin.device));
                }
                if outcomes.len() < loaded.cells.len() {
                    let (ran, all) = (outcomes.len(), loaded.cells.len());
                    say(format_args!(
                        "the last run was of {ran} of {all} cells; `assay run` runs all\n\n"
                    ));
                }
                let rows = if arguments.all { Rows::All } else { Rows::Open };
                say(text(&coverages[&origin.device], rows));
            }
        }
        Format::Json => {
            let answer = match (many, coverages.values().next()) {
                (false, Some(only)) => serde_json::to_string_pretty(only)?,
                _ => serde_json::to_string_pretty(&coverages)?,
            };
            say(format_args!("{answer}\n"));
        }
    }
    let mut rows = coverages
        .values()
        .flat_map(|it| it.mlx_c.iter().chain(&it.mlx_rs));
    let missing = rows.any(|row| row.standing == Standing::Missing);
    Ok(if missing { Exit::Evidence } else { Exit::Clean })
}
