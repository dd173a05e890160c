//! Outcomes left one by one: under cargo-nextest each cell runs in a harness of its own, and none of them is the last.

use crate::scorecard::outcome::Outcome;
use crate::scorecard::outcomes::{Origin, Outcomes};
use crate::scorecard::store::{Store, WriteError};
use std::path::PathBuf;
use std::time::SystemTime;

/// Where they are left: a folder for each of nextest's runs.
const FOLDER: &str = "target/assay/nextest";

/// The run of nextest that this process is one test of.
pub fn run() -> Option<String> {
    let mode = std::env::var("NEXTEST_EXECUTION_MODE").ok()?;
    let run = std::env::var("NEXTEST_RUN_ID").ok()?;
    let plain = !run.is_empty()
        && run
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    (mode == "process-per-test" && plain).then_some(run)
}

/// Leaves an outcome.
pub fn leave(store: &Store, run: &str, origin: Origin, outcome: Outcome) -> Result<(), WriteError> {
    // An id may be longer than a file's name, or differ from another only in case.
    let name = crate::case::load::digest(&outcome.cell);
    let file = format!("{FOLDER}/{run}/{name}.jsonl");
    let outcomes = vec![outcome];
    let text = Outcomes { origin, outcomes }
        .write()
        .map_err(|error| WriteError {
            file: file.clone(),
            source: error.into(),
        })?;
    store.write(&file, text.as_bytes()).map(drop)
}

/// What one run left.
#[derive(Debug)]
pub struct Left {
    folder: PathBuf,
    /// The folders of earlier runs.
    earlier: Vec<PathBuf>,
    /// The files, sorted.
    pub files: Vec<PathBuf>,
}

/// What the latest run left, if any did.
pub fn latest(store: &Store) -> Option<Left> {
    let changed = |folder: &PathBuf| {
        let metadata = std::fs::metadata(folder).and_then(|it| it.modified());
        metadata.unwrap_or(SystemTime::UNIX_EPOCH)
    };
    let folders = std::fs::read_dir(store.path(FOLDER)).ok()?;
    let mut earlier: Vec<PathBuf> = folders.flatten().map(|entry| entry.path()).collect();
    earlier.sort_by_key(changed);
    let folder = earlier.pop()?;
    let entries = std::fs::read_dir(&folder).ok()?;
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|it| it == "jsonl"))
        .collect();
    files.sort();
    (!files.is_empty()).then_some(Left {
        folder,
        earlier,
        files,
    })
}

impl Left {
    /// Takes them away, once they are joined, and what earlier runs left, which nobody collects any more.
    pub fn discard(self) {
        for folder in [&[self.folder][..], &self.earlier].concat() {
            // What stays is joined again, which changes nothing.
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}
