//! What a table of functions is made of, and all tables together.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use mlx_rs::{Array, Axes};

use super::super::arguments::Bound;
use super::super::error::ModelError;
use crate::case::names::Signature;
use crate::case::value::Value;

/// A function of a table.
pub struct Function {
    /// Its name and parameters.
    pub signature: Signature,
    /// Calls it.
    pub call: fn(&Bound<'_>) -> Result<Vec<Array>, ModelError>,
    /// The call as it is written, from which the coverage of mlx-rs reads which items it uses.
    pub text: &'static str,
}

/// Every family with its functions, in the order of the lists.
pub static FAMILIES: &[(&str, &[Function])] = &[
    ("elementwise", super::elementwise::FUNCTIONS),
    ("reduce", super::reduce::FUNCTIONS),
    ("order", super::order::FUNCTIONS),
    ("product", super::product::FUNCTIONS),
    ("shape", super::shape::FUNCTIONS),
    ("indexing", super::indexing::FUNCTIONS),
    ("factory", super::factory::FUNCTIONS),
    ("conv", super::conv::FUNCTIONS),
    ("fft", super::fft::FUNCTIONS),
    ("linalg", super::linalg::FUNCTIONS),
    ("fast", super::fast::FUNCTIONS),
    ("quantize", super::quantize::FUNCTIONS),
    ("random", super::random::FUNCTIONS),
    ("nn", super::nn::FUNCTIONS),
    ("losses", super::losses::FUNCTIONS),
    ("optimizers", super::optimizers::FUNCTIONS),
    ("operators", super::operators::FUNCTIONS),
    ("array", super::array::FUNCTIONS),
];

static BY_NAME: LazyLock<HashMap<&'static str, (&'static str, &'static Function)>> = LazyLock::new(|| {
    let rows = FAMILIES
        .iter()
        .flat_map(|(family, functions)| functions.iter().map(|function| (*family, function)));
    rows.map(|row| (row.1.signature.name, row)).collect()
});

static SIGNATURES: LazyLock<Vec<Signature>> = LazyLock::new(|| {
    let functions = FAMILIES.iter().flat_map(|(_, functions)| functions.iter());
    functions.map(|function| function.signature).collect()
});

/// The function called `name`.
pub fn function(name: &str) -> Option<&'static Function> {
    #[cfg(test)]
    if let Some(wrong) = super::wrong::line(name) {
        return Some(wrong);
    }
    BY_NAME.get(name).map(|(_, function)| *function)
}

/// Calls the function called `name` with arguments by parameter, of which text that stands for an array names one of
/// `values`; `None` where there is no such function.
///
/// # Errors
///
/// An argument that is missing or of another kind, or what mlx-rs says of the call.
pub fn call(
    name: &str,
    arguments: &BTreeMap<&'static str, Value>,
    values: &HashMap<String, Array>,
) -> Option<Result<Vec<Array>, ModelError>> {
    let function = function(name)?;
    Some((function.call)(&Bound::new(name, arguments, values)))
}

/// The family of the function called `name`.
pub fn family(name: &str) -> Option<&'static str> {
    BY_NAME.get(name).map(|(family, _)| *family)
}

/// The signatures of all functions, in the order of the lists.
pub fn signatures() -> &'static [Signature] {
    &SIGNATURES
}

/// What a call yields, as a list.
pub(super) trait Yield {
    fn arrays(self) -> Vec<Array>;
}

impl Yield for Array {
    fn arrays(self) -> Vec<Array> {
        vec![self]
    }
}

impl Yield for Vec<Array> {
    fn arrays(self) -> Vec<Array> {
        self
    }
}

impl Yield for (Array, Array) {
    fn arrays(self) -> Vec<Array> {
        vec![self.0, self.1]
    }
}

impl Yield for (Array, Array, Array) {
    fn arrays(self) -> Vec<Array> {
        vec![self.0, self.1, self.2]
    }
}

/// An answer that mlx-rs has already read from an array.
impl Yield for bool {
    fn arrays(self) -> Vec<Array> {
        vec![Array::from_bool(self)]
    }
}

/// A family's table: see the [module](super).
macro_rules! functions {
    ($($name:ident $(. $rest:ident)* (
        $($required:ident : $kind:ident),* $(; $($optional:ident : $option:ident),*)?
    ) => $call:expr;)*) => {
        /// The family's functions, in the order of the list.
        pub(super) static FUNCTIONS: &[$crate::model::functions::Function] = &[$($crate::model::functions::Function {
            signature: $crate::case::names::Signature::new(
                concat!(stringify!($name), $(".", stringify!($rest),)*),
                &[
                    $($crate::case::names::Parameter::required(
                        stringify!($required),
                        <$crate::model::arguments::kinds::$kind as $crate::model::arguments::Take>::TAKES,
                    ),)*
                    $($($crate::case::names::Parameter::optional(
                        stringify!($optional),
                        <$crate::model::arguments::kinds::$option as $crate::model::arguments::Take>::TAKES,
                    ),)*)?
                ],
            ),
            call: |bound| {
                let _ = bound;
                $(let $required = bound.required::<$crate::model::arguments::kinds::$kind>(stringify!($required))?;)*
                $($(let $optional = bound.optional::<$crate::model::arguments::kinds::$option>(stringify!($optional))?;)*)?
                let run = || -> Result<_, mlx_rs::error::Exception> { $call };
                run().map($crate::model::functions::table::Yield::arrays).map_err(|error| {
                    $crate::model::ModelError::mlx(concat!(stringify!($name), $(".", stringify!($rest),)*), &error)
                })
            },
            text: stringify!($call),
        }),*];
    };
}
pub(super) use functions;

/// Of three forms the one over several axes, over one, or over all, by what a case names.
macro_rules! over {
    ($axes:expr, $axis:expr, $several:path, $one:path, $all:path, ($($argument:expr),*), ($($rest:expr),*)) => {
        match ($axes, $axis) {
            (Some(axes), _) => $several($($argument,)* &axes, $($rest),*),
            (None, Some(axis)) => $one($($argument,)* axis, $($rest),*),
            (None, None) => $all($($argument,)* $($rest),*),
        }
    };
}
pub(super) use over;

/// The form with an axis, or with axes, where a case names some, else the one over all.
macro_rules! along {
    ($axis:expr, $some:path, $all:path, ($($argument:expr),*), ($($rest:expr),*)) => {
        match $axis {
            Some(axis) => $some($($argument,)* axis, $($rest),*),
            None => $all($($argument,)* $($rest),*),
        }
    };
}
pub(super) use along;

/// A function of mlx-rs that takes the element type as a Rust type.
macro_rules! typed {
    ($dtype:expr, $t:ident => $call:expr) => {
        $crate::model::functions::table::typed!(@each $dtype, $t => $call;
            Bool bool, Uint8 u8, Uint16 u16, Uint32 u32, Uint64 u64, Int8 i8, Int16 i16, Int32 i32, Int64 i64,
            Float32 f32, Float64 f64; Float16 half::f16, Bfloat16 half::bf16, Complex64 mlx_rs::complex64)
    };
    (@each $dtype:expr, $t:ident => $call:expr; $($name:ident $plain:ident),*; $($other:ident $path:path),*) => {
        match $dtype {
            $(mlx_rs::Dtype::$name => {
                type $t = $plain;
                $call
            })*
            $(mlx_rs::Dtype::$other => {
                type $t = $path;
                $call
            })*
        }
    };
}
pub(super) use typed;

/// An error of mlx-rs's that is no exception, as one.
pub(super) fn exception(error: impl std::fmt::Display) -> mlx_rs::error::Exception {
    mlx_rs::error::Exception::custom(error.to_string())
}

/// The axes that a case names: several, one, or all.
pub(super) fn chosen(axes: Option<Vec<i32>>, axis: Option<i32>) -> Axes {
    match (axes, axis) {
        (Some(axes), _) => Axes::Axes(axes),
        (None, Some(axis)) => Axes::Axis(axis),
        (None, None) => Axes::All,
    }
}
