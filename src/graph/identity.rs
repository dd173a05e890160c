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

/// Keeps an array's identity from being given to another array, while the array's data may go.
#[derive(Debug)]
pub struct Token(raw::mlx_graph_token);

// SAFETY: a weak pointer; its counts are atomic.
unsafe impl Send for Token {}

impl Token {
    /// A token for the array behind a non-empty handle.
    pub fn of_raw(array: mlx_array) -> Self {
        let mut token = raw::mlx_graph_token { words: [0; 2] };
        // SAFETY: the handle is valid; the token is 2 words that C++ asserts to be enough, and may be moved.
        unsafe { raw::mlx_graph_token_new(&mut token, array) };
        Self(token)
    }

    /// Whether the array still exists.
    pub fn is_alive(&self) -> bool {
        // SAFETY: made by `of_raw`, freed only by `drop`.
        unsafe { raw::mlx_graph_token_alive(&self.0) }
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        // SAFETY: freed once.
        unsafe { raw::mlx_graph_token_free(&mut self.0) };
    }
}
