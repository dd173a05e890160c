//! Whether two arrays are the same, bit for bit.

use std::ffi::c_int;

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
    difference(a, b, raw::mlx_graph_compare)
}

/// As [`compare`], but the search ends at the first element that differs, and no other is counted.
///
/// # Errors
///
/// An array that is not evaluated.
pub fn differ(a: &Array, b: &Array) -> Result<Difference, GraphError> {
    difference(a, b, raw::mlx_graph_differ)
}

fn difference(
    a: &Array,
    b: &Array,
    ask: unsafe extern "C" fn(*mut raw::mlx_graph_difference, raw::mlx_array, raw::mlx_array) -> c_int,
) -> Result<Difference, GraphError> {
    let mut difference = raw::mlx_graph_difference {
        kind: 0,
        count: 0,
        first: 0,
    };
    // SAFETY: two valid handles.
    let status = unsafe { ask(&mut difference, a.as_ptr(), b.as_ptr()) };
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

#[cfg(test)]
mod tests {
    use mlx_rs::Array;

    use super::{compare, differ, Difference};

    /// Whatever way two arrays lie in memory, both searches agree.
    #[test]
    fn the_search_for_any_difference_finds_one_where_there_is_one() {
        let rows = |values: [f32; 6]| Array::from_slice(&values, &[2, 3]);
        let one = rows([1.0, 2.0, f32::NAN, 4.0, -0.0, 6.0]);
        let same = rows([1.0, 2.0, -f32::NAN, 4.0, -0.0, 6.0]);
        let zero = rows([1.0, 2.0, f32::NAN, 4.0, 0.0, 6.0]);
        let last = rows([1.0, 2.0, f32::NAN, 4.0, -0.0, 7.0]);
        let lie = |array: &Array| {
            let turned = array.transpose().unwrap();
            let back = array.as_strided(&[2, 3][..], &[3, -1][..], 2).unwrap();
            let apart = array.as_strided(&[2, 2][..], &[3, 2][..], 0).unwrap();
            mlx_rs::transforms::eval([&turned, &back, &apart]).unwrap();
            [array.clone(), turned, back, apart]
        };
        for (other, counts) in [
            (&same, [0, 0, 0, 0]),
            (&zero, [1, 1, 1, 0]),
            (&last, [1, 1, 1, 1]),
        ] {
            for ((a, b), count) in lie(&one).iter().zip(&lie(other)).zip(counts) {
                let found = match compare(a, b).unwrap() {
                    Difference::None => 0,
                    Difference::Values { count, .. } => count,
                    difference => panic!("{difference:?}"),
                };
                assert_eq!(found, count);
                assert_eq!(differ(a, b).unwrap().is_none(), count == 0);
                // Over rows of its own the same elements are there.
                let copied = b.contiguous().unwrap();
                copied.eval().unwrap();
                assert_eq!(differ(a, &copied).unwrap().is_none(), count == 0);
            }
        }
        let column = rows([0.0; 6]).reshape(&[3, 2]).unwrap();
        column.eval().unwrap();
        assert_eq!(differ(&one, &column).unwrap(), Difference::Shape);
    }
}
