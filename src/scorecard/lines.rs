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
    #[error("{file} has schema {found}, this assay reads schema {known}; use the assay that wrote it, or restore the file from git (`git checkout HEAD -- scorecards`) and run again")]
    Schema {
        /// The file.
        file: String,
        /// Its schema.
        found: u64,
        /// The schema known here.
        known: u32,
    },
    /// It was edited by hand.
    #[error("{file} was edited by hand, or lies beside another run's cells: `{field}` {message}; restore both from git (`git checkout HEAD -- scorecards`) and run again")]
    Edited {
        /// The file.
        file: String,
        /// The field.
        field: String,
        /// What is wrong with it.
        message: String,
    },
    /// A file of outcomes was written by another version.
    #[error("{file} has schema {found}, this assay reads schema {known}; run the cells again with this one")]
    OtherOutcomes {
        /// The file.
        file: String,
        /// Its schema.
        found: u32,
        /// The schema known here.
        known: u32,
    },
    /// A line of a file of outcomes is none.
    #[error("{file}:{line} is no outcome: {message}; the file is cut short or damaged: carry it over again, or run the cells again")]
    NoOutcome {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What does not fit.
        message: String,
    },
    /// It does not fit.
    #[error("{file} at `{path}`: {message}; restore it from git (`git checkout HEAD -- scorecards`) and run again")]
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

/// Each row as JSON.
pub fn rows<T: Serialize>(rows: &[T]) -> serde_json::Result<Vec<String>> {
    rows.iter().map(serde_json::to_string).collect()
}

/// A document of `head` fields and lists, each with a line for each of its rows.
pub fn write(
    head: &[(&str, serde_json::Value)],
    lists: &[(&str, Vec<String>)],
) -> serde_json::Result<String> {
    let mut fields = Vec::new();
    for (key, value) in head {
        fields.push(format!("  {}: {value}", serde_json::to_string(key)?));
    }
    for (name, rows) in lists {
        let name = serde_json::to_string(name)?;
        fields.push(match rows.is_empty() {
            true => format!("  {name}: []"),
            false => format!("  {name}: [\n    {}\n  ]", rows.join(",\n    ")),
        });
    }
    Ok(format!("{{\n{}\n}}\n", fields.join(",\n")))
}
