//! The whole run: every cell, its outcomes, the scorecard, the page.

use super::expect::conclude;
use super::requires::Here;
use super::seam::{Observed, Runner};
use crate::capability::Capability;
use crate::case::cell::Cell;
use crate::report::{self, page::Page};
use crate::scorecard::cells::{against_recorded, CellBook};
use crate::scorecard::changes::Version;
use crate::scorecard::exit::Exit;
use crate::scorecard::lines::ReadError;
use crate::scorecard::outcome::{Ending, Evidence, Outcome};
use crate::scorecard::settle::{self, Mode, SettleError, Settled};
use crate::scorecard::store::{Store, WriteError, INDEX, OUTCOMES};
use crate::scorecard::totals::Totals;
use crate::vocabulary::Device;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use thiserror::Error;

/// Runs cells and keeps their outcomes, from any number of threads.
pub struct Recorder {
    runner: Arc<dyn Runner>,
    recorded: CellBook,
    here: Here,
    outcomes: Mutex<Vec<Outcome>>,
}

impl Recorder {
    /// A recorder that compares with what is recorded for the device.
    pub fn new(runner: Arc<dyn Runner>, recorded: CellBook, here: impl Into<Here>) -> Self {
        Self {
            runner,
            recorded,
            here: here.into(),
            outcomes: Mutex::new(Vec::new()),
        }
    }

    /// Runs a cell, unless it needs what is not here, and keeps its outcome; `None` where the run was interrupted first.
    pub fn run(&self, cell: &Cell) -> Option<Outcome> {
        if let Some(skipped) = self.skip(cell) {
            return Some(skipped);
        }
        if self.runner.interrupted() {
            return None;
        }
        let outcome = self.runner.run(cell);
        if self.runner.interrupted() {
            return None;
        }
        Some(self.keep(against_recorded(outcome, &self.recorded, self.here.device)))
    }

    /// Keeps the outcome of a cell that needs what is not here; `None` for one that can run.
    pub fn skip(&self, cell: &Cell) -> Option<Outcome> {
        let reason = self.here.lacks(cell)?;
        Some(self.keep(skipped(cell, reason)))
    }

    fn keep(&self, outcome: Outcome) -> Outcome {
        // A panic elsewhere leaves the list as it was: it is only ever pushed to.
        self.outcomes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(outcome.clone());
        outcome
    }

    /// The outcomes so far, sorted by cell, so that the order of the threads shows nowhere.
    pub fn outcomes(&self) -> Vec<Outcome> {
        let mut outcomes = self
            .outcomes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        outcomes.sort_by(|a, b| a.cell.cmp(&b.cell));
        outcomes
    }
}

fn skipped(cell: &Cell, reason: String) -> Outcome {
    let evidence = Evidence::ended(Ending::Skipped { reason });
    conclude(
        cell,
        Observed {
            evidence,
            ..Observed::default()
        },
        Duration::ZERO,
    )
}

/// What a run is about.
pub struct Scope<'a> {
    /// The root's files.
    pub store: &'a Store,
    /// What is committed.
    pub committed: &'a Version,
    /// The claims.
    pub capabilities: &'a [Capability],
    /// The device.
    pub device: Device,
    /// How many cells the root has.
    pub cells: usize,
    /// How many problems its files have: with any, the suite is incomplete.
    pub problems: usize,
    /// Whether committed files may be written.
    pub mode: Mode,
}

/// How a run ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// What the cells yielded, sorted by id.
    pub outcomes: Vec<Outcome>,
    /// How many of each.
    pub totals: Totals,
    /// What became of the scorecard.
    pub settled: Settled,
    /// Where the page lies, relative to the root.
    pub page: &'static str,
}

/// A run cannot be brought to its end.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "each variant passes on the error of its room")]
pub enum EndError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Settle(#[from] SettleError),
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error("cannot spell an outcome as JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Report(#[from] report::ReportError),
}

/// Ends a run: writes outcomes and page, settles the scorecard.
pub fn end(scope: &Scope<'_>, outcomes: Vec<Outcome>) -> Result<Ended, EndError> {
    let mut lines = String::new();
    for outcome in &outcomes {
        lines.push_str(&serde_json::to_string(outcome)?);
        lines.push('\n');
    }
    scope.store.write(OUTCOMES, lines.as_bytes())?;

    let run = settle::Run {
        capabilities: scope.capabilities,
        device: scope.device,
        outcomes: &outcomes,
        // A file that cannot be read has cells that did not run.
        cells: scope.cells + scope.problems,
        mode: scope.mode,
    };
    let mut settled = settle::settle(scope.store, scope.committed, run)?;
    if scope.problems > 0 {
        settled.exit = Exit::Suite;
    }
    let totals = Totals::of(&outcomes, scope.cells);
    let page = Page::new(scope.capabilities, scope.device, &outcomes, totals, &settled);
    scope.store.write(INDEX, report::render(&page)?.as_bytes())?;
    Ok(Ended {
        outcomes,
        totals,
        settled,
        page: INDEX,
    })
}
