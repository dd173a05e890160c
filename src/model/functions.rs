//! The functions that a case may call: one line each.
//!
//! `name(required; optional) => call`. Required parameters are bound to their Rust type, optional ones to an
//! `Option` of it; the right side is the call as mlx-rs wants it, which yields one array, several, or a list.

use mlx_rs::error::Exception;
use mlx_rs::{linalg, ops, Array};

use super::arguments::{kinds, Bound, Take};
use super::error::ModelError;
use crate::case::names::{Parameter, Signature};

/// A function of the table.
pub struct Function {
    /// Its name and parameters.
    pub signature: Signature,
    /// Calls it.
    pub call: fn(&Bound<'_>) -> Result<Vec<Array>, ModelError>,
}

/// What a call yields, as a list.
trait Yield {
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

macro_rules! functions {
    ($($name:ident $(. $rest:ident)* (
        $($required:ident : $kind:ident),* $(; $($optional:ident : $option:ident),*)?
    ) => $call:expr;)*) => {
        /// Every function, in the order of the list.
        pub static FUNCTIONS: &[Function] = &[$(Function {
            signature: Signature::new(
                concat!(stringify!($name), $(".", stringify!($rest),)*),
                &[
                    $(Parameter::required(stringify!($required), <kinds::$kind as Take>::TAKES),)*
                    $($(Parameter::optional(stringify!($optional), <kinds::$option as Take>::TAKES),)*)?
                ],
            ),
            call: |bound| {
                $(let $required = bound.required::<kinds::$kind>(stringify!($required))?;)*
                $($(let $optional = bound.optional::<kinds::$option>(stringify!($optional))?;)*)?
                let yielded: Result<_, Exception> = $call;
                yielded
                    .map(Yield::arrays)
                    .map_err(|error| ModelError::mlx(
                        concat!(stringify!($name), $(".", stringify!($rest),)*),
                        &error,
                    ))
            },
        }),*];

        /// Their signatures, in the same order.
        pub static SIGNATURES: &[Signature] = &[$(
            Signature::new(
                concat!(stringify!($name), $(".", stringify!($rest),)*),
                &[
                    $(Parameter::required(stringify!($required), <kinds::$kind as Take>::TAKES),)*
                    $($(Parameter::optional(stringify!($optional), <kinds::$option as Take>::TAKES),)*)?
                ],
            )
        ),*];
    };
}

functions! {
    // Element-wise.
    abs(x: Array) => ops::abs(&x);
    add(a: Array, b: Array) => ops::add(&a, &b);
    exp(x: Array) => ops::exp(&x);
    multiply(a: Array, b: Array) => ops::multiply(&a, &b);
    negative(x: Array) => ops::negative(&x);
    power(a: Array, b: Array) => ops::power(&a, &b);

    // Reductions.
    sum(x: Array; axes: Ints, keep_dims: Bool) => match axes {
        Some(axes) => ops::sum_axes(&x, &axes, keep_dims),
        None => ops::sum(&x, keep_dims),
    };

    // Linear algebra.
    matmul(a: Array, b: Array) => ops::matmul(&a, &b);
    linalg.norm(x: Array) => linalg::norm_l2(&x, linalg::NormOptions::default());
}

/// The function called `name`.
pub fn function(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.signature.name == name)
}
