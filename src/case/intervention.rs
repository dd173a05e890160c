//! What takes the place of a result: `0.0`, `{scale: 2.0}`, `{add: 1.0}`, `{replace: [1.0, 2.0]}`, `{call: negative}`;
//! and which result: `gelu_1`, `name gelu`, `module layers.1`.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserializer, Error};
use serde::Deserialize;

use super::data::Data;
use super::elements;
use super::value::Value;
use crate::vocabulary::DType;

/// What takes the place of an op's result.
#[derive(Clone, Debug, PartialEq)]
pub enum Intervention {
    /// This number in each place.
    Fill(f64),
    /// The result times a number.
    Scale(f64),
    /// The result plus a number.
    Add(f64),
    /// A float32 array of these elements.
    Replace {
        /// Its extents, outermost first.
        shape: Vec<i32>,
        /// Its elements in row-major order.
        data: Data,
    },
    /// What the function of this name makes of the result.
    Call(String),
}

/// Which results are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// The op with this label.
    Label(&'a str),
    /// Every op of this name.
    Name(&'a str),
    /// What the module at this address gives back.
    Module(&'a str),
}

impl<'a> Place<'a> {
    /// Reads `gelu_1`, `name gelu` or `module layers.1`; `None` for anything else.
    pub fn read(text: &'a str) -> Option<Self> {
        match text.split_once(' ') {
            Some(("name", name)) if !name.trim().is_empty() => Some(Self::Name(name.trim())),
            Some(("module", address)) if !address.trim().is_empty() => Some(Self::Module(address.trim())),
            None if is_label(text) => Some(Self::Label(text)),
            _ => None,
        }
    }
}

/// Whether the text is an op's label: `linear_1`, or `gru_1:2`.
pub(super) fn is_label(text: &str) -> bool {
    let number = |digits: &str| !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
    let (label, call) = text.split_once(':').unwrap_or((text, "1"));
    label
        .rsplit_once('_')
        .is_some_and(|(name, ordinal)| !name.is_empty() && number(ordinal) && number(call))
}

impl<'de> Deserialize<'de> for Intervention {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        if let Some(number) = value.as_float() {
            return Ok(Self::Fill(number));
        }
        let entries: Vec<_> = value.as_map().into_iter().flatten().collect();
        let read = match entries[..] {
            [(word, argument)] => match (word.as_str(), argument.as_float(), argument.as_text()) {
                ("scale", Some(number), _) => Some(Self::Scale(number)),
                ("add", Some(number), _) => Some(Self::Add(number)),
                ("replace", _, _) => {
                    let (shape, data) =
                        elements::parse(argument, DType::Float32, "replace").map_err(D::Error::custom)?;
                    Some(Self::Replace { shape, data })
                }
                ("call", _, Some(function)) => Some(Self::Call(function.to_owned())),
                _ => None,
            },
            _ => None,
        };
        read.ok_or_else(|| {
            D::Error::custom(
                "an intervention is a number, as in `0.0`, or `{scale: 2.0}`, `{add: 1.0}`, \
                 `{replace: [1.0, 2.0]}` or `{call: negative}`",
            )
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
                    "properties": {
                        "scale": {"type": "number"}, "add": {"type": "number"},
                        "replace": {"type": ["number", "array"]}, "call": {"type": "string"}
                    }
                }
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn a_place_is_a_label_a_name_or_a_module() {
        assert_eq!(Place::read("gru_1:2"), Some(Place::Label("gru_1:2")));
        assert_eq!(Place::read("name gelu"), Some(Place::Name("gelu")));
        assert_eq!(Place::read("module layers.1"), Some(Place::Module("layers.1")));
        for wrong in ["gelu", "name ", "module", "layer layers.1", "gelu_x", "gelu_1:"] {
            assert_eq!(Place::read(wrong), None, "{wrong}");
        }
    }
}
