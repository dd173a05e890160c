//! Plain data to arrays and back.

use half::{bf16, f16};
use mlx_rs::error::Exception;
use mlx_rs::ops::indexing::{ArrayIndex, Ellipsis, IntoStrideBy, TryIndexOp};
use mlx_rs::{ops, Array, Dtype};

use crate::case::data::{ArraySpec, Data, View};
use crate::graph::{self, GraphError};
use crate::vocabulary::DType;

/// The array that a case describes: evaluated, in the layout that its view says.
///
/// # Errors
///
/// MLX's.
pub fn to_array(spec: &ArraySpec) -> Result<Array, Exception> {
    from_data(&spec.data(), &spec.shape, spec.dtype, spec.view)
}

/// An array of these elements, evaluated.
///
/// # Errors
///
/// MLX's, or elements that are not as many as the shape says.
pub(crate) fn from_data(data: &Data, shape: &[i32], dtype: DType, view: View) -> Result<Array, Exception> {
    let bytes = bytes_of(data, dtype);
    let array = match view {
        View::Plain => made(&bytes, shape, dtype)?,
        // The copy in transposed order is made contiguous, so that transposing it back is a view.
        View::Transposed => made(&bytes, shape, dtype)?
            .transpose()?
            .contiguous()?
            .transpose()?,
        View::Strided => strided(&bytes, shape, dtype)?,
        View::Reversed => reversed(&bytes, shape, dtype)?,
    };
    array.eval()?;
    Ok(array)
}

fn made(bytes: &[u8], shape: &[i32], dtype: DType) -> Result<Array, Exception> {
    graph::from_bytes(bytes, shape, dtype_of(dtype))
        .ok_or_else(|| Exception::custom(format!("{} bytes do not fill {shape:?} {dtype}", bytes.len())))
}

/// Every second element, along the last axis, of an array twice as long.
fn strided(bytes: &[u8], shape: &[i32], dtype: DType) -> Result<Array, Exception> {
    let plain = made(bytes, shape, dtype)?;
    let Some((last, outer)) = shape.split_last() else {
        return Ok(plain);
    };
    let width = plain.item_size();
    let doubled: Vec<u8> = bytes
        .chunks_exact(width)
        .flat_map(|element| [element, element])
        .flatten()
        .copied()
        .collect();
    let long = made(&doubled, &[outer, &[last * 2]].concat(), dtype)?;
    let strides: Vec<i64> = plain.strides().iter().map(|stride| *stride as i64 * 2).collect();
    ops::as_strided(&long, shape, &strides[..], 0)
}

/// Backwards along the last axis.
fn reversed(bytes: &[u8], shape: &[i32], dtype: DType) -> Result<Array, Exception> {
    let plain = made(bytes, shape, dtype)?;
    let Some(last) = shape.last().and_then(|last| usize::try_from(*last).ok()) else {
        return Ok(plain);
    };
    let width = plain.item_size();
    let turned: Vec<u8> = bytes
        .chunks_exact((width * last).max(1))
        .flat_map(|line| line.rchunks_exact(width))
        .flatten()
        .copied()
        .collect();
    let index = [Ellipsis.index_op(), (..).stride_by(-1).index_op()];
    made(&turned, shape, dtype)?.try_index(&index[..])
}

/// The elements' bytes in row-major order, each rounded to the type.
fn bytes_of(data: &Data, dtype: DType) -> Vec<u8> {
    match (data, dtype) {
        (Data::Bool(elements), _) => elements.iter().map(|it| u8::from(*it)).collect(),
        (Data::Complex(elements), _) => bytes(elements.iter().flatten(), |it| (*it as f32).to_ne_bytes()),
        (Data::Int(elements), DType::Uint8 | DType::Int8) => bytes(elements, |it| (*it as u8).to_ne_bytes()),
        (Data::Int(elements), DType::Uint16 | DType::Int16) => {
            bytes(elements, |it| (*it as u16).to_ne_bytes())
        }
        (Data::Int(elements), DType::Uint32 | DType::Int32) => {
            bytes(elements, |it| (*it as u32).to_ne_bytes())
        }
        (Data::Int(elements), _) => bytes(elements, |it| it.to_ne_bytes()),
        (Data::Float(elements), DType::Float16) => bytes(elements, |it| f16::from_f64(*it).to_ne_bytes()),
        (Data::Float(elements), DType::Bfloat16) => bytes(elements, |it| bf16::from_f64(*it).to_ne_bytes()),
        (Data::Float(elements), DType::Float64) => bytes(elements, |it| it.to_ne_bytes()),
        (Data::Float(elements), _) => bytes(elements, |it| (*it as f32).to_ne_bytes()),
    }
}

fn bytes<'a, T: 'a, const N: usize>(
    elements: impl IntoIterator<Item = &'a T>,
    convert: impl Fn(&T) -> [u8; N],
) -> Vec<u8> {
    elements.into_iter().flat_map(convert).collect()
}

/// The elements of an evaluated array in row-major order, in the widest type of their kind. `uint64` beyond the
/// largest `i64` wraps.
///
/// # Errors
///
/// An array that is not evaluated.
pub fn data_of(array: &Array) -> Result<Data, GraphError> {
    let bytes = graph::read(array)?;
    Ok(match array.dtype() {
        Dtype::Bool => Data::Bool(bytes.iter().map(|byte| *byte != 0).collect()),
        Dtype::Uint8 => Data::Int(graph::elements(&bytes, |b| u8::from_ne_bytes(b).into())),
        Dtype::Uint16 => Data::Int(graph::elements(&bytes, |b| u16::from_ne_bytes(b).into())),
        Dtype::Uint32 => Data::Int(graph::elements(&bytes, |b| u32::from_ne_bytes(b).into())),
        Dtype::Uint64 => Data::Int(graph::elements(&bytes, |b| u64::from_ne_bytes(b) as i64)),
        Dtype::Int8 => Data::Int(graph::elements(&bytes, |b| i8::from_ne_bytes(b).into())),
        Dtype::Int16 => Data::Int(graph::elements(&bytes, |b| i16::from_ne_bytes(b).into())),
        Dtype::Int32 => Data::Int(graph::elements(&bytes, |b| i32::from_ne_bytes(b).into())),
        Dtype::Int64 => Data::Int(graph::elements(&bytes, i64::from_ne_bytes)),
        Dtype::Float16 => Data::Float(graph::elements(&bytes, |b| f16::from_ne_bytes(b).to_f64())),
        Dtype::Bfloat16 => Data::Float(graph::elements(&bytes, |b| bf16::from_ne_bytes(b).to_f64())),
        Dtype::Float32 => Data::Float(graph::elements(&bytes, |b| f32::from_ne_bytes(b).into())),
        Dtype::Float64 => Data::Float(graph::elements(&bytes, f64::from_ne_bytes)),
        Dtype::Complex64 => {
            let parts: Vec<f64> = graph::elements(&bytes, |b| f32::from_ne_bytes(b).into());
            Data::Complex(parts.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect())
        }
    })
}

/// mlx-rs's element type as cases name it.
pub fn dtype_name(dtype: Dtype) -> &'static str {
    DTYPES
        .iter()
        .find(|(_, theirs)| *theirs == dtype)
        .map_or("unknown", |(ours, _)| ours.name())
}

/// A case's element type as mlx-rs's.
pub(crate) fn dtype_of(dtype: DType) -> Dtype {
    DTYPES
        .iter()
        .find(|(ours, _)| *ours == dtype)
        .map_or(Dtype::Float32, |(_, theirs)| *theirs)
}

/// The 14 element types, by both names.
const DTYPES: [(DType, Dtype); 14] = [
    (DType::Bool, Dtype::Bool),
    (DType::Uint8, Dtype::Uint8),
    (DType::Uint16, Dtype::Uint16),
    (DType::Uint32, Dtype::Uint32),
    (DType::Uint64, Dtype::Uint64),
    (DType::Int8, Dtype::Int8),
    (DType::Int16, Dtype::Int16),
    (DType::Int32, Dtype::Int32),
    (DType::Int64, Dtype::Int64),
    (DType::Float16, Dtype::Float16),
    (DType::Float32, Dtype::Float32),
    (DType::Float64, Dtype::Float64),
    (DType::Bfloat16, Dtype::Bfloat16),
    (DType::Complex64, Dtype::Complex64),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_view_of_every_type_has_the_elements_it_was_given() {
        for (ours, theirs) in DTYPES {
            let data = match ours {
                DType::Bool => Data::Bool(vec![true, false, false, true, true, false]),
                DType::Complex64 => Data::Complex((0..6).map(|i| [f64::from(i), -0.5]).collect()),
                _ if theirs.is_float() => Data::Float((0..6).map(|i| f64::from(i) - 2.5).collect()),
                _ => Data::Int((0..6).collect()),
            };
            for view in [View::Plain, View::Transposed, View::Strided, View::Reversed] {
                let array = from_data(&data, &[2, 3], ours, view).unwrap();
                assert_eq!((array.dtype(), array.shape()), (theirs, &[2, 3][..]));
                assert_eq!(data_of(&array).unwrap(), data, "{ours} {view:?}");
                let contiguous = array.strides() == [3, 1];
                assert_eq!(
                    contiguous,
                    view == View::Plain,
                    "{ours} {view:?} {:?}",
                    array.strides()
                );
            }
        }
    }

    #[test]
    fn scalars_and_empty_arrays_have_views_too() {
        for view in [View::Plain, View::Transposed, View::Strided, View::Reversed] {
            let scalar = from_data(&Data::Float(vec![1.5]), &[], DType::Float32, view).unwrap();
            assert_eq!(data_of(&scalar).unwrap(), Data::Float(vec![1.5]));
            let empty = from_data(&Data::Int(vec![]), &[0, 3], DType::Int32, view).unwrap();
            assert_eq!(empty.shape(), [0, 3]);
        }
    }
}
