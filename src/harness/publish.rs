//! What a run leaves for readers: the pages, the document and the badges, and whether the label holds.

use super::suite::EndError;
use crate::capability::Capability;
use crate::case::cell::Cell;
use crate::report::document;
use crate::report::site::{self, Report};
use crate::scorecard::changes::Version;
use crate::scorecard::decision::Decision;
use crate::scorecard::diff::Terms;
use crate::scorecard::label::{self, Standing};
use crate::scorecard::lines::ReadError;
use crate::scorecard::side::side;
use crate::scorecard::store::Store;
use crate::vocabulary::Device;
use std::collections::{BTreeMap, BTreeSet};

/// The text of each case's file.
pub fn sources(cells: &[Cell]) -> BTreeMap<String, String> {
    let each = cells.iter().map(|cell| (&cell.case.file, &cell.case.text));
    let mut found = BTreeMap::new();
    for (file, text) in each {
        if !found.contains_key(file) {
            found.insert(file.clone(), text.to_string());
        }
    }
    found
}

/// Writes the pages of a run's reports, and removes those of an earlier run that it does not have: the first device's at
/// the top, those of each other device in a folder of its name. The reports are told of one another here.
///
/// # Errors
///
/// A template does not fit, or a file cannot be written.
pub fn publish(store: &Store, reports: Vec<Report<'_>>) -> Result<(), EndError> {
    let top = reports.first().map(|report| report.device);
    let devices: Vec<Device> = reports.iter().map(|report| report.device).collect();
    for report in reports {
        let here = report.device;
        let others = devices.iter().filter(|device| **device != here);
        let others: Vec<(Device, String)> = others
            .map(|device| {
                let up = if Some(here) == top { "" } else { "../" };
                let folder = if Some(*device) == top {
                    String::new()
                } else {
                    format!("{device}/")
                };
                (*device, format!("{up}{folder}index.html"))
            })
            .collect();
        let folder = match Some(here) == top {
            true => site::FOLDER.to_owned(),
            false => format!("{}/{here}", site::FOLDER),
        };
        publish_one(
            store,
            &folder,
            &Report {
                others: &others,
                ..report
            },
        )?;
    }
    for device in Device::ALL.iter().copied() {
        if Some(device) == top || !devices.contains(&device) {
            store.remove_folder(&format!("{}/{device}", site::FOLDER))?;
        }
    }
    Ok(())
}

fn publish_one(store: &Store, folder: &str, report: &Report<'_>) -> Result<(), EndError> {
    let pages = site::pages(report)?;
    for (path, text) in &pages {
        store.write(&format!("{folder}/{path}"), text.as_bytes())?;
    }
    let kept: BTreeSet<&str> = pages.iter().map(|(path, _)| path.as_str()).collect();
    store.remove_others(folder, &site::FOLDERS, &kept)?;
    Ok(())
}

/// The label, and whether it holds for a version of the scorecard.
///
/// # Errors
///
/// A file beside the scorecard does not read.
pub fn standing_of(store: &Store, version: &Version, today: &str) -> Result<Standing, ReadError> {
    let decided = |decision: &Decision| {
        let side = side(store.root(), &decision.revision);
        side.map(|side| side.version).map_err(|error| error.to_string())
    };
    let terms = Terms {
        retired: &store.retired()?,
        gate: &store.gate()?,
        today,
    };
    let decision = store.decision()?;
    Ok(label::standing(decision.as_ref(), decided, version, &terms))
}

/// Writes what repeats the scorecard for readers, where the root has it: the document and the badges.
///
/// # Errors
///
/// A template does not fit, or a file cannot be written.
pub fn publish_documents(
    store: &Store,
    version: &Version,
    capabilities: &[Capability],
    (device, label): (Device, &Standing),
) -> Result<(), EndError> {
    if store.path(document::FILE).exists() {
        let text = document::document(&version.card, capabilities)?;
        store.write(document::FILE, text.as_bytes())?;
    }
    if store.path(site::BADGES).is_dir() {
        for (path, text) in site::badge_files(version, device, label)? {
            store.write(&path, text.as_bytes())?;
        }
    }
    Ok(())
}
