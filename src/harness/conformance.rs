//! The suite as a libtest harness: what `cargo test --test conformance` runs.

use super::backend::Backend;
use super::suite::{self, EndError, Recorder, Scope};
use super::trials::{trials, unmatched_exact};
use crate::case::check;
use crate::case::error::nearest;
use crate::case::load::{find_root, FindError};
use crate::report::text;
use crate::scorecard::settle::{Mode, Update};
use crate::scorecard::store::Store;
use libtest_mimic::{Arguments, Failed, Trial};
use std::process::ExitCode;
use std::sync::Arc;
use thiserror::Error;

/// The status of a libtest harness in which something failed.
const FAILED: u8 = 101;

/// The suite cannot be run as trials.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "each variant passes on the error of its room")]
pub enum ConformanceError {
    #[error("cannot tell the current folder: {0}")]
    NoFolder(std::io::Error),
    #[error(transparent)]
    Find(#[from] FindError),
    #[error(transparent)]
    End(#[from] EndError),
}

/// Runs the trials that the command line asks for, then settles the scorecard.
pub fn main(backend: &Backend) -> ExitCode {
    match run(backend, &Arguments::from_args()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(FAILED)
        }
    }
}

fn run(backend: &Backend, arguments: &Arguments) -> Result<ExitCode, ConformanceError> {
    let here = std::env::current_dir().map_err(ConformanceError::NoFolder)?;
    let store = Store::new(find_root(&here)?);
    let loaded = check::suite(store.root(), &backend.names)?;
    let committed = store.committed().map_err(EndError::from)?;
    let recorder = Recorder::new(
        Arc::clone(&backend.runner),
        committed.cells.clone(),
        backend.device,
    );
    let recorder = Arc::new(recorder);

    let trials = trials(&loaded.cells, &loaded.problems, &recorder);
    if let Some(name) = unmatched_exact(arguments, &trials).filter(|_| !arguments.list) {
        let near = nearest(name, loaded.cells.iter().map(|cell| cell.id.as_str()));
        eprintln!("error: no cell is called `{name}`");
        near.iter().for_each(|near| eprintln!("  did you mean  {near}"));
        return Ok(ExitCode::from(FAILED));
    }
    let conclusion = libtest_mimic::run(arguments, trials);
    if arguments.list {
        return Ok(conclusion.exit_code());
    }

    let outcomes = recorder.outcomes();
    let (ran, of) = (outcomes.len(), loaded.cells.len());
    if ran < of || !loaded.problems.is_empty() {
        // A filter, maybe one meant for another test binary; or cargo-nextest, which gives each trial a process.
        // Nothing follows for the suite, and the files of the last whole run stay.
        if ran > 0 {
            eprintln!("{}", text::update_line(&Update::Partial { ran, of }));
        }
        return Ok(conclusion.exit_code());
    }
    let scope = Scope {
        store: &store,
        committed: &committed,
        capabilities: backend.names.capabilities,
        device: backend.device,
        cells: loaded.cells.len(),
        problems: loaded.problems.len(),
        mode: Mode::from_environment(),
    };
    let ended = suite::end(&scope, outcomes)?;
    eprint!("{}", text::summary(&ended.totals, &ended.settled, ended.page));
    let card = match &ended.settled.update {
        Update::Partial { .. } | Update::Invalid { .. } => return Ok(conclusion.exit_code()),
        update => scorecard_trial(update, &ended.settled.over_claims),
    };
    // The scorecard is a function of all trials, so it is judged after them, in a run of its own.
    let own = Arguments {
        filter: None,
        exact: false,
        skip: Vec::new(),
        logfile: None,
        ..arguments.clone()
    };
    let last = libtest_mimic::run(&own, vec![card]);
    let failed = conclusion.has_failed() || last.has_failed();
    Ok(if failed {
        ExitCode::from(FAILED)
    } else {
        ExitCode::SUCCESS
    })
}

fn scorecard_trial(update: &Update, over_claims: &[(&'static str, String)]) -> Trial {
    let differs = match update {
        Update::Differs => {
            Some("the committed scorecard is not what this run yields; run without CI and commit it")
        }
        Update::Pending => {
            Some("something got worse; the diff stands above, `assay accept` takes it as it is")
        }
        _ => None,
    };
    let claims: Vec<String> = over_claims
        .iter()
        .map(|(id, missing)| format!("`{id}` is claimed, but {missing}"))
        .collect();
    Trial::test("scorecard", move || match (differs, claims.is_empty()) {
        (None, true) => Ok(()),
        (differs, _) => {
            let lines: Vec<String> = claims.into_iter().chain(differs.map(str::to_owned)).collect();
            Err(Failed::from(lines.join("\n")))
        }
    })
}
