//! One call as a reference sees it: the function's arguments by name, as plain arrays and numbers.

use super::error::NoReference;
use super::policy::Policy;
use super::table::{self, Compute};
use super::tensor::Tensor;
use crate::case::cell::{Cell, Program};
use crate::case::data::{ArraySpec, Input};
use crate::case::names::Names;
use crate::case::spec::Spec;
use crate::case::value::Value;
use indexmap::IndexMap;
use ndarray::{arr0, ArrayD};
use std::collections::BTreeMap;

/// What was seen of a cell that its reference may need: what came out, to hold a property against, and what its
/// layer's parameters were drawn as.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The outputs, in order.
    pub outputs: Vec<ArraySpec>,
    /// The parameters, by address.
    pub parameters: IndexMap<String, ArraySpec>,
}

/// What a reference says of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    /// Each output, and how it is compared.
    Outputs(Vec<(Tensor, Policy)>),
    /// What must hold of the outputs, where their values are not unique or drawn at random.
    Relations(Vec<(Relation, Policy)>),
}

/// One thing that holds of outputs: two arrays, computed without MLX from what came out, that must agree.
#[derive(Clone, Debug, PartialEq)]
pub struct Relation {
    /// What is compared: `q @ r`.
    pub what: String,
    /// What follows from the outputs.
    pub found: Tensor,
    /// What it must be.
    pub wanted: Tensor,
}

/// What the one function, or the one layer, of a cell must yield.
///
/// # Errors
///
/// The cell is not one call of a function or a layer in the [`table`], or asks for what its reference does not cover.
pub fn expected(cell: &Cell, names: &Names, seen: &Seen) -> Result<Expected, NoReference> {
    let (name, arguments) = match &cell.program {
        Program::Model(spec) => layer_arguments(cell, spec, names)?,
        Program::Forward { steps, outputs, .. } => {
            let ([step], [output]) = (&steps[..], &outputs[..]) else {
                return Err(NoReference::Program);
            };
            if *output != step.name {
                return Err(NoReference::Program);
            }
            let name = step.callee.clone();
            let signature = names.function(&name).ok_or_else(|| unknown(&name))?;
            (
                name,
                step.arguments.bind(signature).map_err(|_| NoReference::Program)?,
            )
        }
    };
    let row = table::row(&name).ok_or_else(|| unknown(&name))?;
    let call = Call {
        function: &name,
        arguments,
        inputs: &cell.inputs,
        parameters: &seen.parameters,
    };
    match row.compute {
        Compute::Outputs(compute) => {
            let results = compute(&call)?.into_iter().map(|result| {
                let policy = Policy::of(row.class, result.dtype);
                (result.rounded(), policy)
            });
            Ok(Expected::Outputs(results.collect()))
        }
        Compute::Property { hold, .. } => {
            let outputs: Option<Vec<Tensor>> = seen.outputs.iter().map(Tensor::of).collect();
            let relations = hold(&call, &outputs.ok_or(NoReference::Program)?)?;
            let of = |relation: Relation| {
                let policy = Policy::of(row.class, relation.found.dtype);
                (relation, policy)
            };
            Ok(Expected::Relations(relations.into_iter().map(of).collect()))
        }
    }
}

fn unknown(name: &str) -> NoReference {
    NoReference::Function {
        function: name.to_owned(),
    }
}

/// A layer's row, and its arguments: what it is built with, and its inputs.
fn layer_arguments(
    cell: &Cell,
    spec: &Spec,
    names: &Names,
) -> Result<(String, BTreeMap<&'static str, Value>), NoReference> {
    let name = format!("layer.{}", spec.name);
    let signature = names.layer(&spec.name).ok_or_else(|| unknown(&name))?;
    let mut arguments = BTreeMap::new();
    for parameter in signature.settings() {
        if let Some(value) = spec.args.get(parameter.name) {
            arguments.insert(parameter.name, value.clone());
        }
    }
    let operands: Vec<_> = signature.operands().collect();
    for operand in &operands {
        let input = match operands.len() {
            1 => cell.inputs.keys().next(),
            _ => cell.inputs.keys().find(|input| *input == operand.name),
        };
        if let Some(input) = input {
            arguments.insert(operand.name, Value::Text(input.clone()));
        }
    }
    Ok((name, arguments))
}

/// The arguments of one call.
pub(super) struct Call<'a> {
    function: &'a str,
    arguments: BTreeMap<&'static str, Value>,
    inputs: &'a IndexMap<String, Input>,
    parameters: &'a IndexMap<String, ArraySpec>,
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

    /// The elements of an array, as floats.
    pub(super) fn floats(&self, name: &str) -> Result<ArrayD<f64>, NoReference> {
        self.array(name)?.to_floats()
    }

    /// The elements of an array that may be left out, as floats.
    pub(super) fn maybe_floats(&self, name: &str) -> Result<Option<ArrayD<f64>>, NoReference> {
        self.maybe_array(name)?.map(|array| array.to_floats()).transpose()
    }

    /// A layer's parameter, by its address.
    pub(super) fn parameter(&self, address: &str) -> Result<Tensor, NoReference> {
        self.maybe_parameter(address)?
            .ok_or_else(|| self.not_covered(format!("a layer without `{address}`")))
    }

    /// A layer's parameter that it may be built without.
    pub(super) fn maybe_parameter(&self, address: &str) -> Result<Option<Tensor>, NoReference> {
        let spec = self.parameters.get(address);
        spec.map(|spec| Tensor::of(spec).ok_or(NoReference::Program))
            .transpose()
    }

    /// A text, if it is given.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.arguments.get(name)?.as_text()
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
        match self
            .ints("axes")
            .or_else(|| self.int("axis").map(|axis| vec![axis]))
        {
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
