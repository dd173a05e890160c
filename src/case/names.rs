//! The names a case may use, passed in by whoever knows them.
//!
//! The tables that turn a name into mlx-rs live where MLX is known; a case only asks whether a name exists, which
//! parameters it has, and which of them are arrays.

use crate::capability::Capability;
use std::fmt;

/// Every layer, function and capability that a case may name.
#[derive(Clone, Copy, Debug, Default)]
pub struct Names {
    /// Layers, and named Rust models: what `model:` and `layers:` may build.
    pub layers: &'static [Signature],
    /// Functions: what `op:` and the steps of `forward:` may call.
    pub functions: &'static [Signature],
    /// Capabilities: what `covers:` may name.
    pub capabilities: &'static [Capability],
    /// Functions of mlx-c that a recorder sees, sorted: what `session.hide` may name.
    pub observed: &'static [&'static str],
}

/// A name and its parameters, in the order in which they are given without names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The name in YAML, such as `linear` or `linalg.norm`.
    pub name: &'static str,
    /// For a layer: the arrays of its forward, and what it is built with. For a function: its arguments.
    pub parameters: &'static [Parameter],
}

/// One parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name in YAML.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// Whether it may be left out.
    pub need: Need,
}

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// One array: a value's name, or a number that becomes a scalar.
    Array,
    /// A list of arrays.
    Arrays,
    /// An integer.
    Int,
    /// A list of integers, or one that stands for a list of one.
    Ints,
    /// Pairs of integers, one for each axis, or one pair for all.
    Pairs,
    /// A number.
    Float,
    /// `true` or `false`.
    Bool,
    /// An element type.
    DType,
    /// An index: places and ranges, one an axis.
    Index,
    /// Any text.
    Text,
}

/// Whether a parameter may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It must be given.
    Required,
    /// It has a default.
    Optional,
}

impl Signature {
    /// A signature, for tables that read like a list.
    pub const fn new(name: &'static str, parameters: &'static [Parameter]) -> Self {
        Self { name, parameters }
    }

    /// The parameter of this name.
    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }

    /// The parameters that take arrays, in order.
    pub fn operands(&self) -> impl Iterator<Item = &'static Parameter> {
        self.parameters
            .iter()
            .filter(|parameter| parameter.takes.is_array())
    }

    /// The parameters that take anything else, in order.
    pub fn settings(&self) -> impl Iterator<Item = &'static Parameter> {
        self.parameters
            .iter()
            .filter(|parameter| !parameter.takes.is_array())
    }
}

/// As messages show it: `sum(x: array; axes: integers, keep_dims: bool)`, what may be left out after the semicolon.
impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listed = |need| {
            let of_need = self.parameters.iter().filter(|parameter| parameter.need == need);
            let words = of_need.map(|parameter| format!("{}: {}", parameter.name, parameter.takes.word()));
            words.collect::<Vec<_>>().join(", ")
        };
        let (required, optional) = (listed(Need::Required), listed(Need::Optional));
        let between = if optional.is_empty() { "" } else { "; " };
        write!(f, "{}({required}{between}{optional})", self.name)
    }
}

impl Parameter {
    /// A parameter that must be given.
    pub const fn required(name: &'static str, takes: Takes) -> Self {
        Self {
            name,
            takes,
            need: Need::Required,
        }
    }

    /// A parameter that has a default.
    pub const fn optional(name: &'static str, takes: Takes) -> Self {
        Self {
            name,
            takes,
            need: Need::Optional,
        }
    }

    /// Whether it must be given.
    pub fn is_required(&self) -> bool {
        self.need == Need::Required
    }
}

impl Takes {
    /// Whether arrays go here.
    pub const fn is_array(self) -> bool {
        matches!(self, Takes::Array | Takes::Arrays)
    }

    /// Its kind in one word, for signatures.
    pub const fn word(self) -> &'static str {
        match self {
            Takes::Array => "array",
            Takes::Arrays => "arrays",
            Takes::Int => "integer",
            Takes::Ints => "integers",
            Takes::Pairs => "pairs",
            Takes::Float => "number",
            Takes::Bool => "bool",
            Takes::DType => "dtype",
            Takes::Index => "index",
            Takes::Text => "text",
        }
    }

    /// What is wanted, for messages: `an integer`.
    pub const fn wanted(self) -> &'static str {
        match self {
            Takes::Array => "an array: a value's name, or a number",
            Takes::Arrays => "a list of arrays",
            Takes::Int => "an integer",
            Takes::Ints => "a list of integers",
            Takes::Pairs => "pairs of integers, as in `[[1, 1], [0, 2]]`, or one pair",
            Takes::Float => "a number",
            Takes::Bool => "true or false",
            Takes::DType => "an element type",
            Takes::Index => "an index, as in `-1`, `\"1:3\"`, `...`, `new_axis`, or a list of such",
            Takes::Text => "text",
        }
    }
}

/// The function that a method or an operator of arrays stands for: `array.sum` is `sum`, `operator.sub` is `subtract`.
pub fn stands_for(name: &str) -> &str {
    match name {
        "operator.add" | "operator.add_assign" => "add",
        "operator.sub" | "operator.sub_assign" => "subtract",
        "operator.mul" | "operator.mul_assign" => "multiply",
        "operator.div" | "operator.div_assign" => "divide",
        "operator.rem" | "operator.rem_assign" => "remainder",
        "operator.pow" => "power",
        "operator.neg" => "negative",
        "operator.not" => "logical_not",
        other => other
            .strip_prefix("array.")
            .or_else(|| other.strip_prefix("operator."))
            .unwrap_or(other),
    }
}

impl Names {
    /// The layer of this name.
    pub fn layer(&self, name: &str) -> Option<&'static Signature> {
        self.layers.iter().find(|signature| signature.name == name)
    }

    /// The function of this name.
    pub fn function(&self, name: &str) -> Option<&'static Signature> {
        self.functions.iter().find(|signature| signature.name == name)
    }
}
