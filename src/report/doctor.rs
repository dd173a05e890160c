//! What the scorecard that comes with this program says, for programs that ask before they rely on the backend.

use crate::scorecard::card::Scorecard;
use crate::scorecard::lines::ReadError;
use crate::scorecard::store::CARD;
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The key under which the scorecard stands.
pub const KEY: &str = "backend_scorecard:mlx";

static EMBEDDED: OnceLock<&'static str> = OnceLock::new();

/// Hands over the scorecard that a binary has embedded. The library has none of its own: it would be built anew whenever
/// a run writes one.
pub fn embed(card: &'static str) {
    // A second one is the same.
    let _ = EMBEDDED.set(card);
}

/// The scorecard that came with this program: the embedded one, or the package's file where that is still there.
///
/// # Errors
///
/// It is not there, or does not read.
pub fn scorecard() -> Result<Scorecard, ReadError> {
    if let Some(card) = EMBEDDED.get() {
        return Scorecard::read(CARD, card);
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/scorecards/mlx.json");
    let text = std::fs::read_to_string(path).map_err(|source| ReadError::Unreadable {
        file: CARD.to_owned(),
        source,
    })?;
    Scorecard::read(CARD, &text)
}

/// What is known of this build: `assay`, its version, and [`KEY`], the scorecard as JSON, or `{"error": ...}`.
pub fn doctor() -> BTreeMap<String, Value> {
    let card = match scorecard() {
        Ok(card) => serde_json::to_value(card).unwrap_or_else(|error| json!({"error": error.to_string()})),
        Err(error) => json!({"error": error.to_string()}),
    };
    [
        ("assay".to_owned(), json!(env!("CARGO_PKG_VERSION"))),
        (KEY.to_owned(), card),
    ]
    .into()
}

/// The scorecard in one line: `linux-cpu: 10 of 11 capabilities supported, 10,544 cells`.
pub fn summary(card: &Scorecard) -> String {
    let devices = card.devices.iter().map(|row| {
        let (supported, of) = card.supported(row.device);
        let cells = super::text::counted(row.cells as usize, "cell");
        format!(
            "{}: {supported} of {of} capabilities supported, {cells}",
            row.device
        )
    });
    let devices: Vec<String> = devices.collect();
    match devices.is_empty() {
        true => "no device has run".to_owned(),
        false => devices.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_carries_its_scorecard() {
        let answer = doctor();
        let capabilities = answer[KEY]["capabilities"].as_array().map_or(0, Vec::len);
        assert!(capabilities > 0, "{:?}", answer[KEY].get("error"));
    }
}
