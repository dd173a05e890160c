//! The scorecard's first file: a row for each capability, with its evidence on each device.

use super::lines::{self, ReadError};
use super::outcome::Outcome;
use super::verdict::{self, Evidence};
use crate::capability::{Capability, RefusalCode};
use crate::vocabulary::Device;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of both files' layout.
pub const SCHEMA: u32 = 1;

/// The backend that the scorecard is about.
pub const BACKEND: &str = "mlx";

/// `scorecards/mlx.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scorecard {
    /// The layout's version.
    pub schema: u32,
    /// The backend.
    pub backend: String,
    /// A row for each capability, sorted by id.
    pub capabilities: Vec<CapabilityRow>,
}

/// One capability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CapabilityRow {
    /// Its id.
    pub id: String,
    /// Whether the backend claims it.
    pub flag: bool,
    /// The code of the refusal where it does not.
    pub code: Option<RefusalCode>,
    /// The evidence, by device.
    pub devices: BTreeMap<Device, Evidence>,
}

impl Scorecard {
    /// The scorecard after a run on `device`: its own column is new, the other columns are `before`'s.
    pub fn updated(
        before: &Scorecard,
        capabilities: &[Capability],
        device: Device,
        outcomes: &[Outcome],
    ) -> Self {
        let mut rows: Vec<CapabilityRow> = capabilities
            .iter()
            .map(|capability| {
                let old = before.capabilities.iter().find(|row| row.id == capability.id);
                let mut devices = old.map(|row| row.devices.clone()).unwrap_or_default();
                devices.insert(device, verdict::evidence(capability, outcomes.iter()));
                CapabilityRow {
                    id: capability.id.to_owned(),
                    flag: capability.flag,
                    code: capability.refusal,
                    devices,
                }
            })
            .collect();
        rows.sort_by(|a, b| a.id.cmp(&b.id));
        Self {
            schema: SCHEMA,
            backend: BACKEND.to_owned(),
            capabilities: rows,
        }
    }

    /// Reads the content of `file`.
    pub fn read(file: &str, text: &str) -> Result<Self, ReadError> {
        lines::read(file, text, SCHEMA)
    }

    /// The file's content.
    pub fn write(&self) -> serde_json::Result<String> {
        let head = [
            ("schema", self.schema.into()),
            ("backend", self.backend.as_str().into()),
        ];
        lines::write(&head, "capabilities", &self.capabilities)
    }
}
