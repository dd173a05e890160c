//! How much of mlx-c and mlx-rs the cells show, by name, so that what is new upstream is seen as new.

use crate::vocabulary::Device;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One module of mlx-c or mlx-rs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SurfaceRow {
    /// `mlx-c` or `mlx-rs`.
    pub of: String,
    /// The module.
    pub module: String,
    /// The names, by device and by what the evidence comes to.
    pub devices: BTreeMap<Device, Standings>,
}

/// Names by what the evidence for them comes to, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Standings {
    /// Recorded, replayed, and held to a value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub covered: Vec<String>,
    /// Some evidence, but nothing replayed, or nothing held to a value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub partial: Vec<String>,
    /// No passing cell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Left out, for a reason that `excluded.yaml` gives.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub excluded: Vec<String>,
}

impl Standings {
    /// The lists, by name.
    pub fn lists(&self) -> [(&'static str, &[String]); 4] {
        [
            ("covered", &self.covered),
            ("partial", &self.partial),
            ("missing", &self.missing),
            ("excluded", &self.excluded),
        ]
    }
}

/// The rows after a run on `device`: its own column is new, the others are `before`'s.
pub fn updated(before: &[SurfaceRow], device: Device, now: &[Surface]) -> Vec<SurfaceRow> {
    let mut rows: BTreeMap<(&str, &str), BTreeMap<Device, Standings>> = BTreeMap::new();
    for row in before {
        let others = row.devices.iter().filter(|(other, _)| **other != device);
        let others = others.map(|(other, standings)| (*other, standings.clone()));
        rows.entry((&row.of, &row.module)).or_default().extend(others);
    }
    for part in now {
        let column = rows.entry((part.of, &part.module)).or_default();
        column.insert(device, part.standings.clone());
    }
    rows.into_iter()
        .filter(|(_, devices)| !devices.is_empty())
        .map(|((of, module), devices)| SurfaceRow {
            of: of.to_owned(),
            module: module.to_owned(),
            devices,
        })
        .collect()
}

/// What one run showed of one module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surface {
    /// `mlx-c` or `mlx-rs`.
    pub of: &'static str,
    /// The module.
    pub module: String,
    /// Its names.
    pub standings: Standings,
}
