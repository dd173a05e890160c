//! `cases/retired.yaml`: cases that went on purpose. Without an entry there a case that goes is a regression of the
//! suite itself.

use super::lines::ReadError;
use super::text_file;
use serde::{Deserialize, Serialize};

/// The file, relative to the root.
pub const FILE: &str = "cases/retired.yaml";

/// The list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retired(pub Vec<RetiredCase>);

/// One case, or one cell, that went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetiredCase {
    /// Its id.
    pub id: String,
    /// When.
    pub on: String,
    /// Why.
    pub because: String,
    /// The id of what shows the same now, if something does.
    pub replaced_by: Option<String>,
}

impl Retired {
    /// Reads the content of `file`.
    pub fn read(file: &str, text: &str) -> Result<Self, ReadError> {
        // A file of nothing but comments is an empty list.
        let entries: Option<Vec<RetiredCase>> = text_file::read(file, text)?;
        let entries = entries.unwrap_or_default();
        for (place, entry) in entries.iter().enumerate() {
            if entry.because.trim().is_empty() {
                return Err(ReadError::Misfit {
                    file: file.to_owned(),
                    path: format!("[{place}].because"),
                    message: format!("say why {} went", entry.id),
                });
            }
        }
        Ok(Self(entries))
    }

    /// The entry by which a cell went: its own, or its case's.
    pub fn entry(&self, cell: &str) -> Option<&RetiredCase> {
        self.0.iter().find(|entry| {
            cell.strip_prefix(entry.id.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        })
    }
}
