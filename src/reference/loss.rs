//! Losses, by their definitions, in `f64`.

use super::activation::sigmoid;
use super::call::{broadcast, Call};
use super::error::NoReference;
use super::promote::{fractional, promoted};
use super::reduce::{folded, logsumexp, mean};
use super::tensor::{Floats, Tensor};
use crate::vocabulary::DType;
use ndarray::{ArrayD, Axis, Zip};

type Result1 = Result<Vec<Tensor>, NoReference>;

/// The loss of each element, or of each row, reduced as the case asks: by `default`, if it does not.
fn reduced(call: &Call<'_>, dtype: DType, losses: Floats, default: &str) -> Result1 {
    let losses = match call.text("reduction").unwrap_or(default) {
        "none" => losses,
        "sum" => ndarray::arr0(losses.sum()).into_dyn(),
        "mean" => ndarray::arr0(mean(&losses.iter().copied().collect::<Vec<_>>())).into_dyn(),
        _ => return Err(call.not_covered("this reduction")),
    };
    Ok(vec![Tensor::floats(dtype, losses)])
}

/// Two arrays, stretched to each other, and the type of what is computed from them.
fn pair(call: &Call<'_>, a: &str, b: &str) -> Result<(Floats, Floats, DType), NoReference> {
    let (a, b) = (call.array(a)?, call.array(b)?);
    let dtype = fractional(promoted(a.dtype, b.dtype));
    let (a, b) = broadcast(&a.to_floats()?, &b.to_floats()?)?;
    Ok((a, b, dtype))
}

/// A loss that compares element with element.
pub(super) fn each(
    call: &Call<'_>,
    a: &str,
    b: &str,
    default: &str,
    loss: impl Fn(f64, f64) -> f64,
) -> Result1 {
    let (a, b, dtype) = pair(call, a, b)?;
    let losses = Zip::from(&a).and(&b).map_collect(|a, b| loss(*a, *b));
    reduced(call, dtype, losses, default)
}

pub(super) fn huber(call: &Call<'_>) -> Result1 {
    let delta = call.float("delta").unwrap_or(1.0);
    each(call, "inputs", "targets", "none", |a, b| {
        let error = (a - b).abs();
        match error <= delta {
            true => 0.5 * error * error,
            false => delta * (error - 0.5 * delta),
        }
    })
}

pub(super) fn smooth_l1(call: &Call<'_>) -> Result1 {
    let beta = call.float("beta").unwrap_or(1.0);
    each(call, "predictions", "targets", "mean", |a, b| {
        let error = (a - b).abs();
        match error < beta {
            true => 0.5 * error * error / beta,
            false => error - 0.5 * beta,
        }
    })
}

/// Times the weights, where there are some.
fn weighted(call: &Call<'_>, losses: Floats) -> Result<Floats, NoReference> {
    match call.maybe_floats("weights")? {
        Some(weights) => {
            let (losses, weights) = broadcast(&losses, &weights)?;
            Ok(losses * weights)
        }
        None => Ok(losses),
    }
}

pub(super) fn binary_cross_entropy(call: &Call<'_>) -> Result1 {
    let (logits, targets, dtype) = pair(call, "logits", "targets")?;
    let are_logits = call.flag("inputs_are_logits").unwrap_or(true);
    let losses = Zip::from(&logits).and(&targets).map_collect(|x, target| {
        let (yes, no) = match are_logits {
            true => (sigmoid(*x), sigmoid(-*x)),
            false => (*x, 1.0 - *x),
        };
        // A logarithm is never taken to be below -100, as the losses this one is known from have it.
        let log = |p: f64| libm::log(p).max(-100.0);
        match are_logits {
            true => -(target * libm::log(yes) + (1.0 - target) * libm::log(no)),
            false => -(target * log(yes) + (1.0 - target) * log(no)),
        }
    });
    reduced(call, dtype, weighted(call, losses)?, "none")
}

/// The element of each row that its target names.
fn picked(call: &Call<'_>, rows: &Floats, targets: &ArrayD<i64>, axis: usize) -> Result<Floats, NoReference> {
    let mut places = targets.clone().insert_axis(Axis(targets.ndim()));
    if places.ndim() != rows.ndim() || axis + 1 != rows.ndim() {
        return Err(call.not_covered("classes along any but the last axis"));
    }
    places.swap_axes(axis, rows.ndim() - 1);
    let mut found = Vec::new();
    for (place, class) in targets.indexed_iter() {
        let mut at: Vec<usize> = (0..targets.ndim()).map(|axis| place[axis]).collect();
        at.push(call.axis(*class, rows.shape()[axis])?);
        found.push(*rows.get(&at[..]).ok_or(NoReference::Program)?);
    }
    ArrayD::from_shape_vec(targets.raw_dim(), found).map_err(|_| NoReference::Program)
}

pub(super) fn cross_entropy(call: &Call<'_>) -> Result1 {
    let (logits, targets) = (call.array("logits")?, call.array("targets")?);
    let x = logits.to_floats()?;
    let axis = call.axis(call.int("axis").unwrap_or(-1), x.ndim())?;
    let as_shares = targets.shape().len() == x.ndim();
    let dtype = match as_shares {
        true => fractional(promoted(logits.dtype, targets.dtype)),
        false => fractional(logits.dtype),
    };
    let score = match as_shares {
        true => (&x * &targets.to_floats()?).sum_axis(Axis(axis)),
        false => picked(call, &x, &targets.to_ints()?, axis)?,
    };
    let total = folded(&x, &[axis], false, logsumexp);
    let smoothing = call
        .float("label_smoothing")
        .map_or(0.0, |it| f64::from(it as f32));
    let losses = match smoothing > 0.0 {
        true => &total - &(score * (1.0 - smoothing)) - &(folded(&x, &[axis], false, mean) * smoothing),
        false => &total - &score,
    };
    reduced(call, dtype, weighted(call, losses)?, "none")
}

pub(super) fn nll(call: &Call<'_>) -> Result1 {
    let (inputs, targets) = (call.array("inputs")?, call.array("targets")?);
    let x = inputs.to_floats()?;
    let axis = call.axis(call.int("axis").unwrap_or(-1), x.ndim())?;
    let losses = -picked(call, &x, &targets.to_ints()?, axis)?;
    // Picking and turning the sign keep the type; only a mean has fractions.
    let dtype = match call.text("reduction") {
        Some("mean") => fractional(inputs.dtype),
        _ => inputs.dtype,
    };
    let reduced = reduced(call, DType::Float64, losses, "none")?;
    reduced.iter().map(|it| it.cast(dtype)).collect()
}

pub(super) fn gaussian_nll(call: &Call<'_>) -> Result1 {
    let (inputs, targets, dtype) = pair(call, "inputs", "targets")?;
    let variances = call.floats("vars")?;
    let eps = call.float("eps").unwrap_or(1e-6);
    let full = call.flag("full").unwrap_or(false);
    let losses = Zip::from(&inputs)
        .and(&targets)
        .and(&variances)
        .map_collect(|x, target, variance| {
            let variance = variance.max(eps);
            let constant = if full {
                0.5 * (2.0 * std::f64::consts::PI).ln()
            } else {
                0.0
            };
            0.5 * (variance.ln() + (x - target).powi(2) / variance) + constant
        });
    reduced(call, dtype, losses, "none")
}

/// Of logarithms of shares.
pub(super) fn kl_div(call: &Call<'_>) -> Result1 {
    let (inputs, targets, dtype) = pair(call, "inputs", "targets")?;
    let axis = call.axis(call.int("axis").unwrap_or(-1), inputs.ndim())?;
    let terms = Zip::from(&inputs)
        .and(&targets)
        .map_collect(|x, target| libm::exp(*target) * (target - x));
    reduced(call, dtype, terms.sum_axis(Axis(axis)), "none")
}

pub(super) fn triplet(call: &Call<'_>) -> Result1 {
    let (anchors, positives, dtype) = pair(call, "anchors", "positives")?;
    let negatives = call.floats("negatives")?;
    let axis = call.axis(call.int("axis").unwrap_or(-1), anchors.ndim())?;
    let p = call.float("p").unwrap_or(2.0);
    let (margin, eps) = (
        call.float("margin").unwrap_or(1.0),
        call.float("eps").unwrap_or(1e-6),
    );
    let distance = |other: &Floats| {
        let sum = (&anchors - other)
            .mapv(|it| it.abs().powf(p))
            .sum_axis(Axis(axis));
        sum.mapv(|it| (it + eps).powf(1.0 / p))
    };
    let losses = (distance(&positives) - distance(&negatives)).mapv(|it| (it + margin).max(0.0));
    reduced(call, dtype, losses, "none")
}

pub(super) fn cosine_similarity(call: &Call<'_>) -> Result1 {
    let (a, b, dtype) = pair(call, "a", "b")?;
    let axis = Axis(call.axis(call.int("axis").unwrap_or(-1), a.ndim())?);
    let eps = call.float("eps").unwrap_or(1e-8);
    let norm = |it: &Floats| it.mapv(|it| it * it).sum_axis(axis).mapv(f64::sqrt);
    let scale = (norm(&a) * norm(&b)).mapv(|it| it.max(eps));
    reduced(call, dtype, (&a * &b).sum_axis(axis) / scale, "none")
}

pub(super) fn margin_ranking(call: &Call<'_>) -> Result1 {
    let (a, b, dtype) = pair(call, "inputs1", "inputs2")?;
    let targets = call.floats("targets")?;
    let margin = call.float("margin").unwrap_or(0.0);
    let losses = Zip::from(&a)
        .and(&b)
        .and(&targets)
        .map_collect(|a, b, target| (-target * (a - b) + margin).max(0.0));
    reduced(call, dtype, losses, "none")
}
