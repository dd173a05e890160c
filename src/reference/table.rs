//! The functions that there is a reference for: one line each.

use super::call::Call;
use super::error::NoReference;
use super::policy::Class::{self, Accumulates, Exact, Moves, Smooth};
use super::tensor::Tensor;
use super::{elementwise as each, order, product, reduce, shape};
use num_complex::Complex64 as C;

/// A function's reference.
pub(super) struct Row {
    name: &'static str,
    /// What the function does to its elements.
    pub(super) class: Class,
    /// What it must yield.
    pub(super) compute: fn(&Call<'_>) -> Result<Vec<Tensor>, NoReference>,
}

macro_rules! rows {
    ($($class:ident $name:literal => $compute:expr;)*) => {
        /// Every function that there is a reference for, in the order of the list.
        static ROWS: &[Row] = &[$(Row { name: $name, class: $class, compute: $compute }),*];
    };
}

rows! {
    // Element-wise, of one array.
    Exact "abs" => each::abs;
    Smooth "acos" => |c| each::smooth(c, libm::acos, None);
    Smooth "acosh" => |c| each::smooth(c, libm::acosh, None);
    Smooth "asin" => |c| each::smooth(c, libm::asin, None);
    Smooth "asinh" => |c| each::smooth(c, libm::asinh, None);
    Smooth "atan" => |c| each::smooth(c, libm::atan, None);
    Smooth "atanh" => |c| each::smooth(c, libm::atanh, None);
    Exact "ceil" => |c| each::keeping(c, |x| x, f64::ceil, None);
    Smooth "cos" => |c| each::smooth(c, libm::cos, Some(C::cos));
    Smooth "cosh" => |c| each::smooth(c, libm::cosh, Some(C::cosh));
    Smooth "degrees" => |c| each::smooth(c, f64::to_degrees, None);
    Smooth "erf" => |c| each::smooth(c, libm::erf, None);
    Smooth "exp" => |c| each::smooth(c, libm::exp, Some(C::exp));
    Smooth "expm1" => |c| each::smooth(c, libm::expm1, None);
    Exact "floor" => |c| each::keeping(c, |x| x, f64::floor, None);
    Exact "is_inf" => |c| each::asked(c, f64::is_infinite);
    Exact "is_nan" => |c| each::asked(c, f64::is_nan);
    Smooth "log" => |c| each::smooth(c, libm::log, Some(C::ln));
    Smooth "log10" => |c| each::smooth(c, libm::log10, None);
    Smooth "log1p" => |c| each::smooth(c, libm::log1p, None);
    Smooth "log2" => |c| each::smooth(c, libm::log2, None);
    Exact "logical_not" => each::logical_not;
    Exact "negative" => |c| each::keeping(c, i64::wrapping_neg, |x| -x, Some(|x| -x));
    Smooth "radians" => |c| each::smooth(c, f64::to_radians, None);
    Exact "reciprocal" => |c| each::smooth(c, f64::recip, None);
    Exact "round" => each::round;
    Smooth "rsqrt" => |c| each::smooth(c, |x| x.sqrt().recip(), None);
    Smooth "sigmoid" => |c| each::smooth(c, |x| (1.0 + libm::exp(-x)).recip(), None);
    Exact "sign" => each::sign;
    Smooth "sin" => |c| each::smooth(c, libm::sin, Some(C::sin));
    Smooth "sinh" => |c| each::smooth(c, libm::sinh, Some(C::sinh));
    Exact "sqrt" => |c| each::smooth(c, f64::sqrt, None);
    Exact "square" => |c| each::keeping(c, |x| x.wrapping_mul(x), |x| x * x, None);
    Smooth "tan" => |c| each::smooth(c, libm::tan, Some(C::tan));
    Smooth "tanh" => |c| each::smooth(c, libm::tanh, Some(C::tanh));

    // Element-wise, of several.
    Exact "add" => |c| each::arithmetic(c, i64::wrapping_add, |a, b| a + b, Some(|a, b| a + b));
    Smooth "atan2" => |c| each::fractions(c, libm::atan2, None);
    Exact "clip" => each::clip;
    Exact "divide" => |c| each::fractions(c, |a, b| a / b, None);
    Exact "eq" => |c| each::compared(c, i64::eq, f64::eq);
    Exact "floor_divide" => each::floor_divide;
    Exact "ge" => |c| each::compared(c, i64::ge, f64::ge);
    Exact "gt" => |c| each::compared(c, i64::gt, f64::gt);
    Exact "le" => |c| each::compared(c, i64::le, f64::le);
    Smooth "logaddexp" => each::logaddexp;
    Exact "logical_and" => |c| each::logical(c, |a, b| a && b);
    Exact "logical_or" => |c| each::logical(c, |a, b| a || b);
    Exact "lt" => |c| each::compared(c, i64::lt, f64::lt);
    Exact "maximum" => |c| each::extreme(c, true);
    Exact "minimum" => |c| each::extreme(c, false);
    Exact "multiply" => |c| each::arithmetic(c, i64::wrapping_mul, |a, b| a * b, None);
    Exact "ne" => |c| each::compared(c, i64::ne, f64::ne);
    Smooth "power" => each::power;
    Exact "remainder" => each::remainder;
    Exact "subtract" => |c| each::arithmetic(c, i64::wrapping_sub, |a, b| a - b, Some(|a, b| a - b));
    Moves "select" => each::select;

    // Reductions.
    Exact "all" => |c| reduce::truth(c, |it| it.iter().all(|it| *it));
    Exact "any" => |c| reduce::truth(c, |it| it.iter().any(|it| *it));
    Accumulates "logsumexp" => |c| reduce::averaged(c, reduce::logsumexp);
    Exact "max" => |c| reduce::extreme(c, true);
    Accumulates "mean" => |c| reduce::averaged(c, reduce::mean);
    Exact "min" => |c| reduce::extreme(c, false);
    Accumulates "prod" => |c| reduce::accumulated(
        c,
        |it| it.iter().fold(1, |a, b| a.wrapping_mul(*b)),
        |it| it.iter().product(),
        |it| it.iter().product(),
    );
    Accumulates "std" => |c| {
        let ddof = c.int("ddof").unwrap_or(0);
        reduce::averaged(c, |it| reduce::variance(it, ddof).sqrt())
    };
    Accumulates "sum" => |c| reduce::accumulated(
        c,
        |it| it.iter().fold(0, |a, b| a.wrapping_add(*b)),
        |it| it.iter().sum(),
        |it| it.iter().sum(),
    );
    Accumulates "var" => |c| {
        let ddof = c.int("ddof").unwrap_or(0);
        reduce::averaged(c, |it| reduce::variance(it, ddof))
    };

    // Order, and what runs along an axis.
    Exact "argmax" => |c| order::arg_extreme(c, true);
    Exact "argmin" => |c| order::arg_extreme(c, false);
    Exact "argsort" => order::argsort;
    Exact "cummax" => |c| order::running(c, f64::NEG_INFINITY, i64::max, f64::max, true);
    Exact "cummin" => |c| order::running(c, f64::INFINITY, i64::min, f64::min, true);
    Accumulates "cumprod" => |c| order::running(c, 1.0, i64::wrapping_mul, |a, b| a * b, false);
    Accumulates "cumsum" => |c| order::running(c, 0.0, i64::wrapping_add, |a, b| a + b, false);
    Accumulates "softmax" => reduce::softmax;
    Moves "sort" => order::sort;

    // Products.
    Accumulates "addmm" => product::addmm;
    Accumulates "inner" => product::inner;
    Accumulates "matmul" => product::matmul;
    Exact "outer" => product::outer;

    // Shape, places, and arrays made from none.
    Moves "arange" => shape::arange;
    Moves "as_dtype" => shape::as_dtype;
    Moves "broadcast_to" => shape::broadcast_to;
    Moves "concatenate" => shape::concatenated;
    Moves "expand_dims" => shape::expand_dims;
    Moves "eye" => shape::eye;
    Moves "flatten" => shape::flatten;
    Moves "full" => shape::full;
    Moves "getitem" => shape::getitem;
    Moves "move_axis" => shape::move_axis;
    Moves "ones" => |c| shape::filled(c, 1.0);
    Moves "reshape" => shape::reshape;
    Moves "split_equal" => shape::split;
    Moves "squeeze" => shape::squeeze;
    Moves "stack" => shape::stacked;
    Moves "swap_axes" => shape::swap_axes;
    Moves "take" => shape::take;
    Moves "take_along_axis" => shape::take_along_axis;
    Moves "tile" => shape::tile;
    Moves "transpose" => shape::transpose;
    Moves "tril" => |c| shape::triangle(c, true);
    Moves "triu" => |c| shape::triangle(c, false);
    Moves "zeros" => |c| shape::filled(c, 0.0);
}

/// The reference for a function.
pub(super) fn row(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.name == name)
}

/// The names of all functions that there is a reference for.
pub fn names() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.name)
}
