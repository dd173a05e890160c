//! What MLX computes in one kernel: normalizations, rotary positions, attention.

use super::call::Call;
use super::error::NoReference;
use super::product::multiplied;
use super::promote::{fractional, promoted};
use super::reduce::{folded, mean, variance};
use super::tensor::{Floats, Tensor};
use ndarray::{Axis, IxDyn};

type Result1 = Result<Vec<Tensor>, NoReference>;

fn number(call: &Call<'_>, name: &str, default: f64) -> f64 {
    // Settings are single-precision numbers in mlx-rs.
    call.float(name).map_or(default, |it| f64::from(it as f32))
}

/// Mean 0 and variance 1 along some axes, by the population's variance.
pub(super) fn standardized(x: &Floats, axes: &[usize], eps: f64) -> Floats {
    let middle = folded(x, axes, true, mean);
    let spread = folded(x, axes, true, |line| (variance(line, 0) + eps).sqrt());
    (x - &middle) / &spread
}

pub(super) fn layer_norm(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let floats = x.to_floats()?;
    let last = floats
        .ndim()
        .checked_sub(1)
        .ok_or_else(|| call.not_covered("a scalar"))?;
    let mut y = standardized(&floats, &[last], number(call, "eps", 1e-5));
    if let Some(weight) = call.maybe_floats("weight")? {
        y = y * weight;
    }
    if let Some(bias) = call.maybe_floats("bias")? {
        y = y + bias;
    }
    Ok(vec![Tensor::floats(fractional(x.dtype), y)])
}

/// Over the root of the mean square along the last axis.
pub(super) fn over_root_mean_square(x: &Floats, eps: f64) -> Floats {
    let last = x.ndim() - 1;
    let root = folded(x, &[last], true, |line| {
        (line.iter().map(|it| it * it).sum::<f64>() / line.len() as f64 + eps).sqrt()
    });
    x / &root
}

pub(super) fn rms_norm(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let floats = x.to_floats()?;
    if floats.ndim() == 0 {
        return Err(call.not_covered("a scalar"));
    }
    let mut y = over_root_mean_square(&floats, number(call, "eps", 1e-5));
    if let Some(weight) = call.maybe_floats("weight")? {
        y = y * weight;
    }
    Ok(vec![Tensor::floats(fractional(x.dtype), y)])
}

/// Su and others, 2021: pairs of features turned by an angle that grows with the place.
pub(super) fn rope(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let dims = call.int("dimensions").or(call.int("dims")).unwrap_or(0) as usize;
    let traditional = call.flag("traditional").unwrap_or(false);
    let scale = number(call, "scale", 1.0);
    let base = number(call, "base", 10_000.0);
    let offsets: Vec<f64> = match call.maybe_floats("offset")? {
        Some(offsets) => offsets.iter().copied().collect(),
        None => vec![call.float("offset").unwrap_or(0.0)],
    };
    let periods: Vec<f64> = match call.maybe_floats("freqs")? {
        Some(given) => given.iter().copied().collect(),
        None => (0..dims / 2)
            .map(|pair| base.powf(2.0 * pair as f64 / dims as f64))
            .collect(),
    };
    let floats = x.to_floats()?;
    let rank = floats.ndim();
    if rank < 3 {
        return Err(call.not_covered("fewer than three axes"));
    }
    let mut y = floats.clone();
    for (at, element) in y.indexed_iter_mut() {
        let feature = at[rank - 1];
        if feature >= dims {
            continue;
        }
        let (pair, first, partner) = match traditional {
            true => (feature / 2, feature % 2 == 0, feature ^ 1),
            false if feature < dims / 2 => (feature, true, feature + dims / 2),
            false => (feature - dims / 2, false, feature - dims / 2),
        };
        let offset = offsets[if offsets.len() > 1 { at[0] } else { 0 }];
        let angle = (at[rank - 2] as f64 + offset) * scale / periods[pair];
        let mut other = at.clone();
        other[rank - 1] = partner;
        let (own, theirs) = (floats[&at], floats[&other]);
        *element = match first {
            true => own * angle.cos() - theirs * angle.sin(),
            false => theirs * angle.sin() + own * angle.cos(),
        };
    }
    Ok(vec![Tensor::floats(fractional(x.dtype), y)])
}

/// Vaswani and others, 2017. Fewer keys than queries have heads: each serves as many queries in turn.
pub(super) fn attention(call: &Call<'_>) -> Result1 {
    let (queries, keys, values) = (call.array("queries")?, call.array("keys")?, call.array("values")?);
    let dtype = fractional(promoted(promoted(queries.dtype, keys.dtype), values.dtype));
    let (q, k, v) = (queries.to_floats()?, keys.to_floats()?, values.to_floats()?);
    if q.ndim() != 4 {
        return Err(call.not_covered("anything but four axes"));
    }
    let repeats = q.shape()[1] / k.shape()[1].max(1);
    let each_head = |it: &Floats| {
        let heads: Vec<usize> = (0..it.shape()[1]).flat_map(|head| vec![head; repeats]).collect();
        it.select(Axis(1), &heads)
    };
    let (k, v) = (each_head(&k), each_head(&v));
    let shapes = || call.not_covered("these shapes");
    let k = k
        .view()
        .permuted_axes(IxDyn(&[0, 1, 3, 2]))
        .as_standard_layout()
        .into_owned();
    let mut scores = multiplied(&q, &k).ok_or_else(shapes)? * number(call, "scale", 1.0);
    if let Some(mask) = call.maybe_array("mask")? {
        let shape = scores.raw_dim();
        match mask.dtype.kind() {
            crate::vocabulary::Kind::Bool => {
                let seen = mask.to_bools();
                let seen = seen.broadcast(shape).ok_or_else(shapes)?;
                ndarray::Zip::from(&mut scores)
                    .and(&seen)
                    .for_each(|score, seen| {
                        if !*seen {
                            *score = f64::NEG_INFINITY;
                        }
                    });
            }
            _ => scores = scores + mask.to_floats()?,
        }
    }
    if call.text("mask_mode") == Some("causal") {
        let late = scores.shape()[3] as i64 - scores.shape()[2] as i64;
        for (at, score) in scores.indexed_iter_mut() {
            if at[3] as i64 > at[2] as i64 + late {
                *score = f64::NEG_INFINITY;
            }
        }
    }
    let sinks = call.maybe_floats("sinks")?;
    for (head, mut lines) in scores.axis_iter_mut(Axis(1)).enumerate() {
        for mut line in lines.lanes_mut(Axis(2)) {
            let sink = sinks.as_ref().map(|sinks| sinks[[head].as_ref()]);
            let most = line.iter().copied().chain(sink).fold(f64::NEG_INFINITY, f64::max);
            let total: f64 = line.iter().copied().chain(sink).map(|it| (it - most).exp()).sum();
            line.mapv_inplace(|it| (it - most).exp() / total);
        }
    }
    Ok(vec![Tensor::floats(
        dtype,
        multiplied(&scores, &v).ok_or_else(shapes)?,
    )])
}
