//! Where the files of a root lie, and how they are written: whole or not at all, and only if their bytes differ.

use super::card::Scorecard;
use super::cells::CellBook;
use super::changes::Version;
use super::lines::ReadError;
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
        let card = card_text
            .map(|text| Scorecard::read(card, &text))
            .transpose()?
            .unwrap_or_default();
        let cells = cells_text
            .map(|text| CellBook::read(cells, &text))
            .transpose()?
            .unwrap_or_default();
        Ok(Some(Version { card, cells }))
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
        std::fs::write(&beside, bytes).map_err(failed)?;
        std::fs::rename(&beside, &path).map_err(|error| {
            // The rename's failure is what matters; a leftover is only untidy.
            let _ = std::fs::remove_file(&beside);
            failed(error)
        })?;
        Ok(Written::Changed)
    }

    /// Removes the pending version, if there is one.
    pub fn discard_pending(&self) -> Result<(), WriteError> {
        for file in [PENDING_CARD, PENDING_CELLS] {
            match std::fs::remove_file(self.path(file)) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(source) => {
                    return Err(WriteError {
                        file: file.to_owned(),
                        source,
                    })
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn an_unknown_field_is_refused_by_name_and_another_schema_by_number() {
        let root = tempfile::tempdir().expect("a folder for the test");
        let store = Store::new(root.path());
        store
            .write(
                CARD,
                br#"{"schema": 1, "backend": "mlx", "capabilities": [], "verdcit": 1}"#,
            )
            .expect("written");
        let error = store.committed().expect_err("an unknown field").to_string();
        assert!(error.contains("unknown field `verdcit`"), "{error}");
        store
            .write(CARD, br#"{"schema": 2, "shape": "new"}"#)
            .expect("written");
        let error = store.committed().expect_err("another schema").to_string();
        assert!(error.contains("schema 2"), "{error}");
    }
}
