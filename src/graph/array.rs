//! Handles: borrowing, sharing, evaluating without being observed.

use std::mem::ManuallyDrop;
use std::ops::Deref;

use mlx_rs::Array;
use mlx_sys::function::Output;
use mlx_sys::raw::{self, mlx_array, mlx_vector_array};

use smallvec::SmallVec;

use super::error::{check, GraphError};

/// Another handle of the same array; no data is copied.
///
/// # Safety
///
/// `array` is a valid, non-empty handle.
pub unsafe fn share(array: mlx_array) -> Array {
    // SAFETY: a fresh handle that the returned array owns.
    unsafe {
        let mut handle = raw::mlx_array_new();
        raw::mlx_array_set(&mut handle, array);
        Array::from_ptr(handle)
    }
}

/// An array that borrows its handle.
pub struct Borrowed(ManuallyDrop<Array>);

impl Deref for Borrowed {
    type Target = Array;

    fn deref(&self) -> &Array {
        &self.0
    }
}

/// The array behind a handle that somebody else owns.
///
/// # Safety
///
/// `array` is a valid, non-empty handle that outlives the value returned.
pub unsafe fn borrowed(array: mlx_array) -> Borrowed {
    // SAFETY: `ManuallyDrop` never frees the handle.
    Borrowed(ManuallyDrop::new(unsafe { Array::from_ptr(array) }))
}

/// The handles in a list, which borrow from it.
pub fn list(arrays: mlx_vector_array) -> impl ExactSizeIterator<Item = mlx_array> {
    // SAFETY: a valid or empty list; the indexes are in range.
    let size = unsafe { raw::mlx_graph_list_size(arrays) };
    (0..size).map(move |index| unsafe { raw::mlx_graph_list_item(arrays, index) })
}

/// Whether an unevaluated computation stands behind the array.
pub fn has_producer(array: mlx_array) -> bool {
    // SAFETY: reads a flag of a valid or empty handle.
    unsafe { raw::mlx_graph_has_primitive(array) }
}

/// Whether the array's data can be read without computing anything.
pub fn is_available(array: &Array) -> bool {
    // SAFETY: as above.
    unsafe { raw::mlx_graph_is_available(array.as_ptr()) }
}

/// How many tasks MLX counts as under way in this process. With nothing being evaluated it is zero, unless an evaluation
/// failed: MLX may never take its task off the count, and beyond ten of them it waits without end for one to finish.
pub fn active_tasks() -> i32 {
    // SAFETY: reads a number of MLX's own.
    unsafe { raw::mlx_graph_active_tasks() }
}

/// Evaluates arrays, all in one go, unobserved.
///
/// # Errors
///
/// MLX's message. After an error none of the arrays may be read: MLX does not remember which of them failed.
pub fn evaluate<'a>(arrays: impl IntoIterator<Item = &'a Array>) -> Result<(), GraphError> {
    // SAFETY: a valid list.
    let status = with_list(arrays, |list| unsafe { raw::mlx_graph_evaluate(list) });
    check(status, "evaluating arrays")
}

/// Has arrays computed meanwhile; [`evaluate`] then waits for them.
///
/// # Errors
///
/// As [`evaluate`].
pub fn begin<'a>(arrays: impl IntoIterator<Item = &'a Array>) -> Result<(), GraphError> {
    // SAFETY: a valid list.
    let status = with_list(arrays, |list| unsafe { raw::mlx_graph_begin(list) });
    check(status, "beginning to evaluate arrays")
}

/// Whether evaluating `arrays` would meet a reduction that MLX may never end: over nothing but empty axes of an array
/// that does not lie in rows. Only an array without elements leads there.
///
/// # Errors
///
/// MLX's message, where what such a reduction reads cannot be evaluated.
pub fn endless<'a>(arrays: impl IntoIterator<Item = &'a Array>) -> Result<bool, GraphError> {
    let mut found = false;
    // SAFETY: a valid list, and a place for the answer.
    let status = with_list(arrays, |list| unsafe { raw::mlx_graph_endless(&mut found, list) });
    check(status, "looking for a reduction without end")?;
    Ok(found)
}

fn with_list<'a, T>(
    arrays: impl IntoIterator<Item = &'a Array>,
    f: impl FnOnce(raw::mlx_vector_array) -> T,
) -> T {
    let handles: Vec<mlx_array> = arrays.into_iter().map(Array::as_ptr).collect();
    // SAFETY: a fresh list of valid handles, freed once.
    unsafe {
        let list = raw::mlx_vector_array_new_data(handles.as_ptr(), handles.len());
        let answer = f(list);
        raw::mlx_vector_array_free(list);
        answer
    }
}

/// What a call that succeeded put into its places: the handles, a list's arrays in place.
pub fn results(places: &[Output]) -> SmallVec<[mlx_array; 2]> {
    let mut handles = SmallVec::new();
    for place in places {
        // SAFETY: the call succeeded, so the places hold its results.
        match *place {
            Output::Array(array) => handles.push(unsafe { *array }),
            Output::Arrays(arrays) => handles.extend(list(unsafe { *arrays })),
            Output::ArrayMap(_) => {}
        }
    }
    handles
}

/// Evaluates what is behind valid handles, unobserved; empty ones are passed over.
///
/// # Errors
///
/// As [`evaluate`].
pub fn evaluate_raw(handles: &[mlx_array]) -> Result<(), GraphError> {
    let full = handles.iter().filter(|handle| !handle.ctx.is_null());
    // SAFETY: valid handles that are not empty; each shared one is freed after.
    let arrays: Vec<Array> = full.map(|handle| unsafe { share(*handle) }).collect();
    evaluate(&arrays)
}

/// Shape and element type of an array behind a valid handle; `None` for an empty one.
pub fn shape_and_dtype(array: mlx_array) -> Option<(Vec<i32>, mlx_rs::Dtype)> {
    if array.ctx.is_null() {
        return None;
    }
    // SAFETY: valid, not empty, and borrowed only within this function.
    let array = unsafe { borrowed(array) };
    Some((array.shape().to_vec(), array.dtype()))
}

#[cfg(test)]
mod tests {
    use mlx_rs::{ops, Array};

    use super::endless;

    /// Nothing is evaluated here that MLX may not end.
    #[test]
    fn a_reduction_over_nothing_but_empty_axes_of_what_does_not_lie_in_rows_may_have_no_end() {
        let rows = ops::zeros::<f32>(&[0, 3]).unwrap();
        let columns = rows.transpose().unwrap();
        let is_endless = |array: &Array| endless([array]).unwrap();
        assert!(is_endless(&columns.sum_axis(1, false).unwrap()));
        assert!(is_endless(&columns.all_axis(1, true).unwrap()));
        let behind = columns.exp().unwrap().prod_axis(1, None).unwrap();
        assert!(is_endless(&behind.square().unwrap()));
        assert!(!is_endless(&columns.sum_axis(0, false).unwrap()), "no result");
        assert!(!is_endless(&columns.sum(false).unwrap()), "all of it");
        assert!(!is_endless(&rows.sum_axis(0, false).unwrap()), "in rows");
        assert!(!is_endless(&rows.sum(false).unwrap()), "in rows");
        assert!(!is_endless(&columns.square().unwrap()), "no reduction");
    }
}
