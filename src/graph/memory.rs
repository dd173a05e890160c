//! The data of evaluated arrays, and arrays with other data in the same layout.

use half::{bf16, f16};
use mlx_rs::{Array, Dtype};
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

/// An array like an evaluated one in shape, dtype and strides, whose memory, laid out as [`span`] gives it, `change` has
/// changed.
///
/// # Errors
///
/// An array that is not evaluated.
pub fn changed(array: &Array, change: impl FnOnce(&mut [u8])) -> Result<Array, GraphError> {
    let mut data = std::ptr::null_mut();
    let mut bytes = 0;
    // SAFETY: the fresh handle is owned by the array returned, or freed with it on error. The memory is the new array's
    // own, and nothing else reads or writes it before this returns.
    unsafe {
        let mut handle = raw::mlx_array_new();
        let status = raw::mlx_graph_copy(&mut handle, &mut data, &mut bytes, array.as_ptr());
        let made = Array::from_ptr(handle);
        check(status, "copying an array")?;
        if bytes > 0 {
            change(std::slice::from_raw_parts_mut(data.cast(), bytes));
        }
        Ok(made)
    }
}

/// An array from its elements' bytes in row-major order; `None` unless there are as many as shape and dtype say.
pub fn from_bytes(bytes: &[u8], shape: &[i32], dtype: Dtype) -> Option<Array> {
    let elements: usize = shape
        .iter()
        .map(|extent| usize::try_from(*extent).ok())
        .product::<Option<usize>>()?;
    // SAFETY: a plain look-up by a valid dtype.
    let width = unsafe { raw::mlx_dtype_size(dtype.into()) };
    if elements.checked_mul(width)? != bytes.len() {
        return None;
    }
    // SAFETY: the memory has the size that shape and dtype say, and is copied.
    Some(unsafe { Array::from_raw_data(bytes.as_ptr().cast(), shape, dtype) })
}

/// What `convert` makes of each element of `N` bytes, in order.
pub fn elements<const N: usize, T>(bytes: &[u8], convert: impl Fn([u8; N]) -> T) -> Vec<T> {
    bytes
        .chunks_exact(N)
        .map(|chunk| {
            let mut element = [0; N];
            element.copy_from_slice(chunk);
            convert(element)
        })
        .collect()
}

/// The elements of an evaluated array as numbers, in row-major order; those of a complex one both parts after another, and
/// the largest integers rounded.
///
/// # Errors
///
/// An array that is not evaluated.
pub fn numbers(array: &Array) -> Result<Vec<f64>, GraphError> {
    let bytes = read(array)?;
    Ok(match array.dtype() {
        Dtype::Bool | Dtype::Uint8 => elements(&bytes, |[byte]: [u8; 1]| f64::from(byte)),
        Dtype::Int8 => elements(&bytes, |it| f64::from(i8::from_ne_bytes(it))),
        Dtype::Uint16 => elements(&bytes, |it| f64::from(u16::from_ne_bytes(it))),
        Dtype::Int16 => elements(&bytes, |it| f64::from(i16::from_ne_bytes(it))),
        Dtype::Uint32 => elements(&bytes, |it| f64::from(u32::from_ne_bytes(it))),
        Dtype::Int32 => elements(&bytes, |it| f64::from(i32::from_ne_bytes(it))),
        Dtype::Uint64 => elements(&bytes, |it| u64::from_ne_bytes(it) as f64),
        Dtype::Int64 => elements(&bytes, |it| i64::from_ne_bytes(it) as f64),
        Dtype::Float16 => elements(&bytes, |it| f16::from_ne_bytes(it).to_f64()),
        Dtype::Bfloat16 => elements(&bytes, |it| bf16::from_ne_bytes(it).to_f64()),
        Dtype::Float32 | Dtype::Complex64 => elements(&bytes, |it| f64::from(f32::from_ne_bytes(it))),
        Dtype::Float64 => elements(&bytes, f64::from_ne_bytes),
    })
}
