//! Products of vectors and matrices.

use mlx_rs::ops;

use super::table::functions;

functions! {
    addmm(c: Array, a: Array, b: Array; alpha: Float, beta: Float) => ops::addmm(&c, &a, &b, alpha, beta);
    block_masked_mm(a: Array, b: Array; block_size: Int, mask_out: Array, mask_lhs: Array, mask_rhs: Array) => ops::block_masked_mm(
        &a, &b, block_size, mask_out.as_ref(), mask_lhs.as_ref(), mask_rhs.as_ref(),
    );
    einsum(subscripts: Text, operands: Arrays) => ops::einsum(&subscripts, &operands);
    gather_mm(a: Array, b: Array; lhs_indices: Array, rhs_indices: Array, sorted_indices: Bool) => ops::gather_mm(
        &a, &b, lhs_indices.as_ref(), rhs_indices.as_ref(), sorted_indices,
    );
    inner(a: Array, b: Array) => ops::inner(&a, &b);
    kron(a: Array, b: Array) => ops::kron(&a, &b);
    matmul(a: Array, b: Array) => ops::matmul(&a, &b);
    outer(a: Array, b: Array) => ops::outer(&a, &b);
    segmented_mm(a: Array, b: Array, segments: Array) => ops::segmented_mm(&a, &b, &segments);
    tensordot(a: Array, b: Array; axes_a: Ints, axes_b: Ints, axis: Int) => match (axes_a, axes_b) {
        (Some(axes_a), Some(axes_b)) => ops::tensordot_axes(&a, &b, &axes_a, &axes_b),
        _ => ops::tensordot_axis(&a, &b, axis.unwrap_or(2)),
    };
    vecdot(a: Array, b: Array; axis: Int) => ops::vecdot(&a, &b, axis.unwrap_or(-1));
}
