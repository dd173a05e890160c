//! Arrays made from none, or from another's shape, and what writes a pattern.

use mlx_rs::ops::{self, windows, LinspaceOptions};
use mlx_rs::Dtype::Float32;

use super::table::{exception, functions, typed};

functions! {
    arange(stop: Double; start: Double, step: Double, dtype: DType) => typed!(dtype.unwrap_or(Float32), T => {
        ops::arange::<f64, T>(start, stop, step)
    });
    diag(x: Array; k: Int) => ops::diag(&x, k);
    diagonal(x: Array; offset: Int, axis1: Int, axis2: Int) => ops::diagonal(&x, offset, axis1, axis2);
    eye(n: Int; m: Int, k: Int, dtype: DType) => typed!(dtype.unwrap_or(Float32), T => ops::eye::<T>(n, m, k));
    full(shape: Ints, values: Array; dtype: DType) => typed!(dtype.unwrap_or(Float32), T => ops::full::<T>(&shape, &values));
    full_like(x: Array, values: Array; dtype: DType) => ops::full_like(&x, &values, dtype);
    identity(n: Int; dtype: DType) => typed!(dtype.unwrap_or(Float32), T => ops::identity::<T>(n));
    linspace(start: Double, stop: Double; count: Int, endpoint: Bool, dtype: DType) => {
        let default = LinspaceOptions::default();
        let options = LinspaceOptions {
            count: count.unwrap_or(default.count),
            endpoint: endpoint.unwrap_or(default.endpoint),
        };
        typed!(dtype.unwrap_or(Float32), T => ops::linspace::<f64, T>(start, stop, options))
    };
    ones(shape: Ints; dtype: DType) => ops::ones_dtype(&shape, dtype.unwrap_or(Float32));
    ones_like(x: Array) => ops::ones_like(&x);
    ones_of(shape: Ints; dtype: DType) => typed!(dtype.unwrap_or(Float32), T => ops::ones::<T>(&shape));
    repeat(x: Array, count: Int; axis: Int) => {
        let dtype = x.dtype();
        match axis {
            Some(axis) => typed!(dtype, T => ops::repeat_axis::<T>(x, count, axis)),
            None => typed!(dtype, T => ops::repeat::<T>(x, count)),
        }
    };
    tri(n: Int; m: Int, k: Int, dtype: DType) => typed!(dtype.unwrap_or(Float32), T => ops::tri::<T>(n, m, k));
    tril(x: Array; k: Int) => ops::tril(&x, k);
    triu(x: Array; k: Int) => ops::triu(&x, k);
    zeros(shape: Ints; dtype: DType) => ops::zeros_dtype(&shape, dtype.unwrap_or(Float32));
    zeros_like(x: Array) => ops::zeros_like(&x);
    zeros_of(shape: Ints; dtype: DType) => typed!(dtype.unwrap_or(Float32), T => ops::zeros::<T>(&shape));
    windows.bartlett(size: Int) => windows::bartlett(usize::try_from(size).map_err(exception)?);
    windows.blackman(size: Int) => windows::blackman(usize::try_from(size).map_err(exception)?);
    windows.hamming(size: Int) => windows::hamming(usize::try_from(size).map_err(exception)?);
    windows.hann(size: Int) => windows::hann(usize::try_from(size).map_err(exception)?);
}
