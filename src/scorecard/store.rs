//! Where the files of a root lie, and how they are written: whole or not at all, and only if their bytes differ.

use super::changes::Version;
use super::decision::{self, Decision};
use super::gate::{self, Gate};
use super::lines::ReadError;
use super::retired::{self, Retired};
use rustix::io::Errno;
use rustix::process::{test_kill_process, Pid};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The files of a root.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

/// A file cannot be written.
#[derive(Debug, Error)]
#[error("cannot write {file}: {source}; check that the folder may be written and the disk is not full")]
pub struct WriteError {
    /// The file, relative to the root.
    pub file: String,
    /// What the system says.
    #[source]
    pub source: io::Error,
}

/// Held by one run at a time while it settles the scorecard; given back when dropped.
#[derive(Debug)]
pub struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // The system gives it back with the file in any case.
        let _ = self.0.unlock();
    }
}

/// Both files of a scorecard.
#[derive(Serialize, Deserialize)]
struct Swap {
    card: String,
    cells: String,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// Its bytes are new.
    Changed,
    /// It had these bytes already and was left alone.
    Unchanged,
}

/// The scorecard's two files.
pub const CARD: &str = "scorecards/mlx.json";
/// The cells beside it.
pub const CELLS: &str = "scorecards/mlx.cells.json";
/// A scorecard that waits for `assay accept`.
pub const PENDING_CARD: &str = "target/assay/scorecard.new.json";
/// Its cells.
pub const PENDING_CELLS: &str = "target/assay/cells.new.json";
/// One outcome a line.
pub const OUTCOMES: &str = "target/assay/outcomes.jsonl";
/// The same, as JUnit's XML.
pub const JUNIT: &str = "target/assay/junit.xml";
/// Both files of a scorecard on their way; see [`Store::replace`].
const SWAP: &str = "target/assay/scorecard.swap.json";
/// Held while a scorecard is settled.
const LOCK: &str = "target/assay/lock";
/// The folders that files are written in.
const WRITTEN: [&str; 9] = [
    "scorecards",
    "target/assay",
    "docs",
    "docs/badges",
    "reports",
    "reports/badges",
    "reports/capabilities",
    "reports/cases",
    "reports/functions",
];
/// The page to open.
pub const INDEX: &str = "reports/index.html";

impl Store {
    /// The files below `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where a file lies.
    pub fn path(&self, file: &str) -> PathBuf {
        self.root.join(file)
    }

    /// The committed version; an empty one where nothing is committed yet.
    pub fn committed(&self) -> Result<Version, ReadError> {
        self.finish_swap();
        self.version(CARD, CELLS).map(Option::unwrap_or_default)
    }

    /// The same for whoever holds the lock, and so knows that nobody else is on the way.
    pub fn committed_under(&self, _held: &Lock) -> Result<Version, ReadError> {
        if let Some(swap) = self.swap() {
            // What fails here is tried again by the next command.
            let _ = self.finish(&swap);
        }
        self.version(CARD, CELLS).map(Option::unwrap_or_default)
    }

    /// The version that waits to be accepted, if one does.
    pub fn pending(&self) -> Result<Option<Version>, ReadError> {
        self.version(PENDING_CARD, PENDING_CELLS)
    }

    fn version(&self, card: &str, cells: &str) -> Result<Option<Version>, ReadError> {
        let (card_text, cells_text) = (self.text(card)?, self.text(cells)?);
        if card_text.is_none() && cells_text.is_none() {
            return Ok(None);
        }
        let missing = |file: &str| ReadError::Unreadable {
            file: file.to_owned(),
            source: io::ErrorKind::NotFound.into(),
        };
        let card_text = card_text.ok_or_else(|| missing(card))?;
        let cells_text = cells_text.ok_or_else(|| missing(cells))?;
        Version::read((card, &card_text), (cells, &cells_text)).map(Some)
    }

    /// The cases that went on purpose; none where there is no list.
    pub fn retired(&self) -> Result<Retired, ReadError> {
        let text = self.text(retired::FILE)?;
        text.map_or(Ok(Retired::default()), |text| Retired::read(retired::FILE, &text))
    }

    /// What `stable` takes; the strictest rules where there is no file.
    pub fn gate(&self) -> Result<Gate, ReadError> {
        let text = self.text(gate::FILE)?;
        text.map_or(Ok(Gate::default()), |text| Gate::read(gate::FILE, &text))
    }

    /// What was decided on the label, if anything was.
    pub fn decision(&self) -> Result<Option<Decision>, ReadError> {
        let text = self.text(decision::FILE)?;
        text.map(|text| Decision::read(decision::FILE, &text)).transpose()
    }

    fn text(&self, file: &str) -> Result<Option<String>, ReadError> {
        match std::fs::read_to_string(self.path(file)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(ReadError::Unreadable {
                file: file.to_owned(),
                source,
            }),
        }
    }

    /// Writes `file` whole: into a file beside it, which then takes its place. A reader sees the old bytes or the
    /// new ones. Left alone if it has these bytes already, so that nothing that watches it wakes up.
    pub fn write(&self, file: &str, bytes: &[u8]) -> Result<Written, WriteError> {
        let path = self.path(file);
        if std::fs::read(&path).is_ok_and(|old| old == bytes) {
            return Ok(Written::Unchanged);
        }
        let failed = |source| WriteError {
            file: file.to_owned(),
            source,
        };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        // The process's id keeps two runs at once from writing into one file.
        let beside = path.with_extension(format!("{}.part", std::process::id()));
        let placed = std::fs::write(&beside, bytes).and_then(|()| std::fs::rename(&beside, &path));
        placed.map_err(|error| {
            // The failure is what matters; a leftover is only untidy.
            let _ = std::fs::remove_file(&beside);
            failed(error)
        })?;
        Ok(Written::Changed)
    }

    /// Takes away what killed runs left: outcomes as they happened, and files that did not come to their place.
    pub fn remove_abandoned(&self) {
        for folder in WRITTEN {
            for entry in std::fs::read_dir(self.path(folder))
                .into_iter()
                .flatten()
                .flatten()
            {
                let name = entry.file_name().to_string_lossy().into_owned();
                if is_abandoned(&name) {
                    // What cannot be taken away disturbs nobody.
                    let _ = std::fs::remove_file(entry.path());
                }
            }
        }
    }

    /// Waits until no other run settles the scorecard, and keeps others waiting.
    pub fn lock(&self) -> Result<Lock, WriteError> {
        let failed = |source| WriteError {
            file: LOCK.to_owned(),
            source,
        };
        let file = self.lock_file().map_err(failed)?;
        file.lock().map_err(failed)?;
        Ok(Lock(file))
    }

    fn lock_file(&self) -> io::Result<File> {
        let path = self.path(LOCK);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        File::options().create(true).append(true).open(path)
    }

    /// Writes both files of the scorecard; the lock must be held. Each is whole at any moment, and so are both together:
    /// what is to come lies beside them until both are in place, and whoever reads them finishes what was begun.
    pub fn replace(&self, _held: &Lock, card: String, cells: String) -> Result<Written, WriteError> {
        let same =
            |file, text: &String| std::fs::read(self.path(file)).is_ok_and(|old| old == text.as_bytes());
        if same(CARD, &card) && same(CELLS, &cells) {
            return Ok(Written::Unchanged);
        }
        let swap = Swap { card, cells };
        let text = serde_json::to_vec(&swap).map_err(|error| WriteError {
            file: SWAP.to_owned(),
            source: error.into(),
        })?;
        self.write(SWAP, &text)?;
        self.finish(&swap)?;
        Ok(Written::Changed)
    }

    fn finish(&self, swap: &Swap) -> Result<(), WriteError> {
        self.write(CARD, swap.card.as_bytes())?;
        self.write(CELLS, swap.cells.as_bytes())?;
        self.remove(SWAP)
    }

    /// Finishes what a run that was killed had begun.
    fn finish_swap(&self) {
        if !self.path(SWAP).exists() {
            return;
        }
        // Whoever holds the lock finishes it by itself.
        let Some(lock) = self
            .lock_file()
            .ok()
            .filter(|file| file.try_lock().is_ok())
            .map(Lock)
        else {
            return;
        };
        if let Some(swap) = self.swap() {
            // What fails here is tried again by the next command.
            let _ = self.finish(&swap);
        }
        drop(lock);
    }

    fn swap(&self) -> Option<Swap> {
        let text = std::fs::read(self.path(SWAP)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    fn remove(&self, file: &str) -> Result<(), WriteError> {
        match std::fs::remove_file(self.path(file)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(WriteError {
                file: file.to_owned(),
                source: error,
            }),
            _ => Ok(()),
        }
    }

    /// Removes a folder with all that it holds, if it is there.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn remove_folder(&self, folder: &str) -> Result<(), WriteError> {
        match std::fs::remove_dir_all(self.path(folder)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(WriteError {
                file: folder.to_owned(),
                source: error,
            }),
            _ => Ok(()),
        }
    }

    /// Removes the pages of these folders below `folder` that are not among `kept`, which are paths below it.
    pub fn remove_others(
        &self,
        folder: &str,
        inner: &[&str],
        kept: &BTreeSet<&str>,
    ) -> Result<(), WriteError> {
        for inner in inner {
            let Ok(entries) = std::fs::read_dir(self.path(&format!("{folder}/{inner}"))) else {
                // It was never there.
                continue;
            };
            for entry in entries.flatten() {
                let path = format!("{inner}/{}", entry.file_name().to_string_lossy());
                // What is no page yet is another run's, on its way.
                if path.ends_with(".html") && !kept.contains(path.as_str()) {
                    self.remove(&format!("{folder}/{path}"))?;
                }
            }
        }
        Ok(())
    }

    /// Removes the pending version, if there is one.
    pub fn discard_pending(&self) -> Result<(), WriteError> {
        self.remove(PENDING_CARD)?;
        self.remove(PENDING_CELLS)
    }
}

/// Whether a file has this name because a process wrote it that is gone: `running.17.jsonl`, `mlx.17.part`.
fn is_abandoned(name: &str) -> bool {
    let running = name
        .strip_prefix("running.")
        .and_then(|rest| rest.strip_suffix(".jsonl"));
    let part = || name.strip_suffix(".part")?.rsplit('.').next();
    let process = running.or_else(part).and_then(|id| id.parse().ok());
    let process = process.and_then(Pid::from_raw);
    process.is_some_and(|process| test_kill_process(process) == Err(Errno::SRCH))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scorecard::card::{Ground, Scorecard};
    use crate::scorecard::cells::CellBook;
    use crate::scorecard::seal::seal;

    #[test]
    fn a_file_with_the_same_bytes_is_left_alone() {
        let root = tempfile::tempdir().expect("a folder for the test");
        let store = Store::new(root.path());
        assert_eq!(store.write("a/b.json", b"1").expect("written"), Written::Changed);
        assert_eq!(
            store.write("a/b.json", b"1").expect("written"),
            Written::Unchanged
        );
        assert_eq!(store.write("a/b.json", b"2").expect("written"), Written::Changed);
        let files = std::fs::read_dir(root.path().join("a")).expect("listed").count();
        assert_eq!(files, 1, "no part is left over");
    }

    #[test]
    fn a_swap_that_was_cut_short_is_finished_by_the_next_reader() {
        let root = tempfile::tempdir().expect("a folder for the test");
        let store = Store::new(root.path());
        let version = |backend: &str| {
            let cells = CellBook::default();
            let claims = vec![(backend.to_owned(), true, None)];
            let ground = Ground {
                claims,
                ..Ground::default()
            };
            let card = seal(Scorecard::derived(&ground, &cells), &cells).expect("sealed");
            (card.write().expect("spelled"), cells.write().expect("spelled"))
        };
        let (card, cells) = version("old");
        let lock = store.lock().expect("locked");
        store.replace(&lock, card, cells).expect("written");
        drop(lock);
        let (card, cells) = version("new");
        // Killed after the first of the two files.
        store.write(CARD, card.as_bytes()).expect("written");
        let swap = serde_json::to_vec(&Swap { card, cells }).expect("spelled");
        store.write(SWAP, &swap).expect("written");
        let read = store.committed().expect("readable");
        assert_eq!(read.card.capabilities[0].id, "new");
        assert!(!store.path(SWAP).exists());
    }

    #[test]
    fn an_unknown_field_is_refused_by_name_and_another_schema_by_number() {
        let root = tempfile::tempdir().expect("a folder for the test");
        let store = Store::new(root.path());
        let (cells, card) = (CellBook::default(), Scorecard::default());
        let card = seal(Scorecard::derived(&Ground::of(&card), &cells), &cells).expect("sealed");
        let card = card.write().expect("spelled");
        store
            .write(CELLS, cells.write().expect("spelled").as_bytes())
            .expect("written");
        let unknown = card.replace("\"backend\"", "\"verdcit\": 1, \"backend\"");
        store.write(CARD, unknown.as_bytes()).expect("written");
        let error = store.committed().expect_err("an unknown field").to_string();
        assert!(error.contains("unknown field `verdcit`"), "{error}");
        store
            .write(CARD, br#"{"schema": 99, "shape": "new"}"#)
            .expect("written");
        let error = store.committed().expect_err("another schema").to_string();
        assert!(error.contains("schema 99"), "{error}");
    }
}
