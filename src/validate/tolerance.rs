//! How equal a replay must be.
//!
//! The CPU computes the same bits from the same operands in the same layout, so a replay must give the same bits.
//! A GPU may not; there a replay must lie within the dtype's tolerance.

use mlx_rs::{Array, Dtype};
use mlx_sys::raw;

use crate::graph::{self, Difference, GraphError};

/// How a replay is compared with the saved payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closeness {
    /// Bit for bit.
    Bits,
    /// Within the dtype's tolerance.
    Tolerance,
}

impl Closeness {
    /// What a device kind allows.
    pub fn of_device(device: raw::mlx_device_type) -> Self {
        match device {
            raw::mlx_device_type__MLX_CPU => Self::Bits,
            _ => Self::Tolerance,
        }
    }

    /// Compares two evaluated arrays.
    pub fn compare(self, expected: &Array, found: &Array) -> Result<Difference, GraphError> {
        self.measure(expected, found).map(|(difference, _)| difference)
    }

    /// Compares, and says how far apart at most two elements lie, relative to 1 + the expected one's size: 0 where
    /// the bits agree.
    pub fn measure(self, expected: &Array, found: &Array) -> Result<(Difference, f64), GraphError> {
        let difference = graph::compare(expected, found)?;
        match (self, difference) {
            (Self::Tolerance, Difference::Values { .. }) => within(expected, found, difference),
            _ => Ok((difference, 0.0)),
        }
    }
}

/// The relative and absolute tolerance of an element type; 0 for what is exact.
pub fn tolerance(dtype: Dtype) -> f64 {
    match dtype {
        Dtype::Float16 => 1e-3,
        Dtype::Bfloat16 => 8e-3,
        Dtype::Float32 | Dtype::Complex64 => 1e-5,
        Dtype::Float64 => 1e-12,
        _ => 0.0,
    }
}

fn within(expected: &Array, found: &Array, difference: Difference) -> Result<(Difference, f64), GraphError> {
    let bound = tolerance(expected.dtype());
    let (Some(expected), Some(found)) = (floats(expected)?, floats(found)?) else {
        return Ok((difference, 0.0));
    };
    let distance = |(a, b): (&f64, &f64)| match a.is_nan() || b.is_nan() || a == b {
        true => 0.0,
        false => (a - b).abs() / (1.0 + a.abs()),
    };
    let farthest = expected.iter().zip(&found).map(distance).fold(0.0, f64::max);
    let apart = |(a, b): (&f64, &f64)| {
        !((a.is_nan() && b.is_nan()) || a == b || (a - b).abs() <= bound * (1.0 + a.abs()))
    };
    let differing: Vec<usize> = expected
        .iter()
        .zip(&found)
        .enumerate()
        .filter(|(_, pair)| apart(*pair))
        .map(|(i, _)| i)
        .collect();
    let difference = match differing.first() {
        None => Difference::None,
        Some(&first) => Difference::Values {
            count: differing.len(),
            first,
        },
    };
    Ok((difference, farthest))
}

/// The elements as floats, a complex number as two; `None` for an exact type.
fn floats(array: &Array) -> Result<Option<Vec<f64>>, GraphError> {
    let dtype = array.dtype();
    let inexact = dtype.is_float() || dtype.is_complex();
    inexact.then(|| graph::numbers(array)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_may_differ_in_the_last_bits_and_no_more() {
        let a = Array::from_slice(&[1.0_f32, 2.0, f32::NAN], &[3]);
        let near = Array::from_slice(&[1.000_001_f32, 2.0, f32::NAN], &[3]);
        let far = Array::from_slice(&[1.001_f32, 2.0, f32::NAN], &[3]);
        assert!(!Closeness::Bits.compare(&a, &near).unwrap().is_none());
        assert!(Closeness::Tolerance.compare(&a, &near).unwrap().is_none());
        assert_eq!(
            Closeness::Tolerance.compare(&a, &far).unwrap(),
            Difference::Values { count: 1, first: 0 }
        );
    }
}
