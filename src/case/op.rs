//! `op:` is one step over operands that are made here.

use super::arguments::Arguments;
use super::cell::{Program, Step};
use super::data::{Input, View};
use super::elements;
use super::error::Fault;
use super::fill::{self, Fill};
use super::names::{Names, Signature, Takes};
use super::position::Path;
use super::program::{self, Callee, Resolved};
use super::resolve::{filled, Bindings};
use super::schema::{CaseFile, OperandShapes};
use super::value::Value;
use super::yaml::FaultAt;
use crate::vocabulary::DType;
use indexmap::IndexMap;
use std::collections::BTreeMap;

/// The name of the value that comes out.
pub const RESULT: &str = "result";

/// The one step of `op:` at one point, and its operands.
pub(super) fn resolve(
    file: &CaseFile,
    function: &str,
    mut inputs: IndexMap<String, Input>,
    names: &Names,
    bindings: &Bindings<'_>,
) -> Result<Resolved, Vec<FaultAt>> {
    let index = bindings.index;
    let root = Path::root();
    let Some(signature) = names.function(function) else {
        let known = names.functions.iter().map(|it| it.name.to_owned()).collect();
        let fault = Fault::UnknownFunction {
            name: function.to_owned(),
            known,
        };
        return Err(vec![FaultAt {
            fault,
            mark: index.value(&root.key("op")),
        }]);
    };
    let settings = settings(file, bindings)?;
    let wanted = operands(signature, &inputs, &settings);
    if let Some(extra) = inputs
        .keys()
        .find(|name| !wanted.iter().any(|it| it.name == **name))
    {
        let known = wanted.iter().map(|it| it.name.clone()).collect();
        let fault = Fault::UnknownParameter {
            signature: *signature,
            name: extra.clone(),
            known,
        };
        return Err(vec![FaultAt {
            fault,
            mark: index.key(&root.key("inputs").key(extra)),
        }]);
    }
    let made = made(function, file.seed, &wanted, &inputs, &settings, bindings)?;
    inputs.extend(made);
    inputs.sort_by_cached_key(|name, _| wanted.iter().position(|it| it.name == *name));

    let values: Vec<String> = inputs.keys().cloned().collect();
    let arguments = Arguments::Named(with_operands(settings.args, &wanted));
    let callee = Callee::Function(signature);
    let arguments = program::arguments(&arguments, callee, &settings.args_path, &values, bindings)?;
    let position = index.key_position(&root.key("op"));
    let step = Step {
        name: RESULT.to_owned(),
        callee: function.to_owned(),
        arguments,
        position,
    };
    let program = Program::Forward {
        layers: IndexMap::new(),
        steps: vec![step],
        outputs: vec![RESULT.to_owned()],
    };
    Ok(Resolved { inputs, program })
}

/// What the case, or its matrix, says about the operands.
struct Settings {
    dtype: DType,
    view: View,
    fill: Fill,
    shapes: Option<OperandShapes>,
    shape_path: Path,
    fill_path: Path,
    args: BTreeMap<String, Value>,
    args_path: Path,
}

fn settings(file: &CaseFile, bindings: &Bindings<'_>) -> Result<Settings, Vec<FaultAt>> {
    let one = |fault: FaultAt| vec![fault];
    let path = |key: &str| {
        let matrix = Path::root().key("matrix").key(key);
        if bindings.index.contains(&matrix) {
            matrix
        } else {
            Path::root().key(key)
        }
    };
    let args = setting(file.args.clone(), "args", "a map of arguments", bindings)
        .map_err(one)?
        .unwrap_or_default();
    let args_path = path("args");
    let args: Result<_, FaultAt> = args
        .iter()
        .map(|(name, value)| Ok((name.clone(), bindings.put_in(value, &args_path.key(name))?)))
        .collect();
    Ok(Settings {
        dtype: setting(file.dtype, "dtype", "an element type", bindings)
            .map_err(one)?
            .unwrap_or(DType::Float32),
        view: setting(file.view, "view", "a view", bindings)
            .map_err(one)?
            .unwrap_or_default(),
        fill: setting(file.fill, "fill", "a fill", bindings)
            .map_err(one)?
            .unwrap_or_default(),
        shapes: setting(file.shape.clone(), "shape", "a shape", bindings).map_err(one)?,
        shape_path: path("shape"),
        fill_path: path("fill"),
        args: args.map_err(one)?,
        args_path,
    })
}

/// The operands that the case does not give by itself.
fn made(
    function: &str,
    seed: u64,
    wanted: &[Operand],
    inputs: &IndexMap<String, Input>,
    settings: &Settings,
    bindings: &Bindings<'_>,
) -> Result<Vec<(String, Input)>, Vec<FaultAt>> {
    let missing: Vec<&Operand> = wanted
        .iter()
        .filter(|it| !inputs.contains_key(&it.name))
        .collect();
    let mark = bindings.index.value(&settings.shape_path);
    let extents: Vec<&Vec<i64>> = match &settings.shapes {
        None if missing.is_empty() => vec![],
        None => {
            let mark = bindings.index.key(&Path::root().key("op"));
            return Err(vec![FaultAt {
                fault: Fault::NoElements,
                mark,
            }]);
        }
        Some(OperandShapes::All(extents)) => vec![extents; missing.len()],
        Some(OperandShapes::Each(each)) if each.len() == missing.len() => each.iter().collect(),
        Some(OperandShapes::Each(each)) => {
            let (count, operands) = (each.len(), missing.len());
            let fault = Fault::ShapeCount {
                callee: function.to_owned(),
                count,
                operands,
            };
            return Err(vec![FaultAt { fault, mark }]);
        }
    };
    let make = |(operand, extents): (&&Operand, &&Vec<i64>)| {
        let seed = fill::seed_for(seed, &operand.name);
        let array = elements::shape(extents)
            .and_then(|shape| filled(settings.dtype, shape, settings.view, settings.fill, seed))
            .map_err(|fault| {
                let of_fill = matches!(fault, Fault::FillMisfit { .. });
                let mark = if of_fill {
                    bindings.index.value(&settings.fill_path)
                } else {
                    mark
                };
                vec![FaultAt { fault, mark }]
            })?;
        Ok((operand.name.clone(), Input::Array(array)))
    };
    missing.iter().zip(&extents).map(make).collect()
}

/// The function's arguments, with the operands by name.
fn with_operands(mut args: BTreeMap<String, Value>, operands: &[Operand]) -> BTreeMap<String, Value> {
    for operand in operands {
        let reference = Value::Text(operand.name.clone());
        match operand.list {
            Some(list) => {
                // Nothing else is under this name: a list that `args:` gives makes no operands.
                if let Value::List(items) = args
                    .entry(list.to_owned())
                    .or_insert_with(|| Value::List(Vec::new()))
                {
                    items.push(reference);
                }
            }
            None => {
                args.insert(operand.name.clone(), reference);
            }
        }
    }
    args
}

/// One array that `op:` feeds in.
struct Operand {
    name: String,
    /// The parameter, where the array is one of a list.
    list: Option<&'static str>,
}

/// The arrays that the function is called with: all that it needs, those optional ones that `inputs:` gives or that
/// there are shapes for, and two for a list of arrays, or as many as there are shapes.
fn operands(signature: &Signature, inputs: &IndexMap<String, Input>, settings: &Settings) -> Vec<Operand> {
    let mut operands = Vec::new();
    // Where there are more shapes than arrays that must be given, they are those of the first optional ones.
    let mut spare = match &settings.shapes {
        Some(OperandShapes::Each(each)) => each.len(),
        _ => 0,
    };
    for parameter in signature.operands() {
        if parameter.is_required()
            && !settings.args.contains_key(parameter.name)
            && !inputs.contains_key(parameter.name)
        {
            spare = spare.saturating_sub(1);
        }
    }
    for parameter in signature
        .operands()
        .filter(|it| !settings.args.contains_key(it.name))
    {
        match parameter.takes {
            Takes::Arrays => {
                let given = inputs
                    .keys()
                    .filter(|name| name.starts_with(&format!("{}_", parameter.name)))
                    .count();
                let count = match given {
                    0 => match &settings.shapes {
                        Some(OperandShapes::Each(each)) => each.len(),
                        _ => 2,
                    },
                    given => given,
                };
                operands.extend((0..count).map(|place| Operand {
                    name: format!("{}_{place}", parameter.name),
                    list: Some(parameter.name),
                }));
            }
            _ if parameter.is_required() || inputs.contains_key(parameter.name) => operands.push(Operand {
                name: parameter.name.to_owned(),
                list: None,
            }),
            Takes::Array if spare > 0 => {
                spare -= 1;
                operands.push(Operand {
                    name: parameter.name.to_owned(),
                    list: None,
                });
            }
            _ => {}
        }
    }
    operands
}

/// What the case or the axis of that name says; both at once is a fault.
fn setting<T: serde::de::DeserializeOwned>(
    own: Option<T>,
    name: &str,
    wanted: &str,
    bindings: &Bindings<'_>,
) -> Result<Option<T>, FaultAt> {
    let index = bindings.index;
    match (own, bindings.axis(name)) {
        (Some(_), Some(_)) => Err(FaultAt {
            fault: Fault::AxisTwice {
                axis: name.to_owned(),
            },
            mark: index.key(&Path::root().key(name)),
        }),
        (own, None) => Ok(own),
        (None, Some(value)) => bindings.convert(name, value, wanted).map(Some),
    }
}
