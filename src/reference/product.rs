//! Products of vectors and matrices, each element added up in full precision.

use super::call::Call;
use super::error::NoReference;
use super::promote::{fractional, promoted};
use super::tensor::{Floats, Tensor};
use crate::vocabulary::Kind;
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

/// The last two axes exchanged, and the elements laid out anew.
pub(super) fn transposed(x: &Floats) -> Floats {
    let mut order: Vec<usize> = (0..x.ndim()).collect();
    order.swap(x.ndim() - 2, x.ndim() - 1);
    x.view()
        .permuted_axes(IxDyn(&order))
        .as_standard_layout()
        .into_owned()
}

/// Rows times columns over the last two axes; leading axes broadcast, vectors are rows and columns.
pub(super) fn multiplied<A: LinalgScalar>(a: &ArrayD<A>, b: &ArrayD<A>) -> Option<ArrayD<A>> {
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
pub(super) fn common(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
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
        let (product, c) = super::call::broadcast(&product.to_complexes(), &c.to_complexes())?;
        return Ok(vec![Tensor::complexes(product * alpha + c * beta)]);
    }
    let (product, c) = super::call::broadcast(&product.to_floats()?, &c.to_floats()?)?;
    Ok(vec![Tensor::floats(dtype, product * alpha + c * beta)])
}

/// Sums of products over the last axes of both.
pub(super) fn inner(call: &Call<'_>) -> Result1 {
    let (a, b) = (call.array("a")?, call.array("b")?);
    if a.shape().is_empty() || b.shape().is_empty() {
        return Err(call.not_covered("a scalar"));
    }
    let (last_a, last_b) = (a.shape().len() - 1, b.shape().len() - 1);
    Ok(vec![contracted(&a, &b, &[last_a], &[last_b])?])
}

/// Sums of products over axes of one and as many of the other; what is left of both stays, in order.
fn contracted(a: &Tensor, b: &Tensor, axes_a: &[usize], axes_b: &[usize]) -> Result<Tensor, NoReference> {
    fn over<A: LinalgScalar>(
        a: &ArrayD<A>,
        b: &ArrayD<A>,
        axes_a: &[usize],
        axes_b: &[usize],
    ) -> Option<ArrayD<A>> {
        let rest =
            |x: &ArrayD<A>, axes: &[usize]| (0..x.ndim()).filter(|it| !axes.contains(it)).collect::<Vec<_>>();
        let (rest_a, rest_b) = (rest(a, axes_a), rest(b, axes_b));
        let matrix = |x: &ArrayD<A>, order: Vec<usize>, rows: usize| {
            let flat: Vec<A> = x.view().permuted_axes(IxDyn(&order)).iter().copied().collect();
            let columns = flat.len() / rows.max(1);
            ArrayD::from_shape_vec(IxDyn(&[rows, columns]), flat).ok()
        };
        let size = |x: &ArrayD<A>, axes: &[usize]| axes.iter().map(|it| x.shape()[*it]).product::<usize>();
        let left = matrix(a, [&rest_a[..], axes_a].concat(), size(a, &rest_a))?;
        let right = matrix(b, [axes_b, &rest_b[..]].concat(), size(b, axes_b))?;
        let mut shape: Vec<usize> = rest_a.iter().map(|it| a.shape()[*it]).collect();
        shape.extend(rest_b.iter().map(|it| b.shape()[*it]));
        let flat: Vec<A> = multiplied(&left, &right)?.iter().copied().collect();
        ArrayD::from_shape_vec(IxDyn(&shape), flat).ok()
    }
    in_common_type(
        a,
        b,
        |a, b| over(a, b, axes_a, axes_b),
        |a, b| over(a, b, axes_a, axes_b),
    )
}

pub(super) fn tensordot(call: &Call<'_>) -> Result1 {
    let (a, b) = (call.array("a")?, call.array("b")?);
    let (rank_a, rank_b) = (a.shape().len(), b.shape().len());
    let (axes_a, axes_b) = match (call.ints("axes_a"), call.ints("axes_b")) {
        (Some(axes_a), Some(axes_b)) => (
            axes_a
                .iter()
                .map(|it| call.axis(*it, rank_a))
                .collect::<Result<Vec<_>, _>>()?,
            axes_b
                .iter()
                .map(|it| call.axis(*it, rank_b))
                .collect::<Result<Vec<_>, _>>()?,
        ),
        _ => {
            let count = call.int("axis").unwrap_or(2) as usize;
            ((rank_a - count..rank_a).collect(), (0..count).collect())
        }
    };
    Ok(vec![contracted(&a, &b, &axes_a, &axes_b)?])
}

/// Sums of products along one axis, the first operand conjugated.
pub(super) fn vecdot(call: &Call<'_>) -> Result1 {
    let (a, b) = (call.array("a")?, call.array("b")?);
    let dtype = promoted(a.dtype, b.dtype);
    let (x, y) = super::call::broadcast(&a.to_complexes(), &b.to_complexes())?;
    let axis = ndarray::Axis(call.axis(call.int("axis").unwrap_or(-1), x.ndim())?);
    let sums = (x.mapv(|it| it.conj()) * y).sum_axis(axis);
    Ok(vec![match dtype.kind() {
        Kind::Complex => Tensor::complexes(sums),
        // Integers are widened to fractions first, as every product of matrices does.
        _ => Tensor::floats(fractional(dtype), sums.mapv(|it| it.re)),
    }])
}

/// Each element of one times all of the other, as blocks.
pub(super) fn kron(call: &Call<'_>) -> Result1 {
    let (a, b) = (call.array("a")?, call.array("b")?);
    let dtype = promoted(a.dtype, b.dtype);
    fn blocks<A: LinalgScalar>(a: &ArrayD<A>, b: &ArrayD<A>) -> ArrayD<A> {
        let rank = a.ndim().max(b.ndim());
        let grown = |x: &ArrayD<A>| {
            let mut x = x.clone();
            while x.ndim() < rank {
                x = x.insert_axis(ndarray::Axis(0));
            }
            x
        };
        let (a, b) = (grown(a), grown(b));
        let shape: Vec<usize> = (0..rank).map(|axis| a.shape()[axis] * b.shape()[axis]).collect();
        ArrayD::from_shape_fn(IxDyn(&shape), |at| {
            let block: Vec<usize> = (0..rank).map(|axis| at[axis] / b.shape()[axis]).collect();
            let inside: Vec<usize> = (0..rank).map(|axis| at[axis] % b.shape()[axis]).collect();
            a[&block[..]] * b[&inside[..]]
        })
    }
    Ok(vec![match dtype.kind() {
        Kind::Int => Tensor::ints(dtype, blocks(&a.to_ints()?, &b.to_ints()?)),
        Kind::Float => Tensor::floats(dtype, blocks(&a.to_floats()?, &b.to_floats()?)),
        Kind::Complex => Tensor::complexes(blocks(&a.to_complexes(), &b.to_complexes())),
        Kind::Bool => Tensor::bools(blocks(&a.to_ints()?, &b.to_ints()?).mapv(|it| it != 0)),
    }])
}

/// Products of the matrices that indices name, on either side; all in order, where a side has none.
pub(super) fn gathered(
    call: &Call<'_>,
    a: &ArrayD<f64>,
    b: &ArrayD<f64>,
) -> Result<ArrayD<f64>, NoReference> {
    let flat = |x: &ArrayD<f64>| {
        let rank = x.ndim();
        let count: usize = x.shape()[..rank - 2].iter().product();
        let shape = [count, x.shape()[rank - 2], x.shape()[rank - 1]];
        ArrayD::from_shape_vec(IxDyn(&shape), x.iter().copied().collect()).map_err(|_| NoReference::Program)
    };
    let picked = |x: &ArrayD<f64>, name: &str| -> Result<(Vec<usize>, Vec<usize>), NoReference> {
        Ok(match call.maybe_array(name)? {
            Some(indices) => {
                let indices = indices.to_ints()?;
                (
                    indices.shape().to_vec(),
                    indices.iter().map(|it| *it as usize).collect(),
                )
            }
            None => {
                let batch = x.shape()[..x.ndim() - 2].to_vec();
                let count = batch.iter().product();
                (batch, (0..count).collect())
            }
        })
    };
    let ((shape_a, left), (shape_b, right)) = (picked(a, "lhs_indices")?, picked(b, "rhs_indices")?);
    let index = |shape: &[usize], places: Vec<usize>| {
        let places = places.into_iter().map(|it| it as i64).collect();
        ArrayD::<i64>::from_shape_vec(IxDyn(shape), places).map_err(|_| NoReference::Program)
    };
    let (left, right) = super::call::broadcast(&index(&shape_a, left)?, &index(&shape_b, right)?)?;
    let places = |it: &ArrayD<i64>| it.iter().map(|it| *it as usize).collect::<Vec<_>>();
    let product = multiplied(
        &flat(a)?.select(ndarray::Axis(0), &places(&left)),
        &flat(b)?.select(ndarray::Axis(0), &places(&right)),
    );
    let product = product.ok_or_else(|| call.not_covered("these shapes"))?;
    let mut shape = left.shape().to_vec();
    shape.extend(&product.shape()[1..]);
    ArrayD::from_shape_vec(IxDyn(&shape), product.iter().copied().collect()).map_err(|_| NoReference::Program)
}

pub(super) fn gather_mm(call: &Call<'_>) -> Result1 {
    let (a, b) = (call.array("a")?, call.array("b")?);
    let dtype = fractional(promoted(a.dtype, b.dtype));
    if dtype.kind() == Kind::Complex {
        return Err(NoReference::DType(dtype));
    }
    Ok(vec![Tensor::floats(
        dtype,
        gathered(call, &a.to_floats()?, &b.to_floats()?)?,
    )])
}

/// One product for each segment of the inner axis.
pub(super) fn segmented_mm(call: &Call<'_>) -> Result1 {
    let (a, b) = (call.array("a")?, call.array("b")?);
    let segments = call.array("segments")?.to_ints()?;
    let dtype = fractional(promoted(a.dtype, b.dtype));
    let (a, b) = (a.to_floats()?, b.to_floats()?);
    let products: Option<Vec<_>> = segments
        .lanes(ndarray::Axis(segments.ndim() - 1))
        .into_iter()
        .map(|segment| {
            let range = ndarray::Slice::from(segment[0] as usize..segment[1] as usize);
            let left = a.slice_axis(ndarray::Axis(1), range).to_owned();
            multiplied(&left, &b.slice_axis(ndarray::Axis(0), range).to_owned())
        })
        .collect();
    let products = products.ok_or_else(|| call.not_covered("these shapes"))?;
    let views: Vec<_> = products.iter().map(|it| it.view()).collect();
    let stacked = ndarray::stack(ndarray::Axis(0), &views).map_err(|_| NoReference::Program)?;
    Ok(vec![Tensor::floats(
        dtype,
        stacked.as_standard_layout().into_owned(),
    )])
}

/// A product of matrices whose blocks are switched off or scaled.
pub(super) fn block_masked_mm(call: &Call<'_>) -> Result1 {
    let (a, b) = (call.array("a")?, call.array("b")?);
    let dtype = fractional(promoted(a.dtype, b.dtype));
    let block = call.int("block_size").unwrap_or(64) as usize;
    let masked = |x: ArrayD<f64>, name: &str| -> Result<ArrayD<f64>, NoReference> {
        let Some(mask) = call.maybe_floats(name)? else {
            return Ok(x);
        };
        let rank = x.ndim();
        Ok(ArrayD::from_shape_fn(x.raw_dim(), |at| {
            let mut of: Vec<usize> = (0..rank).map(|axis| at[axis]).collect();
            of[rank - 2] /= block;
            of[rank - 1] /= block;
            // What a mask of 0 switches off is not read, so that NaN does not pass.
            match mask[&of[..]] {
                0.0 => 0.0,
                factor => x[&at] * factor,
            }
        }))
    };
    let (left, right) = (
        masked(a.to_floats()?, "mask_lhs")?,
        masked(b.to_floats()?, "mask_rhs")?,
    );
    let product = multiplied(&left, &right).ok_or_else(|| call.not_covered("these shapes"))?;
    Ok(vec![Tensor::floats(dtype, masked(product, "mask_out")?)])
}

/// Einstein's notation: letters name axes, letters that the result lacks are summed over.
pub(super) fn einsum(call: &Call<'_>) -> Result1 {
    let text: String = call.text("subscripts").unwrap_or("").split_whitespace().collect();
    let arrays = call.arrays("operands")?;
    let (inputs, output) = text.split_once("->").ok_or_else(|| call.not_covered("no `->`"))?;
    let inputs: Vec<Vec<char>> = inputs.split(',').map(|it| it.chars().collect()).collect();
    let output: Vec<char> = output.chars().collect();
    let mut extents = std::collections::BTreeMap::new();
    for (letters, array) in inputs.iter().zip(&arrays) {
        extents.extend(letters.iter().copied().zip(array.shape().iter().copied()));
    }
    let summed: Vec<char> = extents
        .keys()
        .copied()
        .filter(|it| !output.contains(it))
        .collect();
    let dtype = arrays
        .iter()
        .map(|it| it.dtype)
        .reduce(promoted)
        .ok_or(NoReference::Program)?;
    let operands: Vec<_> = arrays.iter().map(Tensor::to_complexes).collect();
    let sizes = |letters: &[char]| letters.iter().map(|it| extents[it]).collect::<Vec<_>>();
    let sums = ArrayD::from_shape_fn(IxDyn(&sizes(&output)), |at| {
        let mut total = num_complex::Complex64::new(0.0, 0.0);
        for inner in ndarray::indices(&sizes(&summed)[..]) {
            let place = |letter: &char| match output.iter().position(|it| it == letter) {
                Some(axis) => at[axis],
                None => inner[summed.iter().position(|it| it == letter).unwrap_or(0)],
            };
            let factors = inputs
                .iter()
                .zip(&operands)
                .map(|(letters, operand)| operand[&letters.iter().map(place).collect::<Vec<_>>()[..]]);
            total += factors.product::<num_complex::Complex64>();
        }
        total
    });
    Ok(vec![match dtype.kind() {
        Kind::Complex => Tensor::complexes(sums),
        // Integers are widened to fractions first, as every product of matrices does.
        _ => Tensor::floats(fractional(dtype), sums.mapv(|it| it.re)),
    }])
}

/// Every product of an element of one with an element of the other.
pub(super) fn outer(call: &Call<'_>) -> Result1 {
    fn all<A: LinalgScalar>(a: &ArrayD<A>, b: &ArrayD<A>) -> Option<ArrayD<A>> {
        let products: Vec<A> = a.iter().flat_map(|a| b.iter().map(move |b| *a * *b)).collect();
        ArrayD::from_shape_vec(IxDyn(&[a.len(), b.len()]), products).ok()
    }
    let (a, b) = (call.array("a")?, call.array("b")?);
    let dtype = promoted(a.dtype, b.dtype);
    if dtype.kind() == Kind::Bool {
        let products = all(&a.to_ints()?, &b.to_ints()?).ok_or(NoReference::Program)?;
        return Ok(vec![Tensor::bools(products.mapv(|it| it != 0))]);
    }
    if matches!(dtype.kind(), Kind::Int) {
        return all(&a.to_ints()?, &b.to_ints()?)
            .map(|it| vec![Tensor::ints(dtype, it)])
            .ok_or(NoReference::Program);
    }
    Ok(vec![in_common_type(&a, &b, all, all)?])
}
