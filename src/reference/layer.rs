//! Layers, composed from references of their parts and the parameters that they were drawn with.

use super::call::{Call, Relation};
use super::error::NoReference;
use super::fused::{over_root_mean_square, standardized};
use super::product::{multiplied, transposed};
use super::promote::{fractional, promoted};
use super::reduce::{folded, mean, variance};
use super::tensor::{each_kind, Floats, Tensor};
use crate::vocabulary::{DType, Kind};
use ndarray::{ArrayD, Axis, Dimension, IxDyn, Slice};

type Result1 = Result<Vec<Tensor>, NoReference>;

fn number(call: &Call<'_>, name: &str, default: f64) -> f64 {
    call.float(name).map_or(default, |it| f64::from(it as f32))
}

fn parameter(call: &Call<'_>, address: &str) -> Result<Floats, NoReference> {
    call.parameter(address)?.to_floats()
}

fn maybe(call: &Call<'_>, address: &str) -> Result<Option<Floats>, NoReference> {
    call.maybe_parameter(address)?
        .map(|it| it.to_floats())
        .transpose()
}

fn product(a: &Floats, b: &Floats) -> Result<Floats, NoReference> {
    multiplied(a, b).ok_or(NoReference::Program)
}

/// `x @ w.T + b`, by the parameters below an address.
fn affine(call: &Call<'_>, x: &Floats, below: &str) -> Result<Floats, NoReference> {
    let y = product(x, &transposed(&parameter(call, &format!("{below}weight"))?))?;
    Ok(match maybe(call, &format!("{below}bias"))? {
        Some(bias) => y + bias,
        None => y,
    })
}

pub(super) fn linear(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let dtype = fractional(promoted(x.dtype, call.parameter("weight")?.dtype));
    Ok(vec![Tensor::floats(dtype, affine(call, &x.to_floats()?, "")?)])
}

pub(super) fn bilinear(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let dtype = fractional(promoted(x.dtype, call.parameter("weights")?.dtype));
    let weights = parameter(call, "weights")?;
    let floats = x.to_floats()?;
    let [outputs, second, first] = *weights.shape() else {
        return Err(NoReference::Program);
    };
    let lines = floats.len() / first.max(1);
    let flat: Vec<f64> = floats.iter().copied().collect();
    let bias = maybe(call, "bias")?;
    let mut y = Vec::new();
    for line in 0..lines {
        for output in 0..outputs {
            let mut total = bias.as_ref().map_or(0.0, |bias| bias[[output].as_ref()]);
            for i in 0..second {
                for j in 0..first {
                    total +=
                        flat[line * second + i] * weights[[output, i, j].as_ref()] * flat[line * first + j];
                }
            }
            y.push(total);
        }
    }
    let mut shape = floats.shape()[..floats.ndim() - 1].to_vec();
    shape.push(outputs);
    let y = ArrayD::from_shape_vec(IxDyn(&shape), y).map_err(|_| NoReference::Program)?;
    Ok(vec![Tensor::floats(dtype, y)])
}

pub(super) fn embedding(call: &Call<'_>) -> Result1 {
    let (places, rows) = (call.array("x")?, call.parameter("weight")?);
    Ok(vec![super::shape::take_from(call, &rows, &places, 0)?])
}

/// The largest, or the mean, of each window of space.
pub(super) fn pool(call: &Call<'_>, mean: bool) -> Result1 {
    let x = call.array("x")?;
    let floats = x.to_floats()?;
    let axes = floats.ndim() - 2;
    let each = |name: &str| {
        call.ints(name).map(|it| match it.len() {
            1 => vec![it[0] as usize; axes],
            _ => it.iter().map(|it| *it as usize).collect(),
        })
    };
    let kernel: Vec<usize> = each("kernel").ok_or_else(|| call.not_covered("no kernel"))?;
    let stride = each("stride").unwrap_or_else(|| kernel.clone());
    let mut shape = floats.shape().to_vec();
    for axis in 0..axes {
        shape[axis + 1] = (shape[axis + 1].saturating_sub(kernel[axis])) / stride[axis] + 1;
    }
    let y = ArrayD::from_shape_fn(IxDyn(&shape), |at| {
        let covered = ndarray::indices(&kernel[..]).into_iter().map(|place| {
            let mut from: Vec<usize> = (0..at.ndim()).map(|axis| at[axis]).collect();
            (0..axes).for_each(|axis| from[axis + 1] = at[axis + 1] * stride[axis] + place[axis]);
            floats[&from[..]]
        });
        match mean {
            true => covered.sum::<f64>() / kernel.iter().product::<usize>() as f64,
            false => covered.fold(f64::NEG_INFINITY, f64::max),
        }
    });
    let dtype = if mean { fractional(x.dtype) } else { x.dtype };
    Ok(vec![Tensor::floats(DType::Float64, y).cast(dtype)?])
}

/// Times the layer's weight, plus its bias, as far as it has them.
fn scaled(call: &Call<'_>, mut y: Floats) -> Result<Floats, NoReference> {
    if let Some(weight) = maybe(call, "weight")? {
        y = y * weight;
    }
    if let Some(bias) = maybe(call, "bias")? {
        y = y + bias;
    }
    Ok(y)
}

fn normalized(call: &Call<'_>, normalize: impl Fn(&Floats) -> Result<Floats, NoReference>) -> Result1 {
    let x = call.array("x")?;
    let y = scaled(call, normalize(&x.to_floats()?)?)?;
    Ok(vec![Tensor::floats(fractional(x.dtype), y)])
}

pub(super) fn layer_norm(call: &Call<'_>) -> Result1 {
    normalized(call, |x| {
        Ok(standardized(x, &[x.ndim() - 1], number(call, "eps", 1e-5)))
    })
}

pub(super) fn rms_norm(call: &Call<'_>) -> Result1 {
    normalized(call, |x| Ok(over_root_mean_square(x, number(call, "eps", 1e-5))))
}

/// Over the axes of space.
pub(super) fn instance_norm(call: &Call<'_>) -> Result1 {
    normalized(call, |x| {
        let space: Vec<usize> = (1..x.ndim() - 1).collect();
        Ok(standardized(x, &space, number(call, "eps", 1e-5)))
    })
}

/// Over space and the channels of one group.
pub(super) fn group_norm(call: &Call<'_>) -> Result1 {
    normalized(call, |x| {
        let groups = call.int("groups").unwrap_or(1) as usize;
        let (batch, channels) = (x.shape()[0], x.shape()[x.ndim() - 1]);
        let space: usize = x.shape()[1..x.ndim() - 1].iter().product();
        // PyTorch's groups are runs of neighbours, MLX's own are every so many.
        let split = match call.flag("pytorch_compatible").unwrap_or(false) {
            true => [batch, space, groups, channels / groups],
            false => [batch, space, channels / groups, groups],
        };
        let axes = match call.flag("pytorch_compatible").unwrap_or(false) {
            true => [1, 3],
            false => [1, 2],
        };
        let flat: Vec<f64> = x.iter().copied().collect();
        let parts = ArrayD::from_shape_vec(IxDyn(&split), flat).map_err(|_| NoReference::Program)?;
        let y = standardized(&parts, &axes, number(call, "eps", 1e-5));
        let y: Vec<f64> = y.iter().copied().collect();
        ArrayD::from_shape_vec(x.raw_dim(), y).map_err(|_| NoReference::Program)
    })
}

/// Over all axes but the channels: by the batch's statistics in training, by the running ones otherwise.
pub(super) fn batch_norm(call: &Call<'_>) -> Result1 {
    let training = call.flag("training").unwrap_or(true);
    let tracked = call.flag("track_running_stats").unwrap_or(true);
    normalized(call, |x| {
        let eps = number(call, "eps", 1e-5);
        match training || !tracked {
            true => Ok(standardized(x, &(0..x.ndim() - 1).collect::<Vec<_>>(), eps)),
            false => {
                let (mean, variance) = (parameter(call, "running_mean")?, parameter(call, "running_var")?);
                Ok((x - &mean) / variance.mapv(|it| (it + eps).sqrt()))
            }
        }
    })
}

/// In evaluation the input itself; in training some elements are dropped, whole channels where the layer has axes of
/// space, and the rest grow by as much.
pub(super) fn dropout(call: &Call<'_>, found: &[Tensor]) -> Result<Vec<Relation>, NoReference> {
    let (x, p) = (call.array("x")?, number(call, "p", 0.5));
    let [found] = found else {
        return Err(call.not_covered("anything but one result"));
    };
    let training = call.flag("training").unwrap_or(true) && p > 0.0;
    if !training || x.dtype.kind() != Kind::Float {
        let what = "the input itself".to_owned();
        return match training {
            true => Err(call.not_covered("training on what has no fractions")),
            false => Ok(vec![Relation {
                what,
                found: found.clone(),
                wanted: x,
            }]),
        };
    }
    let (x, y) = (x.to_floats()?, found.to_floats()?);
    let (mut fits, mut dropped, mut seen) = (true, 0.0, 0.0);
    for (x, y) in x.iter().zip(&y) {
        let kept = x / (1.0 - p);
        fits &= *y == 0.0 || (y - kept).abs() <= 1e-2 * kept.abs();
        if *x != 0.0 {
            seen += 1.0;
            dropped += f64::from(u8::from(*y == 0.0));
        }
    }
    // Draws are one for each element, or one for each channel of each image.
    let draws = match x.ndim() {
        0..=3 => seen,
        rank => (x.shape()[0] * x.shape()[rank - 1]) as f64,
    };
    let (share, error) = (dropped / seen, 6.0 * (p * (1.0 - p) / draws).sqrt());
    let hold = |what: String, holds: bool| Relation {
        what,
        found: Tensor::bools(ndarray::arr0(holds).into_dyn()),
        wanted: Tensor::bools(ndarray::arr0(true).into_dyn()),
    };
    Ok(vec![
        hold("each element 0 or its own over what is kept".to_owned(), fits),
        hold(
            format!("{share:.3} dropped, within {error:.3} of {p}"),
            (share - p).abs() <= error,
        ),
    ])
}

/// What the last normalization of a transformer leaves, since its weights begin as ones and its biases as zeros.
pub(super) fn transformer(call: &Call<'_>, found: &[Tensor]) -> Result<Vec<Relation>, NoReference> {
    let [found] = found else {
        return Err(call.not_covered("anything but one result"));
    };
    let y = found.to_floats()?;
    let last = [y.ndim() - 1];
    let (means, spreads) = (
        folded(&y, &last, false, mean),
        folded(&y, &last, false, |it| variance(it, 0)),
    );
    let relation = |what: &str, found: Floats, wanted: f64| Relation {
        what: what.to_owned(),
        wanted: Tensor::floats(DType::Float32, Floats::from_elem(found.raw_dim(), wanted)),
        // The normalization's own smallest addend makes the variance a little less than one.
        found: Tensor::floats(DType::Float32, found.mapv(|it| (it * 1e3).round() / 1e3)),
    };
    Ok(vec![
        relation("mean of each row", means, 0.0),
        relation("variance of each row", spreads, 1.0),
    ])
}

/// The steps of a sequence, one after another along the axis before the last.
fn steps(x: &Floats) -> Vec<Floats> {
    (0..x.shape()[x.ndim() - 2])
        .map(|step| x.index_axis(Axis(x.ndim() - 2), step).to_owned())
        .collect()
}

fn stacked(states: &[Floats]) -> Result<Floats, NoReference> {
    let views: Vec<_> = states.iter().map(|it| it.view()).collect();
    let axis = states.first().map_or(0, |it| it.ndim() - 1);
    let made = ndarray::stack(Axis(axis), &views).map_err(|_| NoReference::Program)?;
    Ok(made.as_standard_layout().into_owned())
}

fn part(x: &Floats, place: usize, width: usize) -> Floats {
    x.slice_axis(
        Axis(x.ndim() - 1),
        Slice::from(place * width..(place + 1) * width),
    )
    .to_owned()
}

fn hidden_size(call: &Call<'_>) -> usize {
    call.int("hidden").unwrap_or(0) as usize
}

/// The state that a call gives, or zeros.
fn state(call: &Call<'_>, name: &str, step: &Floats, width: usize) -> Result<Floats, NoReference> {
    Ok(match call.maybe_floats(name)? {
        Some(given) => given,
        None => {
            let mut shape = step.shape().to_vec();
            shape[step.ndim() - 1] = width;
            Floats::zeros(IxDyn(&shape))
        }
    })
}

pub(super) fn rnn(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let (wxh, whh) = (
        transposed(&parameter(call, "wxh")?),
        transposed(&parameter(call, "whh")?),
    );
    let bias = maybe(call, "bias")?;
    let mut states: Vec<Floats> = Vec::new();
    for step in steps(&x.to_floats()?) {
        let before = match states.last() {
            Some(state) => state.clone(),
            None => state(call, "state", &step, hidden_size(call))?,
        };
        let mut sum = product(&step, &wxh)? + product(&before, &whh)?;
        if let Some(bias) = &bias {
            sum += bias;
        }
        states.push(sum.mapv(f64::tanh));
    }
    Ok(vec![Tensor::floats(fractional(x.dtype), stacked(&states)?)])
}

/// Cho and others, 2014, with the reset gate outside the hidden product and a bias of its own there.
pub(super) fn gru(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let width = hidden_size(call);
    let (wx, wh) = (
        transposed(&parameter(call, "wx")?),
        transposed(&parameter(call, "wh")?),
    );
    let (bias, bhn) = (maybe(call, "bias")?, maybe(call, "bhn")?);
    let sigmoid = super::activation::sigmoid;
    let mut states: Vec<Floats> = Vec::new();
    for step in steps(&x.to_floats()?) {
        let before = match states.last() {
            Some(state) => state.clone(),
            None => state(call, "state", &step, width)?,
        };
        let mut from_x = product(&step, &wx)?;
        if let Some(bias) = &bias {
            from_x += bias;
        }
        let from_h = product(&before, &wh)?;
        let gate = |place: usize| (part(&from_x, place, width) + part(&from_h, place, width)).mapv(sigmoid);
        let (reset, update) = (gate(0), gate(1));
        let mut candidate = part(&from_h, 2, width);
        if let Some(bhn) = &bhn {
            candidate += bhn;
        }
        let candidate = (part(&from_x, 2, width) + reset * candidate).mapv(f64::tanh);
        states.push(update.mapv(|it| 1.0 - it) * candidate + update * before);
    }
    Ok(vec![Tensor::floats(fractional(x.dtype), stacked(&states)?)])
}

/// Hochreiter and Schmidhuber, 1997, gates in the order input, forget, candidate, output.
pub(super) fn lstm(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let width = hidden_size(call);
    let (wx, wh) = (
        transposed(&parameter(call, "wx")?),
        transposed(&parameter(call, "wh")?),
    );
    let bias = maybe(call, "bias")?;
    let sigmoid = super::activation::sigmoid;
    let (mut hidden, mut cells): (Vec<Floats>, Vec<Floats>) = (Vec::new(), Vec::new());
    for step in steps(&x.to_floats()?) {
        let (before, cell) = match (hidden.last(), cells.last()) {
            (Some(hidden), Some(cell)) => (hidden.clone(), cell.clone()),
            _ => (
                state(call, "state", &step, width)?,
                state(call, "cell", &step, width)?,
            ),
        };
        let mut gates = product(&step, &wx)? + product(&before, &wh)?;
        if let Some(bias) = &bias {
            gates += bias;
        }
        let gate = |place: usize| part(&gates, place, width);
        let cell = gate(1).mapv(sigmoid) * cell + gate(0).mapv(sigmoid) * gate(2).mapv(f64::tanh);
        hidden.push(gate(3).mapv(sigmoid) * cell.mapv(f64::tanh));
        cells.push(cell);
    }
    let dtype = fractional(x.dtype);
    Ok(vec![
        Tensor::floats(dtype, stacked(&hidden)?),
        Tensor::floats(dtype, stacked(&cells)?),
    ])
}

pub(super) fn multi_head_attention(call: &Call<'_>) -> Result1 {
    let queries = call.array("queries")?;
    let heads = call.int("heads").unwrap_or(1) as usize;
    let split = |x: Floats| -> Result<Floats, NoReference> {
        let [batch, length, width] = *x.shape() else {
            return Err(call.not_covered("anything but three axes"));
        };
        let flat: Vec<f64> = x.iter().copied().collect();
        let parts = ArrayD::from_shape_vec(IxDyn(&[batch, length, heads, width / heads]), flat);
        let parts = parts.map_err(|_| NoReference::Program)?;
        Ok(parts
            .permuted_axes(IxDyn(&[0, 2, 1, 3]))
            .as_standard_layout()
            .into_owned())
    };
    let q = split(affine(call, &queries.to_floats()?, "query_proj.")?)?;
    let k = split(affine(call, &call.floats("keys")?, "key_proj.")?)?;
    let v = split(affine(call, &call.floats("values")?, "value_proj.")?)?;
    let scale = 1.0 / (q.shape()[3] as f64).sqrt();
    let k = k
        .permuted_axes(IxDyn(&[0, 1, 3, 2]))
        .as_standard_layout()
        .into_owned();
    let mut scores = product(&q, &k)? * scale;
    if let Some(mask) = call.maybe_floats("mask")? {
        scores = scores + mask;
    }
    for mut line in scores.lanes_mut(Axis(3)) {
        let most = line.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = line.iter().map(|it| (it - most).exp()).sum();
        line.mapv_inplace(|it| (it - most).exp() / total);
    }
    let y = product(&scores, &v)?.permuted_axes(IxDyn(&[0, 2, 1, 3]));
    let shape = [y.shape()[0], y.shape()[1], y.shape()[2] * y.shape()[3]];
    let flat: Vec<f64> = y.iter().copied().collect();
    let y = ArrayD::from_shape_vec(IxDyn(&shape), flat).map_err(|_| NoReference::Program)?;
    Ok(vec![Tensor::floats(
        fractional(queries.dtype),
        affine(call, &y, "output_proj.")?,
    )])
}

/// Sines and cosines of places at frequencies from the greatest to the least.
pub(super) fn sinusoidal(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let dims = call.int("dims").unwrap_or(2) as usize;
    let half = dims / 2;
    let (least, most) = (
        number(call, "min_frequency", 1e-4),
        number(call, "max_frequency", 1.0),
    );
    let scale = call
        .float("scale")
        .map_or((2.0 / dims as f64).sqrt(), |it| f64::from(it as f32));
    let turns = if call.flag("full_turns").unwrap_or(false) {
        2.0 * std::f64::consts::PI
    } else {
        1.0
    };
    let frequency = |place: usize| {
        let share = 1.0 - place as f64 / (half - 1) as f64;
        (share * (most.ln() - least.ln()) + least.ln()).exp() * turns
    };
    let cosines_first = call.flag("cosine_first").unwrap_or(false);
    let floats = x.to_floats()?;
    let mut shape = floats.shape().to_vec();
    shape.push(2 * half);
    let y = ArrayD::from_shape_fn(IxDyn(&shape), |at| {
        let feature = at[at.ndim() - 1];
        let of: Vec<usize> = (0..at.ndim() - 1).map(|axis| at[axis]).collect();
        let angle = floats[&of[..]] * frequency(feature % half);
        let sine = (feature < half) != cosines_first;
        scale * if sine { angle.sin() } else { angle.cos() }
    });
    Ok(vec![Tensor::floats(fractional(x.dtype), y)])
}

/// Press and others, 2022: less a multiple of the distance, by head.
pub(super) fn alibi(call: &Call<'_>) -> Result1 {
    let scores = call.array("scores")?;
    let offset = call.int("offset").unwrap_or(0) as f64;
    let floats = scores.to_floats()?;
    let heads = floats.shape()[1];
    let slope = |head: usize| 2f64.powf(-8.0 * (head + 1) as f64 / heads as f64);
    let mut y = ArrayD::from_shape_fn(floats.raw_dim(), |at| {
        let distance = (at[2] as f64 + offset - at[3] as f64).abs();
        floats[&at] - distance * slope(at[1])
    });
    if let Some(mask) = call.maybe_floats("mask")? {
        y = y + mask;
    }
    Ok(vec![Tensor::floats(fractional(scores.dtype), y)])
}

/// Each element of space so many times.
pub(super) fn upsample(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let scale = call.float("scale").unwrap_or(1.0);
    if scale.fract() != 0.0 || call.text("mode").is_some_and(|mode| mode != "nearest") {
        return Err(call.not_covered("anything but the nearest element, a whole number of times"));
    }
    let times = scale as usize;
    let elements = each_kind!(&x.elements, it => {
        let mut shape = it.shape().to_vec();
        let last = shape.len() - 1;
        shape[1..last].iter_mut().for_each(|extent| *extent *= times);
        ArrayD::from_shape_fn(IxDyn(&shape), |at| {
            let from: Vec<usize> = (0..at.ndim())
                .map(|axis| if axis == 0 || axis == last { at[axis] } else { at[axis] / times })
                .collect();
            it[&from[..]]
        })
    });
    Ok(vec![Tensor {
        dtype: x.dtype,
        elements,
    }])
}

/// A linear layer and what is above zero of it.
pub(super) fn linear_relu(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let y = affine(call, &x.to_floats()?, "layers.0.")?.mapv(|it| it.max(0.0));
    Ok(vec![Tensor::floats(fractional(x.dtype), y)])
}
