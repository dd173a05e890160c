//! Functions that look for, or go along, an order: sorting, the place of the largest, running sums.

use super::call::Call;
use super::error::NoReference;
use super::reduce::{folded, widened};
use super::tensor::{each_kind, Elements, Tensor};
use crate::vocabulary::DType;
use ndarray::{ArrayD, Axis, IxDyn};
use std::cmp::Ordering;

type Result1 = Result<Vec<Tensor>, NoReference>;

/// By value, NaN last.
fn by_value(a: &f64, b: &f64) -> Ordering {
    a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// Each line along an axis, changed in place.
fn along<A: Clone>(array: &mut ArrayD<A>, axis: usize, mut change: impl FnMut(&mut Vec<A>)) {
    for mut lane in array.lanes_mut(Axis(axis)) {
        let mut line: Vec<A> = lane.iter().cloned().collect();
        change(&mut line);
        for (place, element) in lane.iter_mut().zip(line) {
            *place = element;
        }
    }
}

/// The array with what it is ordered along: flattened, where no axis is given.
fn ordered(call: &Call<'_>) -> Result<(Tensor, usize), NoReference> {
    let mut x = call.array("x")?;
    if let Some(axis) = call.int("axis") {
        let axis = call.axis(axis, x.shape().len())?;
        return Ok((x, axis));
    }
    let count: usize = x.shape().iter().product();
    let flat = |_| call.not_covered("this shape");
    x.elements = each_kind!(x.elements, it => {
        let elements: Vec<_> = it.iter().copied().collect();
        ArrayD::from_shape_vec(IxDyn(&[count]), elements).map_err(flat)?
    });
    Ok((x, 0))
}

/// Ascending, NaN last.
pub(super) fn sort(call: &Call<'_>) -> Result1 {
    let (mut x, axis) = ordered(call)?;
    match &mut x.elements {
        Elements::Bool(it) => along(it, axis, |line| line.sort_unstable()),
        Elements::Int(it) => along(it, axis, |line| line.sort_unstable()),
        Elements::Float(it) => along(it, axis, |line| line.sort_by(by_value)),
        Elements::Complex(_) => return Err(NoReference::DType(x.dtype)),
    }
    Ok(vec![x])
}

/// The places in ascending order of their elements; equal elements stay in order.
pub(super) fn argsort(call: &Call<'_>) -> Result1 {
    let (x, axis) = ordered(call)?;
    let floats = x.to_floats()?;
    let mut places = floats.mapv(|_| 0i64);
    for (mut to, from) in places
        .lanes_mut(Axis(axis))
        .into_iter()
        .zip(floats.lanes(Axis(axis)))
    {
        let mut order: Vec<usize> = (0..from.len()).collect();
        order.sort_by(|a, b| by_value(&from[*a], &from[*b]));
        to.iter_mut()
            .zip(order)
            .for_each(|(to, place)| *to = place as i64);
    }
    Ok(vec![Tensor::ints(DType::Uint32, places)])
}

/// The place of the first largest, or smallest; of the first NaN, if there is one.
pub(super) fn arg_extreme(call: &Call<'_>, larger: bool) -> Result1 {
    let x = call.array("x")?;
    let rank = x.shape().len();
    let axes = match call.int("axis") {
        Some(axis) => vec![call.axis(axis, rank)?],
        None => (0..rank).collect(),
    };
    let keep = call.flag("keep_dims").unwrap_or(false);
    let beats = |a: f64, b: f64| !b.is_nan() && (a.is_nan() || if larger { a > b } else { a < b });
    let places = folded(&x.to_floats()?, &axes, keep, |line| {
        let mut best = 0;
        for (place, element) in line.iter().enumerate() {
            if beats(*element, line[best]) {
                best = place;
            }
        }
        best as i64
    });
    Ok(vec![Tensor::ints(DType::Uint32, places)])
}

/// Running sums and their kin: of the flattened array, where no axis is given.
pub(super) fn running(
    call: &Call<'_>,
    start: f64,
    int: fn(i64, i64) -> i64,
    real: fn(f64, f64) -> f64,
    keeps_type: bool,
) -> Result1 {
    let (x, axis) = ordered(call)?;
    let reverse = call.flag("reverse").unwrap_or(false);
    let inclusive = call.flag("inclusive").unwrap_or(true);
    if matches!(x.elements, Elements::Complex(_)) || (keeps_type && !inclusive) {
        return Err(call.not_covered("this form"));
    }
    fn run<A: Copy>(line: &mut [A], start: A, reverse: bool, inclusive: bool, f: impl Fn(A, A) -> A) {
        if reverse {
            line.reverse();
        }
        let mut total = None;
        for element in line.iter_mut() {
            let next = total.map_or(*element, |total| f(total, *element));
            *element = if inclusive { next } else { total.unwrap_or(start) };
            total = Some(next);
        }
        if reverse {
            line.reverse();
        }
    }
    Ok(vec![match x.elements {
        Elements::Float(mut it) => {
            along(&mut it, axis, |line| run(line, start, reverse, inclusive, real));
            Tensor::floats(x.dtype, it)
        }
        elements => {
            let dtype = match x.dtype {
                DType::Bool => widened(x.dtype),
                other => other,
            };
            let mut it = Tensor {
                dtype: x.dtype,
                elements,
            }
            .to_ints()?;
            along(&mut it, axis, |line| {
                run(line, start as i64, reverse, inclusive, int)
            });
            Tensor::ints(dtype, it)
        }
    }])
}
