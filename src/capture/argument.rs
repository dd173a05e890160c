//! Arguments as a trace keeps them: what the view of a call borrows, copied.

use std::ffi::{c_int, CString};

use mlx_sys::function::Argument;
use mlx_sys::raw;
use thin_vec::ThinVec;

use super::value::ValueId;

/// One argument of a recorded call. Two words: a record writes several for every call, and fresh memory costs more than
/// what is written there.
#[derive(Debug, Clone, PartialEq)]
pub enum Recorded {
    /// An array, possibly absent.
    Array(Option<ValueId>),
    /// A list of arrays.
    Arrays(ThinVec<ValueId>),
    /// A truth value.
    Bool(bool),
    /// A C `int`.
    Int(c_int),
    /// An unsigned 64-bit integer.
    Uint64(u64),
    /// A size or an offset.
    Size(usize),
    /// A 32-bit float.
    Float(f32),
    /// A 64-bit float.
    Double(f64),
    /// An element type, as mlx-c numbers it.
    Dtype(raw::mlx_dtype),
    /// How an FFT is normalized, as mlx-c numbers it.
    FftNorm(raw::mlx_fft_norm),
    /// A text, possibly absent.
    Text(Option<Box<CString>>),
    /// Integers, or a null pointer, which says something else than an empty list.
    Ints(Option<ThinVec<c_int>>),
    /// 64-bit integers, or a null pointer.
    Int64s(Option<ThinVec<i64>>),
    /// An integer or nothing.
    OptionalInt(Option<c_int>),
    /// A float or nothing.
    OptionalFloat(Option<f32>),
    /// An element type or nothing.
    OptionalDtype(Option<raw::mlx_dtype>),
    /// The stream.
    Stream(StreamKey),
    /// What cannot be recorded.
    Opaque,
}

/// A stream, by what outlives its handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StreamKey {
    /// MLX's number of the device's kind.
    pub device: raw::mlx_device_type,
    /// MLX's number of the stream.
    pub index: c_int,
}

impl Recorded {
    /// The arrays in it.
    pub fn operands(&self) -> &[ValueId] {
        match self {
            Self::Array(Some(value)) => std::slice::from_ref(value),
            Self::Arrays(values) => values,
            _ => &[],
        }
    }

    pub(crate) fn operands_mut(&mut self) -> &mut [ValueId] {
        match self {
            Self::Array(Some(value)) => std::slice::from_mut(value),
            Self::Arrays(values) => values,
            _ => &mut [],
        }
    }

    /// Whether it says something by itself: neither arrays nor the stream, and recorded.
    pub(crate) fn is_plain(&self) -> bool {
        !matches!(
            self,
            Self::Array(_) | Self::Arrays(_) | Self::Stream(_) | Self::Opaque
        )
    }

    /// A copy of an argument that holds no arrays and no stream; `None` for those.
    pub(crate) fn plain(argument: &Argument<'_>) -> Option<Self> {
        Some(match *argument {
            Argument::Array(_) | Argument::Arrays(_) | Argument::Stream(_) => return None,
            Argument::Bool(value) => Self::Bool(value),
            Argument::Int(value) => Self::Int(value),
            Argument::Uint64(value) => Self::Uint64(value),
            Argument::Size(value) => Self::Size(value),
            Argument::Float(value) => Self::Float(value),
            Argument::Double(value) => Self::Double(value),
            Argument::Dtype(value) => Self::Dtype(value),
            Argument::FftNorm(value) => Self::FftNorm(value),
            Argument::Text(value) => Self::Text(value.map(|text| Box::new(text.into()))),
            Argument::Ints(values) => Self::Ints(values.map(Into::into)),
            Argument::Int64s(values) => Self::Int64s(values.map(Into::into)),
            Argument::OptionalInt(value) => Self::OptionalInt(value),
            Argument::OptionalFloat(value) => Self::OptionalFloat(value),
            Argument::OptionalDtype(value) => Self::OptionalDtype(value),
            Argument::ArrayMap(_) | Argument::Opaque => Self::Opaque,
        })
    }
}

impl StreamKey {
    /// The key of a stream handle, which must not be empty.
    pub(crate) fn of(stream: raw::mlx_stream) -> Self {
        let mut device = raw::mlx_device_type__MLX_CPU;
        let mut index = 0;
        // SAFETY: every operation takes a valid stream; the call that is observed is under way or over.
        unsafe { raw::mlx_graph_stream(stream, &mut device, &mut index) };
        Self { device, index }
    }
}
