//! The scorecard's first file: what a maintainer decides from. Everything in it but what is the run's own (versions,
//! known failures, the surface) follows from the cells.

use super::cells::{CellBook, CellRow};
use super::environment::Environment;
use super::failure::FailureRow;
use super::functions::{functions, FunctionRow};
use super::lines::{self, ReadError};
use super::outcome::Verdict;
use super::surface::SurfaceRow;
use super::verdict::{self, Evidence, Standing, Witness};
use crate::capability::{Capability, RefusalCode};
use crate::vocabulary::Device;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of both files' layout.
pub const SCHEMA: u32 = 2;

/// The backend that the scorecard is about.
pub const BACKEND: &str = "mlx";

/// `scorecards/mlx.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "mlx-assay scorecard")]
pub struct Scorecard {
    /// The layout's version.
    pub schema: u32,
    /// The backend.
    pub backend: String,
    /// The digest of both files' content, without this.
    pub digest: String,
    /// What each device ran with, and how many cells yielded what; sorted.
    pub devices: Vec<DeviceRow>,
    /// A row for each capability, sorted by id.
    pub capabilities: Vec<CapabilityRow>,
    /// A row for each function and layer, sorted.
    pub functions: Vec<FunctionRow>,
    /// A row for each module of mlx-c and mlx-rs, sorted.
    pub surface: Vec<SurfaceRow>,
    /// A row for each known failure, sorted.
    pub expected_failures: Vec<FailureRow>,
}

/// One device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceRow {
    /// Its name.
    pub device: Device,
    /// What it ran with.
    pub environment: Environment,
    /// How many cells it has.
    pub cells: u32,
    /// How many records there are of each verdict.
    pub record: BTreeMap<Verdict, u32>,
    /// How many values there are of each verdict.
    pub value: BTreeMap<Verdict, u32>,
}

/// One capability.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// What a card holds that does not follow from the cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ground {
    /// The claims: id, flag, code.
    pub claims: Vec<(String, bool, Option<RefusalCode>)>,
    /// What each device ran with.
    pub environments: BTreeMap<Device, Environment>,
    /// How much of mlx-c and mlx-rs the cells show.
    pub surface: Vec<SurfaceRow>,
    /// The known failures.
    pub expected_failures: Vec<FailureRow>,
}

impl Ground {
    /// The ground of a card.
    pub fn of(card: &Scorecard) -> Self {
        let claims = card.capabilities.iter();
        let devices = card.devices.iter();
        Self {
            claims: claims.map(|row| (row.id.clone(), row.flag, row.code)).collect(),
            environments: devices.map(|row| (row.device, row.environment.clone())).collect(),
            surface: card.surface.clone(),
            expected_failures: card.expected_failures.clone(),
        }
    }

    /// The same with these claims.
    pub fn claiming(self, capabilities: &[Capability]) -> Self {
        let claim = |it: &Capability| (it.id.to_owned(), it.flag, it.refusal);
        Self {
            claims: capabilities.iter().map(claim).collect(),
            ..self
        }
    }
}

impl Scorecard {
    /// The card that follows from the cells; without its digest.
    pub fn derived(ground: &Ground, book: &CellBook) -> Self {
        let mut covering: BTreeMap<&str, Vec<&CellRow>> = BTreeMap::new();
        for row in &book.cells {
            for id in &row.covers {
                covering.entry(id).or_default().push(row);
            }
        }
        let evidence = |id: &str, flag, code, device: &Device| {
            let rows = covering.get(id).into_iter().flatten();
            let witness = |row: &&CellRow| Some(Witness::recorded(&row.case, row.devices.get(device)?));
            verdict::testimony(flag, code, rows.filter_map(witness))
        };
        let mut capabilities: Vec<CapabilityRow> = ground
            .claims
            .iter()
            .map(|(id, flag, code)| CapabilityRow {
                id: id.clone(),
                flag: *flag,
                code: *code,
                devices: ground
                    .environments
                    .keys()
                    .map(|device| (*device, evidence(id, *flag, *code, device)))
                    .collect(),
            })
            .collect();
        capabilities.sort_by(|a, b| a.id.cmp(&b.id));
        let mut expected_failures = ground.expected_failures.clone();
        expected_failures.sort();
        Self {
            schema: SCHEMA,
            backend: BACKEND.to_owned(),
            digest: String::new(),
            devices: ground
                .environments
                .iter()
                .map(|(device, environment)| device_row(*device, environment, book))
                .collect(),
            capabilities,
            functions: functions(book),
            surface: ground.surface.clone(),
            expected_failures,
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
            ("digest", self.digest.as_str().into()),
        ];
        let lists = [
            ("devices", lines::rows(&self.devices)?),
            ("capabilities", lines::rows(&self.capabilities)?),
            ("functions", lines::rows(&self.functions)?),
            ("surface", lines::rows(&self.surface)?),
            ("expected_failures", lines::rows(&self.expected_failures)?),
        ];
        lines::write(&head, &lists)
    }

    /// The capability's row.
    pub fn capability(&self, id: &str) -> Option<&CapabilityRow> {
        self.capabilities.iter().find(|row| row.id == id)
    }

    /// How many capabilities are supported on a device, of how many that are claimed.
    pub fn supported(&self, device: Device) -> (usize, usize) {
        let supported = self.capabilities.iter().filter(|row| {
            row.devices
                .get(&device)
                .is_some_and(|it| it.verdict == Standing::Supported)
        });
        (supported.count(), self.capabilities.len())
    }
}

fn device_row(device: Device, environment: &Environment, book: &CellBook) -> DeviceRow {
    let mut row = DeviceRow {
        device,
        environment: environment.clone(),
        cells: 0,
        record: BTreeMap::new(),
        value: BTreeMap::new(),
    };
    for (_, record) in book.column(device) {
        row.cells += 1;
        *row.record.entry(record.record).or_default() += 1;
        if let Some(value) = record.value {
            *row.value.entry(value).or_default() += 1;
        }
    }
    row
}
