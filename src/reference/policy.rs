//! By how much a value may differ from its reference, by what the function does and the type it yields.
//!
//! The six policies are all there are. A tolerance follows from the type's precision and is never fitted to what
//! MLX returns: where MLX lies further off, the case says so with an `expected_fail`.

use crate::case::schema::Tolerance;
use crate::vocabulary::{DType, Kind};

/// What a function does to its elements, as far as rounding goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Moves, selects or writes elements: not one bit may change.
    Moves,
    /// Has a result that its type can be asked to round correctly: `add`, `sqrt`, comparisons.
    Exact,
    /// Computes each element by an approximation: `exp`, `sin`.
    Smooth,
    /// Adds or multiplies many elements up: `sum`, `matmul`, `softmax`.
    Accumulates,
    /// Eliminates, factors or iterates: `inv`, `svd`.
    Solves,
}

/// How elements are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The same bits; NaN equals NaN.
    ExactBits,
    /// The same number; zeros of both signs are equal.
    ExactNumeric,
    /// Within a few units in the last place, each element by itself.
    ElementWise,
    /// Within what a sum of a few thousand terms may lose.
    Reduction,
    /// Within what an elimination of a well-conditioned matrix may lose.
    LinearAlgebra,
    /// Within what half precision can say.
    LowPrecision,
}

impl Policy {
    /// The policy for a function's result.
    pub fn of(class: Class, dtype: DType) -> Self {
        let half = matches!(dtype, DType::Float16 | DType::Bfloat16);
        match (class, dtype.kind()) {
            (Class::Moves, _) => Policy::ExactBits,
            // No formula for complex numbers is rounded once.
            (Class::Exact, Kind::Complex) => Policy::ElementWise,
            (Class::Exact, _) | (_, Kind::Bool | Kind::Int) => Policy::ExactNumeric,
            _ if half => Policy::LowPrecision,
            (Class::Smooth, _) => Policy::ElementWise,
            (Class::Accumulates, _) => Policy::Reduction,
            (Class::Solves, _) => Policy::LinearAlgebra,
        }
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Policy::ExactBits => "exact bits",
            Policy::ExactNumeric => "exact numeric",
            Policy::ElementWise => "element-wise",
            Policy::Reduction => "reduction",
            Policy::LinearAlgebra => "linear algebra",
            Policy::LowPrecision => "low precision",
        }
    }

    /// How far an element may lie from the expected one.
    pub fn tolerance(self, dtype: DType) -> Tolerance {
        let double = dtype == DType::Float64;
        let (absolute, relative) = match self {
            Policy::ExactBits | Policy::ExactNumeric => (0.0, 0.0),
            Policy::ElementWise if double => (1e-15, 1e-13),
            // The share that does not depend on the element is one unit in the last place of 1: sin near pi.
            Policy::ElementWise => (1e-7, 1e-5),
            Policy::Reduction if double => (1e-12, 1e-12),
            Policy::Reduction => (2e-5, 2e-5),
            Policy::LinearAlgebra if double => (1e-11, 1e-11),
            Policy::LinearAlgebra => (1e-4, 1e-4),
            // Two roundings of a number near 1, which is what a difference of such numbers may be off by.
            Policy::LowPrecision if dtype == DType::Float16 => (1e-3, 8e-3),
            Policy::LowPrecision => (8e-3, 8e-3),
        };
        Tolerance { absolute, relative }
    }
}
