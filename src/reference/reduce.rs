//! Functions that fold whole axes away.

use super::call::Call;
use super::elementwise::{largest, smallest};
use super::error::NoReference;
use super::promote::fractional;
use super::tensor::{Elements, Tensor};
use crate::vocabulary::DType;
use ndarray::{ArrayD, Axis, IxDyn};
use num_complex::Complex64;

type Result1 = Result<Vec<Tensor>, NoReference>;

/// For each place that the axes leave, what `f` makes of the elements that fold into it.
pub(super) fn folded<A: Clone, T>(
    array: &ArrayD<A>,
    axes: &[usize],
    keep: bool,
    mut f: impl FnMut(&[A]) -> T,
) -> ArrayD<T> {
    let rank = array.ndim();
    let rest: Vec<usize> = (0..rank).filter(|axis| !axes.contains(axis)).collect();
    let order: Vec<usize> = rest.iter().chain(axes).copied().collect();
    let outer: Vec<usize> = rest.iter().map(|axis| array.shape()[*axis]).collect();
    let elements: Vec<A> = array
        .view()
        .permuted_axes(IxDyn(&order))
        .iter()
        .cloned()
        .collect();
    let places: usize = outer.iter().product();
    let width = axes.iter().map(|axis| array.shape()[*axis]).product::<usize>();
    let folds: Vec<T> = (0..places)
        .map(|place| f(&elements[place * width..(place + 1) * width]))
        .collect();
    let made = ArrayD::from_shape_vec(IxDyn(&outer), folds);
    // As many folds as the outer extents say.
    let mut made = made.expect("one fold for each place");
    if keep {
        for axis in axes {
            made = made.insert_axis(Axis(*axis));
        }
    }
    made
}

struct Over {
    axes: Vec<usize>,
    keep: bool,
}

fn over(call: &Call<'_>, x: &Tensor) -> Result<Over, NoReference> {
    Ok(Over {
        axes: call.axes(x.shape().len())?,
        keep: call.flag("keep_dims").unwrap_or(false),
    })
}

/// Sums and products: small integers are added up as 32-bit ones.
pub(super) fn accumulated(
    call: &Call<'_>,
    int: fn(&[i64]) -> i64,
    real: fn(&[f64]) -> f64,
    complex: fn(&[Complex64]) -> Complex64,
) -> Result1 {
    let x = call.array("x")?;
    let Over { axes, keep } = over(call, &x)?;
    Ok(vec![match &x.elements {
        Elements::Bool(_) | Elements::Int(_) => {
            Tensor::ints(widened(x.dtype), folded(&x.to_ints()?, &axes, keep, int))
        }
        Elements::Float(it) => Tensor::floats(x.dtype, folded(it, &axes, keep, real)),
        Elements::Complex(it) => Tensor::complexes(folded(it, &axes, keep, complex)),
    }])
}

/// The type that integers are added up in.
pub(super) fn widened(dtype: DType) -> DType {
    match dtype {
        DType::Bool | DType::Int8 | DType::Int16 => DType::Int32,
        DType::Uint8 | DType::Uint16 => DType::Uint32,
        other => other,
    }
}

/// A mean and its kin: fractions of everything.
pub(super) fn averaged(
    call: &Call<'_>,
    real: impl Fn(&[f64]) -> f64,
    complex: Option<fn(&[Complex64]) -> Complex64>,
) -> Result1 {
    let x = call.array("x")?;
    let Over { axes, keep } = over(call, &x)?;
    Ok(vec![match (&x.elements, complex) {
        (Elements::Complex(it), Some(complex)) => Tensor::complexes(folded(it, &axes, keep, complex)),
        _ => Tensor::floats(fractional(x.dtype), folded(&x.to_floats()?, &axes, keep, real)),
    }])
}

/// The mean, of complex numbers too.
pub(super) fn means(call: &Call<'_>) -> Result1 {
    averaged(
        call,
        mean,
        Some(|it| it.iter().sum::<Complex64>() / it.len() as f64),
    )
}

/// A variance and its kin: of complex numbers a real one, by their distances from the mean.
pub(super) fn spread(call: &Call<'_>, of: impl Fn(&[Complex64]) -> f64) -> Result1 {
    let x = call.array("x")?;
    let Over { axes, keep } = over(call, &x)?;
    let dtype = match fractional(x.dtype) {
        DType::Complex64 => DType::Float32,
        other => other,
    };
    Ok(vec![Tensor::floats(
        dtype,
        folded(&x.to_complexes(), &axes, keep, of),
    )])
}

/// The mean.
pub(super) fn mean(elements: &[f64]) -> f64 {
    elements.iter().sum::<f64>() / elements.len() as f64
}

/// The mean square distance from the mean, over `n - ddof`.
pub(super) fn variance<A: Copy + Into<Complex64>>(elements: &[A], ddof: i64) -> f64 {
    let all = || elements.iter().map(|it| -> Complex64 { (*it).into() });
    let middle = all().sum::<Complex64>() / elements.len() as f64;
    let squares: f64 = all().map(|it| (it - middle).norm_sqr()).sum();
    squares / (elements.len() as f64 - ddof as f64)
}

/// The same for complex numbers, small enough that nothing overflows.
pub(super) fn logsumexp_complex(elements: &[Complex64]) -> Complex64 {
    elements.iter().map(|it| it.exp()).sum::<Complex64>().ln()
}

/// `log(sum(exp(x)))`, without the overflow.
pub(super) fn logsumexp(elements: &[f64]) -> f64 {
    let most = elements.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most.is_infinite() {
        return most;
    }
    most + elements.iter().map(|it| (it - most).exp()).sum::<f64>().ln()
}

/// The largest, or smallest; NaN if any is.
pub(super) fn extreme(call: &Call<'_>, larger: bool) -> Result1 {
    let x = call.array("x")?;
    let Over { axes, keep } = over(call, &x)?;
    let beats = move |a: f64, b: f64| a.is_nan() || (!b.is_nan() && if larger { a > b } else { a < b });
    Ok(vec![match &x.elements {
        Elements::Int(it) => {
            let choose = if larger { i64::max } else { i64::min };
            Tensor::ints(
                x.dtype,
                folded(it, &axes, keep, |it| {
                    it.iter().copied().reduce(choose).unwrap_or(0)
                }),
            )
        }
        Elements::Float(it) => Tensor::floats(
            x.dtype,
            folded(it, &axes, keep, |it| {
                it.iter()
                    .copied()
                    .reduce(|a, b| if beats(b, a) { b } else { a })
                    .unwrap_or(f64::NAN)
            }),
        ),
        // The larger of two truth values is one.
        Elements::Bool(it) => Tensor::bools(folded(it, &axes, keep, |it| {
            it.iter()
                .copied()
                .reduce(|a, b| if larger { a || b } else { a && b })
                .unwrap_or(!larger)
        })),
        Elements::Complex(it) => {
            let choose = if larger { largest } else { smallest };
            let none = Complex64::new(f64::NAN, f64::NAN);
            Tensor::complexes(folded(it, &axes, keep, |it| {
                it.iter().copied().reduce(choose).unwrap_or(none)
            }))
        }
    }])
}

/// Whether all, or any, are not zero.
pub(super) fn truth(call: &Call<'_>, fold: fn(&[bool]) -> bool) -> Result1 {
    let x = call.array("x")?;
    let Over { axes, keep } = over(call, &x)?;
    Ok(vec![Tensor::bools(folded(&x.to_bools(), &axes, keep, fold))])
}

/// The share of each element's exponential in the sum over the axes: over all of them, where none are given.
pub(super) fn softmax(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let axes = call.axes(x.shape().len())?;
    if let Elements::Complex(it) = &x.elements {
        let total = folded(it, &axes, true, logsumexp_complex);
        let total = total
            .broadcast(it.raw_dim())
            .ok_or_else(|| call.not_covered("these axes"))?;
        let shares = ndarray::Zip::from(it)
            .and(&total)
            .map_collect(|x, total| (x - total).exp());
        return Ok(vec![Tensor::complexes(shares)]);
    }
    let floats = x.to_floats()?;
    let total = folded(&floats, &axes, true, logsumexp);
    let total = total
        .broadcast(floats.raw_dim())
        .ok_or_else(|| call.not_covered("these axes"))?;
    let shares = ndarray::Zip::from(&floats)
        .and(&total)
        .map_collect(|x, total| (x - total).exp());
    Ok(vec![Tensor::floats(fractional(x.dtype), shares)])
}

/// How many elements are not zero.
pub(super) fn count_nonzero(call: &Call<'_>) -> Result1 {
    let x = call.array("x")?;
    let Over { axes, keep } = over(call, &x)?;
    let counts = folded(&x.to_bools(), &axes, keep, |it| {
        it.iter().filter(|it| **it).count() as i64
    });
    Ok(vec![Tensor::ints(DType::Int32, counts)])
}

/// The middle element in order, or the mean of the two middle ones; NaN if any is.
pub(super) fn median(elements: &[f64]) -> f64 {
    let mut line = elements.to_vec();
    if line.is_empty() || line.iter().any(|it| it.is_nan()) {
        return f64::NAN;
    }
    line.sort_by(f64::total_cmp);
    let half = line.len() / 2;
    match line.len() % 2 {
        1 => line[half],
        _ => (line[half - 1] + line[half]) / 2.0,
    }
}

/// The same for complex numbers, ordered as pairs.
pub(super) fn median_complex(elements: &[Complex64]) -> Complex64 {
    let mut line = elements.to_vec();
    line.sort_by(|a, b| {
        (a.re, a.im)
            .partial_cmp(&(b.re, b.im))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let half = line.len() / 2;
    match line.len() {
        0 => Complex64::new(f64::NAN, f64::NAN),
        odd if odd % 2 == 1 => line[half],
        _ => (line[half - 1] + line[half]) / 2.0,
    }
}
