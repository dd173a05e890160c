//! Arguments as the tables take them: typed, by parameter name.

use std::collections::{BTreeMap, HashMap};

use mlx_rs::{Array, Dtype};

use super::array::dtype_of;
use super::error::ModelError;
use crate::case::index::{self, Index};
use crate::case::names::Takes;
use crate::case::value::Value;
use crate::vocabulary::DType;

/// The arrays that exist so far, by name: `x`, `parts.0`, `batch.mask`.
pub(super) type Values = HashMap<String, Array>;

/// The arguments of one call.
pub struct Bound<'a> {
    callee: &'a str,
    arguments: &'a BTreeMap<&'static str, Value>,
    values: &'a Values,
}

impl<'a> Bound<'a> {
    pub(super) fn new(
        callee: &'a str,
        arguments: &'a BTreeMap<&'static str, Value>,
        values: &'a Values,
    ) -> Self {
        Self {
            callee,
            arguments,
            values,
        }
    }

    /// The argument of a parameter that must be given.
    ///
    /// # Errors
    ///
    /// It is missing or not of the kind.
    pub fn required<T: Take>(&self, parameter: &str) -> Result<T::Rust, ModelError> {
        self.optional::<T>(parameter)?
            .ok_or_else(|| self.wrong(parameter, T::TAKES))
    }

    /// The argument of a parameter that may be left out.
    ///
    /// # Errors
    ///
    /// It is not of the kind.
    pub fn optional<T: Take>(&self, parameter: &str) -> Result<Option<T::Rust>, ModelError> {
        match self.arguments.get(parameter) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => T::take(value, self.values)
                .map(Some)
                .ok_or_else(|| self.wrong(parameter, T::TAKES)),
        }
    }

    fn wrong(&self, parameter: &str, takes: Takes) -> ModelError {
        ModelError::Argument {
            callee: self.callee.to_string(),
            parameter: parameter.to_string(),
            wanted: takes.wanted(),
        }
    }
}

/// A kind of argument: what a case writes, and what Rust gets.
pub trait Take {
    /// What a call gets.
    type Rust;
    /// What a case is told that it must write.
    const TAKES: Takes;

    /// The argument from a case's value; `None` where it is of another kind.
    #[doc(hidden)]
    fn take(value: &Value, values: &HashMap<String, Array>) -> Option<Self::Rust>;
}

/// The kinds, by the words that the tables use.
pub mod kinds {
    /// One array: a value's name, or a number that becomes a scalar.
    pub enum Array {}
    /// A list of arrays.
    pub enum Arrays {}
    /// An `i32`.
    pub enum Int {}
    /// A list of `i32`, or one that stands for a list of one.
    pub enum Ints {}
    /// An `f32`.
    pub enum Float {}
    /// An `f64`.
    pub enum Double {}
    /// Pairs of `i32`, one for each axis, or one pair for all.
    pub enum Pairs {}
    /// A truth value.
    pub enum Bool {}
    /// An element type.
    pub enum DType {}
    /// Places and ranges, one an axis.
    pub enum Index {}
    /// A text.
    pub enum Text {}
}

impl Take for kinds::Array {
    type Rust = Array;
    const TAKES: Takes = Takes::Array;

    fn take(value: &Value, values: &HashMap<String, Array>) -> Option<Array> {
        Some(match value {
            Value::Text(name) => values.get(name)?.clone(),
            Value::Int(number) => Array::from_int(i32::try_from(*number).ok()?),
            Value::Float(number) => Array::from_f32(*number as f32),
            Value::Bool(truth) => Array::from_bool(*truth),
            Value::Null | Value::List(_) | Value::Map(_) => return None,
        })
    }
}

impl Take for kinds::Arrays {
    type Rust = Vec<Array>;
    const TAKES: Takes = Takes::Arrays;

    fn take(value: &Value, values: &HashMap<String, Array>) -> Option<Vec<Array>> {
        match value {
            Value::List(items) => {
                let arrays: Option<Vec<Vec<Array>>> = items
                    .iter()
                    .map(|item| kinds::Arrays::take(item, values))
                    .collect();
                Some(arrays?.concat())
            }
            // A value that has parts by its name: all arrays in it, in order.
            Value::Text(name) if !values.contains_key(name) => {
                let items: Vec<Array> = (0..)
                    .map_while(|place| values.get(&format!("{name}.{place}")).cloned())
                    .collect();
                Some(items).filter(|items| !items.is_empty())
            }
            one => kinds::Array::take(one, values).map(|array| vec![array]),
        }
    }
}

impl Take for kinds::Int {
    type Rust = i32;
    const TAKES: Takes = Takes::Int;

    fn take(value: &Value, _: &HashMap<String, Array>) -> Option<i32> {
        i32::try_from(value.as_int()?).ok()
    }
}

impl Take for kinds::Ints {
    type Rust = Vec<i32>;
    const TAKES: Takes = Takes::Ints;

    fn take(value: &Value, values: &HashMap<String, Array>) -> Option<Vec<i32>> {
        value
            .as_ints()
            .or_else(|| Some(vec![kinds::Int::take(value, values)?]))
    }
}

impl Take for kinds::Float {
    type Rust = f32;
    const TAKES: Takes = Takes::Float;

    fn take(value: &Value, _: &HashMap<String, Array>) -> Option<f32> {
        value.as_float().map(|number| number as f32)
    }
}

impl Take for kinds::Double {
    type Rust = f64;
    const TAKES: Takes = Takes::Float;

    fn take(value: &Value, _: &HashMap<String, Array>) -> Option<f64> {
        value.as_float()
    }
}

impl Take for kinds::Pairs {
    type Rust = Vec<(i32, i32)>;
    const TAKES: Takes = Takes::Pairs;

    fn take(value: &Value, _: &HashMap<String, Array>) -> Option<Vec<(i32, i32)>> {
        let pairs = value.as_pairs()?;
        Some(pairs.into_iter().map(|[before, after]| (before, after)).collect())
    }
}

impl Take for kinds::Bool {
    type Rust = bool;
    const TAKES: Takes = Takes::Bool;

    fn take(value: &Value, _: &HashMap<String, Array>) -> Option<bool> {
        value.as_bool()
    }
}

impl Take for kinds::DType {
    type Rust = Dtype;
    const TAKES: Takes = Takes::DType;

    fn take(value: &Value, _: &HashMap<String, Array>) -> Option<Dtype> {
        DType::named(value.as_text()?).map(dtype_of)
    }
}

impl Take for kinds::Index {
    type Rust = Vec<Index>;
    const TAKES: Takes = Takes::Index;

    fn take(value: &Value, _: &HashMap<String, Array>) -> Option<Vec<Index>> {
        index::parse(value)
    }
}

impl Take for kinds::Text {
    type Rust = String;
    const TAKES: Takes = Takes::Text;

    fn take(value: &Value, _: &HashMap<String, Array>) -> Option<String> {
        value.as_text().map(str::to_string)
    }
}
