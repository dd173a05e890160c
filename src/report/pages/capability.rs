//! One capability: what is claimed, on which evidence, and what is missing.

use super::links;
use crate::report::site::Report;
use crate::scorecard::verdict::Standing;
use serde::Serialize;

/// The page.
#[derive(Clone, Debug, Serialize)]
pub struct View {
    root: &'static str,
    title: String,
    id: String,
    sentence: &'static str,
    remedy: &'static str,
    flag: bool,
    code: Option<&'static str>,
    devices: Vec<DeviceView>,
    missing: Vec<MissingView>,
    cells: Vec<CellView>,
}

#[derive(Clone, Debug, Serialize)]
struct DeviceView {
    device: &'static str,
    verdict: &'static str,
    tone: &'static str,
    cells: u32,
    passing: u32,
    mutants: u32,
    killed: u32,
    refusing: u32,
    missing: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
struct MissingView {
    device: &'static str,
    lacks: String,
    run: String,
}

#[derive(Clone, Debug, Serialize)]
struct CellView {
    id: String,
    link: String,
    tone: &'static str,
    word: String,
    mutant: String,
}

impl View {
    /// Where it lies.
    pub fn path(&self) -> String {
        links::capability(&self.id)
    }
}

/// The CSS class of a standing.
pub(super) fn tone(standing: Standing) -> &'static str {
    match standing {
        Standing::Supported => "good",
        Standing::Unsupported => "calm",
        Standing::NotYetProven => "open",
    }
}

/// What they show.
pub fn views(report: &Report<'_>) -> Vec<View> {
    let claims = report.capabilities.iter();
    claims
        .map(|claim| {
            let row = report.version.card.capability(claim.id);
            let devices = row.into_iter().flat_map(|row| &row.devices);
            let covering = report
                .outcomes
                .iter()
                .filter(|it| it.covers.iter().any(|id| id == claim.id));
            let missing = report.missing.iter().filter(|it| it.what == claim.id);
            View {
                root: "../",
                title: claim.id.to_owned(),
                id: claim.id.to_owned(),
                sentence: claim.sentence,
                remedy: claim.remedy,
                flag: claim.flag,
                code: claim.refusal.map(|code| code.name()),
                devices: devices
                    .map(|(device, it)| DeviceView {
                        device: device.name(),
                        verdict: it.verdict.phrase(),
                        tone: tone(it.verdict),
                        cells: it.cells,
                        passing: it.passing,
                        mutants: it.mutants,
                        killed: it.killed,
                        refusing: it.refusing,
                        missing: it.missing.clone(),
                    })
                    .collect(),
                missing: missing
                    .map(|it| MissingView {
                        device: it.device.map_or("any device", |device| device.name()),
                        lacks: it.lacks.clone(),
                        run: it.run.clone(),
                    })
                    .collect(),
                cells: covering
                    .map(|outcome| CellView {
                        id: outcome.cell.clone(),
                        link: links::cell(&outcome.case(), &outcome.cell),
                        tone: links::tone(outcome),
                        word: links::verdicts(outcome),
                        mutant: crate::report::text::mutant(outcome).unwrap_or_default(),
                    })
                    .collect(),
            }
        })
        .collect()
}
