//! The arguments of a step: by place, by name, or both sides bound to a function's parameters.

use super::names::{Parameter, Signature, Takes};
use super::value::Value;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use thiserror::Error;

/// What a layer or function is called with. Text names a value where the parameter takes an array.
#[derive(Clone, Debug, PartialEq)]
pub enum Arguments {
    /// `x`, or `[h, 0.0]`: in the order of the parameters.
    Positional(Vec<Value>),
    /// `{x: h, axes: [-1]}`: by parameter name.
    Named(BTreeMap<String, Value>),
}

/// Arguments that do not fit the parameters.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BindError {
    /// There are more than there are parameters.
    #[error("`{callee}` takes at most {most} arguments, but {found} are given")]
    TooMany {
        /// The layer or function.
        callee: String,
        /// How many parameters it has.
        most: usize,
        /// How many arguments there are.
        found: usize,
    },
    /// No parameter has this name.
    #[error("`{callee}` has no parameter `{name}`")]
    Unknown {
        /// The layer or function.
        callee: String,
        /// The name that was given.
        name: String,
    },
    /// A parameter without default got nothing.
    #[error("`{callee}` needs `{name}`")]
    Missing {
        /// The layer or function.
        callee: String,
        /// The parameter.
        name: &'static str,
    },
}

impl Arguments {
    /// The arguments of a function, by parameter name.
    ///
    /// Where the first parameter takes a list of arrays, the arrays may be given as they are: `stack: [x, y]` means
    /// `stack: {arrays: [x, y]}`.
    pub fn bind(&self, function: &Signature) -> Result<BTreeMap<&'static str, Value>, BindError> {
        self.bind_to(function.name, function.parameters.iter().collect())
    }

    /// The arguments of a layer's call, by parameter name: its arrays only, since it is built already.
    pub fn bind_call(&self, layer: &Signature) -> Result<BTreeMap<&'static str, Value>, BindError> {
        self.bind_to(layer.name, layer.operands().collect())
    }

    fn bind_to(
        &self,
        callee: &str,
        parameters: Vec<&'static Parameter>,
    ) -> Result<BTreeMap<&'static str, Value>, BindError> {
        let callee = || callee.to_owned();
        let mut bound = BTreeMap::new();
        let takes_list = parameters.first().filter(|first| first.takes == Takes::Arrays);
        match (self, takes_list) {
            (Arguments::Positional(values), Some(first))
                if !matches!(values.first(), Some(Value::List(_))) =>
            {
                bound.insert(first.name, Value::List(values.clone()));
            }
            (Arguments::Positional(values), _) => {
                if values.len() > parameters.len() {
                    let (most, found) = (parameters.len(), values.len());
                    return Err(BindError::TooMany {
                        callee: callee(),
                        most,
                        found,
                    });
                }
                bound.extend(
                    parameters
                        .iter()
                        .map(|parameter| parameter.name)
                        .zip(values.iter().cloned()),
                );
            }
            (Arguments::Named(values), _) => {
                for (name, value) in values {
                    let parameter = parameters
                        .iter()
                        .find(|parameter| parameter.name == name)
                        .ok_or_else(|| BindError::Unknown {
                            callee: callee(),
                            name: name.clone(),
                        })?;
                    bound.insert(parameter.name, value.clone());
                }
            }
        }
        let missing = parameters
            .iter()
            .find(|it| it.is_required() && !bound.contains_key(it.name));
        match missing {
            Some(parameter) => Err(BindError::Missing {
                callee: callee(),
                name: parameter.name,
            }),
            None => Ok(bound),
        }
    }

    /// The arguments with each replaced by what `change` makes of it.
    pub(crate) fn map<E>(&self, change: impl Fn(&Value) -> Result<Value, E>) -> Result<Arguments, E> {
        Ok(match self {
            Arguments::Positional(values) => {
                Arguments::Positional(values.iter().map(change).collect::<Result<_, E>>()?)
            }
            Arguments::Named(values) => Arguments::Named(
                values
                    .iter()
                    .map(|(name, value)| Ok((name.clone(), change(value)?)))
                    .collect::<Result<_, E>>()?,
            ),
        })
    }
}

/// A lone value is one argument by place; a list is several, a map is by name.
impl From<Value> for Arguments {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Arguments::Positional(Vec::new()),
            Value::List(items) => Arguments::Positional(items),
            Value::Map(entries) => Arguments::Named(entries),
            one => Arguments::Positional(vec![one]),
        }
    }
}

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Arguments::from)
    }
}

impl JsonSchema for Arguments {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Arguments".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "description": "one value's name, or a list of arguments in order, or arguments by parameter name"
        })
    }
}
