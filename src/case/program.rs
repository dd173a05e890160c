//! One point's program, checked against the names that exist: layers, functions, parameters, values.

use super::arguments::{Arguments, BindError};
use super::cell::{Program, Step};
use super::data::Input;
use super::error::Fault;
use super::names::{Names, Parameter, Signature, Takes};
use super::op;
use super::position::Path;
use super::resolve::Bindings;
use super::schema::CaseFile;
use super::spec::{Children, Spec, CONTAINERS, FROM_AXIS};
use super::value::Value;
use super::yaml::FaultAt;
use crate::vocabulary::DType;
use indexmap::IndexMap;
use std::collections::BTreeMap;

/// What a case computes and from what.
pub struct Resolved {
    /// The inputs; those of `op:` are made here.
    pub inputs: IndexMap<String, Input>,
    /// What is computed.
    pub program: Program,
}

/// The program of a case at one point. The case is known to have exactly one of `op`, `model` and `forward`.
pub fn resolve(
    file: &CaseFile,
    inputs: IndexMap<String, Input>,
    names: &Names,
    bindings: &Bindings<'_>,
) -> Result<Resolved, Vec<FaultAt>> {
    if let Some(function) = &file.op {
        return op::resolve(file, function, inputs, names, bindings);
    }
    if let Some(spec) = &file.model {
        let path = Path::root().key("model");
        let spec = layer(spec, &path, names, bindings)?;
        check_inputs(&spec, &path, &inputs, names, bindings)?;
        return Ok(Resolved {
            inputs,
            program: Program::Model(spec),
        });
    }
    let program = forward(file, &inputs, names, bindings)?;
    Ok(Resolved { inputs, program })
}

// Layers.

/// The layer with the axes' values in its arguments, checked down to the leaves.
fn layer(spec: &Spec, path: &Path, names: &Names, bindings: &Bindings<'_>) -> Result<Spec, Vec<FaultAt>> {
    let inside = path.key(&spec.name);
    let mut faults = Vec::new();
    let mut built = spec.clone();
    match &spec.children {
        Children::None => match leaf(spec, path, names, bindings) {
            Ok(args) => built.args = args,
            Err(found) => faults.extend(found),
        },
        Children::List(items) => {
            let items: Vec<_> = items
                .iter()
                .enumerate()
                .map(|(place, item)| layer(item, &inside.index(place), names, bindings))
                .collect();
            built.children = Children::List(gather(items, &mut faults));
        }
        Children::Map(entries) => {
            let entries: Vec<_> = entries
                .iter()
                .map(|(key, item)| Ok((key.clone(), layer(item, &inside.key(key), names, bindings)?)))
                .collect();
            built.children = Children::Map(gather(entries, &mut faults));
        }
    }
    let empty = match &spec.children {
        Children::None => false,
        Children::List(items) => items.is_empty(),
        Children::Map(entries) => entries.is_empty(),
    };
    if empty {
        faults.push(FaultAt {
            fault: Fault::EmptyContainer,
            mark: bindings.index.layer(path, &spec.name),
        });
    }
    if faults.is_empty() {
        Ok(built)
    } else {
        Err(faults)
    }
}

fn gather<T>(results: Vec<Result<T, Vec<FaultAt>>>, faults: &mut Vec<FaultAt>) -> Vec<T> {
    let mut items = Vec::new();
    for result in results {
        match result {
            Ok(item) => items.push(item),
            Err(found) => faults.extend(found),
        }
    }
    items
}

fn leaf(
    spec: &Spec,
    path: &Path,
    names: &Names,
    bindings: &Bindings<'_>,
) -> Result<BTreeMap<String, Value>, Vec<FaultAt>> {
    let index = bindings.index;
    let own = index.layer(path, &spec.name);
    let inside = path.key(&spec.name);
    let Some(signature) = names.layer(&spec.name) else {
        let known = names
            .layers
            .iter()
            .map(|it| it.name)
            .chain(CONTAINERS.iter().copied())
            .map(str::to_owned);
        let fault = Fault::UnknownLayer {
            name: spec.name.clone(),
            known: known.collect(),
        };
        return Err(vec![FaultAt { fault, mark: own }]);
    };
    let mut faults = Vec::new();
    let mut args = BTreeMap::new();
    let given = all_args(spec, &inside, bindings).map_err(|fault| vec![fault])?;
    for (name, value) in &given {
        let path = inside.key(name);
        let Some(parameter) = signature.settings().find(|parameter| parameter.name == name) else {
            faults.push(FaultAt {
                fault: Fault::UnknownParameter {
                    signature: *signature,
                    name: name.clone(),
                    known: signature
                        .settings()
                        .map(|parameter| parameter.name.to_owned())
                        .collect(),
                },
                mark: index.key(&path),
            });
            continue;
        };
        match bindings.put_in(value, &path) {
            Ok(value) => {
                if let Err(fault) = check_setting(signature, parameter, &value) {
                    faults.push(FaultAt {
                        fault,
                        mark: index.value(&path),
                    });
                }
                args.insert(name.clone(), value);
            }
            Err(fault) => faults.push(fault),
        }
    }
    for parameter in signature
        .settings()
        .filter(|it| it.is_required() && !given.contains_key(it.name))
    {
        faults.push(FaultAt {
            fault: Fault::MissingParameter {
                signature: *signature,
                name: parameter.name.to_owned(),
                wanted: parameter.takes.wanted(),
            },
            mark: own,
        });
    }
    if faults.is_empty() {
        Ok(args)
    } else {
        Err(faults)
    }
}

/// A layer's arguments: as written, or all of them from an axis.
fn all_args(spec: &Spec, path: &Path, bindings: &Bindings<'_>) -> Result<BTreeMap<String, Value>, FaultAt> {
    let Some(axis) = spec.args.get(FROM_AXIS) else {
        return Ok(spec.args.clone());
    };
    match bindings.put_in(axis, path)? {
        Value::Map(entries) => Ok(entries),
        Value::Null => Ok(BTreeMap::new()),
        other => Err(FaultAt {
            fault: Fault::WrongAxisValue {
                axis: axis
                    .as_text()
                    .unwrap_or_default()
                    .trim_start_matches('$')
                    .to_owned(),
                value: other.to_string(),
                wanted: "a map of arguments".to_owned(),
            },
            mark: bindings.index.value(path),
        }),
    }
}

/// Whether a setting is of the kind that its parameter takes.
fn check_setting(signature: &Signature, parameter: &Parameter, value: &Value) -> Result<(), Fault> {
    let fits = match parameter.takes {
        Takes::Int => value.as_int().is_some_and(|it| i32::try_from(it).is_ok()),
        Takes::Ints => {
            value.as_ints().is_some() || value.as_int().is_some_and(|it| i32::try_from(it).is_ok())
        }
        Takes::Pairs => value.as_pairs().is_some(),
        Takes::Float => value.as_float().is_some(),
        Takes::Bool => value.as_bool().is_some(),
        Takes::DType => value.as_text().and_then(DType::named).is_some(),
        Takes::Index => super::index::parse(value).is_some(),
        Takes::Text => value.as_text().is_some(),
        Takes::Array | Takes::Arrays => true,
    };
    if fits {
        return Ok(());
    }
    Err(Fault::WrongArgument {
        signature: *signature,
        name: parameter.name.to_owned(),
        wanted: parameter.takes.wanted(),
        found: format!("{} ({value})", value.kind()),
    })
}

/// Whether the case's inputs are those that the model's first layer takes.
fn check_inputs(
    spec: &Spec,
    path: &Path,
    inputs: &IndexMap<String, Input>,
    names: &Names,
    bindings: &Bindings<'_>,
) -> Result<(), Vec<FaultAt>> {
    // A container's forward takes one array; which one its first layer takes is known only if that is a leaf.
    let operands: Vec<&Parameter> = match names.layer(&spec.name) {
        Some(signature) => signature.operands().collect(),
        None => vec![],
    };
    let required = operands.iter().filter(|it| it.is_required()).count();
    let fits = match (spec.is_container(), operands.len()) {
        (true, _) => inputs.len() == 1,
        // A layer whose table entry lists no arrays judges for itself.
        (false, 0) => true,
        (false, 1) => inputs.len() <= 1 && inputs.len() >= required,
        (false, _) => {
            let known = inputs
                .keys()
                .all(|name| operands.iter().any(|it| it.name == name));
            known
                && operands
                    .iter()
                    .all(|it| !it.is_required() || inputs.contains_key(it.name))
        }
    };
    if fits {
        return Ok(());
    }
    let wanted = match operands.as_slice() {
        [] | [_] => "`x` alone, by any name".to_owned(),
        several => list(several.iter().map(|it| it.name)),
    };
    let found = if inputs.is_empty() {
        "none".to_owned()
    } else {
        list(inputs.keys().map(String::as_str))
    };
    let at = if inputs.is_empty() {
        path.clone()
    } else {
        Path::root().key("inputs")
    };
    let mark = bindings.index.key(&at);
    Err(vec![FaultAt {
        fault: Fault::WrongInputs {
            callee: spec.name.clone(),
            wanted,
            found,
        },
        mark,
    }])
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

// Steps.

fn forward(
    file: &CaseFile,
    inputs: &IndexMap<String, Input>,
    names: &Names,
    bindings: &Bindings<'_>,
) -> Result<Program, Vec<FaultAt>> {
    let index = bindings.index;
    let mut faults = Vec::new();
    let mut layers = IndexMap::new();
    for (name, spec) in &file.layers {
        let path = Path::root().key("layers").key(name);
        if names.function(name).is_some() {
            faults.push(FaultAt {
                fault: Fault::LayerHidesFunction { name: name.clone() },
                mark: index.key(&path),
            });
        }
        match layer(spec, &path, names, bindings) {
            Ok(spec) => {
                layers.insert(name.clone(), spec);
            }
            Err(found) => faults.extend(found),
        }
    }

    let mut values: Vec<String> = inputs.keys().cloned().collect();
    let mut steps = Vec::new();
    for (place, written) in file.forward.iter().enumerate() {
        let path = Path::root().key("forward").index(place).key(&written.name);
        if values.contains(&written.name) {
            faults.push(FaultAt {
                fault: Fault::NameTaken {
                    name: written.name.clone(),
                },
                mark: index.key(&path),
            });
        }
        let call = path.key(&written.callee);
        let parameters = callee(&written.callee, file, names);
        match parameters {
            Ok(callee) => match arguments(&written.arguments, callee, &call, &values, bindings) {
                Ok(arguments) => steps.push(Step {
                    name: written.name.clone(),
                    callee: written.callee.clone(),
                    arguments,
                    position: index.key_position(&path),
                }),
                Err(found) => faults.extend(found),
            },
            Err(fault) => faults.push(FaultAt {
                fault,
                mark: index.key(&call),
            }),
        }
        values.push(written.name.clone());
    }

    for (place, name) in file.outputs.iter().enumerate() {
        let path = Path::root().key("outputs").index(place);
        if let Err(fault) = check_reference(name, &values) {
            faults.push(FaultAt {
                fault,
                mark: index.value(&path),
            });
        }
    }
    let outputs = match (file.outputs.is_empty(), steps.last()) {
        (true, Some(last)) => vec![last.name.clone()],
        _ => file.outputs.clone(),
    };
    if faults.is_empty() {
        Ok(Program::Forward {
            layers,
            steps,
            outputs,
        })
    } else {
        Err(faults)
    }
}

/// What a step calls.
#[derive(Clone, Copy)]
pub(super) enum Callee {
    /// A declared layer whose arrays are known.
    Layer(&'static Signature),
    /// A declared layer whose arrays are not: a container, or a table entry that lists none.
    OpenLayer,
    /// A function.
    Function(&'static Signature),
}

fn callee(name: &str, file: &CaseFile, names: &Names) -> Result<Callee, Fault> {
    if let Some(spec) = file.layers.get(name) {
        let signature = names
            .layer(&spec.name)
            .filter(|it| it.operands().next().is_some());
        return Ok(signature.map_or(Callee::OpenLayer, Callee::Layer));
    }
    names.function(name).map(Callee::Function).ok_or_else(|| {
        let known = file
            .layers
            .keys()
            .map(String::as_str)
            .chain(names.functions.iter().map(|it| it.name));
        Fault::UnknownCallee {
            name: name.to_owned(),
            known: known.map(str::to_owned).collect(),
        }
    })
}

pub(super) fn arguments(
    written: &Arguments,
    callee: Callee,
    path: &Path,
    values: &[String],
    bindings: &Bindings<'_>,
) -> Result<Arguments, Vec<FaultAt>> {
    let index = bindings.index;
    let arguments = written
        .map(|value| bindings.put_in(value, path))
        .map_err(|fault| vec![fault])?;
    let bound = match callee {
        Callee::OpenLayer => return Ok(arguments),
        Callee::Layer(signature) => arguments.bind_call(signature),
        Callee::Function(signature) => arguments.bind(signature),
    };
    let (Callee::Layer(signature) | Callee::Function(signature)) = callee else {
        return Ok(arguments);
    };
    let bound = bound.map_err(|error| {
        let (mark, fault) = match error {
            BindError::Unknown { name, .. } => {
                let known = signature.parameters.iter().map(|it| it.name.to_owned()).collect();
                (
                    index.key(&path.key(&name)),
                    Fault::UnknownParameter {
                        signature: *signature,
                        name,
                        known,
                    },
                )
            }
            BindError::Missing { name, .. } => {
                let wanted = signature
                    .parameter(name)
                    .map_or("a value", |it| it.takes.wanted());
                (
                    index.key(path),
                    Fault::MissingParameter {
                        signature: *signature,
                        name: name.to_owned(),
                        wanted,
                    },
                )
            }
            error => (
                index.value(path),
                Fault::Bind {
                    error,
                    signature: *signature,
                },
            ),
        };
        vec![FaultAt { fault, mark }]
    })?;

    let mut faults = Vec::new();
    for (place, parameter) in signature.parameters.iter().enumerate() {
        let Some(value) = bound.get(parameter.name) else {
            continue;
        };
        let at = argument_path(written, path, parameter.name, place);
        let found = match parameter.takes {
            Takes::Array => check_operand(signature, parameter, value, values),
            Takes::Arrays => match value {
                Value::List(items) => items
                    .iter()
                    .try_for_each(|item| check_operand(signature, parameter, item, values)),
                one => check_operand(signature, parameter, one, values),
            },
            _ => check_setting(signature, parameter, value),
        };
        if let Err(fault) = found {
            faults.push(FaultAt {
                fault,
                mark: index.value(&at),
            });
        }
    }
    if faults.is_empty() {
        Ok(arguments)
    } else {
        Err(faults)
    }
}

/// Where the argument of a parameter stands.
fn argument_path(written: &Arguments, path: &Path, name: &str, place: usize) -> Path {
    match written {
        Arguments::Named(_) => path.key(name),
        Arguments::Positional(_) => path.index(place),
    }
}

fn check_operand(
    signature: &Signature,
    parameter: &Parameter,
    value: &Value,
    values: &[String],
) -> Result<(), Fault> {
    match value {
        Value::Text(name) => check_reference(name, values),
        Value::Int(_) | Value::Float(_) | Value::Bool(_) => Ok(()),
        other => Err(Fault::WrongArgument {
            signature: *signature,
            name: parameter.name.to_owned(),
            wanted: Takes::Array.wanted(),
            found: format!("{} ({other})", other.kind()),
        }),
    }
}

/// Whether `name` or `name.part` is a value so far.
fn check_reference(name: &str, values: &[String]) -> Result<(), Fault> {
    let whole = name.split('.').next().unwrap_or(name);
    if values.iter().any(|value| value == name || value == whole) {
        return Ok(());
    }
    Err(Fault::UnknownValue {
        name: name.to_owned(),
        known: values.to_vec(),
    })
}
