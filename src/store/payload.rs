//! Payloads as tensors of a safetensors file.
//!
//! A tensor holds the elements of an array that differ in place, in row-major order: a broadcast axis has one. How they lie
//! in memory stands in the structure.

use std::borrow::Cow;

use mlx_rs::{Array, Dtype};
use safetensors::tensor::{Dtype as Stored, SafeTensors, View};

use super::document::PayloadDocument;
use super::error::Flaw;
use super::seal::digest;
use crate::graph::{self, GraphError, Layout};
use crate::vocabulary::DType;

/// The element types by their three names.
const DTYPES: [(DType, Dtype, Stored); 14] = [
    (DType::Bool, Dtype::Bool, Stored::BOOL),
    (DType::Uint8, Dtype::Uint8, Stored::U8),
    (DType::Uint16, Dtype::Uint16, Stored::U16),
    (DType::Uint32, Dtype::Uint32, Stored::U32),
    (DType::Uint64, Dtype::Uint64, Stored::U64),
    (DType::Int8, Dtype::Int8, Stored::I8),
    (DType::Int16, Dtype::Int16, Stored::I16),
    (DType::Int32, Dtype::Int32, Stored::I32),
    (DType::Int64, Dtype::Int64, Stored::I64),
    (DType::Float16, Dtype::Float16, Stored::F16),
    (DType::Bfloat16, Dtype::Bfloat16, Stored::BF16),
    (DType::Float32, Dtype::Float32, Stored::F32),
    (DType::Float64, Dtype::Float64, Stored::F64),
    (DType::Complex64, Dtype::Complex64, Stored::C64),
];

/// The name under which an element type is written.
pub(super) fn named(dtype: Dtype) -> DType {
    let found = DTYPES.iter().find(|(_, theirs, _)| *theirs == dtype);
    // The table holds all 14.
    found.map_or(DType::Float32, |(ours, ..)| *ours)
}

/// The element type of a name, as MLX and safetensors have it.
pub(super) fn typed(dtype: DType) -> (Dtype, Stored) {
    let found = DTYPES.iter().find(|(ours, ..)| *ours == dtype);
    // As above.
    found.map_or((Dtype::Float32, Stored::F32), |(_, mlx, stored)| (*mlx, *stored))
}

/// One payload on its way to a file.
pub(super) struct Tensor {
    dtype: Stored,
    shape: Vec<usize>,
    data: Vec<u8>,
}

impl View for &Tensor {
    fn dtype(&self) -> Stored {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.data)
    }

    fn data_len(&self) -> usize {
        self.data.len()
    }
}

/// What is written of an evaluated array: the tensor, and what stands in the structure.
///
/// # Errors
///
/// An array that is not evaluated.
pub(super) fn pack(array: &Array) -> Result<(Tensor, PayloadDocument), GraphError> {
    let layout = Layout::of(array)?;
    let data = graph::distinct_elements(array, &layout)?;
    let tensor = Tensor {
        dtype: typed(named(array.dtype())).1,
        shape: layout.distinct(array.shape()),
        data,
    };
    let document = PayloadDocument::new(layout, digest(&tensor.data));
    Ok((tensor, document))
}

/// The array of a payload that is saved under a name.
///
/// # Errors
///
/// What does not fit together.
pub(super) fn unpack(
    tensors: &SafeTensors<'_>,
    name: &str,
    shape: &[i32],
    dtype: DType,
    document: &PayloadDocument,
) -> Result<Array, Flaw> {
    let flaw = |message: String| Flaw::new(format!("payload {name}"), message);
    let tensor = tensors.tensor(name).map_err(|error| flaw(error.to_string()))?;
    let (mlx, stored) = typed(dtype);
    let layout = document.layout();
    if !layout.fits(shape) {
        return Err(Flaw::new(
            format!("{name}.payload"),
            format!("an array of shape {shape:?} cannot lie so"),
        ));
    }
    if tensor.dtype() != stored {
        return Err(flaw(format!(
            "it holds {}, and {dtype} was saved",
            tensor.dtype()
        )));
    }
    if tensor.shape() != layout.distinct(shape) {
        return Err(flaw(format!(
            "it has shape {:?}, and {:?} was saved",
            tensor.shape(),
            layout.distinct(shape)
        )));
    }
    if digest(tensor.data()) != document.digest {
        return Err(flaw("its elements are not those that were saved".to_string()));
    }
    if dtype == DType::Bool && tensor.data().iter().any(|byte| *byte > 1) {
        return Err(flaw("it holds something else than true and false".to_string()));
    }
    graph::lay_out(shape, mlx, &layout, tensor.data()).map_err(|error| flaw(error.message))
}
