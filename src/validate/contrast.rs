//! Expected against found, as a person reads it: a diff of the elements of a small array, statistics of a large one.

use std::fmt;

use half::{bf16, f16};
use mlx_rs::{Array, Dtype};
use similar::TextDiff;

use crate::graph::{self, Difference};
use crate::vocabulary::Shape;

/// Arrays with more elements than this are summed up.
const SMALL: usize = 32;

/// How a found array differs from the expected one.
#[derive(Debug, Clone, PartialEq)]
pub enum Contrast {
    /// Nothing to show: one of them cannot be read.
    Nothing,
    /// The types or the extents differ.
    Kind {
        /// Type and extents expected.
        expected: String,
        /// Type and extents found.
        found: String,
    },
    /// A line for each element, those of the record with `-`, those found with `+`.
    Elements(String),
    /// Many elements, summed up.
    Statistics {
        /// How many differ.
        count: usize,
        /// Of how many.
        of: usize,
        /// The first that does, in row-major order.
        first: usize,
        /// What was expected there.
        expected: String,
        /// What was found there.
        found: String,
        /// The largest absolute difference; infinite where one is not a number and the other is.
        largest: f64,
    },
}

impl Contrast {
    /// Contrasts two evaluated arrays that differ as `difference` says.
    pub fn of(expected: &Array, found: &Array, difference: Difference) -> Self {
        let Difference::Values { count, first } = difference else {
            return Self::Kind {
                expected: kind(expected.dtype(), expected.shape()),
                found: kind(found.dtype(), found.shape()),
            };
        };
        let (Some(before), Some(after)) = (elements(expected), elements(found)) else {
            return Self::Nothing;
        };
        if before.len() > SMALL {
            return Self::Statistics {
                count,
                of: before.len(),
                first,
                expected: before[first].to_string(),
                found: after[first].to_string(),
                largest: largest(&before, &after),
            };
        }
        let lines = |elements: &[Element]| -> String {
            let numbered = elements.iter().enumerate();
            numbered.map(|(place, it)| format!("[{place}] {it}\n")).collect()
        };
        let (before, after) = (lines(&before), lines(&after));
        let diff = TextDiff::from_lines(before.as_str(), after.as_str());
        let changes: String = diff
            .iter_all_changes()
            .map(|change| format!("{}{}", change.tag(), change.value()))
            .collect();
        Self::Elements(changes.trim_end().to_string())
    }
}

/// `float32 (2, 3)`.
pub(super) fn kind(dtype: Dtype, shape: &[i32]) -> String {
    format!("{} {}", format!("{dtype:?}").to_lowercase(), Shape(shape))
}

/// One element: a number, or a complex one.
#[derive(Debug, Clone, Copy)]
enum Element {
    Bool(bool),
    Integer(i128),
    Float(f64),
    Complex(f64, f64),
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(it) => write!(f, "{it}"),
            Self::Integer(it) => write!(f, "{it}"),
            // With the sign of a zero.
            Self::Float(it) => write!(f, "{it:?}"),
            Self::Complex(re, im) => write!(f, "{re:?} {im:+?}i"),
        }
    }
}

fn elements(array: &Array) -> Option<Vec<Element>> {
    let bytes = graph::read(array).ok()?;
    Some(match array.dtype() {
        Dtype::Bool => graph::elements(&bytes, |[b]: [u8; 1]| Element::Bool(b != 0)),
        Dtype::Uint8 => graph::elements(&bytes, |b| Element::Integer(u8::from_ne_bytes(b).into())),
        Dtype::Uint16 => graph::elements(&bytes, |b| Element::Integer(u16::from_ne_bytes(b).into())),
        Dtype::Uint32 => graph::elements(&bytes, |b| Element::Integer(u32::from_ne_bytes(b).into())),
        Dtype::Uint64 => graph::elements(&bytes, |b| Element::Integer(u64::from_ne_bytes(b).into())),
        Dtype::Int8 => graph::elements(&bytes, |b| Element::Integer(i8::from_ne_bytes(b).into())),
        Dtype::Int16 => graph::elements(&bytes, |b| Element::Integer(i16::from_ne_bytes(b).into())),
        Dtype::Int32 => graph::elements(&bytes, |b| Element::Integer(i32::from_ne_bytes(b).into())),
        Dtype::Int64 => graph::elements(&bytes, |b| Element::Integer(i64::from_ne_bytes(b).into())),
        Dtype::Float16 => graph::elements(&bytes, |b| Element::Float(f16::from_ne_bytes(b).into())),
        Dtype::Bfloat16 => graph::elements(&bytes, |b| Element::Float(bf16::from_ne_bytes(b).into())),
        Dtype::Float32 => graph::elements(&bytes, |b| Element::Float(f32::from_ne_bytes(b).into())),
        Dtype::Float64 => graph::elements(&bytes, |b| Element::Float(f64::from_ne_bytes(b))),
        Dtype::Complex64 => {
            let parts: Vec<f64> = graph::elements(&bytes, |b| f32::from_ne_bytes(b).into());
            let pairs = parts.chunks_exact(2);
            pairs.map(|pair| Element::Complex(pair[0], pair[1])).collect()
        }
    })
}

fn largest(expected: &[Element], found: &[Element]) -> f64 {
    let apart = |a: f64, b: f64| match (a.is_nan(), b.is_nan()) {
        (true, true) => 0.0,
        (false, false) if a == b => 0.0,
        (false, false) => (a - b).abs(),
        _ => f64::INFINITY,
    };
    let pairs = expected.iter().zip(found);
    pairs
        .map(|pair| match pair {
            (Element::Integer(a), Element::Integer(b)) => (a - b).abs() as f64,
            (Element::Float(a), Element::Float(b)) => apart(*a, *b),
            (Element::Complex(a, b), Element::Complex(c, d)) => apart(*a, *c).hypot(apart(*b, *d)),
            (Element::Bool(a), Element::Bool(b)) => f64::from(u8::from(a != b)),
            _ => f64::INFINITY,
        })
        .fold(0.0, f64::max)
}

impl fmt::Display for Contrast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => Ok(()),
            Self::Kind { expected, found } => write!(f, "-{expected}\n+{found}"),
            Self::Elements(lines) => f.write_str(lines),
            Self::Statistics {
                count,
                of,
                first,
                expected,
                found,
                largest,
            } => write!(
                f,
                "{count} of {of} elements differ, by at most {largest:e}\n-[{first}] {expected}\n+[{first}] {found}"
            ),
        }
    }
}
