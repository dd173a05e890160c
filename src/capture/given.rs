//! Inputs that are not arrays yet: numbers, vectors, slices, `ndarray`, each converted once and named.
//!
//! ```
//! use mlx_assay::capture::Given;
//! use mlx_assay::Session;
//! use mlx_rs::ops;
//!
//! let given = Given::new().with("x", &vec![vec![1.0_f32, 2.0], vec![3.0, 4.0]])?.with("by", &0.5_f32)?;
//! let (x, by) = (given.get("x").unwrap(), given.get("by").unwrap());
//! let (trace, _) = Session::new().run(&given, || ops::multiply(x, by))?;
//! assert_eq!(trace.ops().len(), 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use mlx_rs::{Array, Dtype};
use ndarray::{ArrayBase, Dimension};

use super::error::BackendUnsupportedError;
use super::inputs::CaptureInputs;
use crate::capability::RefusalCode;
use crate::graph;

/// Named inputs, in the order given.
#[derive(Debug, Clone, Default)]
pub struct Given(Vec<(String, Array)>);

impl Given {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// With one more input, made an array here and now.
    ///
    /// # Errors
    ///
    /// Data that no array of MLX holds is refused with the code `input_unsupported`; the message names path and type.
    pub fn with(
        mut self,
        name: &str,
        data: &(impl InputData + ?Sized),
    ) -> Result<Self, BackendUnsupportedError> {
        self.0.push((name.to_string(), to_input(name, data)?));
        Ok(self)
    }

    /// With an array that is one already.
    pub fn with_array(mut self, name: &str, array: Array) -> Self {
        self.0.push((name.to_string(), array));
        self
    }

    /// The input of a name.
    pub fn get(&self, name: &str) -> Option<&Array> {
        self.0
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, array)| array)
    }
}

impl CaptureInputs for Given {
    fn visit_inputs(&self, path: &str, found: &mut dyn FnMut(String, &Array)) {
        for (name, array) in &self.0 {
            found(super::inputs::join(path, name), array);
        }
    }
}

/// Makes an array of data of the host; `path` says where it stands, for a refusal.
///
/// # Errors
///
/// As [`Given::with`].
pub fn to_input(path: &str, data: &(impl InputData + ?Sized)) -> Result<Array, BackendUnsupportedError> {
    let refused = |why: String| {
        let message = format!("the input {path} {why}");
        BackendUnsupportedError::new(RefusalCode::InputUnsupported, message)
    };
    let (name, dtype) = data.element();
    let Some(dtype) = dtype else {
        return Err(refused(format!("is of {name}, which no array of MLX holds")));
    };
    let mut extents = Vec::new();
    data.extents(&mut extents);
    let mut bytes = Vec::new();
    if !data.write(&extents, &mut bytes) {
        return Err(refused(format!(
            "of {name} is ragged: its rows are not of one length"
        )));
    }
    let shape: Option<Vec<i32>> = extents.iter().map(|extent| i32::try_from(*extent).ok()).collect();
    shape
        .and_then(|shape| graph::from_bytes(&bytes, &shape, dtype))
        .ok_or_else(|| refused(format!("of {name} is larger than an array of MLX can be")))
}

/// Data of the host that an input may be made of.
pub trait InputData {
    /// The name of the element type, and MLX's type for it, if it has one.
    fn element(&self) -> (&'static str, Option<Dtype>);

    /// Appends the extents, outermost first; of rows the first one counts.
    fn extents(&self, extents: &mut Vec<usize>);

    /// Appends the elements in row-major order; false where the extents are not these.
    fn write(&self, extents: &[usize], bytes: &mut Vec<u8>) -> bool;
}

/// One element of data of the host.
pub trait Element: Copy + Default {
    /// Its type's name.
    const NAME: &'static str;
    /// MLX's type for it.
    const DTYPE: Option<Dtype>;

    /// Appends its bytes.
    fn put(self, bytes: &mut Vec<u8>);
}

macro_rules! elements {
    ($($ty:ty => $dtype:expr;)+) => {
        $(impl Element for $ty {
            const NAME: &'static str = stringify!($ty);
            const DTYPE: Option<Dtype> = $dtype;

            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_ne_bytes());
            }
        }

        scalar!($ty);)+
    };
}

macro_rules! scalar {
    ($ty:ty) => {
        impl InputData for $ty {
            fn element(&self) -> (&'static str, Option<Dtype>) {
                (<$ty as Element>::NAME, <$ty as Element>::DTYPE)
            }

            fn extents(&self, _extents: &mut Vec<usize>) {}

            fn write(&self, extents: &[usize], bytes: &mut Vec<u8>) -> bool {
                self.put(bytes);
                extents.is_empty()
            }
        }
    };
}

elements! {
    u8 => Some(Dtype::Uint8);
    u16 => Some(Dtype::Uint16);
    u32 => Some(Dtype::Uint32);
    u64 => Some(Dtype::Uint64);
    i8 => Some(Dtype::Int8);
    i16 => Some(Dtype::Int16);
    i32 => Some(Dtype::Int32);
    i64 => Some(Dtype::Int64);
    f32 => Some(Dtype::Float32);
    f64 => Some(Dtype::Float64);
    half::f16 => Some(Dtype::Float16);
    half::bf16 => Some(Dtype::Bfloat16);
    i128 => None;
    u128 => None;
}

impl Element for bool {
    const NAME: &'static str = "bool";
    const DTYPE: Option<Dtype> = Some(Dtype::Bool);

    fn put(self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self));
    }
}

scalar!(bool);

impl<T: InputData + ?Sized> InputData for &T {
    fn element(&self) -> (&'static str, Option<Dtype>) {
        (**self).element()
    }

    fn extents(&self, extents: &mut Vec<usize>) {
        (**self).extents(extents);
    }

    fn write(&self, extents: &[usize], bytes: &mut Vec<u8>) -> bool {
        (**self).write(extents, bytes)
    }
}

impl<T: InputData + Row> InputData for [T] {
    fn element(&self) -> (&'static str, Option<Dtype>) {
        T::ELEMENT
    }

    fn extents(&self, extents: &mut Vec<usize>) {
        extents.push(self.len());
        match self.first() {
            Some(first) => first.extents(extents),
            None => extents.extend(std::iter::repeat_n(0, T::DEPTH)),
        }
    }

    fn write(&self, extents: &[usize], bytes: &mut Vec<u8>) -> bool {
        match extents.split_first() {
            Some((extent, inner)) => *extent == self.len() && self.iter().all(|row| row.write(inner, bytes)),
            None => false,
        }
    }
}

/// What may stand in a slice: its element type and its depth are known without any of it.
pub trait Row {
    /// As [`InputData::element`].
    const ELEMENT: (&'static str, Option<Dtype>);
    /// How many extents it has.
    const DEPTH: usize;
}

impl<T: Element> Row for T {
    const ELEMENT: (&'static str, Option<Dtype>) = (T::NAME, T::DTYPE);
    const DEPTH: usize = 0;
}

macro_rules! rows {
    ($([$($generics:tt)*] $ty:ty;)+) => {
        $(impl<$($generics)*> Row for $ty {
            const ELEMENT: (&'static str, Option<Dtype>) = T::ELEMENT;
            const DEPTH: usize = T::DEPTH + 1;
        }

        impl<$($generics)*> InputData for $ty {
            fn element(&self) -> (&'static str, Option<Dtype>) {
                T::ELEMENT
            }

            fn extents(&self, extents: &mut Vec<usize>) {
                self.as_slice().extents(extents);
            }

            fn write(&self, extents: &[usize], bytes: &mut Vec<u8>) -> bool {
                self.as_slice().write(extents, bytes)
            }
        })+
    };
}

rows! {
    [T: InputData + Row] Vec<T>;
    [T: InputData + Row, const N: usize] [T; N];
}

impl<T: Element, S: ndarray::Data<Elem = T>, D: Dimension> InputData for ArrayBase<S, D> {
    fn element(&self) -> (&'static str, Option<Dtype>) {
        (T::NAME, T::DTYPE)
    }

    fn extents(&self, extents: &mut Vec<usize>) {
        extents.extend_from_slice(self.shape());
    }

    fn write(&self, extents: &[usize], bytes: &mut Vec<u8>) -> bool {
        self.iter().for_each(|element| element.put(bytes));
        extents == self.shape()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(array: &Array) -> (Vec<i32>, Dtype) {
        (array.shape().to_vec(), array.dtype())
    }

    #[test]
    fn numbers_vectors_slices_and_ndarray_become_arrays() {
        let (rows, slice) = (vec![[1.0_f32, 2.0], [3.0, 4.0]], [1_i64, 2, 3].as_slice());
        let turned = ndarray::arr2(&[[1_u8, 2, 3], [4, 5, 6]]).reversed_axes();
        let given = Given::new()
            .with("number", &true)
            .and_then(|it| it.with("rows", &rows))
            .and_then(|it| it.with("slice", slice))
            .and_then(|it| it.with("ndarray", &turned))
            .and_then(|it| it.with("none", &Vec::<Vec<f64>>::new()))
            .unwrap();
        let kinds = ["number", "rows", "slice", "ndarray", "none"].map(|name| seen(given.get(name).unwrap()));
        assert_eq!(
            kinds,
            [
                (vec![], Dtype::Bool),
                (vec![2, 2], Dtype::Float32),
                (vec![3], Dtype::Int64),
                (vec![3, 2], Dtype::Uint8),
                (vec![0, 0], Dtype::Float64),
            ]
        );
        // In row-major order, whatever the order in memory.
        assert_eq!(given.get("ndarray").unwrap().as_slice::<u8>(), [1, 4, 2, 5, 3, 6]);
        assert_eq!(given.get("rows").unwrap().as_slice::<f32>(), [1.0, 2.0, 3.0, 4.0]);
        let mut paths = Vec::new();
        given.visit_inputs("", &mut |path, _| paths.push(path));
        assert_eq!(paths, ["number", "rows", "slice", "ndarray", "none"]);
    }

    #[test]
    fn what_no_array_holds_is_refused_with_its_path_and_type() {
        let wide = to_input("batch.0", &vec![1_i128]).unwrap_err();
        assert_eq!(wide.code, RefusalCode::InputUnsupported);
        assert_eq!(
            wide.message,
            "the input batch.0 is of i128, which no array of MLX holds"
        );
        let ragged = to_input("x", &vec![vec![1.0_f32], vec![2.0, 3.0]]).unwrap_err();
        assert_eq!(
            ragged.message,
            "the input x of f32 is ragged: its rows are not of one length"
        );
    }
}
