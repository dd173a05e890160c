//! Convolutions.

use mlx_rs::ops;

use super::table::{exception, functions};

functions! {
    conv1d(x: Array, weight: Array; stride: Int, padding: Int, dilation: Int, groups: Int) => ops::conv1d(
        &x, &weight, stride, padding, dilation, groups,
    );
    conv2d(x: Array, weight: Array; stride: Ints, padding: Ints, dilation: Ints, groups: Int) => ops::conv2d(
        &x, &weight, two(stride)?, two(padding)?, two(dilation)?, groups,
    );
    conv3d(x: Array, weight: Array; stride: Ints, padding: Ints, dilation: Ints, groups: Int) => ops::conv3d(
        &x, &weight, three(stride)?, three(padding)?, three(dilation)?, groups,
    );
    conv_general(x: Array, weight: Array; strides: Ints, padding: Ints, kernel_dilation: Ints, input_dilation: Ints, groups: Int, flip: Bool) => ops::conv_general(
        &x, &weight, strides.as_deref(), padding.as_deref(), kernel_dilation.as_deref(), input_dilation.as_deref(), groups, flip,
    );
    conv_transpose1d(x: Array, weight: Array; stride: Int, padding: Int, dilation: Int, output_padding: Int, groups: Int) => ops::conv_transpose1d(
        &x, &weight, stride, padding, dilation, output_padding, groups,
    );
    conv_transpose2d(x: Array, weight: Array; stride: Ints, padding: Ints, dilation: Ints, output_padding: Ints, groups: Int) => ops::conv_transpose2d(
        &x, &weight, two(stride)?, two(padding)?, two(dilation)?, two(output_padding)?, groups,
    );
    conv_transpose3d(x: Array, weight: Array; stride: Ints, padding: Ints, dilation: Ints, output_padding: Ints, groups: Int) => ops::conv_transpose3d(
        &x, &weight, three(stride)?, three(padding)?, three(dilation)?, three(output_padding)?, groups,
    );
}

fn two(numbers: Option<Vec<i32>>) -> Result<Option<(i32, i32)>, mlx_rs::error::Exception> {
    match numbers.as_deref() {
        None => Ok(None),
        Some([both]) => Ok(Some((*both, *both))),
        Some([a, b]) => Ok(Some((*a, *b))),
        Some(_) => Err(exception("one number is wanted, or two")),
    }
}

fn three(numbers: Option<Vec<i32>>) -> Result<Option<(i32, i32, i32)>, mlx_rs::error::Exception> {
    match numbers.as_deref() {
        None => Ok(None),
        Some([all]) => Ok(Some((*all, *all, *all))),
        Some([a, b, c]) => Ok(Some((*a, *b, *c))),
        Some(_) => Err(exception("one number is wanted, or three")),
    }
}
