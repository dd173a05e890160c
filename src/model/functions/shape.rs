//! Functions that change the shape, or how elements lie.

use mlx_rs::ops::{self, ContiguousOptions, PadMode, PadWidth};

use super::table::{chosen, exception, functions};

functions! {
    as_dtype(x: Array, dtype: DType) => x.as_dtype(dtype);
    as_strided(x: Array; shape: Ints, strides: Ints, offset: Int) => {
        let strides: Option<Vec<i64>> = strides.map(|it| it.into_iter().map(i64::from).collect());
        let offset = offset.map(usize::try_from).transpose().map_err(exception)?;
        ops::as_strided(&x, shape.as_deref(), strides.as_deref(), offset)
    };
    at_least_1d(x: Array) => ops::at_least_1d(&x);
    at_least_2d(x: Array) => ops::at_least_2d(&x);
    at_least_3d(x: Array) => ops::at_least_3d(&x);
    broadcast_arrays(arrays: Arrays) => ops::broadcast_arrays(&arrays);
    broadcast_to(x: Array, shape: Ints) => ops::broadcast_to(&x, &shape);
    concatenate(arrays: Arrays; axis: Int) => ops::concatenate(&arrays, axis.unwrap_or(0));
    concatenate_flat(arrays: Arrays) => ops::concatenate_flat(&arrays);
    contiguous(x: Array; allow_col_major: Bool) => match allow_col_major {
        Some(allow_col_major) => x.contiguous_with_options(ContiguousOptions { allow_col_major }),
        None => x.contiguous(),
    };
    expand_dims(x: Array; axes: Ints, axis: Int) => match (axes, axis) {
        (Some(axes), _) => ops::expand_dims_axes(&x, &axes),
        (None, axis) => ops::expand_dims(&x, axis.unwrap_or(0)),
    };
    flatten(x: Array; start_axis: Int, end_axis: Int) => ops::flatten(&x, start_axis, end_axis);
    flip(x: Array; axes: Ints, axis: Int) => x.flip(chosen(axes, axis));
    move_axis(x: Array, src: Int, dst: Int) => ops::move_axis(&x, src, dst);
    pad(x: Array, width: Pairs; value: Array, mode: Text) => {
        let width = match &width[..] {
            [same] => PadWidth::Same(*same),
            each => PadWidth::Widths(each),
        };
        ops::pad(&x, width, value, pad_mode(mode.as_deref())?)
    };
    reshape(x: Array, shape: Ints) => ops::reshape(&x, &shape);
    split_at_indices(x: Array, indices: Ints; axis: Int) => ops::split_at_indices(&x, &indices, axis);
    split_equal(x: Array, num_parts: Int; axis: Int) => ops::split_equal(&x, num_parts, axis);
    squeeze(x: Array; axes: Ints) => match axes {
        Some(axes) => ops::squeeze_axes(&x, &axes),
        None => ops::squeeze(&x),
    };
    stack(arrays: Arrays; axis: Int) => ops::stack(&arrays, axis.unwrap_or(0));
    swap_axes(x: Array, axis1: Int, axis2: Int) => ops::swap_axes(&x, axis1, axis2);
    tile(x: Array, reps: Ints) => ops::tile(&x, &reps);
    transpose(x: Array; axes: Ints) => match axes {
        Some(axes) => ops::transpose_axes(&x, &axes),
        None => ops::transpose(&x),
    };
    unflatten(x: Array, axis: Int, shape: Ints) => ops::unflatten(&x, axis, &shape);
    unstack(x: Array; axis: Int) => x.unstack(axis.unwrap_or(0));
}

fn pad_mode(mode: Option<&str>) -> Result<Option<PadMode>, mlx_rs::error::Exception> {
    match mode {
        None => Ok(None),
        Some("constant") => Ok(Some(PadMode::Constant)),
        Some("edge") => Ok(Some(PadMode::Edge)),
        Some(other) => Err(exception(format!("mode is `constant` or `edge`, not `{other}`"))),
    }
}
