//! `assay accept`: takes the scorecard that waits as it is.

use super::context::{CliError, Context};
use crate::scorecard::exit::Exit;
use crate::scorecard::store::{Written, CARD, CELLS};

/// Accepts. Both files are read first, so that a broken one is never promoted.
pub fn accept(context: &Context<'_>) -> Result<Exit, CliError> {
    let store = context.store()?;
    let pending = store.pending()?.ok_or(CliError::NothingPending)?;
    for (file, text) in [(CARD, pending.card.write()?), (CELLS, pending.cells.write()?)] {
        match store.write(file, text.as_bytes())? {
            Written::Changed => println!("accepted: {file}; commit it, and say why in the message"),
            Written::Unchanged => println!("unchanged: {file}"),
        }
    }
    store.discard_pending()?;
    Ok(Exit::Clean)
}
