//! What the tests of the drop-in's surface share: arrays that free themselves, and MLX's errors by thread.

// Each test file uses a part of it.
#![allow(dead_code)]

use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_void, CStr};
use std::sync::Once;

use mlx_sys::raw::{self, mlx_array, mlx_stream, mlx_vector_array};

/// A handle that is freed in the end.
#[derive(Debug)]
pub struct Array(pub mlx_array);

impl Drop for Array {
    fn drop(&mut self) {
        unsafe { raw::mlx_array_free(self.0) };
    }
}

impl Array {
    pub fn empty() -> Self {
        Self(unsafe { raw::mlx_array_new() })
    }

    pub fn id(&self) -> usize {
        unsafe { raw::mlx_graph_id(self.0) }
    }

    pub fn shape(&self) -> Vec<c_int> {
        unsafe {
            let ndim = raw::mlx_array_ndim(self.0);
            (0..ndim)
                .map(|axis| raw::mlx_array_dim(self.0, axis as c_int))
                .collect()
        }
    }

    pub fn evaluated(self) -> Self {
        assert_eq!(unsafe { raw::mlx_array_eval(self.0) }, 0);
        self
    }

    /// Its elements in row-major order, evaluating it.
    pub fn values<T: Copy + Default>(&self) -> Vec<T> {
        unsafe {
            assert_eq!(raw::mlx_array_itemsize(self.0), size_of::<T>());
            assert_eq!(raw::mlx_array_eval(self.0), 0);
            let mut values = vec![T::default(); raw::mlx_array_size(self.0)];
            let status =
                raw::mlx_graph_read(values.as_mut_ptr().cast(), values.len() * size_of::<T>(), self.0);
            assert_eq!(status, 0, "{}", graph_error());
            values
        }
    }
}

/// A list that is freed in the end.
pub struct List(pub mlx_vector_array);

impl Drop for List {
    fn drop(&mut self) {
        unsafe { raw::mlx_vector_array_free(self.0) };
    }
}

impl List {
    pub fn empty() -> Self {
        Self(unsafe { raw::mlx_vector_array_new() })
    }

    pub fn of(arrays: &[&Array]) -> Self {
        let handles: Vec<mlx_array> = arrays.iter().map(|array| array.0).collect();
        Self(unsafe { raw::mlx_vector_array_new_data(handles.as_ptr(), handles.len()) })
    }

    pub fn len(&self) -> usize {
        unsafe { raw::mlx_graph_list_size(self.0) }
    }

    pub fn get(&self, index: usize) -> Array {
        let mut array = Array::empty();
        assert_eq!(
            unsafe { raw::mlx_vector_array_get(&mut array.0, self.0, index) },
            0
        );
        array
    }
}

fn data<T>(values: &[T], shape: &[c_int], dtype: raw::mlx_dtype) -> Array {
    assert_eq!(values.len() as i32, shape.iter().product::<c_int>());
    Array(unsafe {
        raw::mlx_array_new_data(
            values.as_ptr().cast(),
            shape.as_ptr(),
            shape.len() as c_int,
            dtype,
        )
    })
}

pub fn floats(values: &[f32], shape: &[c_int]) -> Array {
    data(values, shape, raw::mlx_dtype__MLX_FLOAT32)
}

pub fn ints(values: &[i32]) -> Array {
    data(values, &[values.len() as c_int], raw::mlx_dtype__MLX_INT32)
}

thread_local! {
    static STREAM: mlx_stream = unsafe { raw::mlx_default_cpu_stream_new() };
    static ERRORS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// This thread's CPU stream.
pub fn stream() -> mlx_stream {
    STREAM.with(|stream| *stream)
}

/// Calls a function that writes one array, and gives the array.
pub fn made(call: impl FnOnce(*mut mlx_array) -> c_int) -> Array {
    let mut array = Array::empty();
    assert_eq!(call(&mut array.0), 0);
    array
}

/// `a + b` through the observing function.
pub fn add(a: &Array, b: &Array) -> Array {
    made(|res| unsafe { mlx_sys::mlx_add(res, a.0, b.0, stream()) })
}

/// Has MLX's errors kept by thread, as the program's own handler. Without it an error ends the process.
pub fn handle_errors() {
    static SET: Once = Once::new();
    SET.call_once(|| unsafe { mlx_sys::mlx_set_error_handler(Some(keep), std::ptr::null_mut(), None) });
}

unsafe extern "C" fn keep(message: *const c_char, _: *mut c_void) {
    let message = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    ERRORS.with_borrow_mut(|errors| errors.push(message));
}

/// The errors that reached the program's handler on this thread since they were last asked for.
pub fn errors() -> Vec<String> {
    ERRORS.take()
}

pub fn graph_error() -> String {
    unsafe { CStr::from_ptr(raw::mlx_graph_error()) }
        .to_string_lossy()
        .into_owned()
}
