//! Arguments of calls as they are written, each bit of each number.

use std::ffi::CString;

use mlx_sys::function::{Kind, Parameter};
use mlx_sys::raw;
use serde::{Deserialize, Serialize};

use super::error::Flaw;
use crate::capture::{Recorded, StreamKey, ValueId};

/// One argument, by what it holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub(super) enum ArgumentDocument {
    Array(Option<ValueId>),
    Arrays(Vec<ValueId>),
    Bool(bool),
    Int(i32),
    Uint64(u64),
    Size(u64),
    Float(Number),
    Double(Number),
    /// As mlx-c numbers it.
    Dtype(u32),
    /// As mlx-c numbers it.
    FftNorm(u32),
    Text(Option<String>),
    Ints(Option<Vec<i32>>),
    Int64s(Option<Vec<i64>>),
    OptionalInt(Option<i32>),
    OptionalFloat(Option<Number>),
    OptionalDtype(Option<u32>),
    /// mlx-c's number of the device's kind, and MLX's of the stream.
    Stream {
        device: u32,
        index: i32,
    },
    Opaque,
}

/// A floating-point number: as JSON writes it, or by its bits where JSON cannot.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Number {
    Finite(f64),
    Bits { bits: u64 },
}

impl Number {
    fn of(number: f64) -> Self {
        match number.is_finite() {
            true => Self::Finite(number),
            false => Self::Bits {
                bits: number.to_bits(),
            },
        }
    }

    fn of_single(number: f32) -> Self {
        match number.is_finite() {
            true => Self::Finite(f64::from(number)),
            false => Self::Bits {
                bits: u64::from(number.to_bits()),
            },
        }
    }

    fn double(&self) -> f64 {
        match *self {
            Self::Finite(number) => number,
            Self::Bits { bits } => f64::from_bits(bits),
        }
    }

    fn single(&self) -> Result<f32, String> {
        let single = match *self {
            Self::Finite(number) => {
                let single = number as f32;
                (f64::from(single) == number).then_some(single)
            }
            Self::Bits { bits } => u32::try_from(bits).ok().map(f32::from_bits),
        };
        single.ok_or_else(|| "it is no 32-bit float".to_string())
    }
}

impl ArgumentDocument {
    /// What is written of an argument.
    ///
    /// # Errors
    ///
    /// A text that is not UTF-8.
    pub(super) fn of(argument: &Recorded) -> Result<Self, String> {
        Ok(match argument {
            Recorded::Array(value) => Self::Array(*value),
            Recorded::Arrays(values) => Self::Arrays(values.to_vec()),
            Recorded::Bool(it) => Self::Bool(*it),
            Recorded::Int(it) => Self::Int(*it),
            Recorded::Uint64(it) => Self::Uint64(*it),
            Recorded::Size(it) => Self::Size(*it as u64),
            Recorded::Float(it) => Self::Float(Number::of_single(*it)),
            Recorded::Double(it) => Self::Double(Number::of(*it)),
            Recorded::Dtype(it) => Self::Dtype(*it),
            Recorded::FftNorm(it) => Self::FftNorm(*it),
            Recorded::Text(text) => {
                let text = text.as_ref().map(|text| text.to_str().map(str::to_string));
                Self::Text(text.transpose().map_err(|error| error.to_string())?)
            }
            Recorded::Ints(it) => Self::Ints(it.as_ref().map(|it| it.to_vec())),
            Recorded::Int64s(it) => Self::Int64s(it.as_ref().map(|it| it.to_vec())),
            Recorded::OptionalInt(it) => Self::OptionalInt(*it),
            Recorded::OptionalFloat(it) => Self::OptionalFloat(it.map(Number::of_single)),
            Recorded::OptionalDtype(it) => Self::OptionalDtype(*it),
            Recorded::Stream(StreamKey { device, index }) => Self::Stream {
                device: *device,
                index: *index,
            },
            Recorded::Opaque => Self::Opaque,
        })
    }

    /// The argument, for this parameter.
    ///
    /// # Errors
    ///
    /// What the parameter cannot be given.
    pub(super) fn recorded(&self, parameter: &Parameter, field: &str) -> Result<Recorded, Flaw> {
        let flaw = |message: String| Flaw::new(field, message);
        let dtype = |number: u32| match mlx_rs::Dtype::try_from(number) {
            Ok(_) => Ok(number),
            Err(_) => Err(flaw(format!("no element type has the number {number}"))),
        };
        let (recorded, kind) = match self {
            Self::Array(value) => (Recorded::Array(*value), Kind::Array),
            Self::Arrays(values) => (Recorded::Arrays(values.as_slice().into()), Kind::Arrays),
            Self::Bool(it) => (Recorded::Bool(*it), Kind::Bool),
            Self::Int(it) => (Recorded::Int(*it), Kind::Int),
            Self::Uint64(it) => (Recorded::Uint64(*it), Kind::Uint64),
            Self::Size(it) => match usize::try_from(*it) {
                Ok(size) => (Recorded::Size(size), Kind::Size),
                Err(error) => return Err(flaw(error.to_string())),
            },
            Self::Float(it) => (Recorded::Float(it.single().map_err(flaw)?), Kind::Float),
            Self::Double(it) => (Recorded::Double(it.double()), Kind::Double),
            Self::Dtype(it) => (Recorded::Dtype(dtype(*it)?), Kind::Dtype),
            Self::FftNorm(it) if *it > raw::mlx_fft_norm__MLX_FFT_NORM_FORWARD => {
                return Err(flaw(format!("no norm of an FFT has the number {it}")));
            }
            Self::FftNorm(it) => (Recorded::FftNorm(*it), Kind::FftNorm),
            Self::Text(text) => {
                let text = text
                    .as_ref()
                    .map(|text| CString::new(text.as_str()).map(Box::new));
                let text = text.transpose().map_err(|error| flaw(error.to_string()))?;
                (Recorded::Text(text), Kind::Text)
            }
            Self::Ints(it) => (Recorded::Ints(it.as_deref().map(Into::into)), Kind::Ints),
            Self::Int64s(it) => (Recorded::Int64s(it.as_deref().map(Into::into)), Kind::Int64s),
            Self::OptionalInt(it) => (Recorded::OptionalInt(*it), Kind::OptionalInt),
            Self::OptionalFloat(it) => {
                let it = it.as_ref().map(Number::single).transpose().map_err(flaw)?;
                (Recorded::OptionalFloat(it), Kind::OptionalFloat)
            }
            Self::OptionalDtype(it) => (
                Recorded::OptionalDtype(it.map(dtype).transpose()?),
                Kind::OptionalDtype,
            ),
            Self::Stream { device, .. } if *device > raw::mlx_device_type__MLX_GPU => {
                return Err(flaw(format!("no kind of device has the number {device}")));
            }
            Self::Stream { device, index } => {
                let (device, index) = (*device, *index);
                (Recorded::Stream(StreamKey { device, index }), Kind::Stream)
            }
            // What was not recorded, and what cannot be.
            Self::Opaque if matches!(parameter.kind, Kind::ArrayMap | Kind::Opaque) => {
                (Recorded::Opaque, parameter.kind)
            }
            Self::Opaque => (Recorded::Opaque, Kind::Opaque),
        };
        match kind == parameter.kind {
            true => Ok(recorded),
            false => Err(flaw(format!(
                "`{}` takes another kind of argument",
                parameter.name
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Number;

    #[test]
    fn every_float_comes_back_with_its_bits() {
        let odd = f32::from_bits(0x7fc0_1234);
        for number in [
            0.1_f32,
            -0.0,
            f32::MIN_POSITIVE / 2.0,
            f32::MAX,
            f32::NAN,
            odd,
            f32::INFINITY,
        ] {
            let text = serde_json::to_string(&Number::of_single(number)).unwrap();
            let back: Number = serde_json::from_str(&text).unwrap();
            assert_eq!(back.single().unwrap().to_bits(), number.to_bits(), "{text}");
        }
        for number in [
            0.1_f64,
            -0.0,
            5e-324,
            f64::MAX,
            f64::NEG_INFINITY,
            f64::from_bits(0x7ff8_0000_0000_0042),
        ] {
            let text = serde_json::to_string(&Number::of(number)).unwrap();
            let back: Number = serde_json::from_str(&text).unwrap();
            assert_eq!(back.double().to_bits(), number.to_bits(), "{text}");
        }
        assert!(Number::Finite(0.1).single().is_err(), "no 32-bit float");
        assert!(Number::Bits { bits: 1 << 40 }.single().is_err());
    }
}
