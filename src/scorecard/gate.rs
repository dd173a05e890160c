//! What `stable` takes, as a file, and what of it a scorecard lacks: the smallest set of missing evidence.

use super::card::CapabilityRow;
use super::changes::Version;
use super::lines::ReadError;
use super::outcome::Verdict;
use super::surface::SurfaceRow;
use super::text_file;
use super::verdict::{Evidence, Standing};
use crate::vocabulary::Device;
use serde::{Deserialize, Serialize};

/// The file of rules, relative to the root.
pub const FILE: &str = "scorecards/gate.yaml";

/// How many names or cells a line lists.
const MOST_NAMES: usize = 3;

/// The rules.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// Capabilities that must be supported; every other must at least be proven one way or the other.
    pub supported: Vec<String>,
    /// Devices that must have evidence.
    pub devices: Vec<Device>,
    /// How much must be covered of what is not left out for a reason.
    pub coverage: MinimumCoverage,
    /// How many of a hundred mutants must be killed, of each capability.
    pub kill_rate_percent: u32,
    /// Whether a known failure may be past its day.
    pub expired_failures: Expired,
}

/// How many of a hundred names must be covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MinimumCoverage {
    /// Of mlx-c's operations that mlx-rs calls.
    pub mlx_c_percent: u32,
    /// Of mlx-rs's public items.
    pub mlx_rs_percent: u32,
}

/// Whether something may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expired {
    /// It may not.
    Refused,
    /// It may.
    Allowed,
}

impl Default for Gate {
    /// The rules where there is no file: the strictest.
    fn default() -> Self {
        Self {
            supported: Vec::new(),
            devices: vec![Device::LinuxCpu, Device::MacosMetal],
            coverage: MinimumCoverage {
                mlx_c_percent: 100,
                mlx_rs_percent: 100,
            },
            kill_rate_percent: 100,
            expired_failures: Expired::Refused,
        }
    }
}

impl Gate {
    /// Reads the content of `file`.
    pub fn read(file: &str, text: &str) -> Result<Self, ReadError> {
        text_file::read(file, text)
    }
}

/// One piece of missing evidence.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Missing {
    /// On which device; `None` for what is the same on all.
    pub device: Option<Device>,
    /// The capability, or the rule.
    pub what: String,
    /// What is missing.
    pub lacks: String,
    /// The cells or cases that are to show it, or the names that nothing shows.
    pub cells: Vec<String>,
    /// What to run, or to do.
    pub run: String,
}

/// Everything that a scorecard lacks; empty where it meets the rules. Nothing follows from anything else in it.
pub fn missing(gate: &Gate, version: &Version, today: &str) -> Vec<Missing> {
    let mut found = Vec::new();
    for id in &gate.supported {
        if version.card.capability(id).is_none() {
            found.push(Missing {
                device: None,
                what: id.clone(),
                lacks: "there is no such capability".to_owned(),
                cells: vec![],
                run: format!("mend {FILE}, or src/capability.rs"),
            });
        }
    }
    for device in &gate.devices {
        if version.cells.has_column(*device) {
            found.extend(on_device(gate, version, *device));
        } else {
            found.push(Missing {
                device: Some(*device),
                what: "every capability".to_owned(),
                lacks: "nothing has run there".to_owned(),
                cells: vec![],
                run: format!(
                    "`assay run` {}, then `assay merge` its target/assay/outcomes.jsonl here",
                    place(*device)
                ),
            });
        }
    }
    if gate.expired_failures == Expired::Refused {
        let expired = version.card.expected_failures.iter();
        found.extend(
            expired
                .filter(|row| row.expires.as_str() < today)
                .map(|row| Missing {
                    device: None,
                    what: "expected failures".to_owned(),
                    lacks: format!("one of {} expired on {}: {}", row.case, row.expires, row.because),
                    cells: vec![row.case.clone()],
                    run: format!(
                        "`assay run {}`, then set `expires:` anew or remove the entry",
                        row.case
                    ),
                }),
        );
    }
    found
}

fn place(device: Device) -> &'static str {
    match device {
        Device::LinuxCpu => "on Linux",
        Device::LinuxCuda => "on Linux with an NVIDIA GPU, built with the feature cuda-12 or cuda-13",
        Device::MacosMetal => "on a Mac",
    }
}

fn on_device(gate: &Gate, version: &Version, device: Device) -> Vec<Missing> {
    let mut found = Vec::new();
    for row in &version.card.capabilities {
        let Some(evidence) = row.devices.get(&device) else {
            continue;
        };
        // What this device cannot decide is decided on those where its cells run.
        if is_elsewhere(version, row, evidence, device) {
            continue;
        }
        let must = gate.supported.contains(&row.id);
        let fits = match evidence.verdict {
            Standing::Supported => true,
            Standing::Unsupported => !must,
            Standing::NotYetProven => false,
        };
        if !fits {
            found.push(unproven(version, row, evidence, device));
        } else if evidence.killed * 100 < evidence.mutants * gate.kill_rate_percent {
            found.push(survivors(version, row, evidence, device));
        }
    }
    let parts = [
        ("mlx-c", gate.coverage.mlx_c_percent),
        ("mlx-rs", gate.coverage.mlx_rs_percent),
    ];
    found.extend(
        parts
            .into_iter()
            .filter_map(|(of, percent)| coverage(&version.card.surface, of, percent, device)),
    );
    found
}

/// Whether a device lacks what every cell of a claim requires.
fn is_elsewhere(version: &Version, row: &CapabilityRow, evidence: &Evidence, device: Device) -> bool {
    let mut covering = version
        .cells
        .column(device)
        .filter(|(cell, _)| cell.covers.contains(&row.id))
        .peekable();
    evidence.cells == 0
        && covering.peek().is_some()
        && covering.all(|(_, record)| record.record == Verdict::Skipped)
}

fn unproven(version: &Version, row: &CapabilityRow, evidence: &Evidence, device: Device) -> Missing {
    let covering = version
        .cells
        .column(device)
        .filter(|(cell, _)| cell.covers.contains(&row.id));
    let open = covering.filter(|(_, record)| record.record != Verdict::Pass || evidence.killed == 0);
    let mut cells: Vec<String> = open.map(|(cell, _)| cell.cell.clone()).collect();
    cells.truncate(MOST_NAMES);
    let lacks = match (&evidence.missing, evidence.verdict) {
        (_, Standing::Unsupported) => "refused, and must be supported".to_owned(),
        (Some(missing), _) => missing.clone(),
        (None, _) => "not proven".to_owned(),
    };
    let run = match cells.first() {
        Some(cell) => format!("`assay run {}` {}", cell, place(device)),
        None => format!("write a case with `covers: [{}]`", row.id),
    };
    Missing {
        device: Some(device),
        what: row.id.clone(),
        lacks,
        cells,
        run,
    }
}

fn survivors(version: &Version, row: &CapabilityRow, evidence: &Evidence, device: Device) -> Missing {
    let alive = version.cells.column(device).filter(|(cell, record)| {
        cell.covers.contains(&row.id) && record.record == Verdict::Pass && record.killed() == Some(false)
    });
    let cells: Vec<String> = alive
        .map(|(cell, _)| cell.cell.clone())
        .take(MOST_NAMES)
        .collect();
    let run = format!("`assay mutate {}`", cells.first().map_or("", String::as_str));
    Missing {
        device: Some(device),
        what: row.id.clone(),
        lacks: format!("{} of {} mutants are killed", evidence.killed, evidence.mutants),
        cells,
        run,
    }
}

fn coverage(rows: &[SurfaceRow], of: &str, percent: u32, device: Device) -> Option<Missing> {
    let (mut covered, mut open) = (0, Vec::new());
    for row in rows.iter().filter(|row| row.of == of) {
        let Some(standings) = row.devices.get(&device) else {
            continue;
        };
        covered += standings.covered.len();
        let names = standings.missing.iter().chain(&standings.partial);
        open.extend(names.map(|name| format!("{}::{name}", row.module)));
    }
    let all = covered + open.len();
    if covered * 100 >= all * percent as usize && all > 0 {
        return None;
    }
    // How many more would do.
    let short = (all * percent as usize).div_ceil(100).saturating_sub(covered);
    let lacks = format!("{covered} of {all} are covered, {short} fewer than {percent} %");
    open.truncate(MOST_NAMES);
    Some(Missing {
        device: Some(device),
        what: format!("coverage of {of}"),
        lacks,
        cells: open,
        run: "`assay coverage` lists them; `assay generate --missing` begins their cases".to_owned(),
    })
}
