//! Which array is which.

use mlx_rs::Array;
use mlx_sys::raw::{self, mlx_array};

/// MLX's own identity of an array: the address of its shared descriptor. Equal for all handles of one array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArrayId(usize);

impl ArrayId {
    /// The identity behind a raw handle; `None` for an empty one.
    pub fn of_raw(array: mlx_array) -> Option<Self> {
        // SAFETY: reads a pointer out of a valid or empty handle.
        match unsafe { raw::mlx_graph_id(array) } {
            0 => None,
            id => Some(Self(id)),
        }
    }

    /// The identity of an array.
    pub fn of(array: &Array) -> Option<Self> {
        Self::of_raw(array.as_ptr())
    }
}
