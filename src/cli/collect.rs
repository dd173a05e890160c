//! `assay collect`: assembles the outcomes that cargo-nextest's processes left, one each.

use super::context::{CliError, Context};
use super::merge::{merge_parts, read};
use crate::harness::leave;
use crate::scorecard::exit::Exit;

/// Assembles.
pub fn collect(context: &Context<'_>) -> Result<Exit, CliError> {
    let store = context.store()?;
    let left = leave::latest(&store).ok_or(CliError::NothingLeft)?;
    let parts = left
        .files
        .iter()
        .map(|file| read(file))
        .collect::<Result<_, _>>()?;
    let exit = merge_parts(context, parts)?;
    left.discard();
    Ok(exit)
}
