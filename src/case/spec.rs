//! Layers as a case writes them: a plain tree of names and arguments.

use super::position::{Path, Position};
use super::value::Value;
use super::yaml::Index;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

/// The containers of the grammar: a word whose content is other layers.
pub const CONTAINERS: &[&str] = &["sequential", "list", "map"];

/// The key under which `linear: $settings` keeps the axis that all arguments come from; no argument has this name.
pub(super) const FROM_AXIS: &str = "$";

/// One layer or container: `gelu`, `linear: {input: 4, output: 8}`, `sequential: [...]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// The layer's name in the table of layers, or a word of [`CONTAINERS`].
    pub name: String,
    /// What the layer is built with; empty for a container.
    pub args: BTreeMap<String, Value>,
    /// What a container holds.
    pub children: Children,
    /// Where the layer's name stands.
    pub position: Position,
}

/// What a container holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Children {
    /// The spec is a leaf layer.
    #[default]
    None,
    /// The items of `sequential:` or `list:`, in order.
    List(Vec<Spec>),
    /// The entries of `map:`, in the order written.
    Map(Vec<(String, Spec)>),
}

impl Spec {
    /// Whether the spec is a container.
    pub fn is_container(&self) -> bool {
        CONTAINERS.contains(&self.name.as_str())
    }

    /// Fills in where each layer of the tree stands; `path` leads to the node that is this spec.
    pub(crate) fn locate(&mut self, index: &Index, path: &Path) {
        let inside = path.key(&self.name);
        self.position = index.layer(path, &self.name).position;
        match &mut self.children {
            Children::None => {}
            Children::List(items) => {
                for (place, item) in items.iter_mut().enumerate() {
                    item.locate(index, &inside.index(place));
                }
            }
            Children::Map(entries) => {
                for (key, item) in entries {
                    item.locate(index, &inside.key(key));
                }
            }
        }
    }
}

impl<'de> Deserialize<'de> for Spec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SpecVisitor)
    }
}

struct SpecVisitor;

impl<'de> Visitor<'de> for SpecVisitor {
    type Value = Spec;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a layer: its name, or one name with its arguments, as in `linear: {input: 4, output: 8}`",
        )
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Spec, E> {
        let children = match name {
            "sequential" | "list" => Children::List(Vec::new()),
            "map" => Children::Map(Vec::new()),
            _ => Children::None,
        };
        Ok(Spec {
            name: name.to_owned(),
            args: BTreeMap::new(),
            children,
            position: Position::default(),
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Spec, A::Error> {
        let Some(name) = access.next_key::<String>()? else {
            return Err(de::Error::custom(
                "a layer needs a name, as in `linear: {input: 4, output: 8}`",
            ));
        };
        let (args, children) = match name.as_str() {
            "sequential" | "list" => (BTreeMap::new(), Children::List(access.next_value()?)),
            "map" => (BTreeMap::new(), Children::Map(access.next_value::<Entries>()?.0)),
            _ => (access.next_value::<Args>()?.0, Children::None),
        };
        if let Some((second, _)) = access.next_entry::<String, IgnoredAny>()? {
            return Err(de::Error::custom(format!(
                "a layer is one name with its arguments, but `{second}` follows `{name}` at the same depth; \
                 indent the arguments under `{name}:`, or begin another list item"
            )));
        }
        Ok(Spec {
            name,
            args,
            children,
            position: Position::default(),
        })
    }
}

/// A layer's arguments; nothing at all (`gelu:`) is none.
struct Args(BTreeMap<String, Value>);

impl<'de> Deserialize<'de> for Args {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ArgsVisitor;
        impl<'de> Visitor<'de> for ArgsVisitor {
            type Value = Args;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a layer's arguments by name, as in `{input: 4, output: 8}`")
            }
            fn visit_unit<E>(self) -> Result<Args, E> {
                Ok(Args(BTreeMap::new()))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Args, E> {
                match text.starts_with('$') {
                    true => Ok(Args(BTreeMap::from([(
                        FROM_AXIS.to_owned(),
                        Value::Text(text.to_owned()),
                    )]))),
                    false => Err(E::invalid_type(de::Unexpected::Str(text), &self)),
                }
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Args, A::Error> {
                let mut args = BTreeMap::new();
                while let Some((key, value)) = access.next_entry::<String, Value>()? {
                    args.insert(key, value);
                }
                Ok(Args(args))
            }
        }
        deserializer.deserialize_any(ArgsVisitor)
    }
}

/// The entries of `map:`, which keep their order.
struct Entries(Vec<(String, Spec)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor;
        impl<'de> Visitor<'de> for EntriesVisitor {
            type Value = Entries;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("layers by name, as in `{first: gelu, second: relu}`")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = access.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(EntriesVisitor)
    }
}

impl JsonSchema for Spec {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Layer".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let layer = generator.subschema_for::<Spec>();
        schemars::json_schema!({
            "description": "a layer's name, or one name with its arguments; `sequential` and `list` hold a list of \
                            layers, `map` holds layers by name",
            "oneOf": [
                {"type": "string"},
                {
                    "type": "object",
                    "minProperties": 1,
                    "maxProperties": 1,
                    "properties": {
                        "sequential": {"type": "array", "items": layer},
                        "list": {"type": "array", "items": layer},
                        "map": {"type": "object", "additionalProperties": layer}
                    },
                    "additionalProperties": {"type": ["object", "null"]}
                }
            ]
        })
    }
}
