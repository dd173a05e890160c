//! What takes the place of a result: `0.0`, `{scale: 2.0}`, `{add: 1.0}`.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserializer, Error};
use serde::Deserialize;

use super::value::Value;

/// What takes the place of an op's result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Intervention {
    /// This number in each place.
    Fill(f64),
    /// The result times a number.
    Scale(f64),
    /// The result plus a number.
    Add(f64),
}

impl<'de> Deserialize<'de> for Intervention {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        if let Some(number) = value.as_float() {
            return Ok(Self::Fill(number));
        }
        let entries: Vec<_> = value.as_map().into_iter().flatten().collect();
        match entries[..] {
            [(word, number)] => match (word.as_str(), number.as_float()) {
                ("scale", Some(number)) => Some(Self::Scale(number)),
                ("add", Some(number)) => Some(Self::Add(number)),
                _ => None,
            },
            _ => None,
        }
        .ok_or_else(|| {
            D::Error::custom("an intervention is a number, as in `0.0`, or `{scale: 2.0}` or `{add: 1.0}`")
        })
    }
}

impl JsonSchema for Intervention {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Intervention".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "description": "what takes the place of an op's result: a number in each place, or the result changed",
            "anyOf": [
                {"type": "number"},
                {
                    "type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": false,
                    "properties": {"scale": {"type": "number"}, "add": {"type": "number"}}
                }
            ]
        })
    }
}
