//! The table of observed functions, and what a call looks like to an observer.

use std::ffi::{c_int, CStr};

use crate::raw;

/// One observed function of mlx-c. The table of all is [`FUNCTIONS`](crate::FUNCTIONS).
#[derive(Debug)]
pub struct Function {
    /// Its place in the table.
    pub index: usize,
    /// Its C name, `mlx_softmax_axis`.
    pub name: &'static str,
    /// What it is to an observer.
    pub class: Class,
    /// Its arguments in order, results excluded.
    pub parameters: &'static [Parameter],
    /// What it yields, in order.
    pub results: &'static [ResultKind],
    /// Calls the plain function with recorded arguments; `None` where something it reads cannot be recorded.
    pub(crate) invoke: Option<Invoke>,
}

/// The generated entry point behind [`invoke`](fn@crate::invoke::invoke).
pub(crate) type Invoke = unsafe fn(&[Argument<'_>], &mut Vec<Returned>) -> c_int;

impl Function {
    /// Whether [`invoke`](fn@crate::invoke::invoke) can call it: false for what takes closures, readers or raw data.
    pub fn is_invocable(&self) -> bool {
        self.invoke.is_some()
    }

    /// The function called `name` in C, if it is observed.
    pub fn by_name(name: &str) -> Option<&'static Function> {
        let table = &crate::FUNCTIONS;
        table
            .binary_search_by(|function| function.name.cmp(name))
            .ok()
            .map(|index| &table[index])
    }
}

/// What a function is to an observer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Computes arrays from arrays, on a stream; lazy.
    Operation,
    /// Makes an array from data of the host.
    Constructor,
    /// Applies a closure or an imported function to arrays: the closure's own calls happen inside.
    Application,
    /// Evaluates arrays, and thereby takes their graph away.
    Evaluation,
    /// Hands out a pointer to the data of an evaluated array.
    Reading,
    /// Reads arrays from a file or a reader.
    Loading,
    /// Yields arrays and fits none of the above: `mlx_random_key`, `mlx_depends`, the two custom kernels.
    Other,
}

/// One argument of a function.
#[derive(Debug)]
pub struct Parameter {
    /// Its name in mlx-c's declaration.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// What it means to a perturbation; [`Role::Value`] for what is not an array.
    pub role: Role,
}

/// What an argument holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// An array; every array operand may be absent.
    Array,
    /// A list of arrays.
    Arrays,
    /// A map from names to arrays.
    ArrayMap,
    /// A truth value.
    Bool,
    /// A C `int`.
    Int,
    /// An unsigned 64-bit integer: a seed.
    Uint64,
    /// A size or an offset.
    Size,
    /// A 32-bit float.
    Float,
    /// A 64-bit float.
    Double,
    /// An element type.
    Dtype,
    /// How an FFT is normalized.
    FftNorm,
    /// A C string, possibly absent.
    Text,
    /// Integers: a shape, axes.
    Ints,
    /// 64-bit integers: strides.
    Int64s,
    /// An integer or nothing.
    OptionalInt,
    /// A float or nothing.
    OptionalFloat,
    /// An element type or nothing.
    OptionalDtype,
    /// The stream to compute on.
    Stream,
    /// What cannot be recorded.
    Opaque,
}

/// What an array operand means to a perturbation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// Any number.
    Value,
    /// Points into another operand: MLX checks no bounds.
    Index,
    /// A length or an offset: MLX checks no bounds.
    Count,
    /// The divisor of an integer division: 0 and -1 raise SIGFPE.
    Divisor,
    /// The key of a random generator.
    Key,
    /// Packed bits of quantized weights.
    Packed,
}

/// What a function yields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResultKind {
    /// One array.
    Array,
    /// A list of arrays.
    Arrays,
    /// A map from names to arrays.
    ArrayMap,
}

/// An argument of a call, borrowed from the caller: streams, strings, slices and lists may be freed right after
/// the call, so what is to be kept must be copied.
#[derive(Debug, Clone, Copy)]
pub enum Argument<'a> {
    /// See [`Kind::Array`]; absent where its `ctx` is null.
    Array(raw::mlx_array),
    /// See [`Kind::Arrays`].
    Arrays(raw::mlx_vector_array),
    /// See [`Kind::ArrayMap`].
    ArrayMap(raw::mlx_map_string_to_array),
    /// See [`Kind::Bool`].
    Bool(bool),
    /// See [`Kind::Int`].
    Int(c_int),
    /// See [`Kind::Uint64`].
    Uint64(u64),
    /// See [`Kind::Size`].
    Size(usize),
    /// See [`Kind::Float`].
    Float(f32),
    /// See [`Kind::Double`].
    Double(f64),
    /// See [`Kind::Dtype`].
    Dtype(raw::mlx_dtype),
    /// See [`Kind::FftNorm`].
    FftNorm(raw::mlx_fft_norm),
    /// See [`Kind::Text`].
    Text(Option<&'a CStr>),
    /// See [`Kind::Ints`].
    Ints(Option<&'a [c_int]>),
    /// See [`Kind::Int64s`].
    Int64s(Option<&'a [i64]>),
    /// See [`Kind::OptionalInt`].
    OptionalInt(Option<c_int>),
    /// See [`Kind::OptionalFloat`].
    OptionalFloat(Option<f32>),
    /// See [`Kind::OptionalDtype`].
    OptionalDtype(Option<raw::mlx_dtype>),
    /// See [`Kind::Stream`].
    Stream(raw::mlx_stream),
    /// See [`Kind::Opaque`].
    Opaque,
}

/// Where a call puts what it yields. Before the call the handles are the caller's, usually empty; after it they
/// hold the results, unless it failed.
#[derive(Debug, Clone, Copy)]
pub enum Output {
    /// One array.
    Array(*mut raw::mlx_array),
    /// A list of arrays.
    Arrays(*mut raw::mlx_vector_array),
    /// A map from names to arrays.
    ArrayMap(*mut raw::mlx_map_string_to_array),
}

/// A result of [`invoke`](fn@crate::invoke::invoke): an owned handle, which the receiver frees.
#[derive(Debug)]
pub enum Returned {
    /// One array.
    Array(raw::mlx_array),
    /// A list of arrays.
    Arrays(raw::mlx_vector_array),
}

/// A call as an observer sees it.
#[derive(Debug, Clone, Copy)]
pub struct CallView<'a> {
    /// The function.
    pub function: &'static Function,
    /// Its arguments, one for each of [`Function::parameters`].
    pub arguments: &'a [Argument<'a>],
}
