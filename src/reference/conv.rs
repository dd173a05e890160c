//! Convolutions over arrays with their channels last, in any number of axes.

use super::call::Call;
use super::error::NoReference;
use super::promote::{fractional, promoted};
use super::tensor::{Floats, Tensor};
use crate::vocabulary::DType;
use ndarray::{ArrayD, IxDyn};

type Result1 = Result<Vec<Tensor>, NoReference>;

/// How the kernel goes over the input; one number for each axis of space.
pub(super) struct Walk {
    stride: Vec<usize>,
    before: Vec<i64>,
    after: Vec<i64>,
    dilation: Vec<usize>,
    /// Zeros between the input's elements, plus one.
    spread: Vec<usize>,
    groups: usize,
    flip: bool,
}

/// One number for all axes, or one for each.
fn each(call: &Call<'_>, name: &str, axes: usize, default: i64) -> Vec<i64> {
    match call.ints(name) {
        None => vec![default; axes],
        Some(given) if given.len() == 1 => vec![given[0]; axes],
        Some(given) => given,
    }
}

fn sizes(numbers: Vec<i64>) -> Vec<usize> {
    numbers.into_iter().map(|it| it as usize).collect()
}

/// Sums of products of the kernel with what it covers, at each place of it.
pub(super) fn convolved(x: &Floats, weight: &Floats, walk: &Walk) -> Floats {
    let axes = x.ndim() - 2;
    let (outputs, depth) = (weight.shape()[0], weight.shape()[axes + 1]);
    let kernel = &weight.shape()[1..=axes];
    let mut shape = vec![x.shape()[0]];
    for (axis, width) in kernel.iter().enumerate() {
        let long = (x.shape()[axis + 1] as i64 - 1) * walk.spread[axis] as i64 + 1;
        let reach = ((width - 1) * walk.dilation[axis] + 1) as i64;
        let room = long + walk.before[axis] + walk.after[axis] - reach;
        shape.push((room / walk.stride[axis] as i64 + 1).max(0) as usize);
    }
    shape.push(outputs);
    let per_group = outputs / walk.groups;
    ArrayD::from_shape_fn(IxDyn(&shape), |at| {
        let output = at[axes + 1];
        let group = output / per_group;
        let mut total = 0.0;
        'places: for place in ndarray::indices(kernel) {
            let mut from = vec![at[0]];
            for axis in 0..axes {
                let reached = at[axis + 1] as i64 * walk.stride[axis] as i64 - walk.before[axis]
                    + (place[axis] * walk.dilation[axis]) as i64;
                let spread = walk.spread[axis] as i64;
                if reached < 0 || reached % spread != 0 || reached / spread >= x.shape()[axis + 1] as i64 {
                    continue 'places;
                }
                from.push((reached / spread) as usize);
            }
            let mut tap = vec![output];
            tap.extend((0..axes).map(|axis| match walk.flip {
                true => kernel[axis] - 1 - place[axis],
                false => place[axis],
            }));
            for channel in 0..depth {
                from.push(group * depth + channel);
                tap.push(channel);
                total += x[&from[..]] * weight[&tap[..]];
                from.pop();
                tap.pop();
            }
        }
        total
    })
}

/// Input and weight convolved, and the element type that comes of it.
fn made(
    call: &Call<'_>,
    x: Tensor,
    weight: Tensor,
    walk: impl Fn(usize, &[usize]) -> Walk,
) -> Result<(DType, Floats), NoReference> {
    let dtype = fractional(promoted(x.dtype, weight.dtype));
    let (x, weight) = (x.to_floats()?, weight.to_floats()?);
    let axes = x
        .ndim()
        .checked_sub(2)
        .ok_or_else(|| call.not_covered("fewer than two axes"))?;
    let walk = walk(axes, &weight.shape()[1..=axes]);
    Ok((dtype, convolved(&x, &weight, &walk)))
}

/// A convolution of two operands.
fn of_operands(call: &Call<'_>, walk: impl Fn(usize, &[usize]) -> Walk) -> Result1 {
    let (dtype, y) = made(call, call.array("x")?, call.array("weight")?, walk)?;
    Ok(vec![Tensor::floats(dtype, y)])
}

/// The walk of a plain convolution.
pub(super) fn plain_walk(call: &Call<'_>, axes: usize) -> Walk {
    let padding = each(call, "padding", axes, 0);
    Walk {
        stride: sizes(each(call, "stride", axes, 1)),
        before: padding.clone(),
        after: padding,
        dilation: sizes(each(call, "dilation", axes, 1)),
        spread: vec![1; axes],
        groups: call.int("groups").unwrap_or(1) as usize,
        flip: false,
    }
}

pub(super) fn plain(call: &Call<'_>) -> Result1 {
    of_operands(call, |axes, _| plain_walk(call, axes))
}

pub(super) fn general(call: &Call<'_>) -> Result1 {
    of_operands(call, |axes, _| {
        let padding = each(call, "padding", axes, 0);
        Walk {
            stride: sizes(each(call, "strides", axes, 1)),
            before: padding.clone(),
            after: padding,
            dilation: sizes(each(call, "kernel_dilation", axes, 1)),
            spread: sizes(each(call, "input_dilation", axes, 1)),
            groups: call.int("groups").unwrap_or(1) as usize,
            flip: call.flag("flip").unwrap_or(false),
        }
    })
}

/// The walk of a transposed convolution: the input spread by the stride, the kernel turned round.
pub(super) fn transposed_walk(call: &Call<'_>, axes: usize, kernel: &[usize]) -> Walk {
    let padding = each(call, "padding", axes, 0);
    let dilation = sizes(each(call, "dilation", axes, 1));
    let extra = each(call, "output_padding", axes, 0);
    let before: Vec<i64> = (0..axes)
        .map(|axis| (dilation[axis] * (kernel[axis] - 1)) as i64 - padding[axis])
        .collect();
    Walk {
        stride: vec![1; axes],
        after: before
            .iter()
            .zip(&extra)
            .map(|(before, extra)| before + extra)
            .collect(),
        before,
        dilation,
        spread: sizes(each(call, "stride", axes, 1)),
        groups: call.int("groups").unwrap_or(1) as usize,
        flip: true,
    }
}

pub(super) fn transposed(call: &Call<'_>) -> Result1 {
    of_operands(call, |axes, kernel| transposed_walk(call, axes, kernel))
}

/// A layer of convolution, with a bias if it was built with one.
pub(super) fn layer(call: &Call<'_>, transposed: bool) -> Result1 {
    let (dtype, mut y) = made(
        call,
        call.array("x")?,
        call.parameter("weight")?,
        |axes, kernel| match transposed {
            true => transposed_walk(call, axes, kernel),
            false => plain_walk(call, axes),
        },
    )?;
    if let Some(bias) = call.maybe_parameter("bias")? {
        y = y + bias.to_floats()?;
    }
    Ok(vec![Tensor::floats(dtype, y)])
}
