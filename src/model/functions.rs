//! The functions that a case may call: one line each.
//!
//! `name(required; optional) => call`. Required parameters are bound to their Rust type, optional ones to an
//! `Option` of it; the right side is the call as mlx-rs wants it, which yields one array, several, or a list.

use mlx_rs::error::Exception;
use mlx_rs::ops::indexing::{self, TryIndexOp};
use mlx_rs::{fast, linalg, nn, ops, random, Array, Axes, Dtype};

use super::arguments::{kinds, Bound, Take};
use super::error::ModelError;
use super::index::operation;
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

/// The form with axes where a case names some, else the one over all.
macro_rules! over {
    ($axes:expr, $some:path, $all:path, ($($argument:expr),*), ($($rest:expr),*)) => {
        match $axes {
            Some(axes) => $some($($argument,)* &axes, $($rest),*),
            None => $all($($argument,)* $($rest),*),
        }
    };
}

/// The form with an axis where a case names one, else the one over all.
macro_rules! along {
    ($axis:expr, $some:path, $all:path, ($($argument:expr),*), ($($rest:expr),*)) => {
        match $axis {
            Some(axis) => $some($($argument,)* axis, $($rest),*),
            None => $all($($argument,)* $($rest),*),
        }
    };
}

/// A function of mlx-rs that takes the element type as a Rust type.
macro_rules! typed {
    ($dtype:expr, $t:ident => $call:expr) => {
        match $dtype {
            Dtype::Bool => {
                type $t = bool;
                $call
            }
            Dtype::Uint8 => {
                type $t = u8;
                $call
            }
            Dtype::Uint16 => {
                type $t = u16;
                $call
            }
            Dtype::Uint32 => {
                type $t = u32;
                $call
            }
            Dtype::Uint64 => {
                type $t = u64;
                $call
            }
            Dtype::Int8 => {
                type $t = i8;
                $call
            }
            Dtype::Int16 => {
                type $t = i16;
                $call
            }
            Dtype::Int32 => {
                type $t = i32;
                $call
            }
            Dtype::Int64 => {
                type $t = i64;
                $call
            }
            Dtype::Float16 => {
                type $t = half::f16;
                $call
            }
            Dtype::Bfloat16 => {
                type $t = half::bf16;
                $call
            }
            Dtype::Float32 => {
                type $t = f32;
                $call
            }
            Dtype::Float64 => {
                type $t = f64;
                $call
            }
            Dtype::Complex64 => {
                type $t = mlx_rs::complex64;
                $call
            }
        }
    };
}

functions! {
    // Element-wise, of one array.
    abs(x: Array) => ops::abs(&x);
    acos(x: Array) => ops::acos(&x);
    acosh(x: Array) => ops::acosh(&x);
    asin(x: Array) => ops::asin(&x);
    asinh(x: Array) => ops::asinh(&x);
    atan(x: Array) => ops::atan(&x);
    atanh(x: Array) => ops::atanh(&x);
    ceil(x: Array) => ops::ceil(&x);
    cos(x: Array) => ops::cos(&x);
    cosh(x: Array) => ops::cosh(&x);
    degrees(x: Array) => ops::degrees(&x);
    erf(x: Array) => ops::erf(&x);
    erfinv(x: Array) => ops::erfinv(&x);
    exp(x: Array) => ops::exp(&x);
    expm1(x: Array) => ops::expm1(&x);
    floor(x: Array) => ops::floor(&x);
    is_inf(x: Array) => ops::is_inf(&x);
    is_nan(x: Array) => ops::is_nan(&x);
    log(x: Array) => ops::log(&x);
    log10(x: Array) => ops::log10(&x);
    log1p(x: Array) => ops::log1p(&x);
    log2(x: Array) => ops::log2(&x);
    logical_not(x: Array) => ops::logical_not(&x);
    negative(x: Array) => ops::negative(&x);
    radians(x: Array) => ops::radians(&x);
    reciprocal(x: Array) => ops::reciprocal(&x);
    round(x: Array; decimals: Int) => ops::round(&x, decimals);
    rsqrt(x: Array) => ops::rsqrt(&x);
    sigmoid(x: Array) => ops::sigmoid(&x);
    sign(x: Array) => ops::sign(&x);
    sin(x: Array) => ops::sin(&x);
    sinh(x: Array) => ops::sinh(&x);
    sqrt(x: Array) => ops::sqrt(&x);
    square(x: Array) => ops::square(&x);
    tan(x: Array) => ops::tan(&x);
    tanh(x: Array) => ops::tanh(&x);

    // Element-wise, of several arrays, which broadcast.
    add(a: Array, b: Array) => ops::add(&a, &b);
    atan2(a: Array, b: Array) => ops::atan2(&a, &b);
    clip(x: Array; min: Array, max: Array) => match (min, max) {
        (Some(min), Some(max)) => ops::clip(&x, (&min, &max)),
        (Some(min), None) => ops::clip(&x, (&min, ())),
        (None, Some(max)) => ops::clip(&x, ((), &max)),
        (None, None) => Err(Exception::custom("clip takes a min, a max, or both")),
    };
    divide(a: Array, b: Array) => ops::divide(&a, &b);
    divmod(a: Array, b: Array) => ops::divmod(&a, &b);
    eq(a: Array, b: Array) => ops::eq(&a, &b);
    floor_divide(a: Array, b: Array) => ops::floor_divide(&a, &b);
    ge(a: Array, b: Array) => ops::ge(&a, &b);
    gt(a: Array, b: Array) => ops::gt(&a, &b);
    le(a: Array, b: Array) => ops::le(&a, &b);
    logaddexp(a: Array, b: Array) => ops::logaddexp(&a, &b);
    logical_and(a: Array, b: Array) => ops::logical_and(&a, &b);
    logical_or(a: Array, b: Array) => ops::logical_or(&a, &b);
    lt(a: Array, b: Array) => ops::lt(&a, &b);
    maximum(a: Array, b: Array) => ops::maximum(&a, &b);
    minimum(a: Array, b: Array) => ops::minimum(&a, &b);
    multiply(a: Array, b: Array) => ops::multiply(&a, &b);
    ne(a: Array, b: Array) => ops::ne(&a, &b);
    power(a: Array, b: Array) => ops::power(&a, &b);
    remainder(a: Array, b: Array) => ops::remainder(&a, &b);
    subtract(a: Array, b: Array) => ops::subtract(&a, &b);
    select(condition: Array, a: Array, b: Array) => ops::select(&condition, &a, &b);

    // Reductions.
    all(x: Array; axes: Ints, keep_dims: Bool) => over!(axes, ops::all_axes, ops::all, (&x), (keep_dims));
    any(x: Array; axes: Ints, keep_dims: Bool) => over!(axes, ops::any_axes, ops::any, (&x), (keep_dims));
    logsumexp(x: Array; axes: Ints, keep_dims: Bool) => over!(axes, ops::logsumexp_axes, ops::logsumexp, (&x), (keep_dims));
    max(x: Array; axes: Ints, keep_dims: Bool) => over!(axes, ops::max_axes, ops::max, (&x), (keep_dims));
    mean(x: Array; axes: Ints, keep_dims: Bool) => over!(axes, ops::mean_axes, ops::mean, (&x), (keep_dims));
    min(x: Array; axes: Ints, keep_dims: Bool) => over!(axes, ops::min_axes, ops::min, (&x), (keep_dims));
    prod(x: Array; axes: Ints, keep_dims: Bool) => over!(axes, ops::prod_axes, ops::prod, (&x), (keep_dims));
    std(x: Array; axes: Ints, keep_dims: Bool, ddof: Int) => over!(axes, ops::std_axes, ops::std, (&x), (keep_dims, ddof));
    sum(x: Array; axes: Ints, keep_dims: Bool) => over!(axes, ops::sum_axes, ops::sum, (&x), (keep_dims));
    var(x: Array; axes: Ints, keep_dims: Bool, ddof: Int) => over!(axes, ops::var_axes, ops::var, (&x), (keep_dims, ddof));

    // Order, and what runs along an axis.
    argmax(x: Array; axis: Int, keep_dims: Bool) => along!(axis, indexing::argmax_axis, indexing::argmax, (&x), (keep_dims));
    argmin(x: Array; axis: Int, keep_dims: Bool) => along!(axis, indexing::argmin_axis, indexing::argmin, (&x), (keep_dims));
    argsort(x: Array; axis: Int) => along!(axis, ops::argsort_axis, ops::argsort, (&x), ());
    cummax(x: Array; axis: Int, reverse: Bool, inclusive: Bool) => ops::cummax(&x, axis, reverse, inclusive);
    cummin(x: Array; axis: Int, reverse: Bool, inclusive: Bool) => ops::cummin(&x, axis, reverse, inclusive);
    cumprod(x: Array; axis: Int, reverse: Bool, inclusive: Bool) => ops::cumprod(&x, axis, reverse, inclusive);
    cumsum(x: Array; axis: Int, reverse: Bool, inclusive: Bool) => ops::cumsum(&x, axis, reverse, inclusive);
    softmax(x: Array; axes: Ints, precise: Bool) => over!(axes, ops::softmax_axes, ops::softmax, (&x), (precise));
    sort(x: Array; axis: Int) => along!(axis, ops::sort_axis, ops::sort, (&x), ());
    topk(x: Array, k: Int; axis: Int) => match axis {
        Some(axis) => indexing::topk_axis(&x, k, axis),
        None => indexing::topk(&x, k),
    };

    // Products.
    addmm(c: Array, a: Array, b: Array; alpha: Float, beta: Float) => ops::addmm(&c, &a, &b, alpha, beta);
    inner(a: Array, b: Array) => ops::inner(&a, &b);
    matmul(a: Array, b: Array) => ops::matmul(&a, &b);
    outer(a: Array, b: Array) => ops::outer(&a, &b);

    // Shape.
    as_dtype(x: Array, dtype: DType) => x.as_dtype(dtype);
    broadcast_to(x: Array, shape: Ints) => ops::broadcast_to(&x, &shape);
    concatenate(arrays: Arrays; axis: Int) => ops::concatenate(&arrays, axis.unwrap_or(0));
    expand_dims(x: Array, axes: Ints) => ops::expand_dims_axes(&x, &axes);
    flatten(x: Array; start_axis: Int, end_axis: Int) => ops::flatten(&x, start_axis, end_axis);
    move_axis(x: Array, src: Int, dst: Int) => ops::move_axis(&x, src, dst);
    reshape(x: Array, shape: Ints) => ops::reshape(&x, &shape);
    split_equal(x: Array, num_parts: Int; axis: Int) => ops::split_equal(&x, num_parts, axis);
    squeeze(x: Array; axes: Ints) => over!(axes, ops::squeeze_axes, ops::squeeze, (&x), ());
    stack(arrays: Arrays; axis: Int) => ops::stack(&arrays, axis.unwrap_or(0));
    swap_axes(x: Array, axis1: Int, axis2: Int) => ops::swap_axes(&x, axis1, axis2);
    tile(x: Array, reps: Ints) => ops::tile(&x, &reps);
    transpose(x: Array; axes: Ints) => over!(axes, ops::transpose_axes, ops::transpose, (&x), ());
    tril(x: Array; k: Int) => ops::tril(&x, k);
    triu(x: Array; k: Int) => ops::triu(&x, k);

    // Elements by place.
    getitem(x: Array, index: Index) => x.try_index(&index.iter().map(operation).collect::<Vec<_>>()[..]);
    take(x: Array, indices: Array; axis: Int) => match axis {
        Some(axis) => indexing::take_axis(&x, &indices, axis),
        None => indexing::take(&x, &indices),
    };
    take_along_axis(x: Array, indices: Array; axis: Int) => indexing::take_along_axis(&x, &indices, axis);

    // Made from no array.
    arange(stop: Float; start: Float, step: Float, dtype: DType) => typed!(dtype.unwrap_or(Dtype::Float32), T => {
        ops::arange::<_, T>(start.map(f64::from), f64::from(stop), step.map(f64::from))
    });
    eye(n: Int; m: Int, k: Int, dtype: DType) => typed!(dtype.unwrap_or(Dtype::Float32), T => ops::eye::<T>(n, m, k));
    full(shape: Ints, values: Array; dtype: DType) => typed!(dtype.unwrap_or(Dtype::Float32), T => ops::full::<T>(&shape, &values));
    ones(shape: Ints; dtype: DType) => ops::ones_dtype(&shape, dtype.unwrap_or(Dtype::Float32));
    zeros(shape: Ints; dtype: DType) => ops::zeros_dtype(&shape, dtype.unwrap_or(Dtype::Float32));

    // Random, from a key: without one, mlx-rs draws from the thread's state.
    random.bernoulli(; p: Array, shape: Ints, key: Array) => random::bernoulli(p.as_ref(), shape.as_deref(), key.as_ref());
    random.normal(; shape: Ints, loc: Float, scale: Float, key: Array) => random::normal::<f32>(shape.as_deref(), loc, scale, key.as_ref());
    random.uniform(low: Array, high: Array; shape: Ints, key: Array) => random::uniform::<_, f32>(low, high, shape.as_deref(), key.as_ref());

    // Of mlx-rs's modules.
    fast.layer_norm(x: Array; weight: Array, bias: Array, eps: Float) => fast::layer_norm(&x, weight.as_ref(), bias.as_ref(), eps.unwrap_or(1e-5));
    fast.rms_norm(x: Array, weight: Array; eps: Float) => fast::rms_norm(&x, Some(&weight), eps.unwrap_or(1e-5));
    fast.rope(x: Array, dimensions: Int; traditional: Bool, base: Float, scale: Float, offset: Int) => fast::rope(
        &x, dimensions, traditional.unwrap_or(false), base.or(Some(10_000.0)), scale.unwrap_or(1.0), offset.unwrap_or(0), None,
    );
    fast.scaled_dot_product_attention(queries: Array, keys: Array, values: Array; scale: Float) => fast::scaled_dot_product_attention(
        &queries, &keys, &values, scale.unwrap_or(1.0), None, None,
    );
    fft.fft(x: Array; n: Int, axis: Int) => mlx_rs::fft::fft(&x, n, axis);
    fft.ifft(x: Array; n: Int, axis: Int) => mlx_rs::fft::ifft(&x, n, axis);
    fft.irfft(x: Array; n: Int, axis: Int) => mlx_rs::fft::irfft(&x, n, axis);
    fft.rfft(x: Array; n: Int, axis: Int) => mlx_rs::fft::rfft(&x, n, axis);
    linalg.cholesky(x: Array; upper: Bool) => linalg::cholesky(&x, upper);
    linalg.inv(x: Array) => linalg::inv(&x);
    linalg.norm(x: Array; ord: Float, axes: Ints, keep_dims: Bool) => linalg::norm(&x, ord.map_or(2.0, f64::from), norm_options(axes, keep_dims));
    linalg.norm_l2(x: Array; axes: Ints, keep_dims: Bool) => linalg::norm_l2(&x, norm_options(axes, keep_dims));
    linalg.qr(x: Array) => linalg::qr(&x);
    nn.elu(x: Array; alpha: Float) => nn::elu(&x, alpha);
    nn.gelu(x: Array) => nn::gelu(&x);
    nn.silu(x: Array) => nn::silu(&x);
    nn.softplus(x: Array) => nn::softplus(&x);
}

fn norm_options(axes: Option<Vec<i32>>, keep_dims: Option<bool>) -> linalg::NormOptions {
    linalg::NormOptions {
        axes: axes.map_or(Axes::All, Axes::Axes),
        keep_dims: keep_dims.unwrap_or(false),
    }
}

/// The function called `name`.
pub fn function(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.signature.name == name)
}
