//! Whether two arrays are the same, bit for bit.

use mlx_rs::Array;
use mlx_sys::raw;

use super::error::{check, GraphError};

/// How two arrays differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    /// Not at all: shape, dtype and bits are equal, where all NaN are equal and zeros keep their sign.
    None,
    /// In shape.
    Shape,
    /// In dtype.
    Dtype,
    /// In values.
    Values {
        /// How many elements differ.
        count: usize,
        /// The first that does, in row-major order.
        first: usize,
    },
}

impl Difference {
    /// Whether the arrays are the same.
    pub fn is_none(self) -> bool {
        self == Self::None
    }
}

/// Compares two evaluated arrays, whatever their strides.
///
/// # Errors
///
/// An array that is not evaluated.
pub fn compare(a: &Array, b: &Array) -> Result<Difference, GraphError> {
    let mut difference = raw::mlx_graph_difference {
        kind: 0,
        count: 0,
        first: 0,
    };
    // SAFETY: two valid handles.
    let status = unsafe { raw::mlx_graph_compare(&mut difference, a.as_ptr(), b.as_ptr()) };
    check(status, "comparing two arrays")?;
    Ok(match difference.kind {
        0 => Difference::None,
        1 => Difference::Shape,
        2 => Difference::Dtype,
        _ => Difference::Values {
            count: difference.count,
            first: difference.first,
        },
    })
}
