//! Programs that do what a capture refuses.

use std::panic::{catch_unwind, AssertUnwindSafe};

use mlx_rs::error::Exception;
use mlx_rs::{ops, with_device, Array, Device};

use super::routines::{only, Routines};
use crate::graph::raw_calls;

/// What each of them does.
pub(super) static ROUTINES: Routines = &[
    ("custom_kernel", |inputs| {
        let y = ops::exp(only(inputs)?)?;
        Ok(vec![raw_calls::apply_metal_kernel(&y)?])
    }),
    ("distributed", |inputs| {
        let y = ops::exp(only(inputs)?)?;
        Ok(vec![raw_calls::sum_over_processes(&y)?])
    }),
    ("gpu_inside", |inputs| {
        let y = ops::exp(only(inputs)?)?;
        Ok(vec![with_device(Device::gpu(), || ops::negative(&y))?])
    }),
    // What a capture refused is refused, even where the forward makes do without it.
    ("gpu_and_go_on", |inputs| {
        let y = ops::exp(only(inputs)?)?;
        // mlx-rs panics where a device has no stream.
        let on_gpu = catch_unwind(AssertUnwindSafe(|| {
            with_device(Device::gpu(), || ops::negative(&y))
        }));
        Ok(vec![on_gpu.ok().and_then(Result::ok).unwrap_or(y)])
    }),
    ("other_thread", |inputs| {
        let y = ops::exp(only(inputs)?)?;
        y.eval()?;
        let sent = std::thread::spawn(move || doubled(&y));
        let back = sent
            .join()
            .map_err(|_| Exception::custom("the other thread panicked"))??;
        Ok(vec![ops::negative(&back)?])
    }),
];

fn doubled(y: &Array) -> Result<Array, Exception> {
    let doubled = ops::add(y, y)?;
    doubled.eval()?;
    Ok(doubled)
}
