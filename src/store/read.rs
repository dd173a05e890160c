//! From what lies on disk to a trace: nothing is believed before its seal is checked.

use std::cell::OnceCell;
use std::path::Path;
use std::sync::Arc;

use mlx_sys::function::Function;
use safetensors::tensor::SafeTensors;
use serde_json::{Map, Value as Json};
use smallvec::SmallVec;

use super::check::check;
use super::document::{CallDocument, EvaluationDocument, OriginDocument, TraceDocument, ValueDocument};
use super::error::{Flaw, StoreError};
use super::payload::{typed, unpack};
use super::place;
use super::seal::{broken, digest};
use super::{FORMAT, METADATA, VERSION};
use crate::capture::{
    Call, Evaluation, FailedCall, Origin, SourceLine, StackNames, Tables, Trace, Transform, Value, ValueId,
};

impl Trace {
    /// Reads a trace that was [saved](Self::save): a folder, or a file that ends in `.safetensors`.
    ///
    /// It can be read, compared and validated like any other. MLX's graph is not there: calls are replayed by their
    /// functions alone, and one that has none (a transform, an opaque compiled function) is `no_replayable_function`. The
    /// seals guard against accidents: load what you would run.
    ///
    /// # Errors
    ///
    /// [`StoreError::Foreign`] for what is no saved trace or only a part of one, [`StoreError::Version`] for another
    /// version, and [`StoreError::Field`] where a field is not what was saved.
    pub fn load(path: impl AsRef<Path>) -> Result<Trace, StoreError> {
        let path = path.as_ref();
        let foreign = |message: String| StoreError::Foreign {
            path: path.to_path_buf(),
            message,
        };
        let in_folder = path.is_dir();
        let bytes = match in_folder {
            true => place::read(&path.join(place::PAYLOADS))?,
            false => place::read(path)?,
        };
        let broken = |error: safetensors::SafeTensorError| foreign(format!("payloads: {error}"));
        let (_, header) = SafeTensors::read_metadata(&bytes).map_err(broken)?;
        let tensors = SafeTensors::deserialize(&bytes).map_err(broken)?;
        let beside = header.metadata().as_ref();
        let structure = match in_folder {
            true if beside.is_some_and(|it| !it.is_empty()) => {
                return Err(foreign(format!("{} has metadata", place::PAYLOADS)));
            }
            true => String::from_utf8(place::read(&path.join(place::STRUCTURE))?)
                .map_err(|error| foreign(format!("{}: {error}", place::STRUCTURE)))?,
            false => {
                let metadata = beside.ok_or_else(|| foreign("it has no metadata".to_string()))?;
                match (metadata.get(METADATA), metadata.len()) {
                    (Some(structure), 1) => structure.clone(),
                    (Some(_), _) => return Err(foreign("its metadata holds more than a trace".to_string())),
                    (None, _) => return Err(foreign(format!("its metadata has no `{METADATA}`"))),
                }
            }
        };
        let document = parse(path, &structure)?;
        let mut reading = Reading {
            tensors: &tensors,
            taken: 0,
        };
        let trace = reading.trace(document, "").map_err(|flaw| flaw.of(path))?;
        if reading.taken != tensors.len() {
            let message = format!("{} payloads belong to no value", tensors.len() - reading.taken);
            return Err(Flaw::new("payloads", message).of(path));
        }
        Ok(trace)
    }
}

/// The structure, sealed, of this version, and whole.
fn parse(path: &Path, text: &str) -> Result<TraceDocument, StoreError> {
    let foreign = |message: String| StoreError::Foreign {
        path: path.to_path_buf(),
        message,
    };
    let field = |field: &str, message: &str| Flaw::new(field, message).of(path);
    let mut fields: Map<String, Json> = serde_json::from_str(text)
        .map_err(|error| foreign(format!("its structure does not read: {error}")))?;
    if fields.remove("format").as_ref().and_then(Json::as_str) != Some(FORMAT) {
        return Err(foreign(format!("its `format` is not \"{FORMAT}\"")));
    }
    let version = fields.remove("version");
    match version.as_ref().and_then(Json::as_u64) {
        Some(VERSION) => {}
        Some(found) => {
            return Err(StoreError::Version {
                path: path.to_path_buf(),
                found,
                read: VERSION,
            })
        }
        None => return Err(field("version", "it is no number")),
    }
    let Some(Json::Object(seals)) = fields.remove("seals") else {
        return Err(field("seals", "it is missing"));
    };
    let Some(Json::Object(structure)) = fields.remove("trace") else {
        return Err(field("trace", "it is missing"));
    };
    let whole = fields.remove("digest");
    if let Some(unknown) = fields.keys().next() {
        return Err(field(unknown, "nothing of this name was saved"));
    }
    if let Some(flaw) = broken(&structure, &seals) {
        return Err(flaw.inside("trace").of(path));
    }
    let found = digest(Json::Object(seals).to_string().as_bytes());
    if whole.as_ref().and_then(Json::as_str) != Some(found.as_str()) {
        return Err(field("digest", "it is not that of the seals"));
    }
    let document: TraceDocument = serde_path_to_error::deserialize(Json::Object(structure))
        .map_err(|error| Flaw::new(format!("trace.{}", error.path()), error.inner().to_string()).of(path))?;
    check(&document).map_err(|flaw| flaw.inside("trace").of(path))?;
    Ok(document)
}

struct Reading<'a> {
    tensors: &'a SafeTensors<'a>,
    /// How many of them were asked for.
    taken: usize,
}

impl Reading<'_> {
    fn trace(&mut self, document: TraceDocument, prefix: &str) -> Result<Trace, Flaw> {
        let mut tables = Tables::default();
        for (place, value) in document.values.iter().enumerate() {
            tables
                .values
                .push(self.value(value, &format!("{prefix}values[{place}]"))?);
        }
        let mut lines = Vec::with_capacity(document.calls.len());
        for (place, call) in document.calls.iter().enumerate() {
            let field = format!("{prefix}calls[{place}]");
            lines.push(source(call.line.as_deref(), &field)?);
            tables.calls.push(read_call(call, &field)?);
        }
        let mut transforms = Vec::with_capacity(document.transforms.len());
        for (place, transform) in document.transforms.into_iter().enumerate() {
            transforms.push(Transform {
                call: transform.call,
                captured: transform.captured,
                given: transform.given,
                arguments: transform.arguments,
                derivative: None,
                forward: self.trace(
                    transform.forward,
                    &format!("{prefix}transforms[{place}].forward."),
                )?,
            });
        }
        let mut evaluations = Vec::with_capacity(document.evaluations.len());
        for (place, evaluation) in document.evaluations.iter().enumerate() {
            evaluations.push(read_evaluation(
                evaluation,
                &format!("{prefix}evaluations[{place}]"),
            )?);
        }
        let mut failed = Vec::with_capacity(document.failed.len());
        for (place, call) in document.failed.into_iter().enumerate() {
            failed.push(FailedCall {
                function: function(&call.function, &format!("{prefix}failed[{place}]"))?.name,
                operands: call.operands,
                after: call.after,
            });
        }
        let lazy = document.values.iter().enumerate().filter(|(_, value)| value.lazy);
        let lazy = lazy.map(|(place, _)| ValueId(place as u32)).collect();
        let parameters = document.parameters.into_iter();
        Ok(Trace {
            tables,
            scopes: document.scopes,
            parameters: parameters
                .map(|(address, value)| (address.into(), value))
                .collect(),
            declared: document.declared,
            modules: OnceCell::new(),
            inputs: document.inputs,
            outputs: document.outputs,
            evaluations,
            closures: document.closures,
            compile: document.compile,
            transforms,
            failed,
            halted: document.halted,
            unwrapped: document.unwrapped,
            replacements: document.replacements,
            payloads: document.payloads,
            named: StackNames {
                lines,
                lacking: document.lacking,
            },
            thread: std::thread::current().id(),
            lazy,
            loaded: true,
        })
    }

    fn value(&mut self, value: &ValueDocument, name: &str) -> Result<Value, Flaw> {
        let payload = match &value.payload {
            None => None,
            Some(payload) => {
                self.taken += 1;
                Some(unpack(self.tensors, name, &value.shape, value.dtype, payload)?)
            }
        };
        Ok(Value {
            origin: match &value.origin {
                OriginDocument::Input { path } => Origin::Input { path: path.clone() },
                OriginDocument::Parameter { address } => Origin::Parameter {
                    address: address.as_str().into(),
                },
                OriginDocument::Constant => Origin::Constant,
                OriginDocument::Result { call, index } => Origin::Result {
                    call: *call,
                    index: *index,
                },
                OriginDocument::Intervention => Origin::Intervention,
                OriginDocument::Unwrapped => Origin::Unwrapped,
            },
            shape: value.shape.as_slice().into(),
            dtype: typed(value.dtype).0,
            payload,
            had_producer: value.had_producer,
        })
    }
}

fn read_call(call: &CallDocument, field: &str) -> Result<Call, Flaw> {
    let function = function(&call.function, field)?;
    let (given, taken) = (call.arguments.len(), function.parameters.len());
    if given != taken {
        let message = format!("{given} arguments for a function of {taken}");
        return Err(Flaw::new(format!("{field}.arguments"), message));
    }
    let mut arguments = SmallVec::with_capacity(given);
    for (place, (argument, parameter)) in call.arguments.iter().zip(function.parameters).enumerate() {
        arguments.push(argument.recorded(parameter, &format!("{field}.arguments[{place}]"))?);
    }
    Ok(Call {
        function,
        arguments,
        results: call.results.as_slice().into(),
        scope: call.scope,
        page: None,
        captured: call.captured.as_slice().into(),
    })
}

fn read_evaluation(evaluation: &EvaluationDocument, field: &str) -> Result<Evaluation, Flaw> {
    Ok(Evaluation {
        function: function(&evaluation.function, field)?.name,
        kind: evaluation.kind,
        values: evaluation.values.clone(),
        after: evaluation.after,
        inside: evaluation.inside,
        source: source(evaluation.line.as_deref(), field)?,
    })
}

/// A function of mlx-c by its name.
fn function(name: &str, field: &str) -> Result<&'static Function, Flaw> {
    Function::by_name(name).ok_or_else(|| {
        Flaw::new(
            format!("{field}.function"),
            format!("the mlx-c of this build has no function `{name}`"),
        )
    })
}

/// `src/model.rs:12`.
fn source(text: Option<&str>, field: &str) -> Result<Option<SourceLine>, Flaw> {
    let Some(text) = text else {
        return Ok(None);
    };
    let line = text.rsplit_once(':').and_then(|(file, line)| {
        Some(SourceLine {
            file: Arc::from(file),
            line: line.parse().ok()?,
        })
    });
    match line {
        Some(line) => Ok(Some(line)),
        None => Err(Flaw::new(
            format!("{field}.line"),
            format!("`{text}` is no file and line"),
        )),
    }
}
