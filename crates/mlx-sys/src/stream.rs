//! Streams that cannot be made: an observer is told, since what follows is an error that says nothing of a device.

use crate::observe;
use crate::raw::{self, mlx_device, mlx_stream};

/// As in mlx-c; this thread's observer is told where the device has no stream.
///
/// # Safety
///
/// As for the C function: a valid handle.
pub unsafe extern "C" fn mlx_stream_new_device(dev: mlx_device) -> mlx_stream {
    // SAFETY: the caller's promise.
    told(unsafe { raw::mlx_stream_new_device(dev) })
}

/// As in mlx-c; this thread's observer is told where there is no GPU.
///
/// # Safety
///
/// As for the C function.
pub unsafe extern "C" fn mlx_default_gpu_stream_new() -> mlx_stream {
    // SAFETY: the caller's promise.
    told(unsafe { raw::mlx_default_gpu_stream_new() })
}

fn told(stream: mlx_stream) -> mlx_stream {
    if stream.ctx.is_null() {
        observe::missing_stream();
    }
    stream
}
