//! `assay accept`: takes the scorecard that waits as it is, and removes known failures that fail no more.

use super::context::{CliError, Context};
use super::output::say;
use crate::case::check;
use crate::case::date::Date;
use crate::case::load::{self, Source};
use crate::harness::known::{self, Notice};
use crate::harness::publish::{publish_documents, standing_of};
use crate::scorecard::exit::Exit;
use crate::scorecard::outcome::Outcome;
use crate::scorecard::outcomes::Outcomes;
use crate::scorecard::store::{Store, Written, CARD, CELLS, OUTCOMES};
use std::collections::BTreeMap;

/// Accepts.
pub fn accept(context: &Context<'_>) -> Result<Exit, CliError> {
    let store = context.store()?;
    let edited = remove_passing(context, &store)?;
    let accepted = match accept_pending(&store) {
        // A run in which something got better has written the scorecard already.
        Err(CliError::NothingPending) if !edited.is_empty() => Vec::new(),
        accepted => accepted?.to_vec(),
    };
    let version = store.committed()?;
    let label = standing_of(&store, &version, &Date::today().to_string())?;
    let shown = (context.backend.device, &label);
    publish_documents(&store, &version, context.backend.names.capabilities, shown)?;
    for file in edited {
        say(format_args!("accepted: {file}; run again, and commit both\n"));
    }
    for (file, written) in accepted {
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

/// Takes the entries out of `expected_fail:` that the latest run shows to excuse nothing; the files that changed.
fn remove_passing(context: &Context<'_>, store: &Store) -> Result<Vec<String>, CliError> {
    let mut edited = Vec::new();
    // An edit moves whatever stands below it, so each begins with the files as they are.
    loop {
        let loaded = context.suite(store)?;
        let outcomes = latest_outcomes(store, &loaded.cells, &edited)?;
        let notices = known::passing(&loaded.cells, &outcomes);
        let mut edits = notices.iter().filter_map(|notice| {
            let text = known::without(&loaded.cells, notice)?;
            is_a_case(context, notice, &text).then_some((notice, text))
        });
        let Some((notice, text)) = edits.next() else {
            return Ok(edited);
        };
        store.write(&notice.file, text.as_bytes())?;
        if !edited.contains(&notice.file) {
            edited.push(notice.file.clone());
        }
    }
}

/// Whether the edited file is still a case with which nothing is wrong.
fn is_a_case(context: &Context<'_>, notice: &Notice, text: &str) -> bool {
    let Ok(id) = load::id(&notice.file) else {
        return false;
    };
    let file = notice.file.clone();
    let source = Source {
        id,
        file,
        text: text.into(),
    };
    check::case(&source, &context.backend.names).is_ok()
}

/// The outcomes of the latest run, of the files that are as they were then, or that this command edited.
fn latest_outcomes(
    store: &Store,
    cells: &[crate::case::cell::Cell],
    edited: &[String],
) -> Result<Vec<Outcome>, CliError> {
    let Ok(text) = std::fs::read_to_string(store.path(OUTCOMES)) else {
        return Ok(Vec::new());
    };
    let parts = Outcomes::read(OUTCOMES, &text)?;
    let files: BTreeMap<&String, &String> = parts.iter().flat_map(|part| &part.origin.files).collect();
    let is_current = |outcome: &Outcome| {
        let cell = cells.iter().find(|cell| cell.id == outcome.cell);
        let digest = cell.map(|cell| load::digest(&cell.case.text));
        edited.contains(&outcome.file) || digest.as_ref() == files.get(&outcome.file).copied()
    };
    let passing = parts
        .iter()
        .flat_map(|part| &part.outcomes)
        .filter(|outcome| outcome.passes_unexpectedly());
    Ok(passing.filter(|outcome| is_current(outcome)).cloned().collect())
}
