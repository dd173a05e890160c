//! Arrays made from none, windows, diagonals, and what writes a pattern.

use super::call::Call;
use super::error::NoReference;
use super::shape::dtype;
use super::tensor::{each_kind, Tensor};
use crate::vocabulary::DType;
use ndarray::{arr1, ArrayD, Axis, IxDyn};
use std::f64::consts::PI;

type Result1 = Result<Vec<Tensor>, NoReference>;

pub(super) fn like(call: &Call<'_>, number: f64) -> Result1 {
    let x = call.array("x")?;
    let elements = ArrayD::from_elem(IxDyn(x.shape()), number);
    Ok(vec![Tensor::floats(DType::Float64, elements).cast(x.dtype)?])
}

pub(super) fn full_like(call: &Call<'_>) -> Result1 {
    let (x, values) = (call.array("x")?, call.array("values")?);
    let wanted = match call.written("dtype") {
        Some(_) => dtype(call)?,
        None => x.dtype,
    };
    let values = values.cast(wanted)?;
    let elements = each_kind!(&values.elements, it => {
        it.broadcast(IxDyn(x.shape())).ok_or_else(|| call.not_covered("these values"))?.to_owned()
    });
    Ok(vec![Tensor {
        dtype: wanted,
        elements,
    }])
}

/// Ones where a row's column is on or below a diagonal.
pub(super) fn tri(call: &Call<'_>) -> Result1 {
    let rows = call.int("n").unwrap_or(0);
    let (columns, k) = (call.int("m").unwrap_or(rows), call.int("k").unwrap_or(0));
    let on = |at: IxDyn| f64::from(u8::from(at[1] as i64 - at[0] as i64 <= k));
    let elements = ArrayD::from_shape_fn(IxDyn(&[rows as usize, columns as usize]), on);
    Ok(vec![Tensor::floats(DType::Float64, elements).cast(dtype(call)?)?])
}

pub(super) fn identity(call: &Call<'_>) -> Result1 {
    let n = call.int("n").unwrap_or(0) as usize;
    let elements = ArrayD::from_shape_fn(IxDyn(&[n, n]), |at| f64::from(u8::from(at[0] == at[1])));
    Ok(vec![Tensor::floats(DType::Float64, elements).cast(dtype(call)?)?])
}

pub(super) fn linspace(call: &Call<'_>) -> Result1 {
    let (start, stop) = (
        call.float("start").unwrap_or(0.0),
        call.float("stop").unwrap_or(0.0),
    );
    let count = call.int("count").unwrap_or(50);
    let steps = match call.flag("endpoint").unwrap_or(true) {
        true => count - 1,
        false => count,
    };
    let at = |place: i64| match steps {
        0 => start,
        _ => start + (stop - start) * place as f64 / steps as f64,
    };
    let elements: Vec<f64> = (0..count).map(at).collect();
    Ok(vec![
        Tensor::floats(DType::Float64, arr1(&elements).into_dyn()).cast(dtype(call)?)?
    ])
}

/// Each element so many times: of the flattened array, where no axis is given.
pub(super) fn repeat(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let count = call.int("count").unwrap_or(1) as usize;
    let axis = call
        .int("axis")
        .map(|axis| call.axis(axis, x.shape().len()))
        .transpose()?;
    let elements = each_kind!(&x.elements, it => {
        let (it, axis) = match axis {
            Some(axis) => (it.clone(), axis),
            None => {
                let flat: Vec<_> = it.iter().copied().collect();
                (arr1(&flat).into_dyn(), 0)
            }
        };
        let places: Vec<usize> = (0..it.shape()[axis]).flat_map(|place| vec![place; count]).collect();
        it.select(Axis(axis), &places)
    });
    Ok(vec![Tensor {
        dtype: x.dtype,
        elements,
    }])
}

/// A vector on a diagonal, or a matrix's diagonal.
pub(super) fn diag(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let k = call.int("k").unwrap_or(0);
    if x.shape().len() == 2 {
        return on_diagonal(call, k, 0, 1);
    }
    if x.shape().len() != 1 {
        return Err(call.not_covered("anything but one axis or two"));
    }
    let size = x.shape()[0] + k.unsigned_abs() as usize;
    let elements = each_kind!(&x.elements, it => {
        ArrayD::from_shape_fn(IxDyn(&[size, size]), |at| {
            let on = at[1] as i64 - at[0] as i64 == k;
            if on { it[[at[0].min(at[1])].as_ref()] } else { Default::default() }
        })
    });
    Ok(vec![Tensor {
        dtype: x.dtype,
        elements,
    }])
}

fn on_diagonal(call: &Call<'_>, offset: i64, axis1: i64, axis2: i64) -> Result1 {
    let x = call.array("x")?;
    let rank = x.shape().len();
    let (rows, columns) = (call.axis(axis1, rank)?, call.axis(axis2, rank)?);
    let (down, right) = ((-offset).max(0) as usize, offset.max(0) as usize);
    let length = (x.shape()[rows].saturating_sub(down)).min(x.shape()[columns].saturating_sub(right));
    let rest: Vec<usize> = (0..rank)
        .filter(|axis| *axis != rows && *axis != columns)
        .collect();
    let mut shape: Vec<usize> = rest.iter().map(|axis| x.shape()[*axis]).collect();
    shape.push(length);
    let elements = each_kind!(&x.elements, it => ArrayD::from_shape_fn(IxDyn(&shape), |at| {
        let mut from = vec![0; rank];
        rest.iter().enumerate().for_each(|(place, axis)| from[*axis] = at[place]);
        from[rows] = at[rest.len()] + down;
        from[columns] = at[rest.len()] + right;
        it[&from[..]]
    }));
    Ok(vec![Tensor {
        dtype: x.dtype,
        elements,
    }])
}

pub(super) fn diagonal(call: &Call<'_>) -> Result1 {
    let (axis1, axis2) = (call.int("axis1").unwrap_or(0), call.int("axis2").unwrap_or(1));
    on_diagonal(call, call.int("offset").unwrap_or(0), axis1, axis2)
}

/// The sum of a diagonal, in the array's own type unless another is asked for.
pub(super) fn trace(call: &Call<'_>) -> Result1 {
    let wanted = match call.written("dtype") {
        Some(_) => Some(dtype(call)?),
        None => None,
    };
    let line = diagonal(call)?.remove(0);
    let last = line.shape().len() - 1;
    let of = wanted.unwrap_or(line.dtype);
    let line = line.cast(of)?;
    let sums = match of.kind() {
        crate::vocabulary::Kind::Complex => Tensor::complexes(line.to_complexes().sum_axis(Axis(last))),
        crate::vocabulary::Kind::Float => Tensor::floats(of, line.to_floats()?.sum_axis(Axis(last))),
        crate::vocabulary::Kind::Int => Tensor::ints(of, line.to_ints()?.sum_axis(Axis(last))),
        crate::vocabulary::Kind::Bool => Tensor::ints(DType::Int32, line.to_ints()?.sum_axis(Axis(last))),
    };
    Ok(vec![sums])
}

/// A window, as a sum of cosines of whole turns.
pub(super) fn cosines(call: &Call<'_>, weights: &[f64]) -> Result1 {
    window(call, |share| {
        let terms = weights.iter().enumerate();
        terms
            .map(|(turns, weight)| weight * (2.0 * PI * turns as f64 * share).cos())
            .sum()
    })
}

pub(super) fn bartlett(call: &Call<'_>) -> Result1 {
    window(call, |share| 1.0 - (2.0 * share - 1.0).abs())
}

fn window(call: &Call<'_>, at: impl Fn(f64) -> f64) -> Result1 {
    let size = call.int("size").unwrap_or(0);
    let elements: Vec<f64> = (0..size)
        .map(|place| match size {
            1 => 1.0,
            _ => at(place as f64 / (size - 1) as f64),
        })
        .collect();
    Ok(vec![Tensor::floats(DType::Float32, arr1(&elements).into_dyn())])
}

/// 0 where a place sees another, a number far below elsewhere.
pub(super) fn causal_mask(call: &Call<'_>) -> Result1 {
    let n = call.int("n").unwrap_or(0) as usize;
    let elements = ArrayD::from_shape_fn(IxDyn(&[n, n]), |at| {
        if at[1] > at[0] {
            -f64::from(f32::MAX)
        } else {
            0.0
        }
    });
    Ok(vec![Tensor::floats(DType::Float32, elements)])
}

/// Sums and differences along the last axis by Sylvester's construction, over the root of its length.
pub(super) fn hadamard(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let elements = x.to_complexes();
    let last = elements
        .ndim()
        .checked_sub(1)
        .ok_or_else(|| call.not_covered("a scalar"))?;
    let length = elements.shape()[last];
    if !length.is_power_of_two() {
        return Err(call.not_covered("lengths other than powers of two"));
    }
    let scale = call
        .float("scale")
        .map_or(1.0 / (length as f64).sqrt(), |it| f64::from(it as f32));
    let y = ArrayD::from_shape_fn(elements.raw_dim(), |at| {
        let row = at[last];
        let mut from = at.clone();
        let terms = (0..length).map(|column| {
            from[last] = column;
            let sign = if (row & column).count_ones() % 2 == 0 {
                1.0
            } else {
                -1.0
            };
            elements[&from] * sign
        });
        terms.sum::<num_complex::Complex64>() * scale
    });
    Ok(vec![match super::promote::fractional(x.dtype) {
        DType::Complex64 => Tensor::complexes(y),
        dtype => Tensor::floats(dtype, y.mapv(|it| it.re)),
    }])
}
