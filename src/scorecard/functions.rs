//! What is shown of each function and layer, by element type.

use super::cells::CellBook;
use super::outcome::Verdict;
use crate::vocabulary::Device;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One function or layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FunctionRow {
    /// Its name in cases: `sum`, `layer.linear`.
    pub function: String,
    /// By devices (all those of which the same is shown, with spaces between) and by what is shown, the element types,
    /// with spaces between: `8/8 6/7` is eight cells, all of whose records pass, and seven that claim values, of which
    /// six pass. Hundreds of such lines must stay short.
    pub devices: BTreeMap<String, BTreeMap<String, String>>,
}

/// What the cells of one function and element type show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// Cells that ran.
    pub cells: u32,
    /// Cells whose record passes.
    pub records: u32,
    /// Cells that claim something about values.
    pub claims: u32,
    /// Cells whose value passes.
    pub values: u32,
}

impl Shown {
    /// Verdicts that are no pass.
    pub fn failing(&self) -> u32 {
        self.cells.saturating_sub(self.records) + self.claims.saturating_sub(self.values)
    }

    /// As the scorecard spells it.
    fn spelled(&self) -> String {
        let Self {
            cells,
            records,
            claims,
            values,
        } = self;
        format!("{records}/{cells} {values}/{claims}")
    }

    /// From the scorecard's spelling; `None` for any other text.
    fn named(text: &str) -> Option<Self> {
        let (record, value) = text.split_once(' ')?;
        let pair = |text: &str| {
            let (part, of) = text.split_once('/')?;
            Some((part.parse().ok()?, of.parse().ok()?))
        };
        let ((records, cells), (values, claims)) = (pair(record)?, pair(value)?);
        Some(Self {
            cells,
            records,
            claims,
            values,
        })
    }
}

/// As people read it.
impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            cells,
            records,
            claims,
            values,
        } = self;
        write!(f, "record {records}/{cells} value {values}/{claims}")
    }
}

impl FunctionRow {
    /// What is shown on a device, by element type.
    pub fn shown(&self, device: Device) -> BTreeMap<&str, Shown> {
        let named = |devices: &str| devices.split(' ').any(|name| name == device.name());
        let by_shown = self.devices.iter().filter(|(devices, _)| named(devices));
        by_shown
            .flat_map(|(_, by_shown)| by_shown)
            .filter_map(|(text, dtypes)| Some((Shown::named(text)?, dtypes)))
            .flat_map(|(shown, dtypes)| dtypes.split(' ').map(move |dtype| (dtype, shown)))
            .collect()
    }
}

/// What the cells show, by function.
pub fn functions(book: &CellBook) -> Vec<FunctionRow> {
    let mut rows: BTreeMap<&str, BTreeMap<Device, BTreeMap<&str, Shown>>> = BTreeMap::new();
    for row in &book.cells {
        let Some(function) = &row.about.function else {
            continue;
        };
        let dtype = row.about.dtype.as_deref().unwrap_or("none");
        for (device, record) in &row.devices {
            if record.record == Verdict::Skipped {
                continue;
            }
            let by_dtype = rows.entry(function).or_default().entry(*device).or_default();
            let shown = by_dtype.entry(dtype).or_default();
            shown.cells += 1;
            shown.records += u32::from(record.record == Verdict::Pass);
            shown.claims += u32::from(record.value.is_some());
            shown.values += u32::from(record.value == Some(Verdict::Pass));
        }
    }
    rows.into_iter()
        .map(|(function, devices)| FunctionRow {
            function: function.to_owned(),
            devices: by_devices(
                devices
                    .into_iter()
                    .map(|(device, by_dtype)| (device, by_shown(by_dtype))),
            ),
        })
        .collect()
}

/// The element types of which the same is shown stand together.
fn by_shown(by_dtype: BTreeMap<&str, Shown>) -> BTreeMap<String, String> {
    let mut grouped = BTreeMap::new();
    for (dtype, shown) in by_dtype {
        append(&mut grouped, shown.spelled(), dtype);
    }
    grouped
}

/// So do the devices of which the same is shown.
fn by_devices(
    columns: impl Iterator<Item = (Device, BTreeMap<String, String>)>,
) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut grouped = BTreeMap::new();
    for (device, shown) in columns {
        append(&mut grouped, shown, device.name());
    }
    grouped
        .into_iter()
        .map(|(shown, devices)| (devices, shown))
        .collect()
}

fn append<K: Ord>(grouped: &mut BTreeMap<K, String>, key: K, name: &str) {
    let names = grouped.entry(key).or_default();
    if !names.is_empty() {
        names.push(' ');
    }
    names.push_str(name);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_read_as_it_is_spelled() {
        let shown = Shown {
            cells: 8,
            records: 7,
            claims: 6,
            values: 5,
        };
        assert_eq!(Shown::named(&shown.spelled()), Some(shown));
        assert_eq!(Shown::named("8"), None);
    }
}
