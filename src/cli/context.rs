//! What the commands share: the root, its cases, and how they fail.

use crate::case::cell::Cell;
use crate::case::check::{self, Suite};
use crate::case::error::nearest;
use crate::case::load::{find_root, FindError};
use crate::coverage::excluded::ExcludedError;
use crate::generate::probe::DraftError;
use crate::graph::GraphError;
use crate::harness::backend::Backend;
use crate::harness::plan::Shard;
use crate::harness::pool::Workers;
use crate::harness::suite::EndError;
use crate::harness::worker::WorkerError;
use crate::report::text::counted;
use crate::report::ReportError;
use crate::scorecard::exit::Exit;
use crate::scorecard::git::GitError;
use crate::scorecard::lines::ReadError;
use crate::scorecard::merge::MergeError;
use crate::scorecard::side::SideError;
use crate::scorecard::store::{Store, WriteError};
use crate::store::StoreError;
use std::path::PathBuf;
use std::sync::Arc;
use thiserror::Error;

/// What every command starts from.
pub struct Context<'a> {
    /// The backend under test.
    pub backend: &'a Backend,
    /// The root, if the command line names one.
    pub root: Option<PathBuf>,
}

/// A command cannot do what it should.
#[derive(Debug, Error)]
pub enum CliError {
    /// The current folder is gone.
    #[error("cannot tell the current folder: {0}")]
    NoFolder(std::io::Error),
    /// There are no cases.
    #[error(transparent)]
    Find(#[from] FindError),
    /// A committed or pending file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A run cannot be ended.
    #[error(transparent)]
    End(#[from] EndError),
    /// A worker cannot work.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// The program's own file cannot be found, to start workers from.
    #[error(
        "cannot tell which file this program is, to start workers from it: {0}; `--workers 0` does without"
    )]
    NoProgram(std::io::Error),
    /// Outcomes do not belong together.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// The pool's threads cannot be started.
    #[error("cannot start the threads that run cells: {0}; `--workers` sets how many")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// Ctrl-C cannot be caught.
    #[error("cannot catch interrupts: {0}")]
    Interrupts(#[from] ctrlc::Error),
    /// No test of cargo-nextest left an outcome.
    #[error("no outcomes to collect; `cargo nextest run` leaves them")]
    NothingLeft,
    /// A side of a comparison cannot be had.
    #[error(transparent)]
    Side(#[from] SideError),
    /// Git has no answer.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The scorecard is not committed, so that no revision names it.
    #[error("nothing is missing, but the scorecard here is not the one that is committed; commit it first, so that a revision names what is decided on")]
    NotCommitted,
    /// JSON cannot be spelled.
    #[error("cannot spell the answer as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// No cell has this id.
    #[error("no cell is called `{id}`{}", suggestion(.near, "\n  did you mean  "))]
    NoSuchCell {
        /// What was asked for.
        id: String,
        /// What is near.
        near: Vec<String>,
    },
    /// A filter matches nothing.
    #[error("no cell's id contains {}; `assay list` shows them all", quoted(.filters))]
    NothingMatches {
        /// The filters.
        filters: Vec<String>,
    },
    /// A shard has no cells.
    #[error("shard {part} of {} has none; make fewer shards", counted(*.cells, "cell"))]
    EmptyShard {
        /// The shard.
        part: Shard,
        /// How many cells all shards have together.
        cells: usize,
    },
    /// A filter matches nothing, but some files could not be read: the cells may be theirs.
    #[error(
        "no cell's id contains {}, but {broken} with problems, which stand above, give no cells",
        quoted(.filters)
    )]
    MaybeBroken {
        /// The filters.
        filters: Vec<String>,
        /// How many files: `1 file`.
        broken: String,
    },
    /// Nothing waits to be accepted.
    #[error("nothing waits to be accepted; `assay run` puts a scorecard aside where something got worse")]
    NothingPending,
    /// No family of functions has this name.
    #[error("no family is called `{family}`; there are {known}{}", suggestion(.near, "\n  did you mean  "))]
    NoSuchFamily {
        /// What was asked for.
        family: String,
        /// What is near.
        near: Vec<String>,
        /// All of them.
        known: String,
    },
    /// The list of exclusions is wrong.
    #[error(transparent)]
    Excluded(#[from] ExcludedError),
    /// Nothing has run.
    #[error("there are no outcomes to count: run `assay run` first")]
    NoOutcomes,
    /// The build had no way to mlx-rs's source.
    #[error("this build knows nothing of mlx-rs's items, so there is nothing to count against; build from a checkout")]
    NoSurface,
    /// A file cannot be generated.
    #[error(transparent)]
    Draft(#[from] DraftError),
    /// A trace cannot be saved or loaded.
    #[error(transparent)]
    Trace(#[from] StoreError),
    /// A payload cannot be computed or read.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// A trace is to be compared with something else.
    #[error("{trace} is a saved trace, and what it is to be compared with is none; name two traces")]
    OneTrace {
        /// The trace.
        trace: String,
    },
    /// A saved trace is to be saved.
    #[error("a saved trace is not saved again; copy it")]
    SavedAlready,
    /// A cell gave no trace.
    #[error("{cell} gave no trace to be saved: {why}")]
    Untraced {
        /// The cell's id.
        cell: String,
        /// Why.
        why: String,
    },
    /// There is nothing to draw, or too much.
    #[error("a picture of {ops} ops shows nothing that the table does not")]
    NothingToDraw {
        /// How many ops there are.
        ops: usize,
    },
    /// A picture cannot be written.
    #[error("writing {}: {source}", .path.display())]
    Drawing {
        /// The file.
        path: PathBuf,
        /// The file system's answer.
        source: std::io::Error,
    },
    /// A template does not fit.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// A new case would replace an old one.
    #[error("{file} exists already; choose another id")]
    Exists {
        /// The file.
        file: String,
    },
    /// The id cannot be a path.
    #[error(
        "`{id}` cannot be a case's id; write letters, digits, `_` and `-`, with `::` or `/` between folders"
    )]
    BadId {
        /// What was asked for.
        id: String,
    },
}

impl CliError {
    /// How the process ends.
    pub fn exit(&self) -> Exit {
        match self {
            CliError::NoSuchCell { .. }
            | CliError::NothingMatches { .. }
            | CliError::EmptyShard { .. }
            | CliError::NothingPending
            | CliError::NothingLeft
            | CliError::Exists { .. }
            | CliError::NoOutcomes
            | CliError::NotCommitted
            | CliError::OneTrace { .. }
            | CliError::SavedAlready
            | CliError::Untraced { .. }
            | CliError::NothingToDraw { .. }
            | CliError::Trace(StoreError::Exists { .. } | StoreError::NoName { .. })
            | CliError::Side(SideError::Nothing { .. })
            | CliError::NoSuchFamily { .. }
            | CliError::BadId { .. }
            | CliError::Worker(WorkerError::ByHand)
            | CliError::Find(FindError::NoRoot { .. }) => Exit::Usage,
            _ => Exit::Suite,
        }
    }
}

fn suggestion(near: &[String], before: &str) -> String {
    near.iter().map(|near| format!("{before}{near}")).collect()
}

fn quoted(filters: &[String]) -> String {
    filters
        .iter()
        .map(|filter| format!("`{filter}`"))
        .collect::<Vec<_>>()
        .join(" or ")
}

impl Context<'_> {
    /// The root's files.
    pub fn store(&self) -> Result<Store, CliError> {
        let root = match &self.root {
            Some(root) => root.clone(),
            None => find_root(&std::env::current_dir().map_err(CliError::NoFolder)?)?,
        };
        Ok(Store::new(root))
    }

    /// Worker processes of this very program.
    pub fn workers(&self) -> Result<Workers, CliError> {
        let program = std::env::current_exe().map_err(CliError::NoProgram)?;
        Ok(Workers::new(program, Arc::clone(&self.backend.runner)))
    }

    /// All cases of the root.
    pub fn suite(&self, store: &Store) -> Result<Suite, CliError> {
        Ok(check::suite(store.root(), &self.backend.names)?)
    }
}

/// The cells whose id contains any of the filters; all without a filter.
pub fn matching<'a>(suite: &'a Suite, filters: &[String]) -> Result<Vec<&'a Cell>, CliError> {
    let wanted =
        |cell: &&Cell| filters.is_empty() || filters.iter().any(|filter| cell.id.contains(filter.as_str()));
    let found: Vec<&Cell> = suite.cells.iter().filter(wanted).collect();
    if !found.is_empty() || filters.is_empty() {
        return Ok(found);
    }
    let filters = filters.to_vec();
    if suite.problems.is_empty() {
        return Err(CliError::NothingMatches { filters });
    }
    print_problems(suite);
    let mut files: Vec<&str> = suite
        .problems
        .iter()
        .map(|problem| problem.file.as_str())
        .collect();
    files.dedup();
    let broken = counted(files.len(), "file");
    Err(CliError::MaybeBroken { filters, broken })
}

/// The cell of exactly this id.
pub fn exactly<'a>(cells: &'a [Cell], id: &str) -> Result<&'a Cell, CliError> {
    cells.iter().find(|cell| cell.id == id).ok_or_else(|| {
        let inside = cells
            .iter()
            .filter(|cell| cell.id.contains(id))
            .map(|cell| cell.id.clone());
        let mut near: Vec<String> = inside.take(3).collect();
        if near.is_empty() {
            near = nearest(id, cells.iter().map(|cell| cell.id.as_str()))
                .into_iter()
                .map(str::to_owned)
                .collect();
        }
        CliError::NoSuchCell {
            id: id.to_owned(),
            near,
        }
    })
}

/// Prints all problems to standard error.
pub fn print_problems(suite: &Suite) {
    for problem in &suite.problems {
        eprintln!("{}", problem.render());
    }
}
