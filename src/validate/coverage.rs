//! Whether the record is whole: every value comes from somewhere, every call reads only what stands before it, and
//! what is said of a value is what its array is.

use crate::capture::{Call, CallId, Origin, Recorded, Trace, ValueId};
use mlx_rs::Dtype;
use mlx_sys::function::Class;

use super::contrast::{kind, Contrast};
use super::decision::Detail;

/// What is missing around one call, or `None`.
pub(super) fn gap_of_call(trace: &Trace, id: CallId, call: &Call) -> Option<String> {
    for value in call.operands() {
        if let Some(gap) = unreachable(trace, value, Some(id)) {
            return Some(gap);
        }
    }
    for (place, &result) in call.results().iter().enumerate() {
        let own = Origin::Result {
            call: id,
            index: place as u32,
        };
        // An alias gives back one of its own operands.
        if *trace.value(result).origin() != own && !call.operands().any(|operand| operand == result) {
            return Some(format!(
                "result {place} is recorded as coming from somewhere else"
            ));
        }
    }
    // A session reads the graph of every call, or ends; saving a trace leaves it behind.
    if trace.subgraph(call).is_none() && !trace.is_loaded() {
        return Some("what MLX's graph held of the call is gone".to_string());
    }
    None
}

/// What the declaration of a call and MLX's graph disagree about, by the graph alone.
pub(super) fn parent_at_odds(trace: &Trace, id: CallId, call: &Call) -> Option<Detail> {
    let subgraph = trace.subgraph(call)?;
    let boundary = subgraph.boundary();
    let parent = |value: ValueId, message: String| Some(Detail::Parent { value, message });
    for &reached in &boundary {
        let value = ValueId(reached);
        if !call.operands().any(|operand| operand == value) {
            return parent(
                value,
                format!("MLX's graph reads value {reached}, which the call does not declare"),
            );
        }
    }
    // What MLX gave a closure says which values the call was given, and in which order.
    if let Some(transform) = trace.transform(id) {
        let given = call.arguments().iter().find_map(|argument| match argument {
            Recorded::Arrays(values) => Some(values),
            _ => None,
        });
        for (place, witnessed) in transform.arguments().iter().enumerate() {
            let declared = given.and_then(|given| given.get(place));
            if let Some(witnessed) = witnessed.filter(|value| declared != Some(value)) {
                return parent(
                    witnessed,
                    format!(
                        "MLX gave the closure value {} at place {place}, and the call declares another one",
                        witnessed.0
                    ),
                );
            }
        }
    }
    // What stands beside the arguments is what a closure read: the graph reaches it, and no argument names it.
    for &value in &call.captured {
        let named = call.arguments().iter().any(|it| it.operands().contains(&value));
        if call.function().class != Class::Application || named || !boundary.contains(&value.0) {
            return parent(
                value,
                format!(
                    "value {} is declared beside the arguments, and MLX's graph does not read it there",
                    value.0
                ),
            );
        }
    }
    // A result that is an operand handed back, and one that was made, are not the same.
    for (place, (&result, slot)) in call.results().iter().zip(subgraph.results()).enumerate() {
        let handed_back = boundary.get(slot as usize).map(|number| ValueId(*number));
        let made_here = matches!(*trace.value(result).origin(), Origin::Result { call, .. } if call == id);
        match handed_back {
            Some(value) if value != result => {
                return parent(
                    value,
                    format!(
                        "result {place} is recorded as value {}, but MLX's graph hands back value {}",
                        result.0, value.0
                    ),
                );
            }
            None if !made_here => {
                return parent(
                    result,
                    format!("result {place} is recorded as handed back, but MLX's graph makes it"),
                );
            }
            _ => {}
        }
        // A step has a producer, a leaf has none.
        let is_leaf = (slot as usize) < boundary.len() + subgraph.leaves();
        if handed_back.is_none() && trace.value(result).had_producer() == is_leaf {
            return parent(
                result,
                format!("result {place} is recorded as made otherwise than MLX's graph makes it"),
            );
        }
    }
    None
}

/// A value of a call whose recorded kind is not that of its array.
pub(super) fn metadata_of_call(trace: &Trace, call: &Call) -> Option<Detail> {
    let values = call.operands().chain(call.results().iter().copied());
    for value in values {
        if let Some(contrast) = metadata(trace, value) {
            return Some(Detail::Metadata { value, contrast });
        }
    }
    made_otherwise(trace, call)
}

/// Where a constructor is said to make another kind of array than it made: from data that nobody recorded, no replay
/// would show it.
fn made_otherwise(trace: &Trace, call: &Call) -> Option<Detail> {
    let &[id] = call.results() else {
        return None;
    };
    if call.function().class != Class::Constructor {
        return None;
    }
    let value = trace.value(id);
    let (mut shape, mut dtype) = (value.shape().to_vec(), value.dtype());
    for (parameter, argument) in call.function().parameters.iter().zip(call.arguments()) {
        match (parameter.name, argument) {
            ("shape", Recorded::Ints(Some(extents))) => shape = extents.to_vec(),
            // Where the extents themselves are not recorded.
            ("dim", Recorded::Int(dimensions)) => shape.resize(usize::try_from(*dimensions).ok()?, 1),
            ("dtype", Recorded::Dtype(recorded)) => dtype = Dtype::try_from(*recorded).ok()?,
            _ => {}
        }
    }
    let (expected, found) = (kind(dtype, &shape), kind(value.dtype(), value.shape()));
    (expected != found).then_some(Detail::Metadata {
        value: id,
        contrast: Contrast::Kind { expected, found },
    })
}

fn metadata(trace: &Trace, id: ValueId) -> Option<Contrast> {
    let value = trace.value(id);
    let payload = value.payload()?;
    let same = value.dtype() == payload.dtype() && value.shape() == payload.shape();
    (!same).then(|| Contrast::Kind {
        expected: kind(value.dtype(), value.shape()),
        found: kind(payload.dtype(), payload.shape()),
    })
}

/// What is missing around the trace as a whole: outputs and values that nothing recorded gave.
pub(super) fn gaps_of_trace(trace: &Trace) -> Vec<String> {
    let mut gaps = Vec::new();
    for output in trace.outputs() {
        if let Some(gap) = unreachable(trace, output.value(), None) {
            let path = if output.path().is_empty() {
                "the output"
            } else {
                output.path()
            };
            gaps.push(format!("{path}: {gap}"));
        }
    }
    let mut first = |gap: Option<String>| {
        if let (true, Some(gap)) = (gaps.is_empty(), gap) {
            gaps.push(gap);
        }
    };
    for index in 0..trace.values().len() {
        let id = ValueId(index as u32);
        first(unreachable(trace, id, None));
        first(misplaced(trace, id));
        first(metadata(trace, id).map(|_| format!("value {index} is not of the recorded kind")));
    }
    first(out_of_order(trace));
    gaps
}

/// Why a value cannot have the origin that it is recorded with.
fn misplaced(trace: &Trace, id: ValueId) -> Option<String> {
    let value = trace.value(id);
    let number = id.0;
    let listed = trace.inputs().contains(&id);
    match value.origin() {
        Origin::Input { .. } if !listed => Some(format!("value {number} is called an input, and is none")),
        Origin::Input { .. } => None,
        _ if listed => Some(format!(
            "input value {number} is recorded as coming from somewhere else"
        )),
        Origin::Parameter { .. } if !is_parameter(trace, id) => {
            Some(format!("value {number} is called a parameter, and is none"))
        }
        Origin::Parameter { .. } => None,
        Origin::Constant if is_parameter(trace, id) => {
            Some(format!("parameter value {number} is recorded as a constant"))
        }
        Origin::Constant if value.payload().is_some() && value.had_producer() != trace.lazy.contains(&id) => {
            Some(format!(
                "value {number} is called a constant, but something computed it that nobody recorded"
            ))
        }
        Origin::Intervention if !trace.replacements().iter().any(|it| it.replacement == id) => Some(format!(
            "value {number} is said to replace a result, and replaces none"
        )),
        Origin::Unwrapped if trace.capture_verified() => Some(format!(
            "value {number} is said to come from an operation that nobody noticed"
        )),
        _ => None,
    }
}

fn is_parameter(trace: &Trace, id: ValueId) -> bool {
    trace.parameters().iter().any(|(_, value)| *value == id)
}

/// Values are numbered as they are seen: the results of one call follow those of the calls before it, in order.
fn out_of_order(trace: &Trace) -> Option<String> {
    let mut last = None;
    for (index, call) in trace.calls().iter().enumerate() {
        let id = CallId(index as u32);
        for &result in call.results() {
            let fresh = matches!(*trace.value(result).origin(), Origin::Result { call, .. } if call == id);
            if !fresh {
                continue;
            }
            if last.is_some_and(|last| result <= last) {
                return Some(format!(
                    "value {} of call {} was seen out of its turn",
                    result.0,
                    index + 1
                ));
            }
            last = Some(result);
        }
    }
    None
}

/// Why a value cannot be read at `reader` (or at the end), if it cannot.
fn unreachable(trace: &Trace, value: ValueId, reader: Option<CallId>) -> Option<String> {
    let Origin::Result { call, index } = *trace.value(value).origin() else {
        return None;
    };
    if reader.is_some_and(|reader| call >= reader) {
        return Some(format!(
            "a value that call {} makes is read before it is made",
            call.0 + 1
        ));
    }
    let given = trace
        .calls()
        .get(call.index())
        .and_then(|call| call.results().get(index as usize));
    match given {
        Some(&given) if given == value => None,
        _ => Some(format!(
            "no recorded call gives a value that is read (once result {index} of call {})",
            call.0 + 1
        )),
    }
}
