//! Reading the grammar's short forms: words that come alone or with more beside them, and their JSON schemas.
//!
//! Each is a visitor and not an untagged enum, because an untagged enum loses the reason why none of its variants
//! fits.

use super::arguments::Arguments;
use super::schema::{
    ArrayFile, Bound, DTypeRule, DecisionFile, Expectation, Expectations, Fails, InputFile, OperandShapes,
    ResultDType, StepFile,
};
use super::value::Value;
use crate::vocabulary::{DType, Decision, Reason};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{self, value::MapAccessDeserializer, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

impl<'de> Deserialize<'de> for InputFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InputVisitor;
        impl<'de> Visitor<'de> for InputVisitor {
            type Value = InputFile;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an input: `{shape: [2, 3], fill: normal}`, `{value: [1.0, 2.0]}`, a number, or a list of inputs")
            }
            fn visit_bool<E>(self, value: bool) -> Result<InputFile, E> {
                Ok(InputFile::Scalar(Value::Bool(value)))
            }
            fn visit_i64<E>(self, value: i64) -> Result<InputFile, E> {
                Ok(InputFile::Scalar(Value::Int(value)))
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<InputFile, E> {
                let value =
                    i64::try_from(value).map_err(|_| E::custom(format!("{value} is above {}", i64::MAX)))?;
                Ok(InputFile::Scalar(Value::Int(value)))
            }
            fn visit_f64<E>(self, value: f64) -> Result<InputFile, E> {
                Ok(InputFile::Scalar(Value::Float(value)))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<InputFile, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = access.next_element()? {
                    items.push(item);
                }
                Ok(InputFile::List(items))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<InputFile, A::Error> {
                let mut array = ArrayFile::default();
                while let Some(key) = access.next_key::<InputKey>()? {
                    match key {
                        InputKey::List => return alone(access, InputFile::List, "list"),
                        InputKey::Map => return alone(access, InputFile::Map, "map"),
                        InputKey::Dtype => array.dtype = Some(access.next_value()?),
                        InputKey::Shape => array.shape = Some(access.next_value()?),
                        InputKey::Value => array.value = Some(access.next_value()?),
                        InputKey::Fill => array.fill = Some(access.next_value()?),
                        InputKey::View => array.view = Some(access.next_value()?),
                        InputKey::As => array.given_as = Some(access.next_value()?),
                    }
                }
                Ok(InputFile::Array(array))
            }
        }
        deserializer.deserialize_any(InputVisitor)
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum InputKey {
    Dtype,
    Shape,
    Value,
    Fill,
    View,
    As,
    List,
    Map,
}

/// The content of a map that may have one key only.
fn alone<'de, A: MapAccess<'de>, T: Deserialize<'de>, R>(
    mut access: A,
    wrap: impl FnOnce(T) -> R,
    key: &str,
) -> Result<R, A::Error> {
    let content = access.next_value()?;
    match access.next_key::<String>()? {
        None => Ok(wrap(content)),
        Some(second) => Err(de::Error::custom(format!(
            "`{key}` stands alone, but `{second}` follows it"
        ))),
    }
}

impl<'de, T: de::DeserializeOwned> Deserialize<'de> for Bound<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BoundVisitor<T>(PhantomData<T>);
        impl<'de, T: de::DeserializeOwned> Visitor<'de> for BoundVisitor<T> {
            type Value = Bound<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value, or `$axis`")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Bound<T>, E> {
                match text.strip_prefix('$') {
                    Some(axis) => Ok(Bound::Axis(axis.to_owned())),
                    None => T::deserialize(de::value::StrDeserializer::new(text)).map(Bound::Here),
                }
            }
            fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<Bound<T>, A::Error> {
                T::deserialize(de::value::SeqAccessDeserializer::new(access)).map(Bound::Here)
            }
            fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<Bound<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(access)).map(Bound::Here)
            }
        }
        deserializer.deserialize_any(BoundVisitor(PhantomData))
    }
}

impl<'de> Deserialize<'de> for Fails {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FailsVisitor;
        impl<'de> Visitor<'de> for FailsVisitor {
            type Value = Fails;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("what fails, as in `values expect.reference`, or a list of such")
            }
            fn visit_str<E>(self, line: &str) -> Result<Fails, E> {
                Ok(Fails(vec![line.to_owned()]))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Fails, A::Error> {
                let mut lines = Vec::new();
                while let Some(line) = access.next_element()? {
                    lines.push(line);
                }
                Ok(Fails(lines))
            }
        }
        deserializer.deserialize_any(FailsVisitor)
    }
}

impl<'de> Deserialize<'de> for OperandShapes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        OperandShapes::from_value(&value).ok_or_else(|| {
            de::Error::custom(format!(
                "{value} is not a shape; write [3, 4], or one for each operand: [[3, 4], [4]]"
            ))
        })
    }
}

impl OperandShapes {
    /// The shapes that a value spells.
    pub fn from_value(value: &Value) -> Option<Self> {
        let items = value.as_list()?;
        if items.is_empty() || items.iter().all(|item| item.as_int().is_some()) {
            return Some(OperandShapes::All(
                items.iter().filter_map(Value::as_int).collect(),
            ));
        }
        let each = items
            .iter()
            .map(|item| item.as_list()?.iter().map(Value::as_int).collect());
        each.collect::<Option<Vec<Vec<i64>>>>().map(OperandShapes::Each)
    }
}

impl<'de> Deserialize<'de> for StepFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct StepVisitor;
        impl<'de> Visitor<'de> for StepVisitor {
            type Value = StepFile;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a step, as in `y: {power: [x, 2.0]}`")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<StepFile, A::Error> {
                let Some((name, call)) = access.next_entry::<String, Call>()? else {
                    return Err(de::Error::custom(
                        "a step needs a result's name, as in `y: {power: [x, 2.0]}`",
                    ));
                };
                match access.next_key::<String>()? {
                    None => Ok(StepFile {
                        name,
                        callee: call.callee,
                        arguments: call.arguments,
                    }),
                    Some(second) => Err(de::Error::custom(format!(
                        "a step has one result, but `{second}` follows `{name}`; begin another list item"
                    ))),
                }
            }
        }
        deserializer.deserialize_map(StepVisitor)
    }
}

/// `{callee: arguments}`.
struct Call {
    callee: String,
    arguments: Arguments,
}

impl<'de> Deserialize<'de> for Call {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CallVisitor;
        impl<'de> Visitor<'de> for CallVisitor {
            type Value = Call;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a layer or function with its arguments, as in `{power: [x, 2.0]}`")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Call, A::Error> {
                let Some((callee, arguments)) = access.next_entry()? else {
                    return Err(de::Error::custom(
                        "a step calls something, as in `y: {power: [x, 2.0]}`",
                    ));
                };
                match access.next_key::<String>()? {
                    None => Ok(Call { callee, arguments }),
                    Some(second) => Err(de::Error::custom(format!(
                        "a step calls one thing, but `{second}` follows `{callee}`; begin another step"
                    ))),
                }
            }
        }
        deserializer.deserialize_map(CallVisitor)
    }
}

impl<'de> Deserialize<'de> for Expectations {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ExpectationsVisitor;
        impl<'de> Visitor<'de> for ExpectationsVisitor {
            type Value = Expectations;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("what must come out, as in `{state: passed}`, or a list of such")
            }
            fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<Expectations, A::Error> {
                let one = Expectation::deserialize(MapAccessDeserializer::new(access))?;
                Ok(Expectations::One(Box::new(one)))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Expectations, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = access.next_element()? {
                    items.push(item);
                }
                Ok(Expectations::Many(items))
            }
        }
        deserializer.deserialize_any(ExpectationsVisitor)
    }
}

impl<'de> Deserialize<'de> for DecisionFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct DecisionVisitor;
        impl<'de> Visitor<'de> for DecisionVisitor {
            type Value = DecisionFile;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a decision, as in `verified` or `{unproven: perturbation_insensitive}`")
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<DecisionFile, E> {
                let decision = Decision::deserialize(de::value::StrDeserializer::new(name))?;
                Ok(DecisionFile {
                    decision,
                    reason: None,
                })
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<DecisionFile, A::Error> {
                let Some((name, reason)) = access.next_entry::<String, Reason>()? else {
                    return Err(de::Error::custom(
                        "a decision is missing, as in `{unproven: perturbation_insensitive}`",
                    ));
                };
                let decision = Decision::deserialize(de::value::StrDeserializer::<A::Error>::new(&name))?;
                match access.next_key::<String>()? {
                    None => Ok(DecisionFile {
                        decision,
                        reason: Some(reason),
                    }),
                    Some(second) => Err(de::Error::custom(format!(
                        "an op has one decision, but `{second}` follows"
                    ))),
                }
            }
        }
        deserializer.deserialize_any(DecisionVisitor)
    }
}

impl<'de> Deserialize<'de> for DTypeRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        if name == "same" {
            return Ok(DTypeRule::Same);
        }
        DType::named(&name).map(DTypeRule::Is).ok_or_else(|| {
            let known: Vec<&str> = std::iter::once("same")
                .chain(DType::ALL.iter().map(|it| it.name()))
                .collect();
            de::Error::custom(format!(
                "unknown element type `{name}`, expected one of `{}`",
                known.join("`, `")
            ))
        })
    }
}

impl<'de> Deserialize<'de> for ResultDType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ResultVisitor;
        impl<'de> Visitor<'de> for ResultVisitor {
            type Value = ResultDType;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an element type, `same`, or a map as in `{bool: int32, else: same}`")
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<ResultDType, E> {
                DTypeRule::deserialize(de::value::StrDeserializer::new(name)).map(ResultDType::Always)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<ResultDType, A::Error> {
                let (mut named, mut otherwise) = (BTreeMap::new(), None);
                while let Some(key) = access.next_key::<String>()? {
                    let rule = access.next_value()?;
                    if key == "else" {
                        otherwise = Some(rule);
                    } else {
                        let dtype = DType::deserialize(de::value::StrDeserializer::<A::Error>::new(&key))?;
                        named.insert(dtype, rule);
                    }
                }
                Ok(ResultDType::ByDType { named, otherwise })
            }
        }
        deserializer.deserialize_any(ResultVisitor)
    }
}

/// Gives a type whose deserialization is written by hand the schema that says the same.
macro_rules! schema {
    ($type:ty, $name:literal, |$generator:ident| $schema:tt) => {
        impl JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }
            fn json_schema($generator: &mut SchemaGenerator) -> Schema {
                schemars::json_schema!($schema)
            }
        }
    };
}

schema!(InputFile, "Input", |g| {
    "description": "an array by value or by fill, a number, a list of inputs, or inputs by name",
    "anyOf": [
        g.subschema_for::<ArrayFile>(),
        {"type": ["number", "boolean"]},
        {"type": "array", "items": g.subschema_for::<InputFile>()},
        {
            "type": "object", "required": ["list"], "additionalProperties": false,
            "properties": {"list": {"type": "array", "items": g.subschema_for::<InputFile>()}}
        },
        {
            "type": "object", "required": ["map"], "additionalProperties": false,
            "properties": {"map": {"type": "object", "additionalProperties": g.subschema_for::<InputFile>()}}
        }
    ]
});
schema!(OperandShapes, "OperandShapes", |_g| {
    "description": "one shape for all operands, or a list with one for each",
    "anyOf": [
        {"type": "array", "items": {"type": "integer", "minimum": 0}},
        {"type": "array", "items": {"type": "array", "items": {"type": "integer", "minimum": 0}}}
    ]
});
schema!(Fails, "Fails", |_g| {
    "description": "what fails and how, one line or several: `values expect.reference`",
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
});
schema!(StepFile, "Step", |g| {
    "description": "one result's name, and the layer or function with its arguments",
    "type": "object", "minProperties": 1, "maxProperties": 1,
    "additionalProperties": {
        "type": "object", "minProperties": 1, "maxProperties": 1,
        "additionalProperties": g.subschema_for::<Arguments>()
    }
});
schema!(Expectations, "Expectations", |g| {
    "anyOf": [
        g.subschema_for::<Expectation>(),
        {"type": "array", "items": g.subschema_for::<Expectation>()}
    ]
});
schema!(DecisionFile, "DecisionWithReason", |g| {
    "description": "a decision, alone or with its reason",
    "anyOf": [
        g.subschema_for::<Decision>(),
        {
            "type": "object", "minProperties": 1, "maxProperties": 1,
            "propertyNames": g.subschema_for::<Decision>(),
            "additionalProperties": g.subschema_for::<Reason>()
        }
    ]
});
schema!(DTypeRule, "DTypeRule", |g| {
    "anyOf": [{"const": "same"}, g.subschema_for::<DType>()]
});
schema!(ResultDType, "ResultDType", |g| {
    "description": "every output's element type, or a map from the cell's own to it",
    "anyOf": [
        g.subschema_for::<DTypeRule>(),
        {
            "type": "object",
            "properties": {"else": g.subschema_for::<DTypeRule>()},
            "additionalProperties": g.subschema_for::<DTypeRule>()
        }
    ]
});

impl<T: JsonSchema> JsonSchema for Bound<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Bound_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let here = generator.subschema_for::<T>();
        schemars::json_schema!({"anyOf": [here, {"type": "string", "pattern": "^\\$"}]})
    }
}
