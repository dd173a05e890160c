//! The whole run: every cell, its outcomes, the scorecard, the page.

use super::backend::Backend;
use super::expect::conclude;
use super::known::{self, Notice, Seen};
use super::publish::{publish, publish_documents, sources, standing_of};
use super::requires::Here;
use super::seam::{Observed, Runner};
use super::stream::Stream;
use crate::capability::Capability;
use crate::case::cell::Cell;
use crate::case::check::Suite;
use crate::case::date::Date;
use crate::case::load;
use crate::coverage::count::count;
use crate::coverage::excluded::{self, ExcludedError};
use crate::coverage::shown;
use crate::report;
use crate::report::junit::{junit, JunitError};
use crate::report::site::Report;
use crate::report::text::update_line;
use crate::scorecard::cells::{against_recorded, CellBook};
use crate::scorecard::environment::Environment;
use crate::scorecard::exit::Exit;
use crate::scorecard::gate::missing;
use crate::scorecard::label::Standing;
use crate::scorecard::lines::ReadError;
use crate::scorecard::outcome::{Ending, Evidence, Outcome};
use crate::scorecard::outcomes::{self, Origin};
use crate::scorecard::settle::{self, Column, Mode, SettleError, Settled, Update};
use crate::scorecard::store::{Store, WriteError, INDEX, JUNIT, OUTCOMES};
use crate::scorecard::surface::Surface;
use crate::scorecard::totals::Totals;
use crate::vocabulary::Device;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use thiserror::Error;

/// Runs cells and keeps their outcomes, from any number of threads.
pub struct Recorder {
    runner: Arc<dyn Runner>,
    recorded: CellBook,
    here: Here,
    outcomes: Mutex<Vec<Outcome>>,
    stream: Option<Stream>,
}

impl Recorder {
    /// A recorder that compares with what is recorded for the device.
    pub fn new(runner: Arc<dyn Runner>, recorded: CellBook, here: impl Into<Here>) -> Self {
        Self {
            runner,
            recorded,
            here: here.into(),
            outcomes: Mutex::new(Vec::new()),
            stream: None,
        }
    }

    /// Also writes each outcome there as it happens.
    pub fn streaming(self, stream: Stream) -> Self {
        Self {
            stream: Some(stream),
            ..self
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

    /// Runs cells one after another, as [`run`](Self::run) does, and tells each outcome.
    pub fn run_all(&self, cells: &[&Cell], each: &dyn Fn(&Cell, &Outcome)) {
        let mut fit = Vec::with_capacity(cells.len());
        for cell in cells {
            match self.skip(cell) {
                Some(skipped) => each(cell, &skipped),
                None => fit.push(*cell),
            }
        }
        self.runner.run_all(&fit, &|cell, outcome| {
            if !self.runner.interrupted() {
                each(
                    cell,
                    &self.keep(against_recorded(outcome, &self.recorded, self.here.device)),
                );
            }
        });
    }

    /// What the cell needs and is not here.
    pub fn lacks(&self, cell: &Cell) -> Option<String> {
        self.here.lacks(cell)
    }

    /// Keeps the outcome of a cell that needs what is not here; `None` for one that can run.
    pub fn skip(&self, cell: &Cell) -> Option<Outcome> {
        let reason = self.here.lacks(cell)?;
        Some(self.keep(skipped(cell, reason)))
    }

    fn keep(&self, outcome: Outcome) -> Outcome {
        let outcome = outcome.with_rerun();
        if let Some(stream) = &self.stream {
            stream.add(&outcome);
        }
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

/// The outcome of a cell that needs what is not here.
pub fn skipped(cell: &Cell, reason: String) -> Outcome {
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
    /// The claims.
    pub capabilities: &'a [Capability],
    /// Where the outcomes come from.
    pub origin: &'a Origin,
    /// Where the cells stand in the root, all of them.
    pub suite: &'a [Cell],
    /// The day by which known failures expire.
    pub today: Date,
    /// How many problems its files have: with any, the suite is incomplete.
    pub problems: usize,
    /// Whether committed files may be written.
    pub mode: Mode,
    /// What outcomes show of mlx-c and mlx-rs.
    pub surface: Shows<'a>,
}

/// Says what outcomes show of mlx-c and mlx-rs.
pub type Shows<'a> = Box<dyn Fn(&[Outcome]) -> Result<Vec<Surface>, ExcludedError> + 'a>;

impl<'a> Scope<'a> {
    /// A run of this backend's suite, today and under this process's environment.
    pub fn of(backend: &'a Backend, store: &'a Store, origin: &'a Origin, loaded: &'a Suite) -> Self {
        Self {
            store,
            capabilities: backend.names.capabilities,
            origin,
            suite: &loaded.cells,
            today: Date::today(),
            problems: loaded.problems.len(),
            mode: Mode::from_environment(),
            surface: Box::new(|outcomes| {
                let excluded = excluded::read(store.root())?;
                Ok(shown::surface(&count(&loaded.cells, outcomes, &excluded)))
            }),
        }
    }

    /// A device's column of the scorecard.
    ///
    /// # Errors
    ///
    /// What is left out of the coverage cannot be read.
    pub fn column(
        &self,
        device: Device,
        environment: Environment,
        outcomes: Vec<Outcome>,
    ) -> Result<Column, ExcludedError> {
        let surface = (self.surface)(&outcomes)?;
        Ok(Column {
            device,
            environment,
            surface,
            outcomes,
        })
    }
}

/// How the cells came out on one device.
#[derive(Clone, Debug)]
pub struct DeviceRun {
    /// The device.
    pub device: Device,
    /// What the cells yielded, sorted by id.
    pub outcomes: Vec<Outcome>,
    /// How many of each.
    pub totals: Totals,
}

/// How a run ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// What came of the cells, on each device that the run was of.
    pub devices: Vec<DeviceRun>,
    /// What became of the scorecard.
    pub settled: Settled,
    /// Known failures that somebody must see to.
    pub notices: Vec<Notice>,
    /// The label, and whether it holds.
    pub label: Standing,
    /// Where the page lies, relative to the root.
    pub page: &'static str,
}

impl Ended {
    /// How many cells came to what, on each device.
    pub fn totals(&self) -> Vec<(Device, Totals)> {
        self.devices.iter().map(|run| (run.device, run.totals)).collect()
    }
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
    #[error(transparent)]
    Junit(#[from] JunitError),
    #[error(transparent)]
    Excluded(#[from] ExcludedError),
    #[error("{source}\nwhat ran is kept in {OUTCOMES}; `assay merge {OUTCOMES}` takes it up from there")]
    Unsettled { source: Box<EndError> },
}

/// Where outcomes of these cells come from.
pub fn origin(backend: &Backend, cells: &[&Cell]) -> Origin {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for cell in cells {
        if !files.contains_key(&cell.case.file) {
            files.insert(cell.case.file.clone(), load::digest(&cell.case.text));
        }
    }
    Origin::new(backend.device, backend.environment.clone(), files)
}

/// Ends a run on the device that the scope's outcomes come from; see [`end_columns`].
///
/// # Errors
///
/// See [`end_columns`].
pub fn end(scope: &Scope<'_>, outcomes: Vec<Outcome>) -> Result<Ended, EndError> {
    let Origin {
        device, environment, ..
    } = scope.origin;
    let column = scope.column(*device, environment.clone(), outcomes)?;
    end_columns(scope, vec![column])
}

/// Ends a run, or several on as many devices: keeps the outcomes, settles the scorecard, writes the pages.
///
/// # Errors
///
/// A file cannot be read or written. The outcomes are kept first, so that no later error loses them.
pub fn end_columns(scope: &Scope<'_>, columns: Vec<Column>) -> Result<Ended, EndError> {
    keep(scope, &columns)?;
    settle_kept(scope, columns).map_err(|source| EndError::Unsettled {
        source: Box::new(source),
    })
}

/// Writes the outcomes of each device, for programs and for services that show test results.
fn keep(scope: &Scope<'_>, columns: &[Column]) -> Result<(), EndError> {
    let mut text = String::new();
    for column in columns {
        let origin = Origin {
            device: column.device,
            environment: column.environment.clone(),
            ..scope.origin.clone()
        };
        text.push_str(&outcomes::text(&origin, &column.outcomes)?);
    }
    scope.store.write(OUTCOMES, text.as_bytes())?;
    let runs: Vec<(Device, &[Outcome])> = columns
        .iter()
        .map(|column| (column.device, column.outcomes.as_slice()))
        .collect();
    scope.store.write(JUNIT, junit(&runs)?.as_bytes())?;
    Ok(())
}

fn settle_kept(scope: &Scope<'_>, columns: Vec<Column>) -> Result<Ended, EndError> {
    let lock = scope.store.lock()?;
    // Read again: another run may have settled since this one began.
    let committed = scope.store.committed_under(&lock)?;
    let expected_failures = known::rows(scope.suite);
    let retired = scope.store.retired()?;
    let run = settle::Run {
        capabilities: scope.capabilities,
        expected_failures: &expected_failures,
        retired: &retired,
        columns: &columns,
        // A file that cannot be read has cells that did not run.
        cells: scope.suite.len() + scope.problems,
        mode: scope.mode,
    };
    let mut settled = settle::settle(scope.store, &lock, &committed, run)?;
    drop(lock);
    let today = scope.today.to_string();
    let label = standing_of(scope.store, &settled.version, &today)?;
    if matches!(settled.update, Update::Written | Update::Current) && scope.mode == Mode::Write {
        let device = columns
            .first()
            .map_or(scope.origin.device, |column| column.device);
        let shown = (device, &label);
        publish_documents(scope.store, &settled.version, scope.capabilities, shown)?;
    }
    let mut notices = known::expired(scope.suite, scope.today);
    settled.exit = match settled.exit {
        _ if scope.problems > 0 => Exit::Suite,
        Exit::Clean | Exit::Improvement if !label.holds() => Exit::Regression,
        // What expired is no evidence any more, whatever else is better.
        Exit::Clean | Exit::Improvement if !notices.is_empty() => Exit::Evidence,
        exit => exit,
    };
    let devices: Vec<DeviceRun> = columns
        .into_iter()
        .map(|column| DeviceRun {
            device: column.device,
            totals: Totals::of(&column.outcomes, scope.suite.len()),
            outcomes: column.outcomes,
        })
        .collect();
    let runs: Vec<(Device, &[Outcome])> = devices
        .iter()
        .map(|run| (run.device, run.outcomes.as_slice()))
        .collect();
    let seen = Seen {
        runs: &runs,
        recorded: &committed.cells,
    };
    notices.extend(known::open(scope.suite, seen));
    let lacking = missing(&scope.store.gate()?, &settled.version, &today);
    let (update, sources) = (update_line(&settled.update), sources(scope.suite));
    let reports = devices.iter().map(|run| Report {
        capabilities: scope.capabilities,
        device: run.device,
        others: &[],
        outcomes: &run.outcomes,
        totals: run.totals,
        version: &settled.version,
        changes: &settled.changes,
        update: &update,
        label: &label,
        missing: &lacking,
        today: &today,
        sources: &sources,
    });
    publish(scope.store, reports.collect())?;
    Ok(Ended {
        devices,
        settled,
        notices,
        label,
        page: INDEX,
    })
}
