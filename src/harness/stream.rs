//! Outcomes as they happen: a line each, in a file of this run's own, for whoever watches and for after a kill.

use crate::scorecard::outcome::Outcome;
use crate::scorecard::outcomes::{self, Origin};
use crate::scorecard::store::{Store, WriteError};
use std::fs::File;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// The file of one run; it goes when the run ends and has written its outcomes whole.
pub struct Stream {
    store: Store,
    name: String,
    file: Mutex<File>,
}

impl Stream {
    /// Begins a file beside the others of the root. Fails at once where nothing can be written there, before anything
    /// runs that would be lost.
    pub fn begin(store: &Store, origin: &Origin) -> Result<Self, WriteError> {
        let name = format!("target/assay/running.{}.jsonl", std::process::id());
        let failed = |source| WriteError {
            file: name.clone(),
            source,
        };
        let path = store.path(&name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
            // What killed runs left goes now that another begins.
            store.remove_abandoned();
        }
        let mut file = File::create(path).map_err(failed)?;
        let line = origin.line().map_err(|error| failed(error.into()))?;
        file.write_all(line.as_bytes()).map_err(failed)?;
        Ok(Self {
            store: store.clone(),
            name,
            file: Mutex::new(file),
        })
    }

    /// Writes one more. A disk that fills up during a run is told at its end, when the outcomes are written whole.
    pub fn add(&self, outcome: &Outcome) {
        let Ok(line) = outcomes::line(outcome) else {
            return;
        };
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = file.write_all(line.as_bytes());
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.store.path(&self.name));
    }
}
