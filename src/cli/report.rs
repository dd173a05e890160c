//! `assay report`: writes the pages anew, from what the latest run left.

use super::context::{CliError, Context};
use super::output::say;
use crate::case::date::Date;
use crate::harness::publish::{publish, sources, standing_of};
use crate::report::site::Report;
use crate::scorecard::cells::CellBook;
use crate::scorecard::changes::{changes, sort, Version};
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
    let parts = Outcomes::read(OUTCOMES, &text)?;
    let version = store.committed()?;
    let (retired, gate) = (store.retired()?, store.gate()?);
    let today = Date::today().to_string();
    let mut changed = Vec::new();
    for Outcomes { origin, outcomes } in &parts {
        // A run of some cells says nothing about the others.
        if outcomes.len() == loaded.cells.len() {
            let ran = Version {
                cells: CellBook::updated(&version.cells, origin.device, outcomes),
                ..version.clone()
            };
            changed.extend(changes(&version, &ran, origin.device, &retired));
        }
    }
    sort(&mut changed);
    let (label, lacking) = (
        standing_of(&store, &version, &today)?,
        missing(&gate, &version, &today),
    );
    let (update, sources) = (
        format!("from the latest run's outcomes and {CARD}"),
        sources(&loaded.cells),
    );
    let reports = parts.iter().map(|part| Report {
        capabilities: context.backend.names.capabilities,
        device: part.origin.device,
        others: &[],
        totals: Totals::of(&part.outcomes, loaded.cells.len()),
        outcomes: &part.outcomes,
        version: &version,
        changes: &changed,
        update: &update,
        label: &label,
        missing: &lacking,
        today: &today,
        sources: &sources,
    });
    publish(&store, reports.collect())?;
    say(format_args!("report: {INDEX}\n"));
    Ok(Exit::Clean)
}
