//! The suite as a libtest harness: what `cargo test --test conformance` runs.

use super::backend::Backend;
use super::known::{Notice, What};
use super::leave;
use super::pool::Workers;
use super::stream::Stream;
use super::suite::{self, EndError, Ended, Recorder, Scope};
use super::trials::{trials, unmatched_exact, Unmatched};
use crate::case::cell::Cell;
use crate::case::check::{self, Suite};
use crate::case::error::nearest;
use crate::case::load::{find_root, FindError};
use crate::report::text;
use crate::scorecard::settle::Update;
use crate::scorecard::store::Store;
use libtest_mimic::{Arguments, Conclusion, Failed, Trial};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use thiserror::Error;

/// The status of a libtest harness in which something failed.
const FAILED: u8 = 101;

/// The suite cannot be run as trials.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "each variant passes on the error of its room")]
pub enum ConformanceError {
    #[error("--test-threads 0 would run nothing; leave it out for one a core, or give 1 or more")]
    NoThreads,
    #[error("cannot tell the current folder: {0}")]
    NoFolder(std::io::Error),
    #[error(transparent)]
    Find(#[from] FindError),
    #[error(transparent)]
    End(#[from] EndError),
}

/// Runs the trials that the command line asks for, then settles the scorecard. Cells run in children of `program`, which
/// is `assay`.
pub fn main(backend: &Backend, program: &Path) -> ExitCode {
    match run(backend, program, &Arguments::from_args()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(FAILED)
        }
    }
}

fn run(backend: &Backend, program: &Path, arguments: &Arguments) -> Result<ExitCode, ConformanceError> {
    // libtest-mimic would start no thread, and wait for ever.
    if arguments.test_threads == Some(0) {
        return Err(ConformanceError::NoThreads);
    }
    let here = std::env::current_dir().map_err(ConformanceError::NoFolder)?;
    let store = Store::new(find_root(&here)?);
    let loaded = load(&store, backend, arguments)?;
    let mut workers = Workers::new(program, Arc::clone(&backend.runner));
    if arguments.nocapture {
        workers = workers.keeping_output();
    }
    let committed = store.committed().map_err(EndError::from)?;
    let mut recorder = Recorder::new(Arc::new(workers), committed.cells, backend);
    // One cell is no run that anybody watches.
    if !(arguments.list || arguments.exact || leave::run().is_some()) {
        let cells: Vec<&Cell> = loaded.cells.iter().collect();
        let stream = Stream::begin(&store, &suite::origin(backend, &cells)).map_err(EndError::from)?;
        recorder = recorder.streaming(stream);
    }
    let recorder = Arc::new(recorder);

    let trials = trials(&loaded.cells, &loaded.problems, &recorder);
    match unmatched_exact(arguments, &trials).filter(|_| !arguments.list) {
        None => {}
        Some(Unmatched::NoTrial(name)) => {
            let suite = check::suite(store.root(), &backend.names)?;
            let near = nearest(name, suite.cells.iter().map(|cell| cell.id.as_str()));
            eprintln!("error: no cell is called `{name}`");
            near.iter().for_each(|near| eprintln!("  did you mean  {near}"));
            return Ok(ExitCode::from(FAILED));
        }
        Some(Unmatched::LeftOut(name)) => {
            eprintln!("error: `{name}` is left out by `--ignored` or `--skip`, so that nothing would run");
            return Ok(ExitCode::from(FAILED));
        }
    }
    let conclusion = libtest_mimic::run(arguments, trials);
    if arguments.list {
        return Ok(conclusion.exit_code());
    }
    if let Some(run) = leave::run() {
        for outcome in recorder.outcomes() {
            let cells: Vec<&Cell> = loaded
                .cells
                .iter()
                .filter(|cell| cell.id == outcome.cell)
                .collect();
            let origin = suite::origin(backend, &cells);
            leave::leave(&store, &run, origin, outcome).map_err(EndError::from)?;
        }
        return Ok(conclusion.exit_code());
    }
    end(backend, &store, &loaded, &recorder, arguments, &conclusion)
}

/// All cases; only one file where the command line names one cell, so that a test of one cell costs what it must.
fn load(store: &Store, backend: &Backend, arguments: &Arguments) -> Result<Suite, ConformanceError> {
    match arguments.filter.as_deref().filter(|_| arguments.exact) {
        Some(cell) => Ok(check::of_cell(store.root(), cell, &backend.names)),
        None => Ok(check::suite(store.root(), &backend.names)?),
    }
}

/// Settles the scorecard where every cell ran.
fn end(
    backend: &Backend,
    store: &Store,
    loaded: &Suite,
    recorder: &Recorder,
    arguments: &Arguments,
    conclusion: &Conclusion,
) -> Result<ExitCode, ConformanceError> {
    // A filter, maybe one meant for another test binary: nothing follows for the suite, and the files of the last whole
    // run stay.
    let whole = arguments.filter.is_none() && arguments.skip.is_empty() && !arguments.ignored;
    if whole {
        // What cannot run here was ignored, and is known to be.
        loaded.cells.iter().for_each(|cell| drop(recorder.skip(cell)));
    }
    let outcomes = recorder.outcomes();
    if !whole || outcomes.len() < loaded.cells.len() || !loaded.problems.is_empty() {
        if !outcomes.is_empty() && !arguments.exact {
            let (ran, of) = (outcomes.len(), loaded.cells.len());
            eprintln!("{}", text::update_line(&Update::Partial { ran, of }));
        }
        return Ok(conclusion.exit_code());
    }
    let cells: Vec<&Cell> = loaded.cells.iter().collect();
    let origin = suite::origin(backend, &cells);
    let scope = Scope::of(backend, store, &origin, loaded);
    let ended = suite::end(&scope, outcomes)?;
    eprint!(
        "{}",
        text::summary(&ended.totals(), &ended.settled, &ended.label, ended.page)
    );
    ended.notices.iter().for_each(|notice| eprintln!("{notice}"));
    let card = match &ended.settled.update {
        Update::Partial { .. } | Update::Invalid { .. } | Update::Flaky { .. } => {
            return Ok(conclusion.exit_code())
        }
        update => scorecard_trial(update, &ended),
    };
    // The scorecard is a function of all trials, so it is judged after them, in a run of its own.
    let last = libtest_mimic::run(
        &Arguments {
            logfile: None,
            ..arguments.clone()
        },
        vec![card],
    );
    let failed = conclusion.has_failed() || last.has_failed();
    Ok(if failed {
        ExitCode::from(FAILED)
    } else {
        ExitCode::SUCCESS
    })
}

fn scorecard_trial(update: &Update, ended: &Ended) -> Trial {
    let differs = match update {
        Update::Differs => {
            Some("the committed scorecard is not what this run yields; run without CI and commit it")
        }
        Update::Pending => {
            Some("something got worse; the diff stands above, `assay accept` takes it as it is")
        }
        _ => None,
    };
    let over_claims = ended.settled.over_claims.iter();
    let mut claims: Vec<String> = over_claims
        .map(|(id, missing)| format!("`{id}` is {missing}"))
        .collect();
    claims.extend(
        ended
            .label
            .broken
            .iter()
            .map(|why| format!("the label does not hold: {why}")),
    );
    let expired = |notice: &&Notice| matches!(notice.what, What::Expired { .. });
    claims.extend(ended.notices.iter().filter(expired).map(Notice::to_string));
    Trial::test("scorecard", move || match (differs, claims.is_empty()) {
        (None, true) => Ok(()),
        (differs, _) => {
            let lines: Vec<String> = claims.into_iter().chain(differs.map(str::to_owned)).collect();
            Err(Failed::from(lines.join("\n")))
        }
    })
}
