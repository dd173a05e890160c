//! `assay collect`: assembles the outcomes that cargo-nextest's processes left, one each.

use super::context::{CliError, Context};
use super::merge::{merge_parts, read};
use crate::case::cell::Cell;
use crate::harness::leave;
use crate::harness::requires::Here;
use crate::harness::suite::{self, skipped};
use crate::scorecard::exit::Exit;
use crate::scorecard::outcomes::Outcomes;
use std::collections::BTreeSet;

/// Assembles. What a whole run left goes then; what some cells left stays, for a run of the others changes nothing about
/// it.
pub fn collect(context: &Context<'_>) -> Result<Exit, CliError> {
    let store = context.store()?;
    let left = leave::latest(&store).ok_or(CliError::NothingLeft)?;
    let parts: Vec<_> = left
        .files
        .iter()
        .map(|file| read(file))
        .collect::<Result<_, _>>()?;
    let mut parts = parts.concat();

    // No process is ever started for what cannot run here, which a whole run knows to be so.
    let cells = context.suite(&store)?.cells;
    let here = Here::from(context.backend);
    let outcomes = parts.iter().flat_map(|(_, part)| &part.outcomes);
    let ran: BTreeSet<&str> = outcomes.map(|outcome| outcome.cell.as_str()).collect();
    let others: Vec<&Cell> = cells
        .iter()
        .filter(|cell| !ran.contains(cell.id.as_str()))
        .collect();
    let skips: Option<Vec<_>> = others
        .iter()
        .map(|cell| Some(skipped(cell, here.lacks(cell)?)))
        .collect();
    let whole = skips.is_some();
    let skips = skips.unwrap_or_default();
    if !skips.is_empty() {
        let origin = suite::origin(context.backend, &others);
        let part = Outcomes {
            origin,
            outcomes: skips,
        };
        parts.push(("the cells that cannot run here".to_owned(), part));
    }
    let exit = merge_parts(context, parts)?;
    if whole {
        left.discard();
    }
    Ok(exit)
}
