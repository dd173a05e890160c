//! `assay accept`: takes the scorecard that waits as it is, has known failures name what fails, and removes those that
//! fail no more.

use super::context::{CliError, Context};
use super::output::say;
use crate::case::cell::CaseInfo;
use crate::case::date::Date;
use crate::case::edit::Unedited;
use crate::case::load::{self, Source};
use crate::harness::amend::amended;
use crate::harness::known::{Notice, Seen, What};
use crate::harness::publish::{publish_documents, standing_of};
use crate::scorecard::exit::Exit;
use crate::scorecard::outcome::Outcome;
use crate::scorecard::outcomes::Outcomes;
use crate::scorecard::store::{Store, Written, CARD, CELLS, OUTCOMES};
use crate::vocabulary::Device;
use std::collections::BTreeMap;

/// Accepts.
pub fn accept(context: &Context<'_>) -> Result<Exit, CliError> {
    let store = context.store()?;
    let Amendments { files, left } = amend(context, &store)?;
    let accepted = match accept_pending(&store) {
        // A run in which something got better has written the scorecard already, and a run of some cells writes none.
        Err(CliError::NothingPending) if !(files.is_empty() && left.is_empty()) => Vec::new(),
        accepted => accepted?.to_vec(),
    };
    let version = store.committed()?;
    let label = standing_of(&store, &version, &Date::today().to_string())?;
    let shown = (context.backend.device, &label);
    publish_documents(&store, &version, context.backend.names.capabilities, shown)?;
    for file in &files {
        say(format_args!("accepted: {file}; run again, and commit both\n"));
    }
    for (file, written) in &accepted {
        match written {
            Written::Changed => say(format_args!(
                "accepted: {file}; commit it, and say why in the message\n"
            )),
            Written::Unchanged => say(format_args!("unchanged: {file}\n")),
        }
    }
    for (notice, why) in &left {
        say(format_args!("{}\n", notice.by_hand(*why)));
    }
    let red = |(notice, _): &(Notice, Unedited)| matches!(notice.what, What::FailsOtherwise { .. });
    Ok(match files.is_empty() && accepted.is_empty() {
        _ if left.iter().any(red) => Exit::Regression,
        true => Exit::Improvement,
        false => Exit::Clean,
    })
}

/// Promotes both pending files. Both are read first, so that a broken one is never promoted.
pub fn accept_pending(store: &Store) -> Result<[(&'static str, Written); 2], CliError> {
    let pending = store.pending()?.ok_or(CliError::NothingPending)?.accepted()?;
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

/// What the latest run asks to be written into cases.
struct Amendments {
    /// The files that changed.
    files: Vec<String>,
    /// What only a person can write, and why.
    left: Vec<(Notice, Unedited)>,
}

/// Edits the cases that are as they were in the latest run.
fn amend(context: &Context<'_>, store: &Store) -> Result<Amendments, CliError> {
    let mut amendments = Amendments {
        files: Vec::new(),
        left: Vec::new(),
    };
    let Ok(text) = std::fs::read_to_string(store.path(OUTCOMES)) else {
        return Ok(amendments);
    };
    let parts = Outcomes::read(OUTCOMES, &text)?;
    let loaded = context.suite(store)?;
    let recorded = store.committed()?.cells;
    let cases: BTreeMap<&str, &CaseInfo> = loaded
        .cells
        .iter()
        .map(|cell| (cell.case.file.as_str(), &*cell.case))
        .collect();
    let mut by_file: BTreeMap<String, BTreeMap<Device, Vec<Outcome>>> = BTreeMap::new();
    for Outcomes { origin, outcomes } in parts {
        for outcome in outcomes {
            let devices = by_file.entry(outcome.file.clone()).or_default();
            devices.entry(origin.device).or_default().push(outcome);
        }
        // What has changed since then says nothing about the case as it is now.
        by_file.retain(|file, devices| {
            let digest = cases.get(file.as_str()).map(|case| load::digest(&case.text));
            if digest.as_ref() != origin.files.get(file) {
                devices.remove(&origin.device);
            }
            !devices.is_empty()
        });
    }
    for (file, devices) in by_file {
        let Some(case) = cases.get(file.as_str()) else {
            continue;
        };
        // What does not come out alike is no evidence.
        let asks = |it: &Outcome| (it.passes_unexpectedly() || !it.otherwise.is_empty()) && !it.is_flaky();
        if !devices.values().flatten().any(asks) {
            continue;
        }
        let source = Source {
            id: case.id.clone(),
            file: case.file.clone(),
            text: case.text.clone(),
        };
        let runs: Vec<(Device, &[Outcome])> = devices
            .iter()
            .map(|(device, outcomes)| (*device, outcomes.as_slice()))
            .collect();
        let seen = Seen {
            runs: &runs,
            recorded: &recorded,
        };
        // It has just given cells.
        let Ok(amended) = amended(&source, &context.backend.names, seen) else {
            continue;
        };
        if amended.text != case.text {
            store.write(&case.file, amended.text.as_bytes())?;
            amendments.files.push(case.file.clone());
        }
        amendments.left.extend(amended.left);
    }
    Ok(amendments)
}
