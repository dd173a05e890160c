//! Inputs that a case gives as data of the host: numbers, vectors, slices, `ndarray`.

use mlx_rs::Array;
use ndarray::{ArrayD, IxDyn};

use super::error::ModelError;
use crate::capture::given::{to_input, Element, InputData, Row};
use crate::case::data::{Data, GivenAs};
use crate::vocabulary::DType;

/// The elements as the host holds them, made an array by the capture layer.
///
/// # Errors
///
/// Its refusal, or a combination that no case needs.
pub(super) fn to_array(
    path: &str,
    given_as: GivenAs,
    data: &Data,
    shape: &[i32],
    dtype: DType,
) -> Result<Array, ModelError> {
    let extents: Vec<usize> = shape.iter().map(|extent| (*extent).max(0) as usize).collect();
    match (given_as, data, dtype) {
        (GivenAs::Wide, Data::Int(elements), _) => {
            let wide: Vec<i128> = elements.iter().map(|element| i128::from(*element)).collect();
            Ok(to_input(path, &wide)?)
        }
        (_, Data::Bool(elements), _) => given(path, given_as, elements, &extents),
        (_, Data::Int(elements), DType::Int64) => given(path, given_as, elements, &extents),
        (_, Data::Int(elements), DType::Int32) => {
            let narrow: Vec<i32> = elements.iter().map(|element| *element as i32).collect();
            given(path, given_as, &narrow, &extents)
        }
        (_, Data::Float(elements), DType::Float64) => given(path, given_as, elements, &extents),
        (_, Data::Float(elements), DType::Float32) => {
            let narrow: Vec<f32> = elements.iter().map(|element| *element as f32).collect();
            given(path, given_as, &narrow, &extents)
        }
        _ => Err(unfit(
            path,
            "an input `as` data of the host is bool, int32, int64, float32 or float64",
        )),
    }
}

fn unfit(path: &str, message: &str) -> ModelError {
    ModelError::Mlx {
        doing: format!("making input {path}"),
        message: message.to_string(),
    }
}

fn given<T: Element + InputData + Row>(
    path: &str,
    given_as: GivenAs,
    elements: &[T],
    extents: &[usize],
) -> Result<Array, ModelError> {
    let rows = |width: usize| {
        elements
            .chunks(width.max(1))
            .map(<[T]>::to_vec)
            .collect::<Vec<_>>()
    };
    let array = match (given_as, elements, extents) {
        (GivenAs::Number, [only], []) => to_input(path, only),
        (GivenAs::Vec, _, [_]) => to_input(path, &elements.to_vec()),
        (GivenAs::Vec, _, [_, width]) => to_input(path, &rows(*width)),
        (GivenAs::Ragged, _, [_, width]) => {
            let mut rows = rows(*width);
            rows.last_mut().map(Vec::pop);
            to_input(path, &rows)
        }
        (GivenAs::Slice, _, [_]) => to_input(path, elements),
        (GivenAs::Ndarray, _, [_, ..]) => {
            let plain = ArrayD::from_shape_vec(IxDyn(extents), elements.to_vec());
            let mut lying = plain.map_err(|error| unfit(path, &error.to_string()))?;
            // The same elements in the same order, in another order in memory.
            let last = lying.ndim() - 1;
            lying.swap_axes(0, last);
            let mut copy = lying.as_standard_layout().into_owned();
            copy.swap_axes(0, last);
            to_input(path, &copy)
        }
        _ => return Err(unfit(path, "the shape is none that such data has")),
    };
    Ok(array?)
}
