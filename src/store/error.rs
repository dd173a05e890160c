//! Why a trace cannot be saved or loaded.

use std::path::{Path, PathBuf};

use crate::graph::GraphError;

/// A trace cannot be saved, or what lies there is no saved trace.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Something is there already.
    #[error("{} exists already; saving replaces nothing: remove it, or choose another path", .path.display())]
    Exists {
        /// The path.
        path: PathBuf,
    },
    /// The path names no file or folder.
    #[error("{} cannot be saved to: it ends in no name", .path.display())]
    NoName {
        /// The path.
        path: PathBuf,
    },
    /// The file system refuses.
    #[error("{doing} {}: {source}", .path.display())]
    Files {
        /// What was being done: `reading`, `writing`.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Its answer.
        #[source]
        source: std::io::Error,
    },
    /// A payload cannot be computed or read.
    #[error("saving to {}: {source}", .path.display())]
    Payload {
        /// The path.
        path: PathBuf,
        /// MLX's message.
        #[source]
        source: GraphError,
    },
    /// It cannot be written as text or as safetensors.
    #[error("saving to {}: {message}", .path.display())]
    Unwritable {
        /// The path.
        path: PathBuf,
        /// Why.
        message: String,
    },
    /// It is something else than a saved trace, or only a part of one.
    #[error("{} holds no saved trace: {message}", .path.display())]
    Foreign {
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        message: String,
    },
    /// It was saved in another version of the format.
    #[error("{} is of version {found} of the format, and this build reads version {read}; save it anew", .path.display())]
    Version {
        /// The file or folder.
        path: PathBuf,
        /// Its version.
        found: u64,
        /// What this build reads.
        read: u64,
    },
    /// A field is not what was saved, or cannot be.
    #[error("{}: {field}: {message}; save the trace anew", .path.display())]
    Field {
        /// The file or folder.
        path: PathBuf,
        /// Which: `calls[3].arguments[1]`, `payload values[2]`.
        field: String,
        /// What is wrong with it.
        message: String,
    },
}

/// What is wrong with one field, before anybody knows in which file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flaw {
    pub(super) field: String,
    pub(super) message: String,
}

impl Flaw {
    pub(super) fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            message: message.into(),
        }
    }

    /// The same flaw, of what lies inside a field.
    pub(super) fn inside(self, field: &str) -> Self {
        Self {
            field: format!("{field}.{}", self.field),
            ..self
        }
    }

    pub(super) fn of(self, path: &Path) -> StoreError {
        StoreError::Field {
            path: path.to_path_buf(),
            field: self.field,
            message: self.message,
        }
    }
}
