//! From a trace to what is written of it.

use std::collections::HashMap;
use std::path::Path;

use serde_json::{json, Map, Value as Json};

use super::argument::ArgumentDocument;
use super::document::{
    CallDocument, EvaluationDocument, FailedDocument, OriginDocument, TraceDocument, TransformDocument,
    ValueDocument,
};
use super::error::StoreError;
use super::payload::{named, pack, Tensor};
use super::place;
use super::seal::{digest, seals};
use super::{FORMAT, METADATA, VERSION};
use crate::capture::{Call, CallId, Evaluation, Origin, SourceLine, Trace, Transform, Value, ValueId};

impl Trace {
    /// Writes the trace: into a folder, or into one file where the path ends in `.safetensors`. What is written appears
    /// whole or not at all, and replaces nothing.
    ///
    /// Payloads are evaluated first, so this is for the capturing thread, or for after [`evaluate`](Self::evaluate).
    /// MLX's graph is not written: see [`load`](Self::load).
    ///
    /// # Errors
    ///
    /// Something lies there already; the file system's errors; a payload that cannot be computed.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), StoreError> {
        let path = path.as_ref();
        // Before anything is computed.
        place::parent(path)?;
        let unwritable = |message: String| StoreError::Unwritable {
            path: path.to_path_buf(),
            message,
        };
        self.evaluate().map_err(|source| StoreError::Payload {
            path: path.to_path_buf(),
            source,
        })?;
        let mut tensors = Vec::new();
        let document = Writing {
            path,
            tensors: &mut tensors,
        }
        .trace(self, "")?;
        let structure = sealed(&document).map_err(|error| unwritable(error.to_string()))?;
        let payloads = |metadata| {
            let tensors = tensors
                .iter()
                .map(|(name, tensor): &(String, Tensor)| (name, tensor));
            safetensors::serialize(tensors, metadata).map_err(|error| unwritable(error.to_string()))
        };
        match place::is_one_file(path) {
            true => {
                let metadata = HashMap::from([(METADATA.to_string(), structure)]);
                place::write_file(path, &payloads(Some(metadata))?)
            }
            false => place::write_folder(path, structure.as_bytes(), &payloads(None)?),
        }
    }
}

/// The structure as it is written, each list with one item a line, so that a person can read it.
fn sealed(document: &TraceDocument) -> Result<String, serde_json::Error> {
    let structure = match serde_json::to_value(document)? {
        Json::Object(fields) => fields,
        // A struct is an object.
        _ => Map::new(),
    };
    let seals = seals(&structure);
    let digest = digest(Json::Object(seals.clone()).to_string().as_bytes());
    let mut text = format!(
        "{{\n\"format\": {},\n\"version\": {VERSION},\n\"trace\": {{",
        json!(FORMAT)
    );
    spell(&mut text, &structure);
    text.push_str("},\n\"seals\": {");
    spell(&mut text, &seals);
    text.push_str(&format!("}},\n\"digest\": {}\n}}\n", json!(digest)));
    Ok(text)
}

fn spell(text: &mut String, fields: &Map<String, Json>) {
    for (place, (name, value)) in fields.iter().enumerate() {
        text.push_str(if place == 0 { "\n" } else { ",\n" });
        text.push_str(&format!("  {}: ", json!(name)));
        match value {
            Json::Array(items) if !items.is_empty() => {
                let lines: Vec<String> = items.iter().map(|item| format!("    {item}")).collect();
                text.push_str(&format!("[\n{}\n  ]", lines.join(",\n")));
            }
            other => text.push_str(&other.to_string()),
        }
    }
    text.push('\n');
}

struct Writing<'a> {
    path: &'a Path,
    /// The payloads so far, by name.
    tensors: &'a mut Vec<(String, Tensor)>,
}

impl Writing<'_> {
    /// What is written of a trace; `prefix` leads to one that lies inside another.
    fn trace(&mut self, trace: &Trace, prefix: &str) -> Result<TraceDocument, StoreError> {
        let mut values = Vec::with_capacity(trace.values().len());
        for (place, value) in trace.values().iter().enumerate() {
            let lazy = trace.lazy.contains(&ValueId(place as u32));
            values.push(self.value(value, lazy, format!("{prefix}values[{place}]"))?);
        }
        let mut calls = Vec::with_capacity(trace.calls().len());
        for (place, call) in trace.calls().iter().enumerate() {
            let id = CallId(place as u32);
            calls.push(self.call(call, trace.source(id))?);
        }
        let mut transforms = Vec::with_capacity(trace.transforms().len());
        for (place, transform) in trace.transforms().iter().enumerate() {
            transforms.push(self.transform(transform, &format!("{prefix}transforms[{place}].forward."))?);
        }
        let failed = trace.failed_calls().iter().map(|failed| FailedDocument {
            function: failed.function.to_string(),
            operands: failed.operands.clone(),
            after: failed.after,
        });
        Ok(TraceDocument {
            inputs: trace.inputs().to_vec(),
            outputs: trace.outputs().to_vec(),
            parameters: trace
                .parameters()
                .iter()
                .map(|(address, value)| (address.to_string(), *value))
                .collect(),
            declared: trace.declared.clone(),
            values,
            calls,
            scopes: trace.scopes().to_vec(),
            transforms,
            evaluations: trace.evaluations().iter().map(evaluation).collect(),
            closures: trace.closures().to_vec(),
            replacements: trace.replacements().to_vec(),
            unwrapped: trace.unwrapped().to_vec(),
            failed: failed.collect(),
            compile: trace.compile,
            payloads: trace.payload_policy().clone(),
            halted: trace.is_halted(),
            lacking: trace.lacking().map(str::to_string),
        })
    }

    fn value(&mut self, value: &Value, lazy: bool, name: String) -> Result<ValueDocument, StoreError> {
        let payload = match value.payload() {
            None => None,
            Some(array) => {
                let (tensor, document) = pack(array).map_err(|source| StoreError::Payload {
                    path: self.path.to_path_buf(),
                    source,
                })?;
                self.tensors.push((name, tensor));
                Some(document)
            }
        };
        Ok(ValueDocument {
            origin: origin(value.origin()),
            shape: value.shape().to_vec(),
            dtype: named(value.dtype()),
            had_producer: value.had_producer(),
            lazy,
            payload,
        })
    }

    fn call(&self, call: &Call, line: Option<&SourceLine>) -> Result<CallDocument, StoreError> {
        let function = call.function();
        let mut arguments = Vec::with_capacity(call.arguments().len());
        for (parameter, argument) in function.parameters.iter().zip(call.arguments()) {
            let document = ArgumentDocument::of(argument).map_err(|message| StoreError::Unwritable {
                path: self.path.to_path_buf(),
                message: format!("argument {} of {}: {message}", parameter.name, function.name),
            })?;
            arguments.push(document);
        }
        Ok(CallDocument {
            function: function.name.to_string(),
            arguments,
            results: call.results().to_vec(),
            captured: call.captured.to_vec(),
            scope: call.scope(),
            line: line.map(ToString::to_string),
        })
    }

    fn transform(&mut self, transform: &Transform, prefix: &str) -> Result<TransformDocument, StoreError> {
        // The closure's own forward was evaluated only as far as its payloads' consumers were.
        transform
            .forward()
            .evaluate()
            .map_err(|source| StoreError::Payload {
                path: self.path.to_path_buf(),
                source,
            })?;
        Ok(TransformDocument {
            call: transform.call(),
            captured: transform.captured().to_vec(),
            given: transform.given.clone(),
            arguments: transform.arguments().to_vec(),
            forward: self.trace(transform.forward(), prefix)?,
        })
    }
}

fn origin(origin: &Origin) -> OriginDocument {
    match origin {
        Origin::Input { path } => OriginDocument::Input { path: path.clone() },
        Origin::Parameter { address } => OriginDocument::Parameter {
            address: address.to_string(),
        },
        Origin::Constant => OriginDocument::Constant,
        Origin::Result { call, index } => OriginDocument::Result {
            call: *call,
            index: *index,
        },
        Origin::Intervention => OriginDocument::Intervention,
        Origin::Unwrapped => OriginDocument::Unwrapped,
    }
}

fn evaluation(evaluation: &Evaluation) -> EvaluationDocument {
    EvaluationDocument {
        function: evaluation.function().to_string(),
        kind: evaluation.kind(),
        values: evaluation.values().to_vec(),
        after: evaluation.after(),
        inside: evaluation.inside_transform(),
        line: evaluation.source().map(ToString::to_string),
    }
}
