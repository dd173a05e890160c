//! Outcomes as a file that any machine can carry: one line that says where they come from, then one line each; and so
//! again for each further device.

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

/// The lines of outcomes that come from there.
pub fn text(origin: &Origin, outcomes: &[Outcome]) -> serde_json::Result<String> {
    let mut text = origin.line()?;
    for outcome in outcomes {
        text.push_str(&line(outcome)?);
    }
    Ok(text)
}

/// How the line that says where outcomes come from begins; no outcome does.
const ORIGIN: &str = "{\"schema\"";

impl Outcomes {
    /// Reads the content of `file`: those of each device, at least one.
    ///
    /// # Errors
    ///
    /// The content is something else, or of another layout.
    pub fn read(file: &str, text: &str) -> Result<Vec<Self>, ReadError> {
        let misfit = |line: usize, message: String| ReadError::NoOutcome {
            file: file.to_owned(),
            line,
            message,
        };
        let mut parts: Vec<Self> = Vec::new();
        for (at, line) in (1..).zip(text.lines()) {
            let unread = |error: serde_json::Error| misfit(at, error.to_string());
            match parts.last_mut() {
                Some(part) if !line.starts_with(ORIGIN) => {
                    part.outcomes.push(serde_json::from_str(line).map_err(unread)?);
                }
                _ => {
                    let origin: Origin = serde_json::from_str(line).map_err(unread)?;
                    if origin.schema != SCHEMA {
                        return Err(ReadError::OtherOutcomes {
                            file: file.to_owned(),
                            found: origin.schema,
                            known: SCHEMA,
                        });
                    }
                    parts.push(Self {
                        origin,
                        outcomes: Vec::new(),
                    });
                }
            }
        }
        match parts.is_empty() {
            true => Err(misfit(1, "no outcomes".to_owned())),
            false => Ok(parts),
        }
    }

    /// The file's content.
    pub fn write(&self) -> serde_json::Result<String> {
        text(&self.origin, &self.outcomes)
    }
}
