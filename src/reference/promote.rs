//! Which element type a function of several arrays yields: MLX's documented promotion.

use crate::vocabulary::{DType, Kind};

/// The type that holds elements of both.
pub(super) fn promoted(a: DType, b: DType) -> DType {
    if a == b {
        return a;
    }
    match (a.kind(), b.kind()) {
        (Kind::Bool, _) => b,
        (_, Kind::Bool) => a,
        (Kind::Complex, _) | (_, Kind::Complex) => DType::Complex64,
        (Kind::Float, Kind::Int) => a,
        (Kind::Int, Kind::Float) => b,
        (Kind::Float, Kind::Float) if a == DType::Float64 || b == DType::Float64 => DType::Float64,
        // The two halves have no half in common.
        (Kind::Float, Kind::Float) => DType::Float32,
        (Kind::Int, Kind::Int) => integers(a, b),
    }
}

/// The smallest integer type that holds both; none holds `uint64` and a signed one, so that is a float.
fn integers(a: DType, b: DType) -> DType {
    let (a, b) = (Width::of(a), Width::of(b));
    let bits = match (a.signed, b.signed) {
        (true, false) => a.bits.max(2 * b.bits),
        (false, true) => b.bits.max(2 * a.bits),
        _ => a.bits.max(b.bits),
    };
    match (a.signed || b.signed, bits) {
        (false, 8) => DType::Uint8,
        (false, 16) => DType::Uint16,
        (false, 32) => DType::Uint32,
        (false, _) => DType::Uint64,
        (true, 8) => DType::Int8,
        (true, 16) => DType::Int16,
        (true, 32) => DType::Int32,
        (true, 64) => DType::Int64,
        (true, _) => DType::Float32,
    }
}

struct Width {
    bits: u32,
    signed: bool,
}

impl Width {
    fn of(dtype: DType) -> Self {
        let (bits, signed) = match dtype {
            DType::Uint8 => (8, false),
            DType::Uint16 => (16, false),
            DType::Uint32 => (32, false),
            DType::Uint64 => (64, false),
            DType::Int8 => (8, true),
            DType::Int16 => (16, true),
            DType::Int32 => (32, true),
            _ => (64, true),
        };
        Self { bits, signed }
    }
}

/// The type itself where it has fractions, else `float32`.
pub(super) fn fractional(dtype: DType) -> DType {
    match dtype.kind() {
        Kind::Float | Kind::Complex => dtype,
        Kind::Bool | Kind::Int => DType::Float32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promotion_keeps_what_both_can_hold() {
        use DType::*;
        let table = [
            (Bool, Int8, Int8),
            (Uint8, Int8, Int16),
            (Uint32, Int32, Int64),
            (Uint16, Uint8, Uint16),
            (Uint64, Int8, Float32),
            (Int64, Float16, Float16),
            (Float16, Bfloat16, Float32),
            (Float32, Complex64, Complex64),
        ];
        for (a, b, both) in table {
            assert_eq!((promoted(a, b), promoted(b, a)), (both, both), "{a} {b}");
        }
    }
}
