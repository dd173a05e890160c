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
            // A coin that is tossed once shows the same side for half of all keys.
            (Role::Key, _) => &[Noise, Shift, Nan, Fall, Zero, One, Infinity],
            (Role::Packed, _) => &[Noise, Shift],
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
    /// Below `bound` an index is valid along every axis that it may point along.
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
        if array.shape().contains(&0) {
            return Ok(None);
        }
        let (dtype, width) = (array.dtype(), array.item_size());
        graph::changed(array, |memory| match self {
            Self::Reversal => reverse(memory, width),
            Self::Rotation => memory.rotate_left(width),
            Self::Last => repeat_last(memory, width),
            Self::Next => integers(memory, dtype, |x| match bound {
                2.. => (x.rem_euclid(bound) + 1) % bound,
                _ => x,
            }),
            Self::Noise | Self::Shift | Self::Nan | Self::Fall | Self::Zero | Self::One | Self::Infinity => {
                match effective(role, dtype) {
                    Role::Key | Role::Packed => flip_bits(memory, self, salt),
                    role => change(memory, dtype, role, self, salt),
                }
            }
        })
        .map(Some)
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

/// Numbers without an order that arrays would share: the linear congruential generator of MMIX (Knuth).
struct Draws(u64);

impl Draws {
    /// Others for each salt, so that two equal arrays come out different.
    fn new(salt: usize) -> Self {
        Self((salt as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// The next number's high bits, which are the good ones.
    #[inline]
    fn next(&mut self) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 32) as u32
    }

    /// Two numbers in [0, 1).
    #[inline]
    fn units(&mut self) -> (f64, f64) {
        const STEP: f64 = 1.0 / 65_536.0;
        let drawn = self.next();
        (f64::from(drawn >> 16) * STEP, f64::from(drawn & 0xffff) * STEP)
    }
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
    // Other bits for each candidate.
    let mut draws = Draws::new(salt + 1024 * candidate as usize);
    for byte in memory.iter_mut() {
        *byte ^= match candidate {
            Candidate::Shift => 0xff,
            _ => draws.next() as u8 | 1,
        };
    }
}

fn change(memory: &mut [u8], dtype: Dtype, role: Role, candidate: Candidate, salt: usize) {
    match dtype {
        Dtype::Bool => {
            let mut draws = Draws::new(salt);
            each(memory, |[b]: [u8; 1]| {
                [match candidate {
                    Candidate::Noise => b ^ (draws.next() as u8 & 1),
                    Candidate::Zero => 0,
                    Candidate::One => 1,
                    _ => b ^ 1,
                }]
            });
        }
        Dtype::Float16 => floats(
            memory,
            candidate,
            salt,
            |b| f16::from_ne_bytes(b).to_f64(),
            |x| f16::from_f64(x).to_ne_bytes(),
        ),
        Dtype::Bfloat16 => floats(
            memory,
            candidate,
            salt,
            |b| bf16::from_ne_bytes(b).to_f64(),
            |x| bf16::from_f64(x).to_ne_bytes(),
        ),
        Dtype::Float32 | Dtype::Complex64 => {
            floats(
                memory,
                candidate,
                salt,
                |b| f64::from(f32::from_ne_bytes(b)),
                |x| (x as f32).to_ne_bytes(),
            );
        }
        Dtype::Float64 => floats(memory, candidate, salt, f64::from_ne_bytes, f64::to_ne_bytes),
        _ => {
            let mut draws = Draws::new(salt);
            integers(memory, dtype, |x| integer(x, &mut draws, role, candidate));
        }
    }
}

/// Floats perturbed; noise is relative and absolute at once, so that neither zeros nor large numbers stay as they are.
fn floats<const N: usize>(
    memory: &mut [u8],
    candidate: Candidate,
    salt: usize,
    read: impl Fn([u8; N]) -> f64,
    write: impl Fn(f64) -> [u8; N],
) {
    match candidate {
        Candidate::Noise => {
            let mut draws = Draws::new(salt);
            each(memory, |bytes| {
                let (relative, absolute) = draws.units();
                write(read(bytes) * (1.125 + 0.25 * relative) + 0.0625 + 0.5 * absolute)
            });
        }
        Candidate::Nan => each(&mut memory[..N], |_| write(f64::NAN)),
        Candidate::Infinity => each(&mut memory[..N], |_| write(f64::INFINITY)),
        Candidate::Fall => each(memory, |bytes| {
            let x = read(bytes);
            write(x - 2.0 * x.abs() - 1.0)
        }),
        Candidate::Zero => each(memory, |_| write(0.0)),
        Candidate::One => each(memory, |_| write(1.0)),
        _ => each(memory, |bytes| write(read(bytes) * 2.0 + 1.0)),
    }
}

/// Replaces each element of an integer type; other types are left alone.
fn integers(memory: &mut [u8], dtype: Dtype, mut f: impl FnMut(i64) -> i64) {
    macro_rules! of {
        ($type:ty) => {
            each(memory, |bytes| {
                (f(<$type>::from_ne_bytes(bytes) as i64) as $type).to_ne_bytes()
            })
        };
    }
    match dtype {
        Dtype::Uint8 => of!(u8),
        Dtype::Uint16 => of!(u16),
        Dtype::Uint32 => of!(u32),
        Dtype::Uint64 => of!(u64),
        Dtype::Int8 => of!(i8),
        Dtype::Int16 => of!(i16),
        Dtype::Int32 => of!(i32),
        Dtype::Int64 => of!(i64),
        _ => {}
    }
}

fn integer(x: i64, draws: &mut Draws, role: Role, candidate: Candidate) -> i64 {
    let step = match candidate {
        Candidate::Zero => return 0,
        Candidate::One => return 1,
        Candidate::Fall => -17,
        Candidate::Noise => 1 + i64::from(draws.next() % 3),
        _ => 17,
    };
    match role {
        // From 2 to 8: neither 0 nor -1, whatever the width.
        Role::Divisor => 2 + (x.rem_euclid(5) + step).rem_euclid(7),
        _ => x.wrapping_add(step),
    }
}

/// Replaces each element of `N` bytes.
fn each<const N: usize>(memory: &mut [u8], mut f: impl FnMut([u8; N]) -> [u8; N]) {
    for element in memory.chunks_exact_mut(N) {
        let mut bytes = [0; N];
        bytes.copy_from_slice(element);
        element.copy_from_slice(&f(bytes));
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
