//! One call as a reference sees it: the function's arguments by name, as plain arrays and numbers.

use super::error::NoReference;
use super::policy::Policy;
use super::table;
use super::tensor::Tensor;
use crate::case::cell::{Cell, Program};
use crate::case::data::Input;
use crate::case::names::Signature;
use crate::case::value::Value;
use indexmap::IndexMap;
use ndarray::{arr0, ArrayD};
use std::collections::BTreeMap;

/// What the one function of a cell must yield: each result, and how it is compared.
///
/// # Errors
///
/// The cell is not one call of a function in the [`table`], or asks for what the function's reference does not
/// cover.
pub fn expected(cell: &Cell, functions: &[Signature]) -> Result<Vec<(Tensor, Policy)>, NoReference> {
    let Program::Forward { steps, outputs, .. } = &cell.program else {
        return Err(NoReference::Program);
    };
    let ([step], [output]) = (&steps[..], &outputs[..]) else {
        return Err(NoReference::Program);
    };
    if *output != step.name {
        return Err(NoReference::Program);
    }
    let name = step.callee.as_str();
    let unknown = || NoReference::Function {
        function: name.to_owned(),
    };
    let signature = functions.iter().find(|it| it.name == name).ok_or_else(unknown)?;
    let row = table::row(name).ok_or_else(unknown)?;
    let call = Call {
        function: name,
        arguments: step.arguments.bind(signature).map_err(|_| NoReference::Program)?,
        inputs: &cell.inputs,
    };
    let results = (row.compute)(&call)?;
    Ok(results
        .into_iter()
        .map(|result| {
            let policy = Policy::of(row.class, result.dtype);
            (result.rounded(), policy)
        })
        .collect())
}

/// The arguments of one call.
pub(super) struct Call<'a> {
    function: &'a str,
    arguments: BTreeMap<&'static str, Value>,
    inputs: &'a IndexMap<String, Input>,
}

impl Call<'_> {
    /// What the reference does not cover.
    pub(super) fn not_covered(&self, what: impl Into<String>) -> NoReference {
        NoReference::NotCovered {
            function: self.function.to_owned(),
            what: what.into(),
        }
    }

    /// The array of a parameter.
    pub(super) fn array(&self, name: &str) -> Result<Tensor, NoReference> {
        self.maybe_array(name)?
            .ok_or_else(|| self.not_covered(format!("a call without `{name}`")))
    }

    /// The array of a parameter that may be left out.
    pub(super) fn maybe_array(&self, name: &str) -> Result<Option<Tensor>, NoReference> {
        self.arguments
            .get(name)
            .map(|value| self.tensor(value))
            .transpose()
    }

    /// The arrays of a parameter that takes a list.
    pub(super) fn arrays(&self, name: &str) -> Result<Vec<Tensor>, NoReference> {
        match self.arguments.get(name) {
            Some(Value::List(items)) => items.iter().map(|item| self.tensor(item)).collect(),
            _ => Err(self.not_covered(format!("`{name}` as anything but a list"))),
        }
    }

    fn tensor(&self, value: &Value) -> Result<Tensor, NoReference> {
        use crate::vocabulary::DType;
        let scalar = |number: f64| arr0(number).into_dyn();
        match value {
            Value::Text(name) => match self.inputs.get(name) {
                Some(Input::Array(spec)) => {
                    Tensor::of(spec).ok_or_else(|| self.not_covered(format!("the input `{name}`")))
                }
                _ => Err(self.not_covered(format!("the value `{name}`"))),
            },
            Value::Bool(truth) => Ok(Tensor::bools(arr0(*truth).into_dyn())),
            Value::Int(number) => Ok(Tensor::ints(DType::Int32, arr0(*number).into_dyn())),
            Value::Float(number) => Ok(Tensor::floats(DType::Float32, scalar(*number)).rounded()),
            other => Err(self.not_covered(format!("{} as an array", other.kind()))),
        }
    }

    /// An integer, if it is given.
    pub(super) fn int(&self, name: &str) -> Option<i64> {
        self.arguments.get(name)?.as_int()
    }

    /// A number, if it is given.
    pub(super) fn float(&self, name: &str) -> Option<f64> {
        self.arguments.get(name)?.as_float()
    }

    /// Integers, if they are given: a list, or one that stands for a list of one.
    pub(super) fn ints(&self, name: &str) -> Option<Vec<i64>> {
        match self.arguments.get(name)? {
            Value::Int(one) => Some(vec![*one]),
            Value::List(items) => items.iter().map(Value::as_int).collect(),
            _ => None,
        }
    }

    /// A truth value, if it is given.
    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.arguments.get(name)?.as_bool()
    }

    /// An argument as it was written.
    pub(super) fn written(&self, name: &str) -> Option<&Value> {
        self.arguments.get(name)
    }

    /// An axis counted from the front.
    pub(super) fn axis(&self, axis: i64, rank: usize) -> Result<usize, NoReference> {
        let from_front = if axis < 0 { axis + rank as i64 } else { axis };
        usize::try_from(from_front)
            .ok()
            .filter(|axis| *axis < rank)
            .ok_or_else(|| self.not_covered(format!("axis {axis} of {rank}")))
    }

    /// The axes of a reduction, counted from the front: all, where none are given.
    pub(super) fn axes(&self, rank: usize) -> Result<Vec<usize>, NoReference> {
        match self.ints("axes") {
            None => Ok((0..rank).collect()),
            Some(axes) => {
                let mut axes: Vec<usize> = axes
                    .iter()
                    .map(|axis| self.axis(*axis, rank))
                    .collect::<Result<_, _>>()?;
                axes.sort_unstable();
                Ok(axes)
            }
        }
    }
}

/// Both arrays, stretched to the shape that they broadcast to.
pub(super) fn broadcast<A: Clone, B: Clone>(
    a: &ArrayD<A>,
    b: &ArrayD<B>,
) -> Result<(ArrayD<A>, ArrayD<B>), NoReference> {
    let rank = a.ndim().max(b.ndim());
    let extent = |shape: &[usize], axis: usize| {
        let lead = rank - shape.len();
        if axis < lead {
            1
        } else {
            shape[axis - lead]
        }
    };
    let shape: Vec<usize> = (0..rank)
        .map(|axis| match (extent(a.shape(), axis), extent(b.shape(), axis)) {
            (1, other) => other,
            (own, _) => own,
        })
        .collect();
    match (a.broadcast(shape.clone()), b.broadcast(shape)) {
        (Some(a), Some(b)) => Ok((a.to_owned(), b.to_owned())),
        _ => Err(NoReference::Program),
    }
}
