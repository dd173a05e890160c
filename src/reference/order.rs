//! Functions that look for, or go along, an order: sorting, the place of the largest, running sums.

use super::call::{Call, Relation};
use super::error::NoReference;
use super::promote::fractional;
use super::reduce::{folded, widened};
use super::tensor::{each_kind, Elements, Tensor};
use crate::vocabulary::DType;
use ndarray::{ArrayD, Axis, IxDyn};
use num_complex::Complex64;
use std::cmp::Ordering;

type Result1 = Result<Vec<Tensor>, NoReference>;

/// By value, NaN last.
fn by_value(a: &f64, b: &f64) -> Ordering {
    a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// By real part, then by imaginary part, as NumPy orders complex numbers; any other number has an imaginary part of 0.
fn by_parts(a: &Complex64, b: &Complex64) -> Ordering {
    by_value(&a.re, &b.re).then(by_value(&a.im, &b.im))
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
        Elements::Complex(it) => along(it, axis, |line| line.sort_by(by_parts)),
    }
    Ok(vec![x])
}

/// The places in ascending order of their elements; equal elements stay in order.
pub(super) fn argsort(call: &Call<'_>) -> Result1 {
    let (x, axis) = ordered(call)?;
    let elements = x.to_complexes();
    let mut places = elements.mapv(|_| 0i64);
    for (mut to, from) in places
        .lanes_mut(Axis(axis))
        .into_iter()
        .zip(elements.lanes(Axis(axis)))
    {
        let mut order: Vec<usize> = (0..from.len()).collect();
        order.sort_by(|a, b| by_parts(&from[*a], &from[*b]));
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
    let nan = |it: &Complex64| it.re.is_nan() || it.im.is_nan();
    let wanted = if larger { Ordering::Greater } else { Ordering::Less };
    let beats = |a: &Complex64, b: &Complex64| !nan(b) && (nan(a) || by_parts(a, b) == wanted);
    let places = folded(&x.to_complexes(), &axes, keep, |line| {
        let mut best = 0;
        for (place, element) in line.iter().enumerate() {
            if beats(element, &line[best]) {
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
    complex: fn(Complex64, Complex64) -> Complex64,
    keeps_type: bool,
) -> Result1 {
    running_over(call, ordered(call)?, start, int, real, complex, keeps_type)
}

/// The same over an array and its axis.
fn running_over(
    call: &Call<'_>,
    (x, axis): (Tensor, usize),
    start: f64,
    int: fn(i64, i64) -> i64,
    real: fn(f64, f64) -> f64,
    complex: fn(Complex64, Complex64) -> Complex64,
    keeps_type: bool,
) -> Result1 {
    let reverse = call.flag("reverse").unwrap_or(false);
    let inclusive = call.flag("inclusive").unwrap_or(true);
    let exclusive_extreme = keeps_type && !inclusive && !matches!(x.elements, Elements::Float(_));
    if exclusive_extreme {
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
        Elements::Complex(mut it) => {
            let start = Complex64::new(start, 0.0);
            along(&mut it, axis, |line| {
                run(line, start, reverse, inclusive, complex)
            });
            Tensor::complexes(it)
        }
        elements => {
            let dtype = match x.dtype {
                // The larger of two truth values is one; their sum is not.
                DType::Bool if !keeps_type => widened(x.dtype),
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
            match dtype {
                DType::Bool => Tensor::bools(it.mapv(|it| it != 0)),
                _ => Tensor::ints(dtype, it),
            }
        }
    }])
}

/// The logarithm of running sums of exponentials: fractions of everything.
pub(super) fn logcumsumexp(call: &Call<'_>) -> Result1 {
    let add = |a: f64, b: f64| {
        let (most, least) = (a.max(b), a.min(b));
        match most.is_infinite() {
            true => most,
            false => most + libm::log1p((least - most).exp()),
        }
    };
    let complex = |a: Complex64, b: Complex64| (a.exp() + b.exp()).ln();
    let (mut x, axis) = ordered(call)?;
    x = x.cast(fractional(x.dtype))?;
    running_over(call, (x, axis), f64::NEG_INFINITY, |a, _| a, add, complex, false)
}

/// Each element less the one before it, `n` times over.
pub(super) fn diff(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let axis = Axis(call.axis(call.int("axis").unwrap_or(-1), x.shape().len())?);
    let dtype = x.dtype;
    let mut ints = matches!(x.elements, Elements::Int(_) | Elements::Bool(_))
        .then(|| x.to_ints())
        .transpose()?;
    let mut complexes = x.to_complexes();
    for _ in 0..call.int("n").unwrap_or(1) {
        let of = |extent: usize| {
            let later = ndarray::Slice::from(1.min(extent)..extent);
            (later, ndarray::Slice::from(0..extent.saturating_sub(1)))
        };
        let (later, earlier) = of(complexes.shape()[axis.0]);
        complexes = &complexes.slice_axis(axis, later) - &complexes.slice_axis(axis, earlier);
        ints = ints.map(|it| {
            let pairs = ndarray::Zip::from(it.slice_axis(axis, later)).and(it.slice_axis(axis, earlier));
            pairs.map_collect(|a, b| a.wrapping_sub(*b))
        });
    }
    Ok(vec![match ints {
        // Of truth values, whether the two differ.
        Some(ints) if dtype == DType::Bool => Tensor::bools(ints.mapv(|it| it % 2 != 0)),
        Some(ints) => Tensor::ints(dtype, ints),
        None => Tensor::complexes(complexes).cast(dtype)?,
    }])
}

/// Where each value goes so that the array stays sorted.
pub(super) fn search_sorted(call: &Call<'_>) -> Result1 {
    let (x, values) = (
        call.array("x")?.to_complexes(),
        call.array("values")?.to_complexes(),
    );
    let right = call.text("side") == Some("right");
    if x.ndim() != 1 {
        return Err(call.not_covered("anything but one axis"));
    }
    let places = values.mapv(|value| {
        let before =
            |it: &&Complex64| by_parts(it, &value).is_lt() || (right && by_parts(it, &value).is_eq());
        x.iter().filter(before).count() as i64
    });
    Ok(vec![Tensor::ints(DType::Uint32, places)])
}

/// Whether each line has an element at its place in order, with none larger before it and none smaller behind.
fn in_two_parts(lines: &ArrayD<Complex64>, axis: usize, kth: usize) -> bool {
    lines.lanes(Axis(axis)).into_iter().all(|line| {
        let at = line[kth];
        let fits = |(place, it): (usize, &Complex64)| match place < kth {
            true => by_parts(it, &at).is_le(),
            false => by_parts(it, &at).is_ge(),
        };
        line.iter().enumerate().all(fits)
    })
}

fn sorted_lines(x: &Tensor, axis: usize) -> ArrayD<Complex64> {
    let mut elements = x.to_complexes();
    along(&mut elements, axis, |line| line.sort_by(by_parts));
    elements
}

/// Numbers of any kind as a relation compares them: a real one as such.
fn compared(dtype: DType, elements: ArrayD<Complex64>) -> Tensor {
    match dtype {
        DType::Complex64 => Tensor::complexes(elements),
        _ => Tensor::floats(DType::Float64, elements.mapv(|it| it.re)),
    }
}

/// The place that parts a line, counted from the front.
fn kth(call: &Call<'_>, extent: usize) -> Result<usize, NoReference> {
    call.axis(call.int("kth").unwrap_or(0), extent)
}

fn parted(call: &Call<'_>, x: &Tensor, axis: usize, found: &Tensor) -> Result<Vec<Relation>, NoReference> {
    let parts = in_two_parts(&found.to_complexes(), axis, kth(call, x.shape()[axis])?);
    Ok(vec![
        Relation {
            what: "the same elements".to_owned(),
            found: compared(x.dtype, sorted_lines(found, axis)),
            wanted: compared(x.dtype, sorted_lines(x, axis)),
        },
        Relation {
            what: "none larger before, none smaller behind".to_owned(),
            found: Tensor::bools(ndarray::arr0(parts).into_dyn()),
            wanted: Tensor::bools(ndarray::arr0(true).into_dyn()),
        },
    ])
}

pub(super) fn partition(call: &Call<'_>, found: &[Tensor]) -> Result<Vec<Relation>, NoReference> {
    let (x, axis) = ordered(call)?;
    match found {
        [found] if found.shape() == x.shape() => parted(call, &x, axis, found),
        _ => Err(call.not_covered("a result of another shape")),
    }
}

pub(super) fn argpartition(call: &Call<'_>, found: &[Tensor]) -> Result<Vec<Relation>, NoReference> {
    let (x, axis) = ordered(call)?;
    let [found] = found else {
        return Err(call.not_covered("anything but one result"));
    };
    let (elements, places) = (x.to_complexes(), found.to_ints()?);
    if places.shape() != elements.shape() {
        return Err(call.not_covered("a result of another shape"));
    }
    let mut named = elements.clone();
    for (at, place) in places.indexed_iter() {
        let mut from = at.clone();
        from[axis] = call.axis(*place, elements.shape()[axis])?;
        named[&at] = elements[&from];
    }
    parted(call, &x, axis, &compared(x.dtype, named))
}

pub(super) fn topk(call: &Call<'_>, found: &[Tensor]) -> Result<Vec<Relation>, NoReference> {
    let (x, axis) = ordered(call)?;
    let [found] = found else {
        return Err(call.not_covered("anything but one result"));
    };
    let k = call.int("k").unwrap_or(1) as usize;
    let all = sorted_lines(&x, axis);
    let extent = all.shape()[axis];
    let most = all.slice_axis(Axis(axis), ndarray::Slice::from(extent.saturating_sub(k)..extent));
    Ok(vec![Relation {
        what: format!("the {k} largest"),
        found: compared(x.dtype, sorted_lines(found, axis)),
        wanted: compared(x.dtype, most.to_owned()),
    }])
}
