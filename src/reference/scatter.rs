//! Arrays with elements of others written in, and those taken by arrays of places.

use super::call::{broadcast, Call};
use super::error::NoReference;
use super::shape::{indexed, take_from};
use super::tensor::{each_kind, Elements, Tensor};
use ndarray::{ArrayD, Axis, Dimension, IxDyn, Zip};
use num_complex::Complex64;
use std::ops::Mul;

type Result1 = Result<Vec<Tensor>, NoReference>;

/// How an element and what is written to its place become one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Replace,
    Add,
    Product,
    Max,
    Min,
}

impl Mode {
    fn of(call: &Call<'_>) -> Result<Self, NoReference> {
        match call.text("mode") {
            None | Some("replace") => Ok(Mode::Replace),
            Some("add") => Ok(Mode::Add),
            Some("product") => Ok(Mode::Product),
            Some("max") => Ok(Mode::Max),
            Some("min") => Ok(Mode::Min),
            Some(_) => Err(call.not_covered("this mode")),
        }
    }
}

/// Elements that an update can be combined with.
trait Combine: Copy {
    fn combine(self, new: Self, mode: Mode) -> Self;
}

impl Combine for bool {
    fn combine(self, new: bool, mode: Mode) -> bool {
        match mode {
            Mode::Replace => new,
            Mode::Add | Mode::Max => self | new,
            Mode::Product | Mode::Min => self & new,
        }
    }
}

impl Combine for i64 {
    fn combine(self, new: i64, mode: Mode) -> i64 {
        match mode {
            Mode::Replace => new,
            Mode::Add => self.wrapping_add(new),
            Mode::Product => self.wrapping_mul(new),
            Mode::Max => self.max(new),
            Mode::Min => self.min(new),
        }
    }
}

impl Combine for f64 {
    fn combine(self, new: f64, mode: Mode) -> f64 {
        match mode {
            Mode::Replace => new,
            Mode::Add => self + new,
            Mode::Product => self.mul(new),
            Mode::Max => self.max(new),
            Mode::Min => self.min(new),
        }
    }
}

impl Combine for Complex64 {
    fn combine(self, new: Complex64, mode: Mode) -> Complex64 {
        match mode {
            Mode::Add => self + new,
            Mode::Product => self * new,
            // Complex numbers have no order; nobody asks.
            Mode::Replace | Mode::Max | Mode::Min => new,
        }
    }
}

/// Updates at places: `places` are those of the flattened array, one for each element of the update.
fn written(x: Tensor, places: &[usize], update: &Tensor, mode: Mode) -> Result1 {
    let update = update.cast(x.dtype)?;
    let dtype = x.dtype;
    fn write<A: Combine>(x: &mut ArrayD<A>, places: &[usize], update: &ArrayD<A>, mode: Mode) {
        let mut flat: Vec<&mut A> = x.iter_mut().collect();
        for (place, new) in places.iter().zip(update) {
            *flat[*place] = flat[*place].combine(*new, mode);
        }
    }
    let mut elements = x.elements;
    match (&mut elements, &update.elements) {
        (Elements::Bool(x), Elements::Bool(update)) => write(x, places, update, mode),
        (Elements::Int(x), Elements::Int(update)) => write(x, places, update, mode),
        (Elements::Float(x), Elements::Float(update)) => write(x, places, update, mode),
        (Elements::Complex(x), Elements::Complex(update)) if !matches!(mode, Mode::Max | Mode::Min) => {
            write(x, places, update, mode)
        }
        _ => return Err(NoReference::DType(dtype)),
    }
    Ok(vec![Tensor { dtype, elements }.rounded()])
}

/// An array in which each element is its own place.
fn places_of(x: &Tensor) -> Result<Tensor, NoReference> {
    let count: usize = x.shape().iter().product();
    let places = ArrayD::from_shape_vec(IxDyn(x.shape()), (0..count as i64).collect());
    Ok(Tensor::ints(
        crate::vocabulary::DType::Int64,
        places.map_err(|_| NoReference::Program)?,
    ))
}

/// An update stretched to the places that it is written to.
fn stretched(call: &Call<'_>, update: &Tensor, shape: &[usize]) -> Result<Tensor, NoReference> {
    let elements = each_kind!(&update.elements, it => {
        let mut it = it.clone();
        // Leading axes of one that the selection does not have.
        while it.ndim() > shape.len() && it.shape()[0] == 1 {
            it = it.index_axis_move(Axis(0), 0);
        }
        it.broadcast(IxDyn(shape)).ok_or_else(|| call.not_covered("this update's shape"))?.to_owned()
    });
    Ok(Tensor {
        dtype: update.dtype,
        elements,
    })
}

fn write_at(call: &Call<'_>, selection: &Tensor, update: &str, mode: Mode) -> Result1 {
    let x = call.array("x")?;
    let update = stretched(call, &call.array(update)?, selection.shape())?;
    let places: Vec<usize> = selection.to_ints()?.iter().map(|it| *it as usize).collect();
    written(x, &places, &update, mode)
}

/// By places and ranges.
pub(super) fn by_index(call: &Call<'_>, update: &str) -> Result1 {
    let selection = indexed(call, &places_of(&call.array("x")?)?)?;
    write_at(call, &selection, update, Mode::of(call)?)
}

/// By an array of places along the first axis.
pub(super) fn by_array(call: &Call<'_>, update: &str) -> Result1 {
    let indices = call.array("indices")?;
    let selection = take_from(call, &places_of(&call.array("x")?)?, &indices, 0)?;
    write_at(call, &selection, update, Mode::of(call)?)
}

/// One update for each place of the indices along an axis, as slices with an axis of one there.
pub(super) fn single(call: &Call<'_>, mode: Mode) -> Result1 {
    let (x, indices) = (call.array("x")?, call.array("indices")?.to_ints()?);
    let updates = call.array("updates")?;
    let axis = call.axis(call.int("axis").unwrap_or(0), x.shape().len())?;
    let all = places_of(&x)?.to_ints()?;
    let mut places = Vec::new();
    let slice: usize = x.shape().iter().product::<usize>() / x.shape()[axis].max(1);
    let count: usize = updates.shape().iter().product();
    if count != indices.len() * slice {
        return Err(call.not_covered("updates that are not whole slices"));
    }
    for index in &indices {
        let at = call.axis(*index, x.shape()[axis])?;
        places.extend(all.index_axis(Axis(axis), at).iter().map(|it| *it as usize));
    }
    written(x, &places, &updates, mode)
}

/// Slices along an axis, from each place of the indices on.
pub(super) fn gather_single(call: &Call<'_>) -> Result1 {
    let (x, indices) = (call.array("x")?, call.array("indices")?.to_ints()?);
    let axis = call.axis(call.int("axis").unwrap_or(0), x.shape().len())?;
    let sizes: Vec<usize> = call
        .ints("slice_sizes")
        .unwrap_or_default()
        .iter()
        .map(|it| *it as usize)
        .collect();
    let mut shape = indices.shape().to_vec();
    shape.extend(&sizes);
    let lead = indices.ndim();
    let elements = each_kind!(&x.elements, it => ArrayD::from_shape_fn(IxDyn(&shape), |at| {
        let index: Vec<usize> = (0..lead).map(|axis| at[axis]).collect();
        let mut from: Vec<usize> = (lead..at.ndim()).map(|axis| at[axis]).collect();
        let start = indices[&index[..]];
        from[axis] += if start < 0 { (start + x.shape()[axis] as i64) as usize } else { start as usize };
        it[&from[..]]
    }));
    Ok(vec![Tensor {
        dtype: x.dtype,
        elements,
    }])
}

/// For each place of the indices, the value written that far along the axis.
pub(super) fn put_along_axis(call: &Call<'_>) -> Result1 {
    let (x, indices) = (call.array("x")?, call.array("indices")?.to_ints()?);
    let axis = match call.int("axis") {
        Some(axis) => call.axis(axis, x.shape().len())?,
        None => return Err(call.not_covered("the flattened array")),
    };
    let values = stretched(call, &call.array("values")?, indices.shape())?;
    let all = places_of(&x)?.to_ints()?;
    let mut places = Vec::new();
    for (at, index) in indices.indexed_iter() {
        let mut at = at;
        at[axis] = call.axis(*index, x.shape()[axis])?;
        places.push(
            *all.get(at)
                .ok_or_else(|| call.not_covered("indices that broadcast"))? as usize,
        );
    }
    written(x, &places, &values, Mode::Replace)
}

/// The next element of the source wherever the mask holds.
pub(super) fn masked_scatter(call: &Call<'_>) -> Result1 {
    let (x, mask, src) = (
        call.array("x")?,
        call.array("mask")?.to_bools(),
        call.array("src")?,
    );
    let mask = mask
        .broadcast(IxDyn(x.shape()))
        .ok_or_else(|| call.not_covered("this mask"))?
        .to_owned();
    let places: Vec<usize> = mask
        .iter()
        .enumerate()
        .filter(|(_, it)| **it)
        .map(|(place, _)| place)
        .collect();
    let count: usize = src.shape().iter().product();
    if count < places.len() {
        return Err(call.not_covered("a source with too few elements"));
    }
    written(x, &places, &src, Mode::Replace)
}

/// By an array of places along the first axis.
pub(super) fn getitem_array(call: &Call<'_>) -> Result1 {
    Ok(vec![take_from(
        call,
        &call.array("x")?,
        &call.array("indices")?,
        0,
    )?])
}

/// By two arrays of places, which broadcast, along the first two axes.
pub(super) fn getitem_arrays(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let (rows, columns) = (call.array("rows")?.to_ints()?, call.array("columns")?.to_ints()?);
    let (rows, columns) = broadcast(&rows, &columns)?;
    let width = x.shape()[1] as i64;
    let height = x.shape()[0] as i64;
    let from_front = |it: i64, extent: i64| if it < 0 { it + extent } else { it };
    let flat = Zip::from(&rows)
        .and(&columns)
        .map_collect(|row, column| from_front(*row, height) * width + from_front(*column, width));
    let mut shape = vec![(height * width) as usize];
    shape.extend(&x.shape()[2..]);
    let elements = each_kind!(&x.elements, it => {
        let all: Vec<_> = it.iter().copied().collect();
        ArrayD::from_shape_vec(IxDyn(&shape), all).map_err(|_| NoReference::Program)?
    });
    let x = Tensor {
        dtype: x.dtype,
        elements,
    };
    let indices = Tensor::ints(crate::vocabulary::DType::Int64, flat);
    Ok(vec![take_from(call, &x, &indices, 0)?])
}
