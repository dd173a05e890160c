//! Fourier transforms, by rustfft along one axis after another.

use super::call::Call;
use super::error::NoReference;
use super::tensor::{each_kind, Tensor};
use crate::vocabulary::DType;
use ndarray::{concatenate, ArrayD, Axis, IxDyn, Slice};
use num_complex::Complex64;
use rustfft::FftPlanner;

type Result1 = Result<Vec<Tensor>, NoReference>;
type Complexes = ArrayD<Complex64>;

/// Which way a transform goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Forward,
    Inverse,
}

/// Which of the two sides of a transform is real.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Real {
    Neither,
    Input,
    Output,
}

/// Along one axis, first cut or filled with zeros to `length`.
fn along(x: &Complexes, axis: usize, length: usize, way: Way) -> Complexes {
    let mut shape = x.shape().to_vec();
    shape[axis] = length;
    let mut y = Complexes::zeros(IxDyn(&shape));
    let kept = length.min(x.shape()[axis]);
    y.slice_axis_mut(Axis(axis), Slice::from(0..kept))
        .assign(&x.slice_axis(Axis(axis), Slice::from(0..kept)));
    let mut planner = FftPlanner::new();
    let plan = match way {
        Way::Forward => planner.plan_fft_forward(length),
        Way::Inverse => planner.plan_fft_inverse(length),
    };
    for mut lane in y.lanes_mut(Axis(axis)) {
        let mut line: Vec<Complex64> = lane.iter().copied().collect();
        plan.process(&mut line);
        let scale = match way {
            Way::Forward => 1.0,
            Way::Inverse => 1.0 / length as f64,
        };
        lane.iter_mut()
            .zip(line)
            .for_each(|(to, from)| *to = from * scale);
    }
    y
}

/// The other half of a spectrum whose transform is real, from the half that is given.
fn whole_spectrum(x: &Complexes, axis: usize, length: usize) -> Complexes {
    let mut shape = x.shape().to_vec();
    shape[axis] = length;
    let half = x.shape()[axis];
    ArrayD::from_shape_fn(IxDyn(&shape), |mut at| {
        let place = at[axis];
        let mirrored = place > length / 2;
        at[axis] = if mirrored { length - place } else { place };
        match at[axis] < half {
            true if mirrored => x[&at].conj(),
            // What has no mirror image is taken to be real.
            true if place == 0 || 2 * place == length => Complex64::new(x[&at].re, 0.0),
            true => x[&at],
            false => Complex64::new(0.0, 0.0),
        }
    })
}

/// Over the axes that a call names, `lengths` along each.
fn transformed(call: &Call<'_>, axes: &[usize], lengths: Option<Vec<i64>>, way: Way, real: Real) -> Result1 {
    // MLX's only complex type holds single precision, so that is what a transform of float64 yields too.
    let x = call.array("x")?;
    let mut y = match real {
        // What is transformed as real has no imaginary part, whatever its type.
        Real::Input => x.to_complexes().mapv(|it| Complex64::new(it.re, 0.0)),
        Real::Neither | Real::Output => x.to_complexes(),
    };
    let Some(last) = axes.last().copied() else {
        return Err(call.not_covered("no axes"));
    };
    let length_of = |place: usize, axis: usize| match &lengths {
        Some(lengths) => lengths[place] as usize,
        None if real == Real::Output && axis == last => 2 * (x.shape()[axis] - 1),
        None => x.shape()[axis],
    };
    for (place, axis) in axes.iter().enumerate().rev() {
        // A real output's last axis is the last to be transformed, from half a spectrum.
        if real == Real::Output && place + 1 == axes.len() {
            continue;
        }
        y = along(&y, *axis, length_of(place, *axis), way);
        if real == Real::Input && *axis == last {
            let half = y.shape()[*axis] / 2 + 1;
            y = y.slice_axis(Axis(*axis), Slice::from(0..half)).to_owned();
        }
    }
    if real != Real::Output {
        return Ok(vec![Tensor::complexes(y)]);
    }
    let length = length_of(axes.len() - 1, last);
    let y = along(&whole_spectrum(&y, last, length), last, length, way);
    Ok(vec![Tensor::floats(DType::Float32, y.mapv(|it| it.re))])
}

/// Along one axis.
pub(super) fn one(call: &Call<'_>, way: Way, real: Real) -> Result1 {
    let rank = call.array("x")?.shape().len();
    let axis = call.axis(call.int("axis").unwrap_or(-1), rank)?;
    transformed(call, &[axis], call.int("n").map(|n| vec![n]), way, real)
}

/// Over several axes: the last two, or all, where none are named.
pub(super) fn several(call: &Call<'_>, two: bool, way: Way, real: Real) -> Result1 {
    let rank = call.array("x")?.shape().len();
    let lengths = call.ints("s").or_else(|| call.ints("lengths"));
    let axes: Vec<usize> = match (call.ints("axes"), &lengths) {
        (Some(axes), _) => axes
            .iter()
            .map(|it| call.axis(*it, rank))
            .collect::<Result<_, _>>()?,
        (None, Some(lengths)) => (rank - lengths.len()..rank).collect(),
        (None, None) if two => (rank.saturating_sub(2)..rank).collect(),
        (None, None) => (0..rank).collect(),
    };
    transformed(call, &axes, lengths, way, real)
}

/// Which frequencies a transform's results stand for.
pub(super) fn frequencies(call: &Call<'_>, half: bool) -> Result1 {
    let n = call.int("n").unwrap_or(0);
    let spacing = call.float("d").unwrap_or(1.0);
    let count = if half { n / 2 + 1 } else { n };
    let frequency = |place: i64| match half || place < (n + 1) / 2 {
        true => place,
        false => place - n,
    };
    let elements: Vec<f64> = (0..count)
        .map(|it| frequency(it) as f64 / (n as f64 * spacing))
        .collect();
    Ok(vec![Tensor::floats(
        DType::Float32,
        ndarray::arr1(&elements).into_dyn(),
    )])
}

/// Each axis turned by half its length, so that zero comes to the middle, or back.
pub(super) fn shifted(call: &Call<'_>, back: bool) -> Result1 {
    let x = call.array("x")?;
    let axes = call.axes(x.shape().len())?;
    let elements = each_kind!(&x.elements, it => {
        let mut it = it.clone();
        for axis in &axes {
            let length = it.shape()[*axis];
            let cut = if back { length / 2 } else { length - length / 2 };
            let (front, rear) = it.view().split_at(Axis(*axis), cut);
            it = concatenate(Axis(*axis), &[rear, front]).map_err(|_| NoReference::Program)?;
        }
        it.as_standard_layout().into_owned()
    });
    Ok(vec![Tensor {
        dtype: x.dtype,
        elements,
    }])
}
