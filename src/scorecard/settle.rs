//! What a run does to the scorecard: write it, leave it, put a new one aside, or only compare.

use super::card::{Ground, Scorecard};
use super::cells::CellBook;
use super::changes::{changes, sort, Change, Direction, Version};
use super::environment::Environment;
use super::exit::Exit;
use super::failure::FailureRow;
use super::outcome::{Outcome, Verdict};
use super::retired::Retired;
use super::seal::seal;
use super::store::{Lock, Store, WriteError, Written, CARD, CELLS, PENDING_CARD, PENDING_CELLS};
use super::surface::{self, Surface};
use super::verdict;
use crate::capability::Capability;
use crate::vocabulary::Device;
use similar::TextDiff;
use thiserror::Error;

/// Whether the committed files may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// They are written where nothing got worse.
    Write,
    /// They are only compared: what `CI` in the environment asks for.
    Compare,
}

impl Mode {
    /// [`Compare`](Mode::Compare) where the environment variable `CI` is set and not empty.
    pub fn from_environment() -> Self {
        match std::env::var_os("CI") {
            Some(value) if !value.is_empty() => Mode::Compare,
            _ => Mode::Write,
        }
    }
}

/// What a run is to be settled against.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// The claims.
    pub capabilities: &'a [Capability],
    /// What the cells yielded, by device.
    pub columns: &'a [Column],
    /// The known failures that the cases write down.
    pub expected_failures: &'a [FailureRow],
    /// The cases that went on purpose.
    pub retired: &'a Retired,
    /// How many cells there are.
    pub cells: usize,
    /// Whether the files may be written.
    pub mode: Mode,
}

/// What the cells of one device yielded.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The device.
    pub device: Device,
    /// What it ran with.
    pub environment: Environment,
    /// What the outcomes show of mlx-c and mlx-rs.
    pub surface: Vec<Surface>,
    /// The outcomes.
    pub outcomes: Vec<Outcome>,
}

/// What became of the scorecard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Update {
    /// Not every cell ran, so nothing follows.
    Partial {
        /// How many ran.
        ran: usize,
        /// Of how many.
        of: usize,
    },
    /// The suite is at fault in some cells, so nothing follows.
    Invalid {
        /// In how many.
        cells: usize,
    },
    /// Some cells did not come out alike, so nothing follows.
    Flaky {
        /// How many.
        cells: usize,
    },
    /// The committed files say just this.
    Current,
    /// The committed files are new.
    Written,
    /// Something got worse; the new version waits for `assay accept`.
    Pending,
    /// Compared only, and the files say something else.
    Differs,
    /// Compared only, but the committed files have no column for this device.
    NothingToCompare,
}

/// The end of a run.
#[derive(Clone, Debug)]
pub struct Settled {
    /// What became of the scorecard.
    pub update: Update,
    /// What changed, regressions first.
    pub changes: Vec<Change>,
    /// The claims that nothing proves and the refusals that are promised and not shown: id and what is missing.
    pub over_claims: Vec<(&'static str, String)>,
    /// The difference between the committed files and the new ones, as a unified diff; empty if there is none.
    pub diff: String,
    /// How the process ends.
    pub exit: Exit,
    /// The version that the run leads to.
    pub version: Version,
}

/// The run cannot be settled.
#[derive(Debug, Error)]
pub enum SettleError {
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The new version cannot be written as JSON.
    #[error("cannot spell the scorecard as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// Settles a run against what is committed; the lock keeps others from doing so meanwhile.
pub fn settle(store: &Store, lock: &Lock, committed: &Version, run: Run<'_>) -> Result<Settled, SettleError> {
    let outcomes = || run.columns.iter().flat_map(|column| &column.outcomes);
    let red = outcomes().any(Outcome::is_red);
    let better = outcomes().any(Outcome::passes_unexpectedly);
    let invalid = outcomes().filter(|it| is_invalid(it)).count();
    let flaky = outcomes().filter(|it| it.is_flaky()).count();
    let fewest = run
        .columns
        .iter()
        .map(|column| column.outcomes.len())
        .min()
        .unwrap_or(0);
    if invalid > 0 || flaky > 0 || fewest < run.cells {
        let update = match (invalid, flaky) {
            (0, 0) => Update::Partial {
                ran: fewest,
                of: run.cells,
            },
            (0, cells) => Update::Flaky { cells },
            (cells, _) => Update::Invalid { cells },
        };
        // What waited is older than a run of everything, and nobody can accept what this one leads to.
        if fewest >= run.cells && run.mode == Mode::Write {
            store.discard_pending()?;
        }
        let exit = match (invalid > 0, red, better) {
            (true, ..) => Exit::Suite,
            (false, true, _) => Exit::Regression,
            (false, false, true) => Exit::Improvement,
            (false, false, false) => Exit::Clean,
        };
        let version = committed.clone();
        return Ok(Settled {
            update,
            changes: vec![],
            over_claims: vec![],
            diff: String::new(),
            exit,
            version,
        });
    }

    let mut ground = Ground {
        expected_failures: run.expected_failures.to_vec(),
        ..Ground::of(&committed.card)
    }
    .claiming(run.capabilities);
    let mut cells = committed.cells.clone();
    let mut over_claims: Vec<(&'static str, String)> = Vec::new();
    let mut changed = Vec::new();
    for column in run.columns {
        cells = CellBook::updated(&cells, column.device, &column.outcomes);
        ground.surface = surface::updated(&ground.surface, column.device, &column.surface);
        ground
            .environments
            .insert(column.device, column.environment.clone());
    }
    let card = seal(Scorecard::derived(&ground, &cells), &cells)?;
    let version = Version { card, cells };
    for column in run.columns {
        for capability in run.capabilities {
            let unkept = verdict::unkept(capability, column.outcomes.iter());
            over_claims.extend(unkept.map(|missing| match run.columns.len() {
                1 => (capability.id, missing),
                _ => (capability.id, format!("{missing} on {}", column.device)),
            }));
        }
        changed.extend(changes(committed, &version, column.device, run.retired));
    }
    sort(&mut changed);
    let changes = changed;
    let worse =
        red || !over_claims.is_empty() || changes.iter().any(|it| it.direction == Direction::Regression);

    let (card, cells) = (version.card.write()?, version.cells.write()?);
    let (card_before, cells_before) = match *committed == Version::default() {
        true => (String::new(), String::new()),
        false => (committed.card.write()?, committed.cells.write()?),
    };
    let diff = unified(&[(CARD, &card_before, &card), (CELLS, &cells_before, &cells)]);
    let new_column = !run
        .columns
        .iter()
        .any(|column| committed.cells.has_column(column.device));
    let update = match run.mode {
        Mode::Compare if new_column => Update::NothingToCompare,
        Mode::Compare if diff.is_empty() => Update::Current,
        Mode::Compare => Update::Differs,
        Mode::Write if worse => {
            store.write(PENDING_CARD, card.as_bytes())?;
            store.write(PENDING_CELLS, cells.as_bytes())?;
            Update::Pending
        }
        Mode::Write => {
            let written = store.replace(lock, card, cells)?;
            // What waited is older than this run, and worse.
            store.discard_pending()?;
            match written {
                Written::Changed => Update::Written,
                Written::Unchanged => Update::Current,
            }
        }
    };
    let exit = match (worse, better, &update) {
        (true, ..) => Exit::Regression,
        (false, true, _) | (false, false, Update::Differs) => Exit::Improvement,
        (false, false, _) => Exit::Clean,
    };
    Ok(Settled {
        update,
        changes,
        over_claims,
        diff,
        exit,
        version,
    })
}

fn is_invalid(outcome: &Outcome) -> bool {
    outcome.record == Verdict::Invalid || outcome.value == Some(Verdict::Invalid)
}

/// A unified diff over several files; empty where none differs.
pub fn unified(files: &[(&str, &str, &str)]) -> String {
    let mut text = String::new();
    for (name, before, after) in files.iter().filter(|(_, before, after)| before != after) {
        let diff = TextDiff::from_lines(*before, *after);
        let (from, to) = (format!("{name} (committed)"), format!("{name} (this run)"));
        text.push_str(
            &diff
                .unified_diff()
                .context_radius(0)
                .header(&from, &to)
                .to_string(),
        );
    }
    text
}
