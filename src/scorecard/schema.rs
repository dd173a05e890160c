//! The JSON schemas of the scorecard's two files, for whoever reads them with another program.

use super::book::BookFile;
use super::card::{Scorecard, SCHEMA};
use serde_json::{json, Value};

/// The schema of `scorecards/mlx.json`.
pub const CARD_SCHEMA: &str = "scorecards/mlx.schema.json";
/// The schema of `scorecards/mlx.cells.json`.
pub const CELLS_SCHEMA: &str = "scorecards/mlx.cells.schema.json";

/// Each schema's file and content.
pub fn texts() -> serde_json::Result<[(&'static str, String); 2]> {
    let card = serde_json::to_value(schemars::schema_for!(Scorecard))?;
    let cells = serde_json::to_value(schemars::schema_for!(BookFile))?;
    Ok([(CARD_SCHEMA, text(card)?), (CELLS_SCHEMA, text(cells)?)])
}

/// The schema with the one version that it describes.
fn text(mut schema: Value) -> serde_json::Result<String> {
    if let Some(version) = schema.pointer_mut("/properties/schema") {
        version["const"] = json!(SCHEMA);
    }
    Ok(serde_json::to_string_pretty(&schema)? + "\n")
}
