//! `mlx_compile` and `mlx_detail_compile`, which an observer may turn into no-ops on its own thread.
//!
//! MLX's own switch is process-wide and has no getter; handing back the closure does the same for one thread.

use std::ffi::c_int;

use crate::observe::{self, Inlining};
use crate::raw::{self, mlx_closure};

/// As in mlx-c, unless this thread's observer inlines compiled functions.
///
/// # Safety
///
/// As for the C function: valid handles.
pub unsafe extern "C" fn mlx_compile(res: *mut mlx_closure, fun: mlx_closure, shapeless: bool) -> c_int {
    match unsafe { inlined(res, fun) } {
        Some(status) => status,
        None => unsafe { raw::mlx_compile(res, fun, shapeless) },
    }
}

/// As in mlx-c, unless this thread's observer inlines compiled functions.
///
/// # Safety
///
/// As for the C function: valid handles, and `constants` of the length given.
pub unsafe extern "C" fn mlx_detail_compile(
    res: *mut mlx_closure,
    fun: mlx_closure,
    fun_id: usize,
    shapeless: bool,
    constants: *const u64,
    constants_num: usize,
) -> c_int {
    match unsafe { inlined(res, fun) } {
        Some(status) => status,
        None => unsafe { raw::mlx_detail_compile(res, fun, fun_id, shapeless, constants, constants_num) },
    }
}

/// Copies the closure's handle into `res` if the observer wants compiled functions inlined.
unsafe fn inlined(res: *mut mlx_closure, fun: mlx_closure) -> Option<c_int> {
    if !observe::is_observed() {
        return None;
    }
    // The observer is told the handle that the caller will apply, so the copy is made first and taken back if the
    // observer does not want it.
    let mut copy = unsafe { raw::mlx_closure_new() };
    let status = unsafe { raw::mlx_closure_set(&mut copy, fun) };
    if status != 0 {
        unsafe { raw::mlx_closure_free(copy) };
        return Some(status);
    }
    if observe::inlining(copy) == Inlining::No {
        unsafe { raw::mlx_closure_free(copy) };
        return None;
    }
    unsafe {
        raw::mlx_closure_free(*res);
        *res = copy;
    }
    Some(0)
}
