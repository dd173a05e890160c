//! Numbers packed into few bits: groups with a scale and an offset, and eight-bit floats.

use super::call::{Call, Relation};
use super::error::NoReference;
use super::product::{multiplied, transposed};
use super::promote::{fractional, promoted};
use super::shape::dtype;
use super::tensor::{Floats, Tensor};
use crate::vocabulary::DType;
use ndarray::{ArrayD, Axis, IxDyn};

type Result1 = Result<Vec<Tensor>, NoReference>;
type Relations = Result<Vec<Relation>, NoReference>;

/// The numbers of so many bits that lie one behind another in words of 32, lowest bits first.
fn unpacked(words: &ArrayD<i64>, bits: usize) -> Result<ArrayD<i64>, NoReference> {
    let Some((width, outer)) = words.shape().split_last() else {
        return Err(NoReference::Program);
    };
    let count = width * 32 / bits;
    let all: Vec<i64> = words.iter().copied().collect();
    let mut numbers = Vec::with_capacity(all.len() * 32 / bits);
    for line in all.chunks(*width) {
        let bit = |place: usize| (line[place / 32] >> (place % 32)) & 1;
        for number in 0..count {
            numbers.push((0..bits).map(|at| bit(number * bits + at) << at).sum());
        }
    }
    let mut shape = outer.to_vec();
    shape.push(count);
    ArrayD::from_shape_vec(IxDyn(&shape), numbers).map_err(|_| NoReference::Program)
}

/// Each number times its group's scale, plus its offset.
fn dequantized(
    words: &ArrayD<i64>,
    scales: &Floats,
    biases: &Floats,
    group: usize,
    bits: usize,
) -> Result<Floats, NoReference> {
    let numbers = unpacked(words, bits)?;
    let last = numbers.ndim() - 1;
    if scales.shape()[last] * group != numbers.shape()[last] {
        return Err(NoReference::Program);
    }
    Ok(ArrayD::from_shape_fn(numbers.raw_dim(), |at| {
        let mut of = at.clone();
        of[last] /= group;
        numbers[&at] as f64 * scales[&of] + biases[&of]
    }))
}

fn settings(call: &Call<'_>) -> (usize, usize) {
    let number = |name, default| call.int(name).unwrap_or(default) as usize;
    (number("group_size", 64), number("bits", 4))
}

fn weights(call: &Call<'_>) -> Result<(Floats, DType), NoReference> {
    let (group, bits) = settings(call);
    let scales = call.array("scales")?;
    let biases = call.array("biases")?;
    let w = dequantized(
        &call.array("w")?.to_ints()?,
        &scales.to_floats()?,
        &biases.to_floats()?,
        group,
        bits,
    )?;
    Ok((w, scales.dtype))
}

pub(super) fn dequantize(call: &Call<'_>) -> Result1 {
    let (w, dtype) = weights(call)?;
    Ok(vec![Tensor::floats(dtype, w)])
}

pub(super) fn quantized_matmul(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let (w, dtype) = weights(call)?;
    // mlx-rs turns the weights only where it is asked to.
    let w = if call.flag("transpose").unwrap_or(false) {
        transposed(&w)
    } else {
        w
    };
    let y = multiplied(&x.to_floats()?, &w).ok_or_else(|| call.not_covered("these shapes"))?;
    Ok(vec![Tensor::floats(fractional(promoted(x.dtype, dtype)), y)])
}

/// Matrices picked from both sides, then multiplied.
pub(super) fn gather_qmm(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let (w, dtype) = weights(call)?;
    let w = if call.flag("transpose").unwrap_or(true) {
        transposed(&w)
    } else {
        w
    };
    let y = super::product::gathered(call, &x.to_floats()?, &w)?;
    Ok(vec![Tensor::floats(fractional(promoted(x.dtype, dtype)), y)])
}

/// Each number lies within its group's step of what it stands for.
pub(super) fn quantize(call: &Call<'_>, found: &[Tensor]) -> Relations {
    let w = call.floats("w")?;
    let [words, scales, biases] = found else {
        return Err(call.not_covered("anything but three results"));
    };
    let (group, bits) = settings(call);
    let scales = scales.to_floats()?;
    let back = dequantized(&words.to_ints()?, &scales, &biases.to_floats()?, group, bits)?;
    let last = back.ndim() - 1;
    let near = ArrayD::from_shape_fn(back.raw_dim(), |at| {
        let mut of = at.clone();
        of[last] /= group;
        // Half a step, and the other half because zero is kept exactly by moving the steps.
        (back[&at] - w[&at]).abs() <= scales[&of].abs() * 1.01 + 1e-6
    });
    Ok(vec![Relation {
        what: "each number within a step of its own".to_owned(),
        wanted: Tensor::bools(near.mapv(|_| true)),
        found: Tensor::bools(near),
    }])
}

/// The product lies within what the format's steps of both sides allow: eight bits or four, a scale for each group.
pub(super) fn qqmm(call: &Call<'_>, found: &[Tensor]) -> Relations {
    let (x, w) = (call.floats("x")?, call.floats("w")?);
    let [product] = found else {
        return Err(call.not_covered("anything but one result"));
    };
    let exact = multiplied(&x, &transposed(&w)).ok_or_else(|| call.not_covered("these shapes"))?;
    let bound = multiplied(&x.mapv(f64::abs), &transposed(&w.mapv(f64::abs))).ok_or(NoReference::Program)?;
    // A number of four bits, one of them for the fraction, is off by a quarter at most; two of them by a half and more.
    let share = if call.text("mode") == Some("nvfp4") {
        0.6
    } else {
        0.2
    };
    let near = ndarray::Zip::from(&product.to_floats()?)
        .and(&exact)
        .and(&bound)
        .map_collect(|found, exact, bound| (found - exact).abs() <= bound * share);
    Ok(vec![Relation {
        what: "each product within the format's steps".to_owned(),
        wanted: Tensor::bools(near.mapv(|_| true)),
        found: Tensor::bools(near),
    }])
}

/// An eight-bit float of four bits of exponent and three of fraction, without infinities (Micikevicius and others, 2022).
fn from_eight_bits(byte: i64) -> f64 {
    let sign = if byte & 0x80 != 0 { -1.0 } else { 1.0 };
    let (exponent, fraction) = ((byte >> 3) & 0xf, (byte & 7) as f64);
    match exponent {
        0xf if byte & 7 == 7 => f64::NAN,
        0 => sign * fraction * 2f64.powi(-9),
        _ => sign * (1.0 + fraction / 8.0) * 2f64.powi(exponent as i32 - 7),
    }
}

/// The nearest, ties to even, and the greatest where a number lies beyond it.
fn to_eight_bits(x: f64) -> i64 {
    let sign = if x.is_sign_negative() { 0x80 } else { 0 };
    if x.is_nan() {
        return sign | 0x7f;
    }
    let nearest = (0..0x7f).min_by(|a, b| {
        let distance = |it: &i64| (from_eight_bits(*it) - x.abs()).abs();
        distance(a).total_cmp(&distance(b)).then((a & 1).cmp(&(b & 1)))
    });
    sign | nearest.unwrap_or(0)
}

pub(super) fn from_fp8(call: &Call<'_>) -> Result1 {
    let elements = call.array("x")?.to_ints()?.mapv(from_eight_bits);
    Ok(vec![Tensor::floats(dtype(call)?, elements)])
}

pub(super) fn to_fp8(call: &Call<'_>) -> Result1 {
    let elements = call.floats("x")?.mapv(to_eight_bits);
    Ok(vec![Tensor::ints(DType::Uint8, elements)])
}

/// A layer whose weights are quantized.
pub(super) fn linear_layer(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let w = parameters(call, "inner.weight")?;
    let mut y =
        multiplied(&x.to_floats()?, &transposed(&w)).ok_or_else(|| call.not_covered("these shapes"))?;
    if let Some(bias) = call.maybe_parameter("inner.bias")? {
        y = y + bias.to_floats()?;
    }
    Ok(vec![Tensor::floats(fractional(x.dtype), y)])
}

pub(super) fn embedding_layer(call: &Call<'_>) -> Result1 {
    let places = call.array("x")?.to_ints()?;
    let rows = parameters(call, "inner.weight")?;
    let flat: Vec<usize> = places.iter().map(|it| *it as usize).collect();
    let picked: Vec<f64> = rows.select(Axis(0), &flat).iter().copied().collect();
    let mut shape = places.shape().to_vec();
    shape.push(rows.shape()[1]);
    let elements = ArrayD::from_shape_vec(IxDyn(&shape), picked).map_err(|_| NoReference::Program)?;
    Ok(vec![Tensor::floats(DType::Float32, elements)])
}

fn parameters(call: &Call<'_>, weight: &str) -> Result<Floats, NoReference> {
    let (group, bits) = settings(call);
    let (scales, biases) = (
        call.parameter("scales")?.to_floats()?,
        call.parameter("biases")?.to_floats()?,
    );
    dequantized(&call.parameter(weight)?.to_ints()?, &scales, &biases, group, bits)
}
