//! `assay accept`: takes the scorecard that waits as it is.

use super::context::{CliError, Context};
use super::output::say;
use crate::scorecard::exit::Exit;
use crate::scorecard::store::{Store, Written, CARD, CELLS};

/// Accepts.
pub fn accept(context: &Context<'_>) -> Result<Exit, CliError> {
    for (file, written) in accept_pending(&context.store()?)? {
        match written {
            Written::Changed => say(format_args!(
                "accepted: {file}; commit it, and say why in the message\n"
            )),
            Written::Unchanged => say(format_args!("unchanged: {file}\n")),
        }
    }
    Ok(Exit::Clean)
}

/// Promotes both pending files. Both are read first, so that a broken one is never promoted.
pub fn accept_pending(store: &Store) -> Result<[(&'static str, Written); 2], CliError> {
    let pending = store.pending()?.ok_or(CliError::NothingPending)?;
    let (card, cells) = (pending.card.write()?, pending.cells.write()?);
    let same = |file, text: &str| match std::fs::read(store.path(file)) {
        Ok(old) if old == text.as_bytes() => Written::Unchanged,
        _ => Written::Changed,
    };
    let written = [(CARD, same(CARD, &card)), (CELLS, same(CELLS, &cells))];
    let lock = store.lock()?;
    store.replace(&lock, card, cells)?;
    store.discard_pending()?;
    Ok(written)
}
