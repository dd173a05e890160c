//! `scorecards/mlx.cells.json`: a line a case, in which what its cells share stands once. Nothing is lost by it.

use super::about::About;
use super::card::{BACKEND, SCHEMA};
use super::cells::{CellBook, CellRecord, CellRow};
use super::fold::Folded;
use super::lines::{self, ReadError};
use crate::vocabulary::Device;
use schemars::JsonSchema;
use serde::de::value::{Error as WordError, StrDeserializer};
use serde::de::IntoDeserializer;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "mlx-assay: what is known of each cell")]
#[allow(
    dead_code,
    reason = "the schema is checked before, the backend is for whoever reads the file"
)]
pub struct BookFile {
    /// The layout's version.
    schema: u32,
    /// The backend.
    backend: String,
    /// A line for each case, sorted by id.
    cases: Vec<CaseLine>,
}

/// One case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CaseLine {
    /// Its id.
    case: String,
    /// What each cell's id has after the case's, sorted; empty for a case that is one cell.
    cells: Vec<String>,
    /// Ids of the capabilities that it covers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    covers: Vec<String>,
    /// The one function or layer that is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    function: Option<Folded>,
    /// The element type that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dtype: Option<Folded>,
    /// What is expected, by place; several are apart by a line break.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expects: Option<Folded>,
    /// What the cells yielded, by device.
    devices: BTreeMap<Device, ColumnLine>,
}

/// What the cells of a case yielded on one device; nothing in `record` is a cell without a record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct ColumnLine {
    /// The verdict about the record.
    record: Option<Folded>,
    /// The verdict about the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Folded>,
    /// The trace's state.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<Folded>,
    /// How many ops the trace has.
    #[serde(skip_serializing_if = "Option::is_none")]
    ops: Option<Folded>,
    /// The seeded fault, and what became of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    mutant: Option<Folded>,
    /// The refusal's code.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<Folded>,
    /// The tolerances that values were held to.
    #[serde(skip_serializing_if = "Option::is_none")]
    tolerances: Option<Folded>,
    /// What fails and how.
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<Folded>,
}

/// Between the items of a list that is one fact.
const BETWEEN: &str = "\n";

impl CellBook {
    /// The file's content.
    pub fn write(&self) -> serde_json::Result<String> {
        let mut by_case: BTreeMap<&str, Vec<&CellRow>> = BTreeMap::new();
        for row in &self.cells {
            by_case.entry(&row.case).or_default().push(row);
        }
        let lines: Vec<CaseLine> = by_case
            .into_iter()
            .map(|(case, rows)| fold(case, &rows))
            .collect();
        let head = [("schema", SCHEMA.into()), ("backend", BACKEND.into())];
        lines::write(&head, &[("cases", lines::rows(&lines)?)])
    }

    /// Reads the content of `file`.
    pub fn read(file: &str, text: &str) -> Result<Self, ReadError> {
        let read: BookFile = lines::read(file, text, SCHEMA)?;
        let mut cells = Vec::new();
        for (place, line) in read.cases.iter().enumerate() {
            unfold(line, &mut cells).map_err(|(field, message)| ReadError::Misfit {
                file: file.to_owned(),
                path: format!("cases[{place}].{field}"),
                message: format!("{message}, in the case {}", line.case),
            })?;
        }
        // A case's name may begin another's, so that the lines' order is not the cells'.
        cells.sort_by(|a, b| a.cell.cmp(&b.cell));
        Ok(Self { cells })
    }
}

/// What a cell's id has after its case's.
fn suffix<'a>(case: &str, cell: &'a str) -> &'a str {
    cell.strip_prefix(case)
        .map_or(cell, |rest| rest.strip_prefix("::").unwrap_or(rest))
}

fn fold(case: &str, rows: &[&CellRow]) -> CaseLine {
    let named = |fact: &dyn Fn(&CellRow) -> String| {
        Folded::of(rows.iter().map(|row| (suffix(case, &row.cell), fact(row))))
    };
    let mut cells: Vec<String> = rows
        .iter()
        .map(|row| suffix(case, &row.cell).to_owned())
        .collect();
    cells.sort();
    let mut devices: Vec<Device> = rows.iter().flat_map(|row| row.devices.keys().copied()).collect();
    devices.sort();
    devices.dedup();
    let column = |device: Device| {
        let of = |fact: &dyn Fn(&CellRecord) -> String| {
            named(&|row| row.devices.get(&device).map(fact).unwrap_or_default())
        };
        let word = |word: Option<&str>| word.unwrap_or_default().to_owned();
        ColumnLine {
            record: of(&|it| it.record.name().to_owned()),
            value: of(&|it| word(it.value.map(|value| value.name()))),
            state: of(&|it| word(it.state.map(|state| state.name()))),
            ops: of(&|it| it.ops.to_string()),
            mutant: of(&|it| it.mutant.clone().unwrap_or_default()),
            refused: of(&|it| word(it.refused.map(|code| code.name()))),
            tolerances: of(&|it| it.tolerances.join(BETWEEN)),
            signature: of(&|it| it.signature.join(BETWEEN)),
        }
    };
    CaseLine {
        case: case.to_owned(),
        cells,
        covers: rows.first().map(|row| row.covers.clone()).unwrap_or_default(),
        function: named(&|row| row.about.function.clone().unwrap_or_default()),
        dtype: named(&|row| row.about.dtype.clone().unwrap_or_default()),
        expects: named(&|row| row.about.expects.join(BETWEEN)),
        devices: devices
            .into_iter()
            .map(|device| (device, column(device)))
            .collect(),
    }
}

/// Which field does not fit, and why.
type Fault = (String, String);

fn unfold(line: &CaseLine, cells: &mut Vec<CellRow>) -> Result<(), Fault> {
    if !line.cells.is_sorted() {
        return Err(("cells".to_owned(), "the cells' names are not sorted".to_owned()));
    }
    let known =
        |field: &str, folded: &Option<Folded>| match folded.as_ref().and_then(|it| it.strangers(&line.cells))
        {
            Some(name) => Err((field.to_owned(), format!("`{name}` is none of its cells"))),
            None => Ok(()),
        };
    known("function", &line.function)?;
    known("dtype", &line.dtype)?;
    known("expects", &line.expects)?;
    for (device, column) in &line.devices {
        for (name, folded) in column.fields() {
            known(&format!("devices.{device}.{name}"), folded)?;
        }
    }
    for name in &line.cells {
        let text = |folded: &Option<Folded>| {
            let fact = folded.as_ref().map_or("", |it| it.get(name));
            (!fact.is_empty()).then(|| fact.to_owned())
        };
        let mut devices = BTreeMap::new();
        for (device, column) in &line.devices {
            let record = unfold_record(column, name)
                .map_err(|(field, why)| (format!("devices.{device}.{field}"), why))?;
            devices.extend(record.map(|record| (*device, record)));
        }
        let cell = match name.as_str() {
            "" => line.case.clone(),
            name => format!("{}::{name}", line.case),
        };
        cells.push(CellRow {
            cell,
            case: line.case.clone(),
            covers: line.covers.clone(),
            about: About {
                function: text(&line.function),
                dtype: text(&line.dtype),
                expects: list(&line.expects, name),
            },
            devices,
        });
    }
    Ok(())
}

fn unfold_record(column: &ColumnLine, name: &str) -> Result<Option<CellRecord>, Fault> {
    let Some(record) = word("record", &column.record, name)? else {
        return Ok(None);
    };
    let ops = column.ops.as_ref().map_or("", |it| it.get(name));
    Ok(Some(CellRecord {
        record,
        value: word("value", &column.value, name)?,
        state: word("state", &column.state, name)?,
        ops: ops
            .parse()
            .map_err(|_| ("ops".to_owned(), format!("`{ops}` is no number")))?,
        mutant: word("mutant", &column.mutant, name)?,
        refused: word("refused", &column.refused, name)?,
        tolerances: list(&column.tolerances, name),
        signature: list(&column.signature, name),
    }))
}

fn list(folded: &Option<Folded>, name: &str) -> Vec<String> {
    let fact = folded.as_ref().map_or("", |it| it.get(name));
    let items = fact.split(BETWEEN).filter(|item| !item.is_empty());
    items.map(str::to_owned).collect()
}

/// A word of a closed list, or any text; `None` where nothing stands.
fn word<T: for<'de> Deserialize<'de>>(
    field: &str,
    folded: &Option<Folded>,
    name: &str,
) -> Result<Option<T>, Fault> {
    let fact = folded.as_ref().map_or("", |it| it.get(name));
    if fact.is_empty() {
        return Ok(None);
    }
    let plain: StrDeserializer<'_, WordError> = fact.into_deserializer();
    T::deserialize(plain)
        .map(Some)
        .map_err(|error| (field.to_owned(), error.to_string()))
}

impl ColumnLine {
    fn fields(&self) -> [(&'static str, &Option<Folded>); 8] {
        [
            ("record", &self.record),
            ("value", &self.value),
            ("state", &self.state),
            ("ops", &self.ops),
            ("mutant", &self.mutant),
            ("refused", &self.refused),
            ("tolerances", &self.tolerances),
            ("signature", &self.signature),
        ]
    }
}
