//! Calls that mlx-rs has no safe way to on a machine without the hardware, so that a capture can be seen to refuse them.

use mlx_rs::error::Exception;
use mlx_rs::{Array, Stream};
use mlx_sys::raw;

/// The sum of an array over all processes, of a group of one's own making: there is none.
///
/// # Errors
///
/// MLX's, or a capture's refusal.
pub fn sum_over_processes(x: &Array) -> Result<Array, Exception> {
    let stream = Stream::cpu();
    let nobody = raw::mlx_distributed_group {
        ctx: std::ptr::null_mut(),
    };
    // SAFETY: valid handles; an empty group means MLX's global one.
    unsafe {
        let mut sum = raw::mlx_array_new();
        let status = mlx_sys::mlx_distributed_all_sum(&mut sum, x.as_ptr(), nobody, stream.as_ptr());
        let sum = Array::from_ptr(sum);
        match status {
            0 => Ok(sum),
            _ => Err(Exception::custom("the processes gave no sum")),
        }
    }
}

/// Applies a Metal kernel that was never built.
///
/// # Errors
///
/// MLX's, or a capture's refusal.
pub fn apply_metal_kernel(x: &Array) -> Result<Array, Exception> {
    let stream = Stream::cpu();
    let kernel = raw::mlx_fast_metal_kernel {
        ctx: std::ptr::null_mut(),
    };
    let config = raw::mlx_fast_metal_kernel_config {
        ctx: std::ptr::null_mut(),
    };
    // SAFETY: mlx-c reports empty handles of kernels and of configurations as errors; the lists are freed once.
    unsafe {
        let inputs = raw::mlx_vector_array_new_value(x.as_ptr());
        let mut outputs = raw::mlx_vector_array_new();
        let status =
            mlx_sys::mlx_fast_metal_kernel_apply(&mut outputs, kernel, inputs, config, stream.as_ptr());
        let first = super::list(outputs).next().map(|array| super::share(array));
        raw::mlx_vector_array_free(inputs);
        raw::mlx_vector_array_free(outputs);
        match (status, first) {
            (0, Some(first)) => Ok(first),
            _ => Err(Exception::custom("the kernel gave no array")),
        }
    }
}
