//! Activations, by the formulas of their papers, in `f64`.

use super::call::{broadcast, Call};
use super::elementwise::smooth;
use super::error::NoReference;
use super::promote::{fractional, promoted};
use super::reduce::{folded, logsumexp};
use super::tensor::Tensor;
use ndarray::{ArrayD, Axis, Slice, Zip};

type Result1 = Result<Vec<Tensor>, NoReference>;

pub(super) fn sigmoid(x: f64) -> f64 {
    (1.0 + libm::exp(-x)).recip()
}

/// The larger of two, and NaN if either is.
pub(super) fn above(x: f64, least: f64) -> f64 {
    if x.is_nan() {
        x
    } else {
        x.max(least)
    }
}

fn softplus(x: f64) -> f64 {
    above(x, 0.0) + libm::log1p(libm::exp(-x.abs()))
}

/// The function of one number.
pub(super) fn of(call: &Call<'_>, real: fn(f64) -> f64) -> Result1 {
    smooth(call, real, None)
}

/// The function of one number and a setting.
fn with(call: &Call<'_>, setting: &str, default: f64, real: fn(f64, f64) -> f64) -> Result1 {
    let x = call.array("x")?;
    let setting = call.float(setting).unwrap_or(default);
    let elements = x.to_floats()?.mapv(|x| real(x, setting));
    Ok(vec![Tensor::floats(fractional(x.dtype), elements)])
}

pub(super) fn celu(call: &Call<'_>) -> Result1 {
    with(call, "alpha", 1.0, |x, alpha| {
        above(x, 0.0) + alpha * libm::expm1(x.min(0.0) / alpha)
    })
}

pub(super) fn elu(call: &Call<'_>) -> Result1 {
    with(call, "alpha", 1.0, |x, alpha| {
        if x > 0.0 {
            x
        } else {
            alpha * libm::expm1(x)
        }
    })
}

pub(super) fn leaky_relu(call: &Call<'_>) -> Result1 {
    with(call, "neg_slope", 0.01, |x, slope| above(x, slope * x))
}

/// 1 above the threshold, else 0: integers, whatever goes in.
pub(super) fn step(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let threshold = call.float("threshold").unwrap_or(0.0);
    let elements = x.to_floats()?.mapv(|x| i64::from(x > threshold));
    Ok(vec![Tensor::ints(crate::vocabulary::DType::Int32, elements)])
}

pub(super) fn gelu(x: f64) -> f64 {
    0.5 * x * (1.0 + libm::erf(x / std::f64::consts::SQRT_2))
}

pub(super) fn gelu_tanh(x: f64) -> f64 {
    let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3));
    0.5 * x * (1.0 + libm::tanh(inner))
}

pub(super) fn gelu_fast(x: f64) -> f64 {
    x * sigmoid(1.702 * x)
}

pub(super) fn hard_swish(x: f64) -> f64 {
    x * (x + 3.0).clamp(0.0, 6.0) / 6.0
}

pub(super) fn log_sigmoid(x: f64) -> f64 {
    -softplus(-x)
}

pub(super) fn mish(x: f64) -> f64 {
    x * libm::tanh(softplus(x))
}

/// Klambauer and others, 2017, with the constants that they derive.
pub(super) fn selu(x: f64) -> f64 {
    let (alpha, scale) = (1.673_263_242_354_377_2, 1.050_700_987_355_480_5);
    scale * if x > 0.0 { x } else { alpha * libm::expm1(x) }
}

pub(super) fn silu(x: f64) -> f64 {
    x * sigmoid(x)
}

pub(super) fn plus(x: f64) -> f64 {
    softplus(x)
}

pub(super) fn prelu(call: &Call<'_>) -> Result1 {
    let (x, alpha) = (call.array("x")?, call.array("alpha")?);
    sloped(&x, &alpha)
}

/// Of a layer, whose slope is a parameter.
pub(super) fn prelu_layer(call: &Call<'_>) -> Result1 {
    sloped(&call.array("x")?, &call.parameter("weight")?)
}

fn sloped(x: &Tensor, alpha: &Tensor) -> Result1 {
    let (floats, slopes) = broadcast(&x.to_floats()?, &alpha.to_floats()?)?;
    let elements = Zip::from(&floats)
        .and(&slopes)
        .map_collect(|x, slope| x.max(0.0) + slope * x.min(0.0));
    Ok(vec![Tensor::floats(
        fractional(promoted(x.dtype, alpha.dtype)),
        elements,
    )])
}

/// One half times the other's sigmoid.
pub(super) fn glu(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let axis = call.axis(call.int("axis").unwrap_or(-1), x.shape().len())?;
    let floats = x.to_floats()?;
    let half = floats.shape()[axis] / 2;
    let part = |from: usize| floats.slice_axis(Axis(axis), Slice::from(from..from + half));
    let gate: ArrayD<f64> = part(half).mapv(sigmoid);
    Ok(vec![Tensor::floats(fractional(x.dtype), &part(0) * &gate)])
}

/// Less the logarithm of the sum of exponentials, along an axis.
pub(super) fn log_softmax(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let axis = call.axis(call.int("axis").unwrap_or(-1), x.shape().len())?;
    let floats = x.to_floats()?;
    let total = folded(&floats, &[axis], true, logsumexp);
    Ok(vec![Tensor::floats(fractional(x.dtype), &floats - &total)])
}

/// Of a layer, along the last axis where it names none.
pub(super) fn softmax_layer(call: &Call<'_>) -> Result1 {
    let logs = log_softmax(call)?;
    Ok(logs
        .into_iter()
        .map(|it| {
            let dtype = it.dtype;
            match it.to_floats() {
                Ok(floats) => Tensor::floats(dtype, floats.mapv(f64::exp)),
                Err(_) => it,
            }
        })
        .collect())
}
