//! `assay report`: writes the pages anew, from what the latest run left.

use super::context::{CliError, Context};
use super::output::say;
use crate::case::date::Date;
use crate::harness::publish::{publish, sources, standing_of};
use crate::report::site::Report;
use crate::scorecard::cells::CellBook;
use crate::scorecard::changes::{changes, Version};
use crate::scorecard::exit::Exit;
use crate::scorecard::gate::missing;
use crate::scorecard::outcomes::Outcomes;
use crate::scorecard::store::{CARD, INDEX, OUTCOMES};
use crate::scorecard::totals::Totals;

/// Writes them.
pub fn report(context: &Context<'_>) -> Result<Exit, CliError> {
    let store = context.store()?;
    let loaded = context.suite(&store)?;
    let text = std::fs::read_to_string(store.path(OUTCOMES)).map_err(|_| CliError::NoOutcomes)?;
    let Outcomes { origin, outcomes } = Outcomes::read(OUTCOMES, &text)?;
    let version = store.committed()?;
    let (retired, gate) = (store.retired()?, store.gate()?);
    let today = Date::today().to_string();
    // A run of some cells says nothing about the others.
    let ran = Version {
        cells: CellBook::updated(&version.cells, origin.device, &outcomes),
        ..version.clone()
    };
    let changed = match outcomes.len() == loaded.cells.len() {
        true => changes(&version, &ran, origin.device, &retired),
        false => Vec::new(),
    };
    let report = Report {
        capabilities: context.backend.names.capabilities,
        device: origin.device,
        totals: Totals::of(&outcomes, loaded.cells.len()),
        outcomes: &outcomes,
        version: &version,
        changes: &changed,
        update: &format!("from the latest run's outcomes and {CARD}"),
        label: &standing_of(&store, &version, &today)?,
        missing: &missing(&gate, &version, &today),
        today: &today,
        sources: &sources(&loaded.cells),
    };
    publish(&store, &report)?;
    say(format_args!("report: {INDEX}\n"));
    Ok(Exit::Clean)
}
