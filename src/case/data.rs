//! A cell's inputs, as plain data: element type, shape, view, and the elements or how to make them.

use super::fill::{self, Fill};
use crate::vocabulary::{DType, Shape};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most elements one array of a case may have (16 Mi): enough for any claim, little enough for any machine.
pub const MAX_ELEMENTS: u64 = 1 << 24;

/// Elements in row-major order, in the widest type of their kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Data {
    /// Elements of `bool`.
    Bool(Vec<bool>),
    /// Elements of the integer types.
    Int(Vec<i64>),
    /// Elements of the floating-point types, each a value that the type can hold.
    Float(Vec<f64>),
    /// Elements of `complex64`: real and imaginary part.
    Complex(Vec<[f64; 2]>),
}

impl Data {
    /// How many elements there are.
    pub fn len(&self) -> usize {
        match self {
            Data::Bool(elements) => elements.len(),
            Data::Int(elements) => elements.len(),
            Data::Float(elements) => elements.len(),
            Data::Complex(elements) => elements.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// How an input lies in memory. Its elements and shape are the same in every view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum View {
    /// Row-major and contiguous.
    #[default]
    Plain,
    /// The transpose of an array that holds the elements in column-major order.
    Transposed,
    /// Every second element, along the last axis, of an array twice as long.
    Strided,
    /// Backwards along the last axis, of an array that holds the elements the other way round.
    Reversed,
}

/// One array that a cell feeds in.
#[derive(Clone, Debug, PartialEq)]
pub struct ArraySpec {
    /// Element type.
    pub dtype: DType,
    /// Extents, outermost first; none negative, and at most [`MAX_ELEMENTS`] elements.
    pub shape: Vec<i32>,
    /// How it lies in memory.
    pub view: View,
    /// Where its elements come from.
    pub source: Source,
    /// What of the host's it is made of, before it is an array.
    pub given_as: GivenAs,
}

/// What of the host's an input is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GivenAs {
    /// An array from the start.
    #[default]
    Array,
    /// A plain number.
    Number,
    /// A vector, of vectors where it has two axes.
    Vec,
    /// A slice.
    Slice,
    /// An `ndarray`, its last two axes exchanged in memory.
    Ndarray,
    /// A vector of 128-bit integers.
    Wide,
    /// Rows of which the last is one short.
    Ragged,
}

/// Where an array's elements come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Written in the case.
    Values(Data),
    /// Made by a fill from a seed that depends on the case's seed and the input's name only.
    Fill {
        /// What to fill with.
        fill: Fill,
        /// Where the fill's random stream begins.
        seed: u64,
    },
}

impl ArraySpec {
    /// The elements, in row-major order.
    pub fn data(&self) -> Data {
        match &self.source {
            Source::Values(data) => data.clone(),
            Source::Fill { fill, seed } => fill::fill(*fill, self.dtype, self.elements(), *seed),
        }
    }

    /// The number of elements.
    pub fn elements(&self) -> usize {
        self.shape
            .iter()
            .map(|extent| (*extent).max(0) as usize)
            .product()
    }
}

/// As messages name it: `float16 (4096)`.
impl std::fmt::Display for ArraySpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.dtype, Shape(&self.shape))
    }
}

/// One input of a cell's forward, possibly structured.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// An array.
    Array(ArraySpec),
    /// An integer that stays a Rust number.
    Int(i64),
    /// A float that stays a Rust number.
    Float(f64),
    /// A bool that stays a Rust bool.
    Bool(bool),
    /// A list of inputs.
    List(Vec<Input>),
    /// Inputs by name, in the order written.
    Map(IndexMap<String, Input>),
}
