//! The data of evaluated arrays, and arrays with other data in the same layout.

use mlx_rs::Array;
use mlx_sys::raw;

use super::error::{check, GraphError};

/// The elements of an evaluated array in row-major order, as bytes.
///
/// # Errors
///
/// An array that is not evaluated.
pub fn read(array: &Array) -> Result<Vec<u8>, GraphError> {
    let mut data = vec![0; array.nbytes()];
    // SAFETY: the buffer has the size that is passed.
    let status = unsafe { raw::mlx_graph_read(data.as_mut_ptr().cast(), data.len(), array.as_ptr()) };
    check(status, "reading an array")?;
    Ok(data)
}

/// The stretch of memory that an evaluated array's elements lie in, first byte to last: shorter than the array for a
/// broadcast view, longer for a strided one.
///
/// # Errors
///
/// An array that is not evaluated.
pub fn span(array: &Array) -> Result<Vec<u8>, GraphError> {
    let mut bytes = 0;
    // SAFETY: null asks for the size only.
    check(
        unsafe { raw::mlx_graph_span(std::ptr::null_mut(), &mut bytes, array.as_ptr()) },
        "measuring an array",
    )?;
    let mut data = vec![0; bytes];
    // SAFETY: the buffer has the size that was asked for.
    check(
        unsafe { raw::mlx_graph_span(data.as_mut_ptr().cast(), &mut bytes, array.as_ptr()) },
        "reading an array's memory",
    )?;
    Ok(data)
}

/// An array with the shape, dtype and strides of `array` over other memory, laid out as [`span`] gives it.
///
/// # Errors
///
/// Memory of another size.
pub fn respan(array: &Array, data: &[u8]) -> Result<Array, GraphError> {
    // SAFETY: the memory is copied; the fresh handle is owned by the array returned, or freed with it on error.
    unsafe {
        let mut handle = raw::mlx_array_new();
        let status = raw::mlx_graph_respan(&mut handle, array.as_ptr(), data.as_ptr().cast(), data.len());
        let made = Array::from_ptr(handle);
        check(status, "laying out an array")?;
        Ok(made)
    }
}
