//! Outcomes as a file that any machine can carry: one line that says where they come from, then one line each.

use super::environment::Environment;
use super::lines::ReadError;
use super::outcome::Outcome;
use super::seal::short;
use crate::vocabulary::Device;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The version of the file's layout.
const SCHEMA: u32 = 2;

/// Where outcomes come from: what must agree before they are joined with others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// The layout's version.
    pub schema: u32,
    /// The device that they speak for.
    pub device: Device,
    /// What it ran with.
    pub environment: Environment,
    /// The digest of the harness's sources.
    pub harness: String,
    /// The digest of the sources of the backend under test.
    pub backend: String,
    /// The digest of each case's file.
    pub files: BTreeMap<String, String>,
}

/// Outcomes and where they come from.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcomes {
    /// Where they come from.
    pub origin: Origin,
    /// The outcomes, in the file's order.
    pub outcomes: Vec<Outcome>,
}

impl Origin {
    /// Of this harness.
    pub fn new(device: Device, environment: Environment, files: BTreeMap<String, String>) -> Self {
        Self {
            schema: SCHEMA,
            device,
            environment,
            harness: env!("ASSAY_HARNESS").to_owned(),
            backend: env!("ASSAY_BACKEND").to_owned(),
            files,
        }
    }

    /// One digest for all cases' files.
    pub fn cases(&self) -> String {
        let mut digest = Sha256::new();
        for (file, of_file) in &self.files {
            digest.update(format!("{file} {of_file}\n"));
        }
        short(&digest.finalize())
    }

    /// The file's first line.
    pub fn line(&self) -> serde_json::Result<String> {
        serde_json::to_string(self).map(|line| line + "\n")
    }
}

/// An outcome's line.
pub fn line(outcome: &Outcome) -> serde_json::Result<String> {
    serde_json::to_string(outcome).map(|line| line + "\n")
}

impl Outcomes {
    /// Reads the content of `file`.
    pub fn read(file: &str, text: &str) -> Result<Self, ReadError> {
        let misfit = |at: usize, message: String| ReadError::Misfit {
            file: file.to_owned(),
            path: format!("line {at}"),
            message,
        };
        let mut lines = text.lines().enumerate();
        let Some((_, first)) = lines.next() else {
            return Err(misfit(1, "no outcomes".to_owned()));
        };
        let origin: Origin = serde_json::from_str(first).map_err(|error| misfit(1, error.to_string()))?;
        if origin.schema != SCHEMA {
            return Err(ReadError::Schema {
                file: file.to_owned(),
                found: origin.schema.into(),
                known: SCHEMA,
            });
        }
        let outcomes = lines
            .map(|(at, line)| serde_json::from_str(line).map_err(|error| misfit(at + 1, error.to_string())))
            .collect::<Result<_, _>>()?;
        Ok(Self { origin, outcomes })
    }

    /// The file's content.
    pub fn write(&self) -> serde_json::Result<String> {
        let mut text = self.origin.line()?;
        for outcome in &self.outcomes {
            text.push_str(&line(outcome)?);
        }
        Ok(text)
    }
}
