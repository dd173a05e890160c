//! Quantized weights.

use mlx_rs::ops;

use super::table::functions;

functions! {
    dequantize(w: Array, scales: Array; biases: Array, group_size: Int, bits: Int) => ops::dequantize(&w, &scales, biases.as_ref(), group_size, bits);
    gather_qmm(x: Array, w: Array, scales: Array; biases: Array, lhs_indices: Array, rhs_indices: Array, transpose: Bool, group_size: Int, bits: Int, sorted_indices: Bool) => ops::gather_qmm(
        &x, &w, &scales, biases.as_ref(), lhs_indices.as_ref(), rhs_indices.as_ref(), transpose, group_size, bits, sorted_indices,
    );
    qqmm(x: Array, w: Array; w_scales: Array, group_size: Int, bits: Int, mode: Text) => ops::qqmm(&x, &w, w_scales.as_ref(), group_size, bits, mode.as_deref());
    quantize(w: Array; group_size: Int, bits: Int) => ops::quantize(&w, group_size, bits);
    quantized_matmul(x: Array, w: Array, scales: Array; biases: Array, transpose: Bool, group_size: Int, bits: Int) => ops::quantized_matmul(
        &x, &w, &scales, biases.as_ref(), transpose, group_size, bits,
    );
}
