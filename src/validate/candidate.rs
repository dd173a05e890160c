//! Perturbations: what is put in an operand's place to see whether a result depends on it.
//!
//! Deterministic, and in the operand's own layout. By role, since MLX checks no bounds: counts get only values that
//! are present already, indices those and ones below every extent of what they point into, divisors neither 0 nor
//! -1. No subnormal numbers: they make a matmul about 45 times slower on this CPU.

use std::fmt;

use half::{bf16, f16};
use mlx_rs::{Array, Dtype};
use mlx_sys::function::Role;

use crate::graph::{self, GraphError};

/// One kind of perturbation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Candidate {
    /// Each element changed by an amount of its own.
    Noise,
    /// All elements shifted alike.
    Shift,
    /// The elements in reverse order.
    Reversal,
    /// The elements moved on by one place.
    Rotation,
    /// Every element the last one.
    Last,
    /// Each index another one that is valid, where the shape of what is indexed bounds it.
    Next,
    /// One element not a number.
    Nan,
    /// All elements lower than before: what a minimum may ignore otherwise.
    Fall,
    /// Every element 0: what a truth value may ignore otherwise.
    Zero,
    /// Every element 1.
    One,
    /// One element infinite.
    Infinity,
}

impl Candidate {
    /// The candidates for a role and an element type, the most telling first.
    pub fn all(role: Role, dtype: Dtype) -> &'static [Candidate] {
        use Candidate::{Fall, Infinity, Last, Nan, Next, Noise, One, Reversal, Rotation, Shift, Zero};
        match (effective(role, dtype), dtype) {
            (Role::Index, _) => &[Reversal, Rotation, Next, Last],
            (Role::Count, _) => &[Reversal, Rotation, Last],
            (Role::Key | Role::Packed, _) => &[Noise, Shift],
            (_, Dtype::Bool) => &[Shift, Noise, Reversal, Zero, One],
            (Role::Divisor, _) => &[Noise, Shift],
            (_, Dtype::Float16 | Dtype::Bfloat16 | Dtype::Float32 | Dtype::Float64 | Dtype::Complex64) => {
                &[Noise, Shift, Reversal, Nan, Fall, Zero, One, Infinity]
            }
            _ => &[Noise, Shift, Reversal, Fall, Zero, One],
        }
    }

    /// `array` perturbed; `None` where it has no elements to change. It must be evaluated; the result is.
    ///
    /// `bound` is below or at the extent of every axis that an index may point into.
    ///
    /// # Errors
    ///
    /// An array that is not evaluated.
    pub fn apply(self, role: Role, bound: i64, array: &Array) -> Result<Option<Array>, GraphError> {
        self.salted(0, role, bound, array)
    }

    /// As [`apply`](Self::apply), with noise of its own for each salt: two equal arrays come out different.
    ///
    /// # Errors
    ///
    /// An array that is not evaluated.
    pub fn salted(
        self,
        salt: usize,
        role: Role,
        bound: i64,
        array: &Array,
    ) -> Result<Option<Array>, GraphError> {
        let mut memory = graph::span(array)?;
        if memory.is_empty() {
            return Ok(None);
        }
        let dtype = array.dtype();
        match self {
            Self::Reversal => reverse(&mut memory, array.item_size()),
            Self::Rotation => memory.rotate_left(array.item_size()),
            Self::Last => repeat_last(&mut memory, array.item_size()),
            Self::Next => integers(&mut memory, dtype, |x, _| match bound {
                2.. => (x.rem_euclid(bound) + 1) % bound,
                _ => x,
            }),
            Self::Noise | Self::Shift | Self::Nan | Self::Fall | Self::Zero | Self::One | Self::Infinity => {
                match effective(role, dtype) {
                    Role::Key | Role::Packed => flip_bits(&mut memory, self, salt),
                    role => change(&mut memory, dtype, role, self, salt),
                }
            }
        }
        graph::respan(array, &memory).map(Some)
    }
}

/// What a role means for an element type: only integers point, count, divide dangerously or are packed.
fn effective(role: Role, dtype: Dtype) -> Role {
    if dtype.is_float() || dtype.is_complex() || (dtype == Dtype::Bool && role != Role::Count) {
        Role::Value
    } else {
        role
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Noise => "noise",
            Self::Shift => "shift",
            Self::Reversal => "reversal",
            Self::Rotation => "rotation",
            Self::Last => "last",
            Self::Next => "next",
            Self::Nan => "nan",
            Self::Fall => "fall",
            Self::Zero => "zero",
            Self::One => "one",
            Self::Infinity => "infinity",
        })
    }
}

/// A number in [0, 1) for the element at `index`; the finalizer of splitmix64 (Steele, Lea, Flood 2014).
fn hash(index: usize) -> u64 {
    let mut x = (index as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn unit(index: usize) -> f64 {
    (hash(index) >> 11) as f64 / (1_u64 << 53) as f64
}

fn reverse(memory: &mut [u8], width: usize) {
    memory.reverse();
    memory.chunks_exact_mut(width).for_each(<[u8]>::reverse);
}

fn repeat_last(memory: &mut [u8], width: usize) {
    let last = memory[memory.len() - width..].to_vec();
    memory
        .chunks_exact_mut(width)
        .for_each(|element| element.copy_from_slice(&last));
}

fn flip_bits(memory: &mut [u8], candidate: Candidate, salt: usize) {
    for (index, byte) in memory.iter_mut().enumerate() {
        *byte ^= match candidate {
            Candidate::Noise => hash(index + salt * SALT) as u8 | 1,
            _ => 0xff,
        };
    }
}

/// A float perturbed: relative and absolute at once, so that neither zeros nor large numbers stay as they are.
fn float(x: f64, index: usize, candidate: Candidate) -> f64 {
    match candidate {
        Candidate::Noise => x * (1.0 + 0.125 + 0.25 * unit(2 * index)) + 0.0625 + 0.5 * unit(2 * index + 1),
        Candidate::Nan if index == 0 => f64::NAN,
        Candidate::Infinity if index == 0 => f64::INFINITY,
        Candidate::Nan | Candidate::Infinity => x,
        Candidate::Fall => x - 2.0 * x.abs() - 1.0,
        Candidate::Zero => 0.0,
        Candidate::One => 1.0,
        _ => x * 2.0 + 1.0,
    }
}

/// How far apart the noise of two salts starts; longer than most arrays, and odd.
const SALT: usize = 1_000_003;

fn change(memory: &mut [u8], dtype: Dtype, role: Role, candidate: Candidate, salt: usize) {
    // The place of a NaN or an infinity is the element's own.
    let offset = match candidate {
        Candidate::Nan | Candidate::Infinity => 0,
        _ => salt * SALT,
    };
    match dtype {
        Dtype::Bool => each(memory, |[b]: [u8; 1], i| {
            [match candidate {
                Candidate::Noise => b ^ (hash(i + offset) as u8 & 1),
                Candidate::Zero => 0,
                Candidate::One => 1,
                _ => b ^ 1,
            }]
        }),
        Dtype::Float16 => {
            each(memory, |b, i| {
                f16::from_f64(float(f16::from_ne_bytes(b).to_f64(), i + offset, candidate)).to_ne_bytes()
            });
        }
        Dtype::Bfloat16 => {
            each(memory, |b, i| {
                bf16::from_f64(float(bf16::from_ne_bytes(b).to_f64(), i + offset, candidate)).to_ne_bytes()
            });
        }
        Dtype::Float32 | Dtype::Complex64 => {
            each(memory, |b, i| {
                (float(f64::from(f32::from_ne_bytes(b)), i + offset, candidate) as f32).to_ne_bytes()
            });
        }
        Dtype::Float64 => each(memory, |b, i| {
            float(f64::from_ne_bytes(b), i + offset, candidate).to_ne_bytes()
        }),
        _ => integers(memory, dtype, |x, i| integer(x, i + offset, role, candidate)),
    }
}

/// Replaces each element of an integer type; other types are left alone.
fn integers(memory: &mut [u8], dtype: Dtype, f: impl Fn(i64, usize) -> i64) {
    match dtype {
        Dtype::Uint8 => each(memory, |b, i| {
            (f(u8::from_ne_bytes(b).into(), i) as u8).to_ne_bytes()
        }),
        Dtype::Uint16 => each(memory, |b, i| {
            (f(u16::from_ne_bytes(b).into(), i) as u16).to_ne_bytes()
        }),
        Dtype::Uint32 => each(memory, |b, i| {
            (f(u32::from_ne_bytes(b).into(), i) as u32).to_ne_bytes()
        }),
        Dtype::Uint64 => each(memory, |b, i| {
            (f(u64::from_ne_bytes(b) as i64, i) as u64).to_ne_bytes()
        }),
        Dtype::Int8 => each(memory, |b, i| {
            (f(i8::from_ne_bytes(b).into(), i) as i8).to_ne_bytes()
        }),
        Dtype::Int16 => each(memory, |b, i| {
            (f(i16::from_ne_bytes(b).into(), i) as i16).to_ne_bytes()
        }),
        Dtype::Int32 => each(memory, |b, i| {
            (f(i32::from_ne_bytes(b).into(), i) as i32).to_ne_bytes()
        }),
        Dtype::Int64 => each(memory, |b, i| f(i64::from_ne_bytes(b), i).to_ne_bytes()),
        _ => {}
    }
}

fn integer(x: i64, index: usize, role: Role, candidate: Candidate) -> i64 {
    let step = match candidate {
        Candidate::Zero => return 0,
        Candidate::One => return 1,
        Candidate::Fall => -17,
        Candidate::Noise => 1 + (hash(index) % 3) as i64,
        _ => 17,
    };
    match role {
        // From 2 to 8: neither 0 nor -1, whatever the width.
        Role::Divisor => 2 + (x.rem_euclid(5) + step).rem_euclid(7),
        _ => x.wrapping_add(step),
    }
}

/// Replaces each element of `N` bytes.
fn each<const N: usize>(memory: &mut [u8], f: impl Fn([u8; N], usize) -> [u8; N]) {
    for (index, element) in memory.chunks_exact_mut(N).enumerate() {
        let mut bytes = [0; N];
        bytes.copy_from_slice(element);
        element.copy_from_slice(&f(bytes, index));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DTYPES: [Dtype; 14] = [
        Dtype::Bool,
        Dtype::Uint8,
        Dtype::Uint16,
        Dtype::Uint32,
        Dtype::Uint64,
        Dtype::Int8,
        Dtype::Int16,
        Dtype::Int32,
        Dtype::Int64,
        Dtype::Float16,
        Dtype::Float32,
        Dtype::Float64,
        Dtype::Bfloat16,
        Dtype::Complex64,
    ];

    fn sample(dtype: Dtype) -> Array {
        let array = Array::from_slice(&[0, 1, 3, 2, 5, 4], &[2, 3])
            .as_dtype(dtype)
            .unwrap();
        array.eval().unwrap();
        array
    }

    #[test]
    fn the_first_candidate_changes_the_array_and_keeps_its_layout() {
        for dtype in DTYPES {
            let array = sample(dtype).transpose().unwrap();
            array.eval().unwrap();
            for role in [
                Role::Value,
                Role::Index,
                Role::Count,
                Role::Divisor,
                Role::Key,
                Role::Packed,
            ] {
                let first = Candidate::all(role, dtype)[0];
                let changed = first.apply(role, 6, &array).unwrap().unwrap();
                assert_eq!(changed.shape(), array.shape());
                assert_eq!(changed.strides(), array.strides());
                assert!(
                    !graph::compare(&array, &changed).unwrap().is_none(),
                    "{dtype:?} {role:?}"
                );
            }
        }
    }

    #[test]
    fn indices_get_only_values_that_are_there_or_below_the_bound() {
        let array = Array::from_slice(&[4, 0, 7, 7], &[4]);
        for candidate in Candidate::all(Role::Index, Dtype::Int32) {
            let changed = candidate.apply(Role::Index, 2, &array).unwrap().unwrap();
            assert!(
                changed.as_slice::<i32>().iter().all(|x| [4, 0, 7, 1].contains(x)),
                "{candidate}"
            );
        }
        let next = Candidate::Next.apply(Role::Index, 5, &array).unwrap().unwrap();
        assert_eq!(next.as_slice::<i32>(), [0, 1, 3, 3]);
        let lone = Candidate::Next.apply(Role::Index, 1, &array).unwrap().unwrap();
        assert_eq!(lone.as_slice::<i32>(), [4, 0, 7, 7]);
    }

    #[test]
    fn divisors_are_never_0_or_minus_1() {
        let array = Array::from_slice(&[i32::MIN, -1, 0, 1, 6, i32::MAX], &[6]);
        for candidate in Candidate::all(Role::Divisor, Dtype::Int32) {
            let changed = candidate.apply(Role::Divisor, 0, &array).unwrap().unwrap();
            assert!(changed.as_slice::<i32>().iter().all(|x| *x >= 2), "{candidate}");
        }
    }

    #[test]
    fn an_empty_array_has_no_candidate() {
        let array = mlx_rs::ops::zeros::<f32>(&[0, 3]).unwrap();
        array.eval().unwrap();
        assert!(Candidate::Noise.apply(Role::Value, 0, &array).unwrap().is_none());
    }
}
