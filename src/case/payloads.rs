//! Which payloads a trace keeps: `all`, `none`, or `{ops: [gelu_1, name linear, module layers.1]}`.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserializer, Error};
use serde::Deserialize;

use super::value::Value;

/// Which payloads a trace keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Payloads {
    /// All of them, so that everything can be replayed.
    #[default]
    All,
    /// What these ops read and give.
    Ops(Vec<String>),
    /// None.
    None,
}

impl Payloads {
    /// The ops that are named.
    pub fn ops(&self) -> &[String] {
        match self {
            Self::Ops(ops) => ops,
            Self::All | Self::None => &[],
        }
    }
}

impl<'de> Deserialize<'de> for Payloads {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let ops = |value: &Value| -> Option<Vec<String>> {
            let entries: Vec<_> = value.as_map().into_iter().flatten().collect();
            let [(word, list)] = entries[..] else {
                return None;
            };
            let names = list.as_list()?.iter();
            let names: Option<Vec<String>> = names.map(|name| name.as_text().map(str::to_owned)).collect();
            names.filter(|names| word.as_str() == "ops" && !names.is_empty())
        };
        let read = match value.as_text() {
            Some("all") => Some(Self::All),
            Some("none") => Some(Self::None),
            Some(_) => None,
            None => ops(&value).map(Self::Ops),
        };
        read.ok_or_else(|| {
            D::Error::custom(
                "`payloads:` is `all`, `none`, or `{ops: [gelu_1, name linear, module layers.1]}`",
            )
        })
    }
}

impl JsonSchema for Payloads {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Payloads".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "description": "which payloads the trace keeps: all, none, or what some ops read and give",
            "anyOf": [
                {"enum": ["all", "none"]},
                {
                    "type": "object", "required": ["ops"], "additionalProperties": false,
                    "properties": {"ops": {"type": "array", "minItems": 1, "items": {"type": "string"}}}
                }
            ]
        })
    }
}
