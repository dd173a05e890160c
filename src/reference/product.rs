//! Products of vectors and matrices, each element added up in full precision.

use super::call::Call;
use super::error::NoReference;
use super::promote::{fractional, promoted};
use super::tensor::Tensor;
use crate::vocabulary::{DType, Kind};
use ndarray::{ArrayD, IxDyn, LinalgScalar};

type Result1 = Result<Vec<Tensor>, NoReference>;

/// The product in the arrays' common type, which has fractions.
fn in_common_type(
    a: &Tensor,
    b: &Tensor,
    real: impl Fn(&ArrayD<f64>, &ArrayD<f64>) -> Option<ArrayD<f64>>,
    complex: impl Fn(
        &ArrayD<num_complex::Complex64>,
        &ArrayD<num_complex::Complex64>,
    ) -> Option<ArrayD<num_complex::Complex64>>,
) -> Result<Tensor, NoReference> {
    let dtype = fractional(promoted(a.dtype, b.dtype));
    let shapes = || NoReference::Program;
    Ok(match dtype.kind() {
        Kind::Complex => Tensor::complexes(complex(&a.to_complexes(), &b.to_complexes()).ok_or_else(shapes)?),
        _ => Tensor::floats(dtype, real(&a.to_floats()?, &b.to_floats()?).ok_or_else(shapes)?),
    })
}

/// Rows times columns over the last two axes; leading axes broadcast, vectors are rows and columns.
fn multiplied<A: LinalgScalar>(a: &ArrayD<A>, b: &ArrayD<A>) -> Option<ArrayD<A>> {
    let (row, column) = (a.ndim() == 1, b.ndim() == 1);
    let a = if row {
        a.clone().insert_axis(ndarray::Axis(0))
    } else {
        a.clone()
    };
    let b = if column {
        b.clone().insert_axis(ndarray::Axis(1))
    } else {
        b.clone()
    };
    let (m, k) = last_two(a.shape())?;
    let (other, n) = last_two(b.shape())?;
    let (batch_a, batch_b) = (&a.shape()[..a.ndim() - 2], &b.shape()[..b.ndim() - 2]);
    let batch = common(batch_a, batch_b)?;
    if k != other {
        return None;
    }
    let a = a.broadcast([&batch[..], &[m, k]].concat())?.to_owned();
    let b = b.broadcast([&batch[..], &[k, n]].concat())?.to_owned();
    let batches: usize = batch.iter().product();
    let (a, b): (Vec<A>, Vec<A>) = (a.iter().copied().collect(), b.iter().copied().collect());
    let mut product = Vec::with_capacity(batches * m * n);
    for at in 0..batches {
        for i in 0..m {
            for j in 0..n {
                let term = |l: usize| a[(at * m + i) * k + l] * b[(at * k + l) * n + j];
                product.push((0..k).map(term).fold(A::zero(), |sum, term| sum + term));
            }
        }
    }
    let mut shape = batch;
    shape.extend((!row).then_some(m));
    shape.extend((!column).then_some(n));
    ArrayD::from_shape_vec(IxDyn(&shape), product).ok()
}

fn last_two(shape: &[usize]) -> Option<(usize, usize)> {
    match shape {
        [.., a, b] => Some((*a, *b)),
        _ => None,
    }
}

/// The shape that two broadcast to.
fn common(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let extent =
        |shape: &[usize], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |it| shape[it]);
    (0..rank)
        .map(|axis| match (extent(a, axis), extent(b, axis)) {
            (1, other) | (other, 1) => Some(other),
            (a, b) => (a == b).then_some(a),
        })
        .collect()
}

/// The matrix product.
pub(super) fn matmul(call: &Call<'_>) -> Result1 {
    let (a, b) = (call.array("a")?, call.array("b")?);
    Ok(vec![in_common_type(&a, &b, multiplied, multiplied)?])
}

/// `alpha * a @ b + beta * c`.
pub(super) fn addmm(call: &Call<'_>) -> Result1 {
    let (c, a, b) = (call.array("c")?, call.array("a")?, call.array("b")?);
    let (alpha, beta) = (
        call.float("alpha").unwrap_or(1.0),
        call.float("beta").unwrap_or(1.0),
    );
    let product = in_common_type(&a, &b, multiplied, multiplied)?;
    let dtype = promoted(product.dtype, c.dtype);
    if dtype.kind() == Kind::Complex {
        return Err(NoReference::DType(DType::Complex64));
    }
    let (product, c) = super::call::broadcast(&product.to_floats()?, &c.to_floats()?)?;
    Ok(vec![Tensor::floats(dtype, product * alpha + c * beta)])
}

/// Sums of products over the last axes of both.
pub(super) fn inner(call: &Call<'_>) -> Result1 {
    let (a, b) = (call.array("a")?, call.array("b")?);
    if a.shape().len() != 1 || b.shape().len() != 1 {
        return Err(call.not_covered("anything but two vectors"));
    }
    Ok(vec![in_common_type(&a, &b, multiplied, multiplied)?])
}

/// Every product of an element of one with an element of the other.
pub(super) fn outer(call: &Call<'_>) -> Result1 {
    fn all<A: LinalgScalar>(a: &ArrayD<A>, b: &ArrayD<A>) -> Option<ArrayD<A>> {
        let products: Vec<A> = a.iter().flat_map(|a| b.iter().map(move |b| *a * *b)).collect();
        ArrayD::from_shape_vec(IxDyn(&[a.len(), b.len()]), products).ok()
    }
    let (a, b) = (call.array("a")?, call.array("b")?);
    let dtype = promoted(a.dtype, b.dtype);
    if matches!(dtype.kind(), Kind::Int) {
        return all(&a.to_ints()?, &b.to_ints()?)
            .map(|it| vec![Tensor::ints(dtype, it)])
            .ok_or(NoReference::Program);
    }
    Ok(vec![in_common_type(&a, &b, all, all)?])
}
