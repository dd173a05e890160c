//! `docs/capabilities.md`: what the backend can do, from the scorecard, so that no document claims what no cell proves.

use super::site::{ReportError, Templates};
use super::text::counted;
use crate::capability::Capability;
use crate::scorecard::card::Scorecard;
use crate::scorecard::verdict::{Evidence, Standing};
use crate::vocabulary::Device;
use serde::Serialize;

/// The file, relative to the root.
pub const FILE: &str = "docs/capabilities.md";

#[derive(Serialize)]
struct View {
    devices: Vec<&'static str>,
    can: Vec<Row>,
    cannot: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    id: &'static str,
    sentence: &'static str,
    code: Option<&'static str>,
    remedy: &'static str,
    cells: Vec<String>,
}

/// The document's text.
///
/// # Errors
///
/// The template does not fit.
pub fn document(card: &Scorecard, capabilities: &[Capability]) -> Result<String, ReportError> {
    let devices: Vec<Device> = card.devices.iter().map(|row| row.device).collect();
    let row = |claim: &Capability| {
        let row = card.capability(claim.id);
        let evidence = |device: &Device| row.and_then(|row| row.devices.get(device));
        Row {
            id: claim.id,
            sentence: claim.sentence,
            code: claim.refusal.map(|code| code.name()),
            remedy: claim.remedy,
            cells: devices.iter().map(|device| spelled(evidence(device))).collect(),
        }
    };
    let of = |flag: bool| capabilities.iter().filter(move |claim| claim.flag == flag);
    let view = View {
        can: of(true).map(row).collect(),
        cannot: of(false).map(row).collect(),
        devices: devices.iter().map(|device| device.name()).collect(),
    };
    let (_, text) = Templates::new()?.page("capabilities.md", FILE, &view)?;
    Ok(text)
}

fn spelled(evidence: Option<&Evidence>) -> String {
    match evidence {
        Some(it) if it.verdict == Standing::Supported => {
            format!("supported: {}", counted(it.cells as usize, "cell"))
        }
        Some(it) if it.verdict == Standing::Unsupported => {
            format!("unsupported: {}", counted(it.refusing as usize, "cell"))
        }
        Some(it) => format!("not yet proven: {}", it.missing.clone().unwrap_or_default()),
        None => "not yet proven".to_owned(),
    }
}
