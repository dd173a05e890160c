//! Arrays of the widest type of their kind, and the one rounding at the end.

use super::error::NoReference;
use crate::case::data::{ArraySpec, Data};
use crate::case::fill::round_to;
use crate::vocabulary::{DType, Kind};
use ndarray::{ArrayD, IxDyn};
use num_complex::Complex64;

/// Elements as 64-bit floats.
pub(super) type Floats = ndarray::ArrayD<f64>;

/// An array: its element type, and its elements in the widest type of their kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// The element type that it stands for.
    pub dtype: DType,
    /// Its elements.
    pub elements: Elements,
}

/// Elements in the widest type of their kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Elements {
    /// Of `bool`.
    Bool(ArrayD<bool>),
    /// Of the integer types.
    Int(ArrayD<i64>),
    /// Of the floating-point types.
    Float(ArrayD<f64>),
    /// Of `complex64`.
    Complex(ArrayD<Complex64>),
}

/// The same for elements of every kind.
macro_rules! each_kind {
    ($elements:expr, $array:ident => $made:expr) => {
        match $elements {
            $crate::reference::Elements::Bool($array) => $crate::reference::Elements::Bool($made),
            $crate::reference::Elements::Int($array) => $crate::reference::Elements::Int($made),
            $crate::reference::Elements::Float($array) => $crate::reference::Elements::Float($made),
            $crate::reference::Elements::Complex($array) => $crate::reference::Elements::Complex($made),
        }
    };
}
pub(super) use each_kind;

impl Tensor {
    /// An input of a cell.
    pub(super) fn of(spec: &ArraySpec) -> Option<Self> {
        let shape: Vec<usize> = spec.shape.iter().map(|extent| *extent as usize).collect();
        let shape = IxDyn(&shape);
        let elements = match spec.data() {
            Data::Bool(it) => Elements::Bool(ArrayD::from_shape_vec(shape, it).ok()?),
            Data::Int(it) => Elements::Int(ArrayD::from_shape_vec(shape, it).ok()?),
            Data::Float(it) => Elements::Float(ArrayD::from_shape_vec(shape, it).ok()?),
            Data::Complex(it) => {
                let it = it.into_iter().map(|[re, im]| Complex64::new(re, im)).collect();
                Elements::Complex(ArrayD::from_shape_vec(shape, it).ok()?)
            }
        };
        Some(Self {
            dtype: spec.dtype,
            elements,
        })
    }

    pub(super) fn bools(elements: ArrayD<bool>) -> Self {
        Self {
            dtype: DType::Bool,
            elements: Elements::Bool(elements),
        }
    }

    pub(super) fn ints(dtype: DType, elements: ArrayD<i64>) -> Self {
        Self {
            dtype,
            elements: Elements::Int(elements),
        }
    }

    pub(super) fn floats(dtype: DType, elements: ArrayD<f64>) -> Self {
        Self {
            dtype,
            elements: Elements::Float(elements),
        }
    }

    pub(super) fn complexes(elements: ArrayD<Complex64>) -> Self {
        Self {
            dtype: DType::Complex64,
            elements: Elements::Complex(elements),
        }
    }

    /// Extents, outermost first.
    pub fn shape(&self) -> &[usize] {
        match &self.elements {
            Elements::Bool(it) => it.shape(),
            Elements::Int(it) => it.shape(),
            Elements::Float(it) => it.shape(),
            Elements::Complex(it) => it.shape(),
        }
    }

    /// The elements as floats; a complex array has none.
    pub(super) fn to_floats(&self) -> Result<ArrayD<f64>, NoReference> {
        Ok(match &self.elements {
            Elements::Bool(it) => it.mapv(|it| f64::from(u8::from(it))),
            Elements::Int(it) => it.mapv(|it| it as f64),
            Elements::Float(it) => it.clone(),
            Elements::Complex(_) => return Err(NoReference::DType(self.dtype)),
        })
    }

    /// The elements as complex numbers.
    pub(super) fn to_complexes(&self) -> ArrayD<Complex64> {
        let real = |re: f64| Complex64::new(re, 0.0);
        match &self.elements {
            Elements::Bool(it) => it.mapv(|it| real(f64::from(u8::from(it)))),
            Elements::Int(it) => it.mapv(|it| real(it as f64)),
            Elements::Float(it) => it.mapv(real),
            Elements::Complex(it) => it.clone(),
        }
    }

    /// The elements as integers, fractions cut off.
    pub(super) fn to_ints(&self) -> Result<ArrayD<i64>, NoReference> {
        Ok(match &self.elements {
            Elements::Bool(it) => it.mapv(i64::from),
            Elements::Int(it) => it.clone(),
            Elements::Float(it) => it.mapv(|it| it as i64),
            Elements::Complex(_) => return Err(NoReference::DType(self.dtype)),
        })
    }

    /// Which elements are not zero; NaN is not.
    pub(super) fn to_bools(&self) -> ArrayD<bool> {
        match &self.elements {
            Elements::Bool(it) => it.clone(),
            Elements::Int(it) => it.mapv(|it| it != 0),
            Elements::Float(it) => it.mapv(|it| it != 0.0),
            Elements::Complex(it) => it.mapv(|it| it != Complex64::new(0.0, 0.0)),
        }
    }

    /// The array as another type; a float is cut to an integer, a complex number to its real part.
    pub(super) fn cast(&self, dtype: DType) -> Result<Self, NoReference> {
        let elements = match dtype.kind() {
            Kind::Bool => Elements::Bool(self.to_bools()),
            Kind::Int => Elements::Int(self.to_ints()?),
            Kind::Float => match &self.elements {
                Elements::Complex(it) => Elements::Float(it.mapv(|it| it.re)),
                _ => Elements::Float(self.to_floats()?),
            },
            Kind::Complex => Elements::Complex(self.to_complexes()),
        };
        Ok(Self { dtype, elements }.rounded())
    }

    /// Rounded once to its type: floats to nearest even, integers modulo their width.
    pub(super) fn rounded(self) -> Self {
        let dtype = self.dtype;
        let round = |it: f64| round_to(dtype, it);
        let elements = match self.elements {
            Elements::Int(it) => Elements::Int(it.mapv_into(|it| wrapped(dtype, it))),
            Elements::Float(it) => Elements::Float(it.mapv_into(round)),
            Elements::Complex(it) => {
                Elements::Complex(it.mapv_into(|it| Complex64::new(round(it.re), round(it.im))))
            }
            bools => bools,
        };
        Self { dtype, elements }
    }

    /// The elements in row-major order.
    pub fn data(&self) -> Data {
        match &self.elements {
            Elements::Bool(it) => Data::Bool(it.iter().copied().collect()),
            Elements::Int(it) => Data::Int(it.iter().copied().collect()),
            Elements::Float(it) => Data::Float(it.iter().copied().collect()),
            Elements::Complex(it) => Data::Complex(it.iter().map(|it| [it.re, it.im]).collect()),
        }
    }
}

/// The integer modulo the type's width, as two's complement has it.
fn wrapped(dtype: DType, value: i64) -> i64 {
    match dtype {
        DType::Uint8 => i64::from(value as u8),
        DType::Uint16 => i64::from(value as u16),
        DType::Uint32 => i64::from(value as u32),
        DType::Int8 => i64::from(value as i8),
        DType::Int16 => i64::from(value as i16),
        DType::Int32 => i64::from(value as i32),
        _ => value,
    }
}

/// The same bytes in little-endian order, read as another type; rows grow or shrink with its width.
pub(super) fn read_again(x: &Tensor, dtype: DType) -> Option<Tensor> {
    let bytes: Vec<u8> = match &x.elements {
        Elements::Bool(it) => it.iter().map(|it| u8::from(*it)).collect(),
        Elements::Int(it) => {
            let width = width(x.dtype);
            it.iter()
                .flat_map(|it| it.to_le_bytes()[..width].to_vec())
                .collect()
        }
        Elements::Float(it) => it.iter().flat_map(|it| float_bytes(x.dtype, *it)).collect(),
        Elements::Complex(it) => it
            .iter()
            .flat_map(|it| {
                [
                    float_bytes(DType::Float32, it.re),
                    float_bytes(DType::Float32, it.im),
                ]
                .concat()
            })
            .collect(),
    };
    let (own, other) = (width(x.dtype), width(dtype));
    let mut shape = x.shape().to_vec();
    match shape.last_mut() {
        Some(last) if (*last * own) % other == 0 => *last = *last * own / other,
        None if own == other => {}
        _ => return None,
    }
    let chunks = bytes.chunks_exact(other);
    let float = |chunk: &[u8]| float_of(dtype, chunk);
    let shape = IxDyn(&shape);
    let elements = match dtype.kind() {
        Kind::Bool => {
            Elements::Bool(ArrayD::from_shape_vec(shape, chunks.map(|it| it[0] != 0).collect()).ok()?)
        }
        Kind::Int => {
            let int = |chunk: &[u8]| {
                let mut wide = [0u8; 8];
                wide[..other].copy_from_slice(chunk);
                signed(dtype, i64::from_le_bytes(wide))
            };
            Elements::Int(ArrayD::from_shape_vec(shape, chunks.map(int).collect()).ok()?)
        }
        Kind::Float => Elements::Float(ArrayD::from_shape_vec(shape, chunks.map(float).collect()).ok()?),
        Kind::Complex => {
            let of = |chunk: &[u8]| {
                let part = |from: usize| float_of(DType::Float32, &chunk[from..from + 4]);
                Complex64::new(part(0), part(4))
            };
            Elements::Complex(ArrayD::from_shape_vec(shape, chunks.map(of).collect()).ok()?)
        }
    };
    Some(Tensor { dtype, elements })
}

/// Bytes of one element.
fn width(dtype: DType) -> usize {
    match dtype {
        DType::Bool | DType::Uint8 | DType::Int8 => 1,
        DType::Uint16 | DType::Int16 | DType::Float16 | DType::Bfloat16 => 2,
        DType::Uint32 | DType::Int32 | DType::Float32 => 4,
        DType::Uint64 | DType::Int64 | DType::Float64 | DType::Complex64 => 8,
    }
}

fn signed(dtype: DType, value: i64) -> i64 {
    match dtype {
        DType::Int8 => i64::from(value as i8),
        DType::Int16 => i64::from(value as i16),
        DType::Int32 => i64::from(value as i32),
        _ => value,
    }
}

fn float_bytes(dtype: DType, value: f64) -> Vec<u8> {
    match dtype {
        DType::Float16 => half::f16::from_f64(value).to_le_bytes().to_vec(),
        DType::Bfloat16 => half::bf16::from_f64(value).to_le_bytes().to_vec(),
        DType::Float64 => value.to_le_bytes().to_vec(),
        _ => (value as f32).to_le_bytes().to_vec(),
    }
}

fn float_of(dtype: DType, bytes: &[u8]) -> f64 {
    match (dtype, bytes) {
        (DType::Float16, [a, b]) => half::f16::from_le_bytes([*a, *b]).to_f64(),
        (DType::Bfloat16, [a, b]) => half::bf16::from_le_bytes([*a, *b]).to_f64(),
        (DType::Float64, [a, b, c, d, e, f, g, h]) => f64::from_le_bytes([*a, *b, *c, *d, *e, *f, *g, *h]),
        (_, [a, b, c, d, ..]) => f64::from(f32::from_le_bytes([*a, *b, *c, *d])),
        _ => f64::NAN,
    }
}
