//! Seals: a digest of each part of a structure, so that an edit is noticed and named.
//!
//! They guard against accidents, not against somebody who computes them anew.

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::error::Flaw;

/// The digest of some bytes, in hexadecimal digits.
pub(super) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// As many digits as no accident finds again.
const DIGITS: usize = 16;

fn short(value: &Value) -> Value {
    let mut digits = digest(value.to_string().as_bytes());
    digits.truncate(DIGITS);
    Value::String(digits)
}

/// For each field its digest; for a list those of its items.
pub(super) fn seals(structure: &Map<String, Value>) -> Map<String, Value> {
    let sealed = |value: &Value| match value {
        Value::Array(items) => Value::Array(items.iter().map(short).collect()),
        other => short(other),
    };
    structure
        .iter()
        .map(|(name, value)| (name.clone(), sealed(value)))
        .collect()
}

/// The first part of a structure that is not what its seal says.
pub(super) fn broken(structure: &Map<String, Value>, saved: &Map<String, Value>) -> Option<Flaw> {
    let edited = |field: String| Some(Flaw::new(field, "it is not what was saved"));
    let found = seals(structure);
    for (name, seal) in &found {
        match (seal, saved.get(name)) {
            (_, None) => return Some(Flaw::new(name, "nothing of this name was saved")),
            (Value::Array(found), Some(Value::Array(saved))) => {
                let parted = found.iter().zip(saved).position(|(found, saved)| found != saved);
                if let Some(place) = parted {
                    return edited(format!("{name}[{place}]"));
                }
                if found.len() != saved.len() {
                    let (found, saved) = (found.len(), saved.len());
                    return Some(Flaw::new(
                        name,
                        format!("it has {found} items, and {saved} were saved"),
                    ));
                }
            }
            (found, Some(saved)) if found != saved => return edited(name.clone()),
            _ => {}
        }
    }
    let missing = saved.keys().find(|name| !found.contains_key(*name))?;
    Some(Flaw::new(missing, "it is missing"))
}
