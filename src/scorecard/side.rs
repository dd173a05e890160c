//! What `assay diff` compares, found by what it is called: a scorecard's file, a file of outcomes, or a git revision.

use super::card::{Ground, Scorecard};
use super::cells::{CellBook, CellRow};
use super::changes::Version;
use super::decision::{self, Decision};
use super::diff::Side;
use super::git::{self, GitError};
use super::lines::ReadError;
use super::outcomes::Outcomes;
use super::seal::seal;
use super::store::{CARD, CELLS};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A side cannot be had.
#[derive(Debug, Error)]
pub enum SideError {
    /// A file does not read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Git has no answer, and there is no such file.
    #[error("`{operand}` is neither a file nor a revision with a scorecard: {source}")]
    Nothing {
        /// What was asked for.
        operand: String,
        /// Git's answer.
        #[source]
        source: GitError,
    },
    /// A scorecard cannot be spelled as JSON.
    #[error("cannot spell the scorecard as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// The side of this name, in the repository at `root`.
pub fn side(root: &Path, operand: &str) -> Result<Side, SideError> {
    let path = Path::new(operand);
    if path.is_file() {
        return of_file(path, operand);
    }
    of_revision(root, operand)
}

fn of_file(path: &Path, name: &str) -> Result<Side, SideError> {
    let text = content(path)?;
    if path.extension().is_some_and(|it| it == "jsonl") {
        return of_outcomes(Outcomes::read(name, &text)?, name);
    }
    let beside = cells_beside(path);
    let beside_name = beside.display().to_string();
    let version = Version::read((name, &text), (&beside_name, &content(&beside)?))?;
    let file = path.with_file_name("mlx.decision.yaml");
    let decision = match file.is_file() {
        true => Some(Decision::read(&file.display().to_string(), &content(&file)?)?),
        false => None,
    };
    Ok(Side {
        name: name.to_owned(),
        version,
        decision,
        origin: None,
    })
}

/// `mlx.cells.json` beside `mlx.json`, `cells.new.json` beside `scorecard.new.json`.
fn cells_beside(path: &Path) -> PathBuf {
    let name = path
        .file_name()
        .map(|it| it.to_string_lossy().into_owned())
        .unwrap_or_default();
    let cells = match name.strip_prefix("scorecard.") {
        Some(rest) => format!("cells.{rest}"),
        None => match name.rsplit_once('.') {
            Some((stem, extension)) => format!("{stem}.cells.{extension}"),
            None => format!("{name}.cells"),
        },
    };
    path.with_file_name(cells)
}

fn content(path: &Path) -> Result<String, ReadError> {
    std::fs::read_to_string(path).map_err(|source| ReadError::Unreadable {
        file: path.display().to_string(),
        source,
    })
}

/// The scorecard that outcomes come to, those of each device a column. What they show of mlx-c and mlx-rs is left out: it
/// takes the cases.
fn of_outcomes(parts: Vec<Outcomes>, name: &str) -> Result<Side, SideError> {
    let mut rows: BTreeMap<String, CellRow> = BTreeMap::new();
    for Outcomes { origin, outcomes } in &parts {
        for row in CellBook::updated(&CellBook::default(), origin.device, outcomes).cells {
            match rows.get_mut(&row.cell) {
                Some(known) => known.devices.extend(row.devices),
                None => drop(rows.insert(row.cell.clone(), row)),
            }
        }
    }
    let cells = CellBook {
        cells: rows.into_values().collect(),
    };
    let environments = parts
        .iter()
        .map(|part| (part.origin.device, part.origin.environment.clone()));
    let ground = Ground {
        environments: environments.collect(),
        ..Ground::default()
    }
    .claiming(crate::capability::CAPABILITIES);
    let card = seal(Scorecard::derived(&ground, &cells), &cells)?;
    Ok(Side {
        name: name.to_owned(),
        version: Version { card, cells },
        decision: None,
        // What else an origin says is the same for all devices, or they would not have been joined.
        origin: parts.into_iter().next().map(|part| part.origin),
    })
}

fn of_revision(root: &Path, revision: &str) -> Result<Side, SideError> {
    let nothing = |source| SideError::Nothing {
        operand: revision.to_owned(),
        source,
    };
    let card = git::show(root, revision, CARD).map_err(nothing)?;
    let cells = git::show(root, revision, CELLS).map_err(nothing)?;
    let named = |file: &str| format!("{revision}:{file}");
    let version = Version::read((&named(CARD), &card), (&named(CELLS), &cells))?;
    let decision = match git::show(root, revision, decision::FILE) {
        Ok(text) => Some(Decision::read(&named(decision::FILE), &text)?),
        // A revision from before there was one.
        Err(_) => None,
    };
    Ok(Side {
        name: revision.to_owned(),
        version,
        decision,
        origin: None,
    })
}
