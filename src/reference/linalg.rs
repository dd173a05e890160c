//! Linear algebra, by nalgebra in double precision.
//!
//! Where a factorization is not unique, its factors are multiplied out again and held to what they came from.

use super::call::{Call, Relation};
use super::error::NoReference;
use super::product::{multiplied, transposed};
use super::promote::{fractional, promoted};
use super::reduce::folded;
use super::tensor::{Floats, Tensor};
use crate::vocabulary::DType;
use nalgebra::DMatrix;
use ndarray::{ArrayD, Axis, Dimension, IxDyn};
use num_complex::Complex64;

type Result1 = Result<Vec<Tensor>, NoReference>;
type Relations = Result<Vec<Relation>, NoReference>;

/// The matrices of the last two axes, in order.
fn matrices(call: &Call<'_>, x: &Floats) -> Result<Vec<DMatrix<f64>>, NoReference> {
    let [.., rows, columns] = *x.shape() else {
        return Err(call.not_covered("fewer than two axes"));
    };
    let elements: Vec<f64> = x.iter().copied().collect();
    let size = rows * columns;
    let count = elements.len().checked_div(size).unwrap_or(0);
    Ok((0..count)
        .map(|place| DMatrix::from_row_slice(rows, columns, &elements[place * size..(place + 1) * size]))
        .collect())
}

fn row_major(matrix: &DMatrix<f64>) -> Vec<f64> {
    matrix.transpose().iter().copied().collect()
}

/// What `each` makes of every matrix, as one array.
fn over_matrices(
    call: &Call<'_>,
    x: &Tensor,
    each: impl Fn(&DMatrix<f64>) -> Option<DMatrix<f64>>,
) -> Result<Floats, NoReference> {
    let floats = x.to_floats()?;
    let mut found = Vec::new();
    let mut shape = floats.shape()[..floats.ndim().saturating_sub(2)].to_vec();
    let mut inner = (0, 0);
    for matrix in matrices(call, &floats)? {
        let made = each(&matrix).ok_or_else(|| call.not_covered("a matrix without an answer"))?;
        inner = made.shape();
        found.extend(row_major(&made));
    }
    shape.extend([inner.0, inner.1]);
    ArrayD::from_shape_vec(IxDyn(&shape), found).map_err(|_| call.not_covered("this shape"))
}

fn mapped(call: &Call<'_>, each: impl Fn(&DMatrix<f64>) -> Option<DMatrix<f64>>) -> Result1 {
    let x = call.array("x")?;
    let elements = over_matrices(call, &x, each)?;
    Ok(vec![Tensor::floats(fractional(x.dtype), elements)])
}

/// A number for each matrix.
fn numbered(call: &Call<'_>, each: impl Fn(&DMatrix<f64>) -> f64) -> Result<Floats, NoReference> {
    let x = call.array("x")?;
    let made = over_matrices(call, &x, |matrix| Some(DMatrix::from_element(1, 1, each(matrix))))?;
    let rank = made.ndim();
    Ok(made
        .index_axis_move(Axis(rank - 1), 0)
        .index_axis_move(Axis(rank - 2), 0))
}

pub(super) fn inv(call: &Call<'_>) -> Result1 {
    mapped(call, |matrix| matrix.clone().try_inverse())
}

pub(super) fn pinv(call: &Call<'_>) -> Result1 {
    mapped(call, |matrix| matrix.clone().pseudo_inverse(1e-12).ok())
}

/// Of a triangle; what lies on the other side of the diagonal is not read.
pub(super) fn tri_inv(call: &Call<'_>) -> Result1 {
    let upper = call.flag("upper").unwrap_or(false);
    mapped(call, |matrix| triangle(matrix, upper).try_inverse())
}

fn triangle(matrix: &DMatrix<f64>, upper: bool) -> DMatrix<f64> {
    if upper {
        matrix.upper_triangle()
    } else {
        matrix.lower_triangle()
    }
}

pub(super) fn cholesky(call: &Call<'_>) -> Result1 {
    let upper = call.flag("upper").unwrap_or(false);
    mapped(call, |matrix| {
        let lower = matrix.clone().cholesky()?.l();
        Some(if upper { lower.transpose() } else { lower })
    })
}

/// The inverse of the matrix whose factor is given.
pub(super) fn cholesky_inv(call: &Call<'_>) -> Result1 {
    let upper = call.flag("upper").unwrap_or(false);
    mapped(call, |matrix| {
        let factor = triangle(matrix, upper);
        let whole = match upper {
            true => factor.transpose() * factor,
            false => &factor * factor.transpose(),
        };
        whole.try_inverse()
    })
}

pub(super) fn det(call: &Call<'_>) -> Result1 {
    let dtype = fractional(call.array("x")?.dtype);
    Ok(vec![Tensor::floats(
        dtype,
        numbered(call, |matrix| matrix.determinant())?,
    )])
}

pub(super) fn slogdet(call: &Call<'_>) -> Result1 {
    let dtype = fractional(call.array("x")?.dtype);
    let det = numbered(call, |matrix| matrix.determinant())?;
    let sign = det.mapv(|it| if it == 0.0 { 0.0 } else { it.signum() });
    let log = det.mapv(|it| it.abs().ln());
    Ok(vec![Tensor::floats(dtype, sign), Tensor::floats(dtype, log)])
}

/// `a x = b`, `b` a vector or several columns.
pub(super) fn solve(call: &Call<'_>, triangular: bool) -> Result1 {
    let (a, b) = (call.array("a")?, call.array("b")?);
    let dtype = fractional(promoted(a.dtype, b.dtype));
    let upper = call.flag("upper").unwrap_or(false);
    let inverse = over_matrices(call, &a, |matrix| match triangular {
        true => triangle(matrix, upper).try_inverse(),
        false => matrix.clone().try_inverse(),
    })?;
    let x = multiplied(&inverse, &b.to_floats()?).ok_or_else(|| call.not_covered("these shapes"))?;
    Ok(vec![Tensor::floats(dtype, x)])
}

/// The weights with the least squared error, from the normal equations: what a gradient descent must come to.
pub(super) fn least_squares(call: &Call<'_>) -> Result1 {
    let (x, y) = (call.array("x")?, call.array("y")?);
    let (rows, labels) = (x.to_floats()?, y.to_floats()?);
    let [examples, features] = *rows.shape() else {
        return Err(call.not_covered("anything but a matrix of examples"));
    };
    let flat: Vec<f64> = rows.iter().copied().collect();
    let matrix = nalgebra::DMatrix::from_row_slice(examples, features, &flat);
    let labels = nalgebra::DVector::from_iterator(examples, labels.iter().copied());
    let solution = matrix
        .svd(true, true)
        .solve(&labels, 1e-12)
        .map_err(|_| call.not_covered("examples that determine no weights"))?;
    let solution: Vec<f64> = solution.iter().copied().collect();
    let made = ArrayD::from_shape_vec(IxDyn(&[features]), solution).map_err(|_| NoReference::Program)?;
    Ok(vec![Tensor::floats(x.dtype, made)])
}

/// The product that stands at right angles to both vectors.
pub(super) fn cross(call: &Call<'_>) -> Result1 {
    let (a, b) = (call.array("a")?, call.array("b")?);
    let dtype = promoted(a.dtype, b.dtype);
    let (x, y) = super::call::broadcast(&a.to_complexes(), &b.to_complexes())?;
    let axis = call.axis(call.int("axis").unwrap_or(-1), x.ndim())?;
    if x.shape()[axis] != 3 {
        return Err(call.not_covered("vectors of any but three elements"));
    }
    let part = |it: &ArrayD<Complex64>, place: usize| it.index_axis(Axis(axis), place).to_owned();
    let component = |i: usize, j: usize| part(&x, i) * part(&y, j) - part(&x, j) * part(&y, i);
    let parts = [component(1, 2), component(2, 0), component(0, 1)];
    let views: Vec<_> = parts.iter().map(|it| it.view()).collect();
    let made = ndarray::stack(Axis(axis), &views).map_err(|_| NoReference::Program)?;
    let made = made.as_standard_layout().into_owned();
    Ok(vec![match dtype {
        DType::Complex64 => Tensor::complexes(made),
        _ => Tensor::floats(DType::Float64, made.mapv(|it| it.re)).cast(dtype)?,
    }])
}

/// A norm of vectors along one axis, of matrices over two, or of everything.
pub(super) fn norm(call: &Call<'_>, named: bool) -> Result1 {
    let x = call.array("x")?;
    let keep = call.flag("keep_dims").unwrap_or(false);
    let axes: Vec<usize> = match call.ints("axes") {
        Some(axes) => axes
            .iter()
            .map(|it| call.axis(*it, x.shape().len()))
            .collect::<Result<_, _>>()?,
        None => (0..x.shape().len()).collect(),
    };
    let magnitudes = match x.dtype {
        DType::Complex64 => x.to_complexes().mapv(|it| it.norm()),
        _ => x.to_floats()?.mapv(f64::abs),
    };
    let dtype = match x.dtype {
        DType::Complex64 => DType::Float32,
        other => fractional(other),
    };
    let euclid = |line: &[f64]| line.iter().map(|it| it * it).sum::<f64>().sqrt();
    let order = call.float("ord").or((!named).then_some(2.0));

    let norms = match (call.text("ord"), order) {
        (Some("nuc"), _) => return singular_norm(call, &x, keep, |values| values.sum()),
        (Some("fro" | "f"), _) | (None, None) => folded(&magnitudes, &axes, keep, euclid),
        (Some(_), _) => return Err(call.not_covered("this order")),
        (None, Some(order)) if axes.len() == 1 => folded(&magnitudes, &axes, keep, |line| match order {
            0.0 => line.iter().filter(|it| **it != 0.0).count() as f64,
            _ if order == f64::INFINITY => line.iter().copied().fold(0.0, f64::max),
            _ if order == f64::NEG_INFINITY => line.iter().copied().fold(f64::INFINITY, f64::min),
            _ => line
                .iter()
                .map(|it| it.powf(order))
                .sum::<f64>()
                .powf(1.0 / order),
        }),
        (None, Some(order)) if axes.len() == 2 => {
            if order.abs() == 2.0 {
                return singular_norm(call, &x, keep, |values| {
                    if order > 0.0 {
                        values.max()
                    } else {
                        values.min()
                    }
                });
            }
            let inner = if order.abs() == 1.0 { axes[0] } else { axes[1] };
            let outer = if order.abs() == 1.0 { axes[1] } else { axes[0] };
            let sums = folded(&magnitudes, &[inner], true, |line| line.iter().sum::<f64>());
            let folds = folded(&sums, &[outer], true, |line| match order > 0.0 {
                true => line.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                false => line.iter().copied().fold(f64::INFINITY, f64::min),
            });
            folded(&folds, &axes, keep, |line| line[0])
        }
        _ => return Err(call.not_covered("this order over these axes")),
    };
    Ok(vec![Tensor::floats(dtype, norms)])
}

fn singular_norm(
    call: &Call<'_>,
    x: &Tensor,
    keep: bool,
    fold: impl Fn(&nalgebra::DVector<f64>) -> f64,
) -> Result1 {
    if keep || x.shape().len() != 2 {
        return Err(call.not_covered("singular values of more than one matrix"));
    }
    let norms = numbered(call, |matrix| fold(&matrix.singular_values()))?;
    Ok(vec![Tensor::floats(fractional(x.dtype), norms)])
}

// What holds of factors.

fn matmul(a: &Floats, b: &Floats) -> Result<Floats, NoReference> {
    multiplied(a, b).ok_or(NoReference::Program)
}

fn identity_like(x: &Floats) -> Floats {
    ArrayD::from_shape_fn(x.raw_dim(), |at| {
        f64::from(u8::from(at[at.ndim() - 1] == at[at.ndim() - 2]))
    })
}

/// Zeros where the triangle is, the elements elsewhere.
fn outside(x: &Floats, upper: bool) -> Floats {
    let mut x = x.clone();
    for (at, element) in x.indexed_iter_mut() {
        let (row, column) = (at[at.ndim() - 2], at[at.ndim() - 1]);
        if (upper && column >= row) || (!upper && column <= row) {
            *element = 0.0;
        }
    }
    x
}

fn relation(what: &str, dtype: DType, found: Floats, wanted: Floats) -> Relation {
    Relation {
        what: what.to_owned(),
        found: Tensor::floats(dtype, found),
        wanted: Tensor::floats(dtype, wanted),
    }
}

fn input(call: &Call<'_>) -> Result<(Floats, DType), NoReference> {
    let x = call.array("x")?;
    Ok((x.to_floats()?, fractional(x.dtype)))
}

fn outputs<const N: usize>(call: &Call<'_>, found: &[Tensor]) -> Result<[Floats; N], NoReference> {
    let floats: Vec<Floats> = found.iter().map(Tensor::to_floats).collect::<Result<_, _>>()?;
    floats
        .try_into()
        .map_err(|_| call.not_covered(format!("anything but {N} results")))
}

pub(super) fn qr(call: &Call<'_>, found: &[Tensor]) -> Relations {
    let (x, dtype) = input(call)?;
    let [q, r] = outputs(call, found)?;
    let gram = matmul(&transposed(&q), &q)?;
    let below = outside(&r, true);
    Ok(vec![
        relation("q @ r", dtype, matmul(&q, &r)?, x),
        relation("q.T @ q", dtype, gram.clone(), identity_like(&gram)),
        relation(
            "r below its diagonal",
            dtype,
            below.clone(),
            Floats::zeros(below.raw_dim()),
        ),
    ])
}

pub(super) fn svd(call: &Call<'_>, found: &[Tensor]) -> Relations {
    let (x, dtype) = input(call)?;
    let [u, s, vt] = outputs(call, found)?;
    let rank = x.ndim();
    let kept = s.shape()[s.ndim() - 1];
    let thin = |it: &Floats, axis: usize| {
        it.slice_axis(Axis(axis), ndarray::Slice::from(0..kept))
            .to_owned()
    };
    let scaled = thin(&u, rank - 1) * s.clone().insert_axis(Axis(rank - 2));
    let (left, right) = (matmul(&transposed(&u), &u)?, matmul(&vt, &transposed(&vt))?);
    let wanted = over_matrices(call, &Tensor::floats(dtype, x.clone()), |matrix| {
        let values = matrix.singular_values();
        Some(DMatrix::from_row_slice(1, values.len(), values.as_slice()))
    })?;
    let wanted = wanted.index_axis_move(Axis(rank - 2), 0);
    Ok(vec![
        relation("u * s @ vt", dtype, matmul(&scaled, &thin(&vt, rank - 2))?, x),
        relation("s", dtype, s, wanted),
        relation("u.T @ u", dtype, left.clone(), identity_like(&left)),
        relation("vt @ vt.T", dtype, right.clone(), identity_like(&right)),
    ])
}

/// The matrix that the half named stands for.
fn symmetric(call: &Call<'_>, x: &Floats) -> Floats {
    let upper = call.text("uplo") == Some("U");
    let mirrored = transposed(x);
    ArrayD::from_shape_fn(x.raw_dim(), |at| {
        let above = at[at.ndim() - 1] >= at[at.ndim() - 2];
        if above == upper || at[at.ndim() - 1] == at[at.ndim() - 2] {
            x[&at]
        } else {
            mirrored[&at]
        }
    })
}

pub(super) fn eigh(call: &Call<'_>, found: &[Tensor]) -> Relations {
    let (x, dtype) = input(call)?;
    let [values, vectors] = outputs(call, found)?;
    let x = symmetric(call, &x);
    let scaled = &vectors * &values.insert_axis(Axis(x.ndim() - 2));
    let gram = matmul(&transposed(&vectors), &vectors)?;
    Ok(vec![
        relation("x @ v against w * v", dtype, matmul(&x, &vectors)?, scaled),
        relation("v.T @ v", dtype, gram.clone(), identity_like(&gram)),
    ])
}

pub(super) fn eigvalsh(call: &Call<'_>) -> Result1 {
    let (x, dtype) = input(call)?;
    let rank = x.ndim();
    let made = over_matrices(call, &Tensor::floats(dtype, symmetric(call, &x)), |matrix| {
        let mut values: Vec<f64> = matrix.symmetric_eigenvalues().iter().copied().collect();
        values.sort_by(f64::total_cmp);
        Some(DMatrix::from_row_slice(1, values.len(), &values))
    })?;
    Ok(vec![Tensor::floats(
        dtype,
        made.index_axis_move(Axis(rank - 2), 0),
    )])
}

/// Complex eigenvectors, each times its value what the matrix makes of it.
pub(super) fn eig(call: &Call<'_>, found: &[Tensor]) -> Relations {
    let x = call.array("x")?.to_complexes();
    let [values, vectors] = found else {
        return Err(call.not_covered("anything but two results"));
    };
    let (values, vectors) = (values.to_complexes(), vectors.to_complexes());
    let image = multiplied(&x, &vectors).ok_or(NoReference::Program)?;
    let scaled = &vectors * &values.insert_axis(Axis(x.ndim() - 2));
    let lengths = vectors
        .mapv(|it| it.norm_sqr())
        .sum_axis(Axis(x.ndim() - 2))
        .mapv(f64::sqrt);
    let ones = Floats::ones(lengths.raw_dim());
    Ok(vec![
        Relation {
            what: "x @ v against w * v".to_owned(),
            found: Tensor::complexes(image),
            wanted: Tensor::complexes(scaled),
        },
        relation("lengths of the vectors", DType::Float32, lengths, ones),
    ])
}

/// Their sums of powers are the traces of the matrix's powers, in whatever order they come.
pub(super) fn eigvals(call: &Call<'_>, found: &[Tensor]) -> Relations {
    let x = call.array("x")?.to_complexes();
    let [values] = found else {
        return Err(call.not_covered("anything but one result"));
    };
    let values = values.to_complexes();
    let (last, n) = (x.ndim() - 2, x.shape()[x.ndim() - 1]);
    let trace = |it: &ArrayD<Complex64>| {
        let mut sum = ArrayD::<Complex64>::zeros(IxDyn(&it.shape()[..last]));
        for place in 0..n {
            let row = it.index_axis(Axis(last), place);
            sum += &row.index_axis(Axis(last), place);
        }
        sum
    };
    let (mut power, mut powers, mut relations) = (x.clone(), values.clone(), Vec::new());
    for exponent in 1..=n.min(4) {
        relations.push(Relation {
            what: format!("sum of powers {exponent}"),
            found: Tensor::complexes(powers.sum_axis(Axis(last))),
            wanted: Tensor::complexes(trace(&power)),
        });
        power = multiplied(&power, &x).ok_or(NoReference::Program)?;
        powers *= &values;
    }
    Ok(relations)
}

/// Rows of `l @ u` in the order that the first result names.
pub(super) fn lu(call: &Call<'_>, found: &[Tensor]) -> Relations {
    let (x, dtype) = input(call)?;
    let [pivots, l, u] = found else {
        return Err(call.not_covered("anything but three results"));
    };
    let (l, u, pivots) = (l.to_floats()?, u.to_floats()?, pivots.to_ints()?);
    if x.ndim() != 2 {
        return Err(call.not_covered("more than one matrix"));
    }
    let product = matmul(&l, &u)?;
    // `x[i] = (l @ u)[pivots[i]]`.
    let order: Vec<usize> = pivots.iter().map(|it| *it as usize).collect();
    if order.iter().any(|it| *it >= product.shape()[0]) {
        return Err(call.not_covered("pivots beyond the rows"));
    }
    let (above, below) = (outside(&l, false), outside(&u, true));
    Ok(vec![
        relation("(l @ u)[pivots]", dtype, product.select(Axis(0), &order), x),
        relation(
            "l above its diagonal",
            dtype,
            above.clone(),
            Floats::zeros(above.raw_dim()),
        ),
        relation(
            "u below its diagonal",
            dtype,
            below.clone(),
            Floats::zeros(below.raw_dim()),
        ),
    ])
}

/// LAPACK's form: both triangles in one matrix, and which row was swapped with which, in order.
pub(super) fn lu_factor(call: &Call<'_>, found: &[Tensor]) -> Relations {
    let (x, dtype) = input(call)?;
    let [both, pivots] = found else {
        return Err(call.not_covered("anything but two results"));
    };
    let (both, pivots) = (both.to_floats()?, pivots.to_ints()?);
    if x.ndim() != 2 || x.shape()[0] != x.shape()[1] {
        return Err(call.not_covered("anything but one square matrix"));
    }
    let l = outside(&both, true) + identity_like(&both);
    let u = &both - &outside(&both, true);
    let mut product = matmul(&l, &u)?;
    for (row, other) in pivots.iter().enumerate().collect::<Vec<_>>().into_iter().rev() {
        let other = *other as usize;
        if other >= product.shape()[0] {
            return Err(call.not_covered("pivots beyond the rows"));
        }
        for column in 0..product.shape()[1] {
            product.swap([row, column], [other, column]);
        }
    }
    Ok(vec![relation(
        "l @ u with its rows swapped back",
        dtype,
        product,
        x,
    )])
}
