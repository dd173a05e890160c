//! What arrays do by methods of their own, each written as a method.
//!
//! The names are those of the functions behind `array.`, and so are the references.

use mlx_rs::ops::{CountNonzeroOptions, LogCumsumExpOptions, SearchSide, TraceOptions};
use mlx_rs::Array;
use mlx_rs::Dtype::Float32;

use super::table::{chosen, exception, functions, over, typed};

functions! {
    array.abs(x: Array) => x.abs();
    array.cos(x: Array) => x.cos();
    array.exp(x: Array) => x.exp();
    array.floor(x: Array) => x.floor();
    array.is_nan(x: Array) => x.is_nan();
    array.is_inf(x: Array) => x.is_inf();
    array.is_finite(x: Array) => x.is_finite();
    array.is_neg_inf(x: Array) => x.is_neg_inf();
    array.is_pos_inf(x: Array) => x.is_pos_inf();
    array.log(x: Array) => x.log();
    array.log2(x: Array) => x.log2();
    array.log10(x: Array) => x.log10();
    array.log1p(x: Array) => x.log1p();
    array.logical_not(x: Array) => x.logical_not();
    array.negative(x: Array) => x.negative();
    array.real(x: Array) => x.real();
    array.imag(x: Array) => x.imag();
    array.reciprocal(x: Array) => x.reciprocal();
    array.rsqrt(x: Array) => x.rsqrt();
    array.sin(x: Array) => x.sin();
    array.sqrt(x: Array) => x.sqrt();
    array.square(x: Array) => x.square();
    array.trunc(x: Array) => x.trunc();
    array.at_least_1d(x: Array) => x.at_least_1d();
    array.at_least_2d(x: Array) => x.at_least_2d();
    array.at_least_3d(x: Array) => x.at_least_3d();
    array.to_fp8(x: Array) => x.to_fp8();
    array.add(a: Array, b: Array) => a.add(&b);
    array.subtract(a: Array, b: Array) => a.subtract(&b);
    array.multiply(a: Array, b: Array) => a.multiply(&b);
    array.divide(a: Array, b: Array) => a.divide(&b);
    array.power(a: Array, b: Array) => a.power(&b);
    array.remainder(a: Array, b: Array) => a.remainder(&b);
    array.floor_divide(a: Array, b: Array) => a.floor_divide(&b);
    array.matmul(a: Array, b: Array) => a.matmul(&b);
    array.eq(a: Array, b: Array) => a.eq(&b);
    array.le(a: Array, b: Array) => a.le(&b);
    array.ge(a: Array, b: Array) => a.ge(&b);
    array.ne(a: Array, b: Array) => a.ne(&b);
    array.lt(a: Array, b: Array) => a.lt(&b);
    array.gt(a: Array, b: Array) => a.gt(&b);
    array.logical_and(a: Array, b: Array) => a.logical_and(&b);
    array.logical_or(a: Array, b: Array) => a.logical_or(&b);
    array.all(x: Array; axes: Ints, axis: Int, keep_dims: Bool) => over!(axes, axis, Array::all_axes, Array::all_axis, Array::all, (&x), (keep_dims));
    array.any(x: Array; axes: Ints, axis: Int, keep_dims: Bool) => over!(axes, axis, Array::any_axes, Array::any_axis, Array::any, (&x), (keep_dims));
    array.logsumexp(x: Array; axes: Ints, axis: Int, keep_dims: Bool) => over!(axes, axis, Array::logsumexp_axes, Array::logsumexp_axis, Array::logsumexp, (&x), (keep_dims));
    array.max(x: Array; axes: Ints, axis: Int, keep_dims: Bool) => over!(axes, axis, Array::max_axes, Array::max_axis, Array::max, (&x), (keep_dims));
    array.mean(x: Array; axes: Ints, axis: Int, keep_dims: Bool) => over!(axes, axis, Array::mean_axes, Array::mean_axis, Array::mean, (&x), (keep_dims));
    array.median(x: Array; axes: Ints, axis: Int, keep_dims: Bool) => over!(axes, axis, Array::median_axes, Array::median_axis, Array::median, (&x), (keep_dims));
    array.min(x: Array; axes: Ints, axis: Int, keep_dims: Bool) => over!(axes, axis, Array::min_axes, Array::min_axis, Array::min, (&x), (keep_dims));
    array.prod(x: Array; axes: Ints, axis: Int, keep_dims: Bool) => over!(axes, axis, Array::prod_axes, Array::prod_axis, Array::prod, (&x), (keep_dims));
    array.sum(x: Array; axes: Ints, axis: Int, keep_dims: Bool) => over!(axes, axis, Array::sum_axes, Array::sum_axis, Array::sum, (&x), (keep_dims));
    array.var(x: Array; axes: Ints, axis: Int, keep_dims: Bool, ddof: Int) => over!(axes, axis, Array::var_axes, Array::var_axis, Array::var, (&x), (keep_dims, ddof));
    array.cummax(x: Array; axis: Int, reverse: Bool, inclusive: Bool) => x.cummax(axis, reverse, inclusive);
    array.cummin(x: Array; axis: Int, reverse: Bool, inclusive: Bool) => x.cummin(axis, reverse, inclusive);
    array.cumprod(x: Array; axis: Int, reverse: Bool, inclusive: Bool) => x.cumprod(axis, reverse, inclusive);
    array.cumsum(x: Array; axis: Int, reverse: Bool, inclusive: Bool) => x.cumsum(axis, reverse, inclusive);
    array.logcumsumexp(x: Array; axis: Int, reverse: Bool, inclusive: Bool) => {
        let default = LogCumsumExpOptions::default();
        x.logcumsumexp(LogCumsumExpOptions {
            axis,
            reverse: reverse.unwrap_or(default.reverse),
            inclusive: inclusive.unwrap_or(default.inclusive),
        })
    };
    array.count_nonzero(x: Array; axes: Ints, axis: Int, keep_dims: Bool) => x.count_nonzero(CountNonzeroOptions {
        axes: chosen(axes, axis),
        keep_dims: keep_dims.unwrap_or(false),
    });
    array.diff(x: Array; n: Int, axis: Int) => x.diff(n.unwrap_or(1), axis.unwrap_or(-1));
    array.nan_to_num(x: Array; nan: Float, pos_inf: Float, neg_inf: Float) => x.nan_to_num(nan, pos_inf, neg_inf);
    array.round(x: Array; decimals: Int) => x.round(decimals);
    array.hadamard_transform(x: Array; scale: Float) => x.hadamard_transform(scale);
    array.all_close(a: Array, b: Array; rtol: Double, atol: Double, equal_nan: Bool) => a.all_close(&b, rtol, atol, equal_nan);
    array.is_close(a: Array, b: Array; rtol: Double, atol: Double, equal_nan: Bool) => a.is_close(&b, rtol, atol, equal_nan);
    array.eq_exact(a: Array, b: Array) => a.eq_exact(&b);
    array.eq_values(a: Array, b: Array) => a.eq_values(&b);
    array.trace(x: Array; offset: Int, axis1: Int, axis2: Int, dtype: DType) => {
        let default = TraceOptions::default();
        x.trace(TraceOptions {
            offset: offset.unwrap_or(default.offset),
            axis1: axis1.unwrap_or(default.axis1),
            axis2: axis2.unwrap_or(default.axis2),
            dtype,
        })
    };
    array.diag(x: Array; k: Int) => x.diag(k);
    array.diagonal(x: Array; offset: Int, axis1: Int, axis2: Int) => x.diagonal(offset, axis1, axis2);
    array.search_sorted(x: Array, values: Array; side: Text) => x.search_sorted(&values, side_of(side.as_deref())?);
    array.from_fp8(x: Array, dtype: DType) => x.from_fp8(dtype);
    array.as_type(x: Array, dtype: DType) => typed!(dtype, T => x.as_type::<T>());
    array.view(x: Array, dtype: DType) => typed!(dtype, T => x.view::<T>());
    array.view_dtype(x: Array, dtype: DType) => x.view_dtype(dtype);
    array.expand_dims(x: Array; axes: Ints, axis: Int) => match (axes, axis) {
        (Some(axes), _) => x.expand_dims_axes(&axes),
        (None, axis) => x.expand_dims(axis.unwrap_or(0)),
    };
    array.flatten(x: Array; start_axis: Int, end_axis: Int) => x.flatten(start_axis, end_axis);
    array.reshape(x: Array, shape: Ints) => x.reshape(&shape);
    array.squeeze(x: Array; axes: Ints) => match axes {
        Some(axes) => x.squeeze_axes(&axes),
        None => x.squeeze(),
    };
    array.as_strided(x: Array; shape: Ints, strides: Ints, offset: Int) => {
        let strides: Option<Vec<i64>> = strides.map(|it| it.into_iter().map(i64::from).collect());
        let offset = offset.map(usize::try_from).transpose().map_err(exception)?;
        x.as_strided(shape.as_deref(), strides.as_deref(), offset)
    };
    array.move_axis(x: Array, src: Int, dst: Int) => x.move_axis(src, dst);
    array.split_at_indices(x: Array, indices: Ints; axis: Int) => x.split_at_indices(&indices, axis);
    array.split_equal(x: Array, num_parts: Int; axis: Int) => x.split_equal(num_parts, axis);
    array.swap_axes(x: Array, axis1: Int, axis2: Int) => x.swap_axes(axis1, axis2);
    array.transpose(x: Array; axes: Ints) => match axes {
        Some(axes) => x.transpose_axes(&axes),
        None => x.transpose(),
    };
    array.t(x: Array) => Ok(x.t());
    array.deep_clone(x: Array) => Ok(x.deep_clone());
    array.take(x: Array, indices: Array; axis: Int) => match axis {
        Some(axis) => x.take_axis(&indices, axis),
        None => x.take(&indices),
    };
    array.take_along_axis(x: Array, indices: Array; axis: Int) => x.take_along_axis(&indices, axis);
    array.put_along_axis(x: Array, indices: Array, values: Array; axis: Int) => x.put_along_axis(&indices, &values, axis);
    array.zeros(shape: Ints; dtype: DType) => typed!(dtype.unwrap_or(Float32), T => Array::zeros::<T>(&shape));
    array.ones(shape: Ints; dtype: DType) => typed!(dtype.unwrap_or(Float32), T => Array::ones::<T>(&shape));
    array.eye(n: Int; m: Int, k: Int, dtype: DType) => typed!(dtype.unwrap_or(Float32), T => Array::eye::<T>(n, m, k));
    array.full(shape: Ints, values: Array; dtype: DType) => typed!(dtype.unwrap_or(Float32), T => Array::full::<T>(&shape, &values));
    array.identity(n: Int; dtype: DType) => typed!(dtype.unwrap_or(Float32), T => Array::identity::<T>(n));
    array.arange(stop: Double; start: Double, step: Double, dtype: DType) => typed!(dtype.unwrap_or(Float32), T => {
        Array::arange::<f64, T>(start, stop, step)
    });
    array.repeat(x: Array, count: Int; axis: Int) => {
        let dtype = x.dtype();
        match axis {
            Some(axis) => typed!(dtype, T => Array::repeat_axis::<T>(x, count, axis)),
            None => typed!(dtype, T => Array::repeat::<T>(x, count)),
        }
    };
    array.tri(n: Int; m: Int, k: Int, dtype: DType) => typed!(dtype.unwrap_or(Float32), T => Array::tri::<T>(n, m, k));
}

fn side_of(name: Option<&str>) -> Result<SearchSide, mlx_rs::error::Exception> {
    match name {
        None | Some("left") => Ok(SearchSide::Left),
        Some("right") => Ok(SearchSide::Right),
        Some(other) => Err(exception(format!("side is `left` or `right`, not `{other}`"))),
    }
}
