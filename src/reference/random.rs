//! What holds of random draws, whatever is drawn.
//!
//! A mean or a variance may lie six standard errors off: that happens to one draw in five hundred million.

use super::call::{Call, Relation};
use super::error::NoReference;
use super::tensor::Tensor;
use crate::vocabulary::DType;
use ndarray::{arr0, arr1, ArrayD};

type Relations = Result<Vec<Relation>, NoReference>;

fn holds(what: String, holds: bool) -> Relation {
    Relation {
        what,
        found: Tensor::bools(arr0(holds).into_dyn()),
        wanted: Tensor::bools(arr0(true).into_dyn()),
    }
}

fn only<'a>(call: &Call<'_>, found: &'a [Tensor]) -> Result<&'a Tensor, NoReference> {
    match found {
        [one] => Ok(one),
        _ => Err(call.not_covered("anything but one result")),
    }
}

/// Mean and variance of the draws, against those of the distribution; `kurtosis` is the distribution's.
fn moments(draws: &[f64], mean: f64, variance: f64, kurtosis: f64) -> Vec<Relation> {
    let count = draws.len() as f64;
    let seen = draws.iter().sum::<f64>() / count;
    let spread = draws.iter().map(|it| (it - seen).powi(2)).sum::<f64>() / count;
    let error = 6.0 * (variance / count).sqrt();
    let spread_error = 6.0 * variance * ((kurtosis - 1.0).max(0.1) / count).sqrt();
    vec![
        holds(
            format!("mean {seen:.4} within {error:.4} of {mean:.4}"),
            (seen - mean).abs() <= error,
        ),
        holds(
            format!("variance {spread:.4} within {spread_error:.4} of {variance:.4}"),
            (spread - variance).abs() <= spread_error,
        ),
    ]
}

fn draws(call: &Call<'_>, found: &[Tensor]) -> Result<Vec<f64>, NoReference> {
    let draws: Vec<f64> = only(call, found)?.to_floats()?.iter().copied().collect();
    match draws.len() {
        0..16 => Err(call.not_covered("fewer than 16 draws")),
        _ => Ok(draws),
    }
}

fn bound(call: &Call<'_>, name: &str) -> Result<f64, NoReference> {
    let values = call.floats(name)?;
    match values.iter().collect::<Vec<_>>()[..] {
        [one] => Ok(*one),
        _ => Err(call.not_covered("bounds that differ between elements")),
    }
}

pub(super) fn normal(call: &Call<'_>, found: &[Tensor]) -> Relations {
    let (loc, scale) = (
        call.float("loc").unwrap_or(0.0),
        call.float("scale").unwrap_or(1.0),
    );
    Ok(moments(&draws(call, found)?, loc, scale * scale, 3.0))
}

pub(super) fn uniform(call: &Call<'_>, found: &[Tensor]) -> Relations {
    let (low, high) = (bound(call, "low")?, bound(call, "high")?);
    let draws = draws(call, found)?;
    let mut relations = moments(&draws, (low + high) / 2.0, (high - low).powi(2) / 12.0, 1.8);
    let inside = draws.iter().all(|it| (low..=high).contains(it));
    relations.push(holds(format!("every draw from {low} to {high}"), inside));
    Ok(relations)
}

pub(super) fn randint(call: &Call<'_>, found: &[Tensor]) -> Relations {
    let (low, high) = (bound(call, "low")?, bound(call, "high")?);
    let draws = draws(call, found)?;
    let inside = draws.iter().all(|it| (low..high).contains(it));
    let width = high - low;
    let mut relations = moments(
        &draws,
        (low + high - 1.0) / 2.0,
        (width * width - 1.0) / 12.0,
        1.8,
    );
    relations.push(holds(
        format!("every draw from {low} to {high}, which is left out"),
        inside,
    ));
    Ok(relations)
}

pub(super) fn bernoulli(call: &Call<'_>, found: &[Tensor]) -> Relations {
    let p = match call.maybe_floats("p")? {
        Some(_) => bound(call, "p")?,
        None => 0.5,
    };
    let draws: Vec<f64> = draws(call, found)?;
    Ok(moments(&draws, p, p * (1.0 - p), 1.0 / (p * (1.0 - p)) - 3.0)[..1].to_vec())
}

/// Of Euler's constant as mean, and a sixth of pi squared as variance.
pub(super) fn gumbel(call: &Call<'_>, found: &[Tensor]) -> Relations {
    let variance = std::f64::consts::PI.powi(2) / 6.0;
    Ok(moments(
        &draws(call, found)?,
        0.577_215_664_901_532_9,
        variance,
        5.4,
    ))
}

pub(super) fn truncated_normal(call: &Call<'_>, found: &[Tensor]) -> Relations {
    let (low, high) = (bound(call, "low")?, bound(call, "high")?);
    let density = |x: f64| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let below = |x: f64| 0.5 * (1.0 + libm::erf(x / std::f64::consts::SQRT_2));
    let mass = below(high) - below(low);
    let mean = (density(low) - density(high)) / mass;
    let variance = 1.0 + (low * density(low) - high * density(high)) / mass - mean * mean;
    let draws = draws(call, found)?;
    let mut relations = moments(&draws, mean, variance, 3.0);
    let inside = draws.iter().all(|it| (low..=high).contains(it));
    relations.push(holds(format!("every draw from {low} to {high}"), inside));
    Ok(relations)
}

/// Each coordinate's mean.
pub(super) fn multivariate_normal(call: &Call<'_>, found: &[Tensor]) -> Relations {
    let (mean, covariance) = (call.floats("mean")?, call.floats("covariance")?);
    let draws = only(call, found)?.to_floats()?;
    let width = mean.len();
    let all: Vec<f64> = draws.iter().copied().collect();
    let count = all.len() / width.max(1);
    if count < 16 || covariance.ndim() != 2 {
        return Err(call.not_covered("fewer than 16 draws, or several covariances"));
    }
    let mut relations = Vec::new();
    for at in 0..width {
        let line: Vec<f64> = all.iter().skip(at).step_by(width).copied().collect();
        let variance = covariance[[at, at].as_ref()];
        relations.extend(moments(&line, mean[[at].as_ref()], variance, 3.0));
    }
    Ok(relations)
}

/// Every draw names a class, and the likeliest class is drawn at least as often as the least likely.
pub(super) fn categorical(call: &Call<'_>, found: &[Tensor]) -> Relations {
    let logits = call.floats("logits")?;
    let classes = logits.shape()[call.axis(call.int("axis").unwrap_or(-1), logits.ndim())?];
    let draws = only(call, found)?.to_ints()?;
    let inside = draws.iter().all(|it| (0..classes as i64).contains(it));
    let mut relations = vec![holds(format!("every draw below {classes}"), inside)];
    if logits.ndim() == 1 && draws.len() >= 64 {
        let total: f64 = logits.iter().map(|it| it.exp()).sum();
        for (class, logit) in logits.iter().enumerate() {
            let share = logit.exp() / total;
            let seen = draws.iter().filter(|it| **it == class as i64).count() as f64 / draws.len() as f64;
            let error = 6.0 * (share * (1.0 - share) / draws.len() as f64).sqrt();
            relations.push(holds(
                format!("class {class} drawn {seen:.4}, within {error:.4} of {share:.4}"),
                (seen - share).abs() <= error,
            ));
        }
    }
    Ok(relations)
}

/// The seed's upper and lower 32 bits.
pub(super) fn key(call: &Call<'_>) -> Result<Vec<Tensor>, NoReference> {
    let seed = call.int("seed").unwrap_or(0);
    let halves = [(seed >> 32) & 0xffff_ffff, seed & 0xffff_ffff];
    Ok(vec![Tensor::ints(DType::Uint32, arr1(&halves).into_dyn())])
}

/// Keys that are not each other, nor the one that they came from.
pub(super) fn new_keys(call: &Call<'_>, found: &[Tensor]) -> Relations {
    let parent = call.array("key")?.to_ints()?;
    let keys: Vec<ArrayD<i64>> = found.iter().map(Tensor::to_ints).collect::<Result<_, _>>()?;
    let mut all = vec![parent];
    all.extend(keys);
    let alike = (0..all.len()).any(|one| all[..one].contains(&all[one]));
    Ok(vec![holds("every key is new".to_owned(), !alike)])
}

/// One row of two words for each key that is asked for, all different.
pub(super) fn split(call: &Call<'_>, found: &[Tensor]) -> Relations {
    let count = call.int("num").unwrap_or(2) as usize;
    let mut relations = new_keys(call, found)?;
    relations.push(holds(
        format!("{count} keys, found {}", found.len()),
        found.len() == count,
    ));
    Ok(relations)
}

/// A key of the same sort, of another value than the one it started from.
pub(super) fn reseeded(call: &Call<'_>, found: &[Tensor]) -> Relations {
    new_keys(call, found)
}
