//! What the cells of a case need to run: `[metal]`, `[linux, cpu]`, or by name, `{device: metal, mlx: ">= 0.33"}`.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::versions::Versions;
use crate::vocabulary::{DeviceKind, Os};

/// What the cells of a case need to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requires {
    /// The kind of device.
    pub device: Option<DeviceKind>,
    /// The operating system.
    pub os: Option<Os>,
    /// Versions of MLX: `">= 0.33"`.
    pub mlx: Option<Versions>,
}

/// The same, by name.
#[derive(Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct ByName {
    /// The kind of device.
    device: Option<DeviceKind>,
    /// The operating system.
    os: Option<Os>,
    /// Versions of MLX: `">= 0.33"`.
    mlx: Option<Versions>,
}

impl Requires {
    /// Adds a word; false where another of its kind stands there already. `None` for an unknown one.
    fn add(&mut self, word: &str) -> Option<bool> {
        if let Some(device) = DeviceKind::named(word) {
            return Some(self.device.replace(device).is_none());
        }
        Some(self.os.replace(Os::named(word)?).is_none())
    }
}

fn words() -> Vec<&'static str> {
    let devices = DeviceKind::ALL.iter().map(|it| it.name());
    devices.chain(Os::ALL.iter().map(|it| it.name())).collect()
}

impl<'de> Deserialize<'de> for Requires {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RequiresVisitor;
        impl<'de> Visitor<'de> for RequiresVisitor {
            type Value = Requires;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("what the cells need, as in `[metal]` or `{device: metal, os: macos}`")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Requires, A::Error> {
                let mut needs = Requires::default();
                while let Some(word) = access.next_element::<String>()? {
                    let message = match needs.add(&word) {
                        Some(true) => continue,
                        Some(false) => {
                            format!("`{word}` comes after another of its kind, and a cell runs in one place")
                        }
                        None => format!(
                            "nothing to need is called `{word}`; there are {}",
                            words().join(", ")
                        ),
                    };
                    return Err(A::Error::custom(message));
                }
                Ok(needs)
            }

            fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<Requires, A::Error> {
                let ByName { device, os, mlx } = ByName::deserialize(MapAccessDeserializer::new(access))?;
                Ok(Requires { device, os, mlx })
            }
        }
        deserializer.deserialize_any(RequiresVisitor)
    }
}

impl JsonSchema for Requires {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Requires".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let by_name = generator.subschema_for::<ByName>();
        schemars::json_schema!({
            "description": "what the cells need to run: a list of words, or by name",
            "anyOf": [{"type": "array", "items": {"enum": words()}}, by_name]
        })
    }
}
