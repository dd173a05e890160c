//! Functions that move elements, or write them: no arithmetic, so not one bit may change.

use super::call::Call;
use super::error::NoReference;
use super::promote::promoted;
use super::tensor::{each_kind, Elements, Tensor};
use crate::case::index::{self, Index};
use crate::vocabulary::DType;
use ndarray::{concatenate, stack, ArrayD, ArrayViewD, Axis, IxDyn, Slice};

type Result1 = Result<Vec<Tensor>, NoReference>;

fn with(dtype: DType, elements: Elements) -> Result1 {
    Ok(vec![Tensor { dtype, elements }])
}

/// The elements in row-major order under another shape.
fn reshaped<A: Clone>(array: &ArrayD<A>, shape: &[usize]) -> Result<ArrayD<A>, NoReference> {
    let elements: Vec<A> = array.iter().cloned().collect();
    ArrayD::from_shape_vec(IxDyn(shape), elements).map_err(|_| NoReference::Program)
}

fn with_shape(x: &Tensor, shape: &[usize]) -> Result1 {
    with(x.dtype, each_kind!(&x.elements, it => reshaped(it, shape)?))
}

/// Under the shape given, in which one extent may be -1.
pub(super) fn reshape(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let wanted = shape_of(call, "shape", true)?;
    let elements: usize = x.shape().iter().product();
    let known: usize = wanted
        .iter()
        .filter(|it| **it >= 0)
        .map(|it| *it as usize)
        .product();
    let extent = |it: &i64| {
        if *it < 0 {
            elements / known.max(1)
        } else {
            *it as usize
        }
    };
    let shape: Vec<usize> = wanted.iter().map(extent).collect();
    with_shape(&x, &shape)
}

/// Axes `start_axis` to `end_axis` as one.
pub(super) fn flatten(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let rank = x.shape().len();
    if rank == 0 {
        return with_shape(&x, &[1]);
    }
    let start = call.axis(call.int("start_axis").unwrap_or(0), rank)?;
    let end = call.axis(call.int("end_axis").unwrap_or(-1), rank)?;
    let mut shape = x.shape()[..start].to_vec();
    shape.push(x.shape()[start..=end].iter().product());
    shape.extend(&x.shape()[end + 1..]);
    with_shape(&x, &shape)
}

/// With axes of one at the places given, counted in the result.
pub(super) fn expand_dims(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let axes = call
        .ints("axes")
        .unwrap_or_else(|| vec![call.int("axis").unwrap_or(0)]);
    let rank = x.shape().len() + axes.len();
    let mut places: Vec<usize> = axes
        .iter()
        .map(|it| call.axis(*it, rank))
        .collect::<Result<_, _>>()?;
    places.sort_unstable();
    let mut shape = x.shape().to_vec();
    places.iter().for_each(|place| shape.insert(*place, 1));
    with_shape(&x, &shape)
}

/// Without the axes given: without all of one element, if none are.
pub(super) fn squeeze(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let rank = x.shape().len();
    let gone: Vec<usize> = match call.ints("axes") {
        Some(axes) => axes
            .iter()
            .map(|it| call.axis(*it, rank))
            .collect::<Result<_, _>>()?,
        None => (0..rank).filter(|axis| x.shape()[*axis] == 1).collect(),
    };
    let shape: Vec<usize> = (0..rank)
        .filter(|it| !gone.contains(it))
        .map(|it| x.shape()[it])
        .collect();
    with_shape(&x, &shape)
}

fn permuted(x: &Tensor, order: &[usize]) -> Result1 {
    let elements = each_kind!(&x.elements, it => {
        it.view().permuted_axes(IxDyn(order)).as_standard_layout().into_owned()
    });
    with(x.dtype, elements)
}

/// The axes in the order given, or reversed.
pub(super) fn transpose(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let rank = x.shape().len();
    let order: Vec<usize> = match call.ints("axes") {
        Some(axes) => axes
            .iter()
            .map(|it| call.axis(*it, rank))
            .collect::<Result<_, _>>()?,
        None => (0..rank).rev().collect(),
    };
    permuted(&x, &order)
}

/// One axis at another place, the rest in order.
pub(super) fn move_axis(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let rank = x.shape().len();
    let place = |name| call.axis(call.int(name).unwrap_or(0), rank);
    let (from, to) = (place("src")?, place("dst")?);
    let mut order: Vec<usize> = (0..rank).filter(|axis| *axis != from).collect();
    order.insert(to, from);
    permuted(&x, &order)
}

/// Two axes in each other's place.
pub(super) fn swap_axes(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let rank = x.shape().len();
    let place = |name| call.axis(call.int(name).unwrap_or(0), rank);
    let mut order: Vec<usize> = (0..rank).collect();
    order.swap(place("axis1")?, place("axis2")?);
    permuted(&x, &order)
}

/// Repeated along axes of one, and along new ones in front.
pub(super) fn broadcast_to(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let shape: Vec<usize> = shape_of(call, "shape", false)?
        .iter()
        .map(|it| *it as usize)
        .collect();
    let elements = each_kind!(&x.elements, it => {
        it.broadcast(shape.clone()).ok_or_else(|| call.not_covered("this shape"))?.to_owned()
    });
    with(x.dtype, elements)
}

/// The array so many times along each axis.
pub(super) fn tile(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let reps = call.ints("reps").unwrap_or_default();
    let rank = reps.len().max(x.shape().len());
    let mut shape = vec![1; rank - x.shape().len()];
    shape.extend(x.shape());
    let mut times = vec![1; rank - reps.len()];
    times.extend(reps.iter().map(|it| *it as usize));
    let elements = each_kind!(&x.elements, it => {
        let mut tiled = reshaped(it, &shape)?;
        for (axis, times) in times.iter().enumerate() {
            let copies: Vec<ArrayViewD<'_, _>> = (0..*times).map(|_| tiled.view()).collect();
            tiled = concatenate(Axis(axis), &copies).map_err(|_| call.not_covered("no repetition"))?;
        }
        tiled
    });
    with(x.dtype, elements)
}

/// The arrays of a list in their common type.
fn alike(call: &Call<'_>) -> Result<(DType, Vec<Tensor>), NoReference> {
    let arrays = call.arrays("arrays")?;
    let dtype = arrays
        .iter()
        .map(|it| it.dtype)
        .reduce(promoted)
        .ok_or_else(|| call.not_covered("no arrays"))?;
    let arrays = arrays.iter().map(|it| it.cast(dtype)).collect::<Result<_, _>>()?;
    Ok((dtype, arrays))
}

/// Joins all arrays of one kind.
macro_rules! joined {
    ($call:expr, $arrays:expr, $join:ident, $axis:expr) => {{
        macro_rules! of_kind {
            ($kind:ident) => {{
                let views: Option<Vec<_>> = $arrays
                    .iter()
                    .map(|it| match &it.elements {
                        Elements::$kind(it) => Some(it.view()),
                        _ => None,
                    })
                    .collect();
                let views = views.ok_or(NoReference::Program)?;
                let joined = $join(Axis($axis), &views).map_err(|_| $call.not_covered("these shapes"))?;
                Elements::$kind(joined.as_standard_layout().into_owned())
            }};
        }
        match &$arrays[0].elements {
            Elements::Bool(_) => of_kind!(Bool),
            Elements::Int(_) => of_kind!(Int),
            Elements::Float(_) => of_kind!(Float),
            Elements::Complex(_) => of_kind!(Complex),
        }
    }};
}

/// The arrays one behind another along an axis.
pub(super) fn concatenated(call: &Call<'_>) -> Result1 {
    let (dtype, arrays) = alike(call)?;
    let axis = call.axis(call.int("axis").unwrap_or(0), arrays[0].shape().len())?;
    with(dtype, joined!(call, arrays, concatenate, axis))
}

/// The arrays along a new axis.
pub(super) fn stacked(call: &Call<'_>) -> Result1 {
    let (dtype, arrays) = alike(call)?;
    let axis = call.axis(call.int("axis").unwrap_or(0), arrays[0].shape().len() + 1)?;
    with(dtype, joined!(call, arrays, stack, axis))
}

/// So many equal parts along an axis.
pub(super) fn split(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let axis = call.axis(call.int("axis").unwrap_or(0), x.shape().len())?;
    let parts = call.int("num_parts").unwrap_or(1).max(1) as usize;
    let width = x.shape()[axis] / parts;
    (0..parts)
        .map(|part| {
            let range = Slice::from(part * width..(part + 1) * width);
            let elements = each_kind!(&x.elements, it => it.slice_axis(Axis(axis), range).to_owned());
            Ok(Tensor {
                dtype: x.dtype,
                elements,
            })
        })
        .collect()
}

/// The lower, or upper, triangle of the last two axes; zeros elsewhere.
pub(super) fn triangle(call: &Call<'_>, lower: bool) -> Result1 {
    let x = call.array("x")?;
    let k = call.int("k").unwrap_or(0);
    let rank = x.shape().len();
    if rank < 2 {
        return Err(call.not_covered("fewer than two axes"));
    }
    let inside = |place: &IxDyn| {
        let above = place[rank - 1] as i64 - place[rank - 2] as i64;
        if lower {
            above <= k
        } else {
            above >= k
        }
    };
    let elements = each_kind!(x.elements, it => {
        let mut it = it;
        for (place, element) in it.indexed_iter_mut() {
            if !inside(&place) {
                *element = Default::default();
            }
        }
        it
    });
    with(x.dtype, elements)
}

/// By places and ranges, one an axis.
pub(super) fn getitem(call: &Call<'_>) -> Result1 {
    Ok(vec![indexed(call, &call.array("x")?)?])
}

/// What a call's index selects of an array.
pub(super) fn indexed(call: &Call<'_>, x: &Tensor) -> Result<Tensor, NoReference> {
    let parts = call.written("index").and_then(index::parse);
    let mut parts = parts.ok_or_else(|| call.not_covered("this index"))?;
    let spoken = parts
        .iter()
        .filter(|it| matches!(it, Index::At(_) | Index::Range { .. }))
        .count();
    let rest = x.shape().len().saturating_sub(spoken);
    let whole = Index::Range {
        start: None,
        stop: None,
        step: 1,
    };
    let gap = parts.iter().position(|it| *it == Index::Ellipsis);
    let gap = gap.unwrap_or(parts.len());
    parts.splice(gap..(gap + 1).min(parts.len()), vec![whole; rest]);
    let elements = each_kind!(&x.elements, it => {
        let mut view = it.view();
        let mut axis = 0;
        for part in &parts {
            match *part {
                Index::At(place) => {
                    let place = call.axis(i64::from(place), view.shape()[axis])?;
                    view = view.index_axis_move(Axis(axis), place);
                }
                Index::Range { start, stop, step } => {
                    let slice = range(start, stop, step, view.shape()[axis]);
                    view.slice_axis_inplace(Axis(axis), slice);
                    axis += 1;
                }
                Index::NewAxis => {
                    view = view.insert_axis(Axis(axis));
                    axis += 1;
                }
                Index::Ellipsis => return Err(call.not_covered("two ellipses")),
            }
        }
        view.as_standard_layout().into_owned()
    });
    Ok(Tensor {
        dtype: x.dtype,
        elements,
    })
}

/// A range as Python reads it, for an axis of this extent. ndarray takes the same range for a negative step from
/// the other side.
fn range(start: Option<i32>, stop: Option<i32>, step: i32, extent: usize) -> Slice {
    let extent = extent as isize;
    let from_front = |place: i32| {
        if place < 0 {
            place as isize + extent
        } else {
            place as isize
        }
    };
    let (low, high) = if step > 0 {
        (
            start.map_or(0, from_front).clamp(0, extent),
            stop.map_or(extent, from_front).clamp(0, extent),
        )
    } else {
        (
            stop.map_or(0, |it| from_front(it) + 1).clamp(0, extent),
            start.map_or(extent, |it| from_front(it) + 1).clamp(0, extent),
        )
    };
    Slice::new(low, Some(high.max(low)), step as isize)
}

/// The slices at the places given: of the flattened array, where no axis is given.
pub(super) fn take(call: &Call<'_>) -> Result1 {
    let (mut x, indices) = (call.array("x")?, call.array("indices")?);
    let axis = match call.int("axis") {
        Some(axis) => call.axis(axis, x.shape().len())?,
        None => {
            let count = x.shape().iter().product();
            x = with_shape(&x, &[count])?.remove(0);
            0
        }
    };
    Ok(vec![take_from(call, &x, &indices, axis)?])
}

/// The slices of an array at the places of another along an axis.
pub(super) fn take_from(
    call: &Call<'_>,
    x: &Tensor,
    indices: &Tensor,
    axis: usize,
) -> Result<Tensor, NoReference> {
    let extent = x.shape()[axis];
    let places = indices.to_ints()?;
    let flat: Vec<usize> = places
        .iter()
        .map(|it| call.axis(*it, extent))
        .collect::<Result<_, _>>()?;
    let mut shape = x.shape()[..axis].to_vec();
    shape.extend(places.shape());
    shape.extend(&x.shape()[axis + 1..]);
    let elements = each_kind!(&x.elements, it => reshaped(&it.select(Axis(axis), &flat), &shape)?);
    Ok(Tensor {
        dtype: x.dtype,
        elements,
    })
}

/// For each place of the indices, the element that far along the axis.
pub(super) fn take_along_axis(call: &Call<'_>) -> Result1 {
    let (x, indices) = (call.array("x")?, call.array("indices")?.to_ints()?);
    let axis = call.axis(call.int("axis").unwrap_or(-1), x.shape().len())?;
    let extent = x.shape()[axis];
    let mut places = Vec::with_capacity(indices.len());
    for (place, along) in indices.indexed_iter() {
        let mut place = place;
        place[axis] = call.axis(*along, extent)?;
        places.push(place);
    }
    let elements = each_kind!(&x.elements, it => {
        let taken: Option<Vec<_>> = places.iter().map(|place| it.get(place.clone()).copied()).collect();
        let taken = taken.ok_or_else(|| call.not_covered("indices that broadcast"))?;
        ArrayD::from_shape_vec(indices.raw_dim(), taken).map_err(|_| NoReference::Program)?
    });
    with(x.dtype, elements)
}

/// As another type.
pub(super) fn as_dtype(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    Ok(vec![x.cast(dtype(call)?)?])
}

pub(super) fn dtype(call: &Call<'_>) -> Result<DType, NoReference> {
    match call.written("dtype") {
        None => Ok(DType::Float32),
        Some(value) => value
            .as_text()
            .and_then(DType::named)
            .ok_or_else(|| call.not_covered("this element type")),
    }
}

/// From start to stop, which is left out; whole numbers for integers, so that no step is lost beyond 2^53.
pub(super) fn arange(call: &Call<'_>) -> Result1 {
    let number = |name, default| call.float(name).unwrap_or(default);
    let (start, step) = (number("start", 0.0), number("step", 1.0));
    let count = ((number("stop", 0.0) - start) / step).ceil().max(0.0) as usize;
    let elements = ArrayD::from_shape_fn(IxDyn(&[count]), |place| start + step * place[0] as f64);
    Ok(vec![Tensor::floats(DType::Float64, elements).cast(dtype(call)?)?])
}

/// The same number everywhere.
pub(super) fn filled(call: &Call<'_>, number: f64) -> Result1 {
    let shape: Vec<usize> = shape_of(call, "shape", false)?
        .iter()
        .map(|it| *it as usize)
        .collect();
    let elements = ArrayD::from_elem(IxDyn(&shape), number);
    Ok(vec![Tensor::floats(DType::Float64, elements).cast(dtype(call)?)?])
}

/// The given value everywhere.
pub(super) fn full(call: &Call<'_>) -> Result1 {
    let shape: Vec<usize> = shape_of(call, "shape", false)?
        .iter()
        .map(|it| *it as usize)
        .collect();
    let values = call.array("values")?.cast(dtype(call)?)?;
    let elements = each_kind!(&values.elements, it => {
        it.broadcast(shape.clone()).ok_or_else(|| call.not_covered("these values"))?.to_owned()
    });
    with(values.dtype, elements)
}

/// Ones on a diagonal, zeros elsewhere.
pub(super) fn eye(call: &Call<'_>) -> Result1 {
    let rows = call.int("n").unwrap_or(0);
    let (columns, k) = (call.int("m").unwrap_or(rows), call.int("k").unwrap_or(0));
    let on = |place: IxDyn| f64::from(u8::from(place[1] as i64 - place[0] as i64 == k));
    let elements = ArrayD::from_shape_fn(IxDyn(&[rows as usize, columns as usize]), on);
    Ok(vec![Tensor::floats(DType::Float64, elements).cast(dtype(call)?)?])
}

/// A shape argument; -1 only where it stands for what is left.
fn shape_of(call: &Call<'_>, name: &str, open: bool) -> Result<Vec<i64>, NoReference> {
    call.ints(name)
        .filter(|shape| shape.iter().all(|it| *it >= if open { -1 } else { 0 }))
        .ok_or_else(|| call.not_covered("this shape"))
}

/// With at least so many axes: new ones before and behind, as NumPy has them.
pub(super) fn at_least(call: &Call<'_>, rank: usize) -> Result1 {
    let x = call.array("x")?;
    let shape = match (x.shape(), rank) {
        ([], _) => vec![1; rank],
        ([a], 2) => vec![1, *a],
        ([a], 3) => vec![1, *a, 1],
        ([a, b], 3) => vec![*a, *b, 1],
        (shape, _) => shape.to_vec(),
    };
    with_shape(&x, &shape)
}

/// All arrays under the shape that they broadcast to.
pub(super) fn broadcast_arrays(call: &Call<'_>) -> Result1 {
    let arrays = call.arrays("arrays")?;
    let shape = arrays
        .iter()
        .try_fold(Vec::new(), |shape, it| super::product::common(&shape, it.shape()));
    let shape = shape.ok_or_else(|| call.not_covered("these shapes"))?;
    let each = arrays.iter().map(|x| {
        let elements = each_kind!(&x.elements, it => {
            it.broadcast(shape.clone()).ok_or_else(|| call.not_covered("these shapes"))?.to_owned()
        });
        Ok(Tensor {
            dtype: x.dtype,
            elements,
        })
    });
    each.collect()
}

/// The flattened arrays one behind another.
pub(super) fn concatenated_flat(call: &Call<'_>) -> Result1 {
    let (dtype, arrays) = alike(call)?;
    let flat = |it: &Tensor| Ok(with_shape(it, &[it.shape().iter().product()])?.remove(0));
    let arrays: Vec<Tensor> = arrays.iter().map(flat).collect::<Result<_, NoReference>>()?;
    with(dtype, joined!(call, arrays, concatenate, 0))
}

/// Backwards along the axes given: along all, where none are.
pub(super) fn flip(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let axes = call.axes(x.shape().len())?;
    let elements = each_kind!(&x.elements, it => {
        let mut view = it.view();
        axes.iter().for_each(|axis| view.invert_axis(Axis(*axis)));
        view.as_standard_layout().into_owned()
    });
    with(x.dtype, elements)
}

/// One axis as several.
pub(super) fn unflatten(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let axis = call.axis(call.int("axis").unwrap_or(0), x.shape().len())?;
    let parts = shape_of(call, "shape", true)?;
    let known: i64 = parts.iter().filter(|it| **it >= 0).product();
    let mut shape = x.shape()[..axis].to_vec();
    shape.extend(parts.iter().map(|it| {
        if *it < 0 {
            x.shape()[axis] / known.max(1) as usize
        } else {
            *it as usize
        }
    }));
    shape.extend(&x.shape()[axis + 1..]);
    with_shape(&x, &shape)
}

/// Each slice along an axis.
pub(super) fn unstack(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let axis = call.axis(call.int("axis").unwrap_or(0), x.shape().len())?;
    let slice = |place: usize| Tensor {
        dtype: x.dtype,
        elements: each_kind!(&x.elements, it => it.index_axis(Axis(axis), place).to_owned()),
    };
    Ok((0..x.shape()[axis]).map(slice).collect())
}

/// Parts that begin at the places given.
pub(super) fn split_at_indices(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let axis = call.axis(call.int("axis").unwrap_or(0), x.shape().len())?;
    let extent = x.shape()[axis];
    let mut bounds = vec![0];
    for index in call.ints("indices").unwrap_or_default() {
        let index = if index < 0 { index + extent as i64 } else { index };
        bounds.push((index.max(0) as usize).min(extent));
    }
    bounds.push(extent);
    let part = |pair: &[usize]| Tensor {
        dtype: x.dtype,
        elements: each_kind!(&x.elements, it => {
            it.slice_axis(Axis(axis), Slice::from(pair[0]..pair[1].max(pair[0]))).to_owned()
        }),
    };
    Ok(bounds.windows(2).map(part).collect())
}

/// More elements before and behind each axis: one value, or the nearest of the array.
pub(super) fn pad(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let rank = x.shape().len();
    let pairs = call.written("width").and_then(|it| it.as_pairs());
    let pairs = match pairs.ok_or_else(|| call.not_covered("this width"))? {
        one if one.len() == 1 => vec![one[0]; rank],
        each if each.len() == rank => each,
        _ => return Err(call.not_covered("another number of widths than axes")),
    };
    let edge = call.text("mode") == Some("edge");
    let value = match call.maybe_array("value")? {
        Some(value) => value.cast(x.dtype)?,
        None => Tensor::ints(DType::Int32, ndarray::arr0(0).into_dyn()).cast(x.dtype)?,
    };
    let shape: Vec<usize> = (0..rank)
        .map(|axis| x.shape()[axis] + (pairs[axis][0] + pairs[axis][1]) as usize)
        .collect();
    macro_rules! padded {
        ($x:expr, $value:expr) => {{
            let value = $value
                .iter()
                .next()
                .copied()
                .ok_or_else(|| call.not_covered("no value"))?;
            ArrayD::from_shape_fn(IxDyn(&shape), |at| {
                let mut inside = true;
                let from: Vec<usize> = (0..rank)
                    .map(|axis| {
                        let place = at[axis] as i64 - i64::from(pairs[axis][0]);
                        let last = x.shape()[axis] as i64 - 1;
                        inside &= (0..=last).contains(&place);
                        place.clamp(0, last.max(0)) as usize
                    })
                    .collect();
                if inside || edge {
                    $x[&from[..]]
                } else {
                    value
                }
            })
        }};
    }
    let elements = match (&x.elements, &value.elements) {
        (Elements::Bool(x), Elements::Bool(value)) => Elements::Bool(padded!(x, value)),
        (Elements::Int(x), Elements::Int(value)) => Elements::Int(padded!(x, value)),
        (Elements::Float(x), Elements::Float(value)) => Elements::Float(padded!(x, value)),
        (Elements::Complex(x), Elements::Complex(value)) => Elements::Complex(padded!(x, value)),
        _ => return Err(NoReference::Program),
    };
    with(x.dtype, elements)
}

/// Elements by strides over the flattened array.
pub(super) fn as_strided(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let shape: Vec<usize> = match call.ints("shape") {
        Some(shape) => shape.iter().map(|it| *it as usize).collect(),
        None => x.shape().to_vec(),
    };
    let strides: Vec<i64> = match call.ints("strides") {
        Some(strides) => strides,
        None => (0..shape.len())
            .map(|axis| shape[axis + 1..].iter().product::<usize>() as i64)
            .collect(),
    };
    let offset = call.int("offset").unwrap_or(0);
    let elements = each_kind!(&x.elements, it => {
        let flat: Vec<_> = it.iter().copied().collect();
        ArrayD::from_shape_fn(IxDyn(&shape), |at| {
            let place = (0..shape.len()).fold(offset, |place, axis| place + at[axis] as i64 * strides[axis]);
            flat.get(place as usize).copied().unwrap_or_default()
        })
    });
    with(x.dtype, elements)
}

/// The same bytes, read as another type.
pub(super) fn view(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let wanted = dtype(call)?;
    super::tensor::read_again(&x, wanted)
        .map(|it| vec![it])
        .ok_or_else(|| call.not_covered("these types"))
}
