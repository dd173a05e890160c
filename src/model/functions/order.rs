//! Functions that look for, or go along, an order.

use mlx_rs::ops::{self, indexing};

use super::table::{along, functions, over};

functions! {
    argmax(x: Array; axis: Int, keep_dims: Bool) => along!(axis, indexing::argmax_axis, indexing::argmax, (&x), (keep_dims));
    argmin(x: Array; axis: Int, keep_dims: Bool) => along!(axis, indexing::argmin_axis, indexing::argmin, (&x), (keep_dims));
    argpartition(x: Array, kth: Int; axis: Int) => match axis {
        Some(axis) => ops::argpartition_axis(&x, kth, axis),
        None => ops::argpartition(&x, kth),
    };
    argsort(x: Array; axis: Int) => along!(axis, ops::argsort_axis, ops::argsort, (&x), ());
    cummax(x: Array; axis: Int, reverse: Bool, inclusive: Bool) => ops::cummax(&x, axis, reverse, inclusive);
    cummin(x: Array; axis: Int, reverse: Bool, inclusive: Bool) => ops::cummin(&x, axis, reverse, inclusive);
    cumprod(x: Array; axis: Int, reverse: Bool, inclusive: Bool) => ops::cumprod(&x, axis, reverse, inclusive);
    cumsum(x: Array; axis: Int, reverse: Bool, inclusive: Bool) => ops::cumsum(&x, axis, reverse, inclusive);
    partition(x: Array, kth: Int; axis: Int) => match axis {
        Some(axis) => ops::partition_axis(&x, kth, axis),
        None => ops::partition(&x, kth),
    };
    softmax(x: Array; axes: Ints, axis: Int, precise: Bool) => over!(axes, axis, ops::softmax_axes, ops::softmax_axis, ops::softmax, (&x), (precise));
    sort(x: Array; axis: Int) => along!(axis, ops::sort_axis, ops::sort, (&x), ());
    topk(x: Array, k: Int; axis: Int) => match axis {
        Some(axis) => indexing::topk_axis(&x, k, axis),
        None => indexing::topk(&x, k),
    };
}
