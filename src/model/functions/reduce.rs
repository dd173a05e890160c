//! Functions that fold whole axes away.

use mlx_rs::ops;

use super::table::{functions, over};

functions! {
    all(x: Array; axes: Ints, axis: Int, keep_dims: Bool) => over!(axes, axis, ops::all_axes, ops::all_axis, ops::all, (&x), (keep_dims));
    any(x: Array; axes: Ints, axis: Int, keep_dims: Bool) => over!(axes, axis, ops::any_axes, ops::any_axis, ops::any, (&x), (keep_dims));
    logsumexp(x: Array; axes: Ints, axis: Int, keep_dims: Bool) => over!(axes, axis, ops::logsumexp_axes, ops::logsumexp_axis, ops::logsumexp, (&x), (keep_dims));
    max(x: Array; axes: Ints, axis: Int, keep_dims: Bool) => over!(axes, axis, ops::max_axes, ops::max_axis, ops::max, (&x), (keep_dims));
    mean(x: Array; axes: Ints, axis: Int, keep_dims: Bool) => over!(axes, axis, ops::mean_axes, ops::mean_axis, ops::mean, (&x), (keep_dims));
    median(x: Array; axes: Ints, axis: Int, keep_dims: Bool) => over!(axes, axis, ops::median_axes, ops::median_axis, ops::median, (&x), (keep_dims));
    min(x: Array; axes: Ints, axis: Int, keep_dims: Bool) => over!(axes, axis, ops::min_axes, ops::min_axis, ops::min, (&x), (keep_dims));
    prod(x: Array; axes: Ints, axis: Int, keep_dims: Bool) => over!(axes, axis, ops::prod_axes, ops::prod_axis, ops::prod, (&x), (keep_dims));
    std(x: Array; axes: Ints, axis: Int, keep_dims: Bool, ddof: Int) => over!(axes, axis, ops::std_axes, ops::std_axis, ops::std, (&x), (keep_dims, ddof));
    sum(x: Array; axes: Ints, axis: Int, keep_dims: Bool) => over!(axes, axis, ops::sum_axes, ops::sum_axis, ops::sum, (&x), (keep_dims));
    var(x: Array; axes: Ints, axis: Int, keep_dims: Bool, ddof: Int) => over!(axes, axis, ops::var_axes, ops::var_axis, ops::var, (&x), (keep_dims, ddof));
}
