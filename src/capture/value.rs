//! Values: the distinct arrays of a trace.

use std::sync::Arc;

use mlx_rs::{Array, Dtype};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::call::CallId;

/// A value's number in its trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ValueId(pub(crate) u32);

impl ValueId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Extents, outermost first.
pub type Shape = SmallVec<[i32; 4]>;

/// One distinct MLX array seen during capture.
#[derive(Debug, Clone)]
pub struct Value {
    pub(crate) origin: Origin,
    pub(crate) shape: Shape,
    pub(crate) dtype: Dtype,
    pub(crate) payload: Option<Array>,
    pub(crate) had_producer: bool,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// An input of the forward, by its path (`""` for a lone array, `source`, `0.mask`).
    Input {
        /// The path.
        path: String,
    },
    /// A parameter of the model, by its first address.
    Parameter {
        /// mlx-rs's address: `layers.0.weight`.
        address: Arc<str>,
    },
    /// An array that the forward used and nobody declared.
    Constant,
    /// A result of a recorded call.
    Result {
        /// The call.
        call: CallId,
        /// Which of its results.
        index: u32,
    },
    /// What took a result's place: see [`Trace::replacements`](super::Trace::replacements).
    Intervention,
    /// What an operation that the recorded surface does not cover computed from recorded values.
    Unwrapped,
}

impl Value {
    /// Where it comes from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Its extents.
    pub fn shape(&self) -> &[i32] {
        &self.shape
    }

    /// Its element type.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// The array itself: a shared handle, evaluated or not; `None` where the payload policy kept none.
    pub fn payload(&self) -> Option<&Array> {
        self.payload.as_ref()
    }

    /// Whether an unevaluated computation stood behind it when it was first seen.
    pub fn had_producer(&self) -> bool {
        self.had_producer
    }
}
