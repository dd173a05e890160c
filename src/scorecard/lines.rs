//! JSON with one line a row, so that `git diff` shows what a change did; read with unknown fields refused by name.

use serde::de::DeserializeOwned;
use serde::Serialize;
use thiserror::Error;

/// A committed file cannot be read as what it should be.
#[derive(Debug, Error)]
pub enum ReadError {
    /// It is not there, or not readable.
    #[error("cannot read {file}: {source}")]
    Unreadable {
        /// The file.
        file: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// It was written by another version.
    #[error("{file} has schema {found}, this assay reads schema {known}; use the assay that wrote it, or run again")]
    Schema {
        /// The file.
        file: String,
        /// Its schema.
        found: u64,
        /// The schema known here.
        known: u32,
    },
    /// It does not fit.
    #[error("{file} at `{path}`: {message}; restore the file from git, or remove it and run again")]
    Misfit {
        /// The file.
        file: String,
        /// The way to the place.
        path: String,
        /// What does not fit, with unknown fields by name.
        message: String,
    },
}

/// Reads `text`, the content of `file`, which must have this schema.
pub fn read<T: DeserializeOwned>(file: &str, text: &str, schema: u32) -> Result<T, ReadError> {
    let misfit = |path: String, message: String| ReadError::Misfit {
        file: file.to_owned(),
        path,
        message,
    };
    let plain: serde_json::Value =
        serde_json::from_str(text).map_err(|error| misfit(String::new(), error.to_string()))?;
    // The schema first: every other complaint about a file of another version would mislead.
    let found = plain.get("schema").and_then(serde_json::Value::as_u64);
    if let Some(found) = found.filter(|found| *found != u64::from(schema)) {
        return Err(ReadError::Schema {
            file: file.to_owned(),
            found,
            known: schema,
        });
    }
    serde_path_to_error::deserialize(plain)
        .map_err(|error| misfit(error.path().to_string(), error.inner().to_string()))
}

/// A document of `head` fields and one list, `name`, with a line for each of its rows.
pub fn write<T: Serialize>(
    head: &[(&str, serde_json::Value)],
    name: &str,
    rows: &[T],
) -> serde_json::Result<String> {
    let mut text = String::from("{\n");
    for (key, value) in head {
        text.push_str(&format!("  {}: {value},\n", serde_json::to_string(key)?));
    }
    text.push_str(&format!("  {}: [", serde_json::to_string(name)?));
    for (place, row) in rows.iter().enumerate() {
        text.push_str(if place == 0 { "\n    " } else { ",\n    " });
        text.push_str(&serde_json::to_string(row)?);
    }
    text.push_str(if rows.is_empty() { "]\n}\n" } else { "\n  ]\n}\n" });
    Ok(text)
}
