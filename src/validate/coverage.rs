//! Whether the record is whole: every value comes from somewhere, and every call reads only what stands before it.

use crate::capture::{Call, CallId, Origin, Trace, ValueId};

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
    None
}

/// What is missing around the trace as a whole: outputs and values that no recorded call gave.
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
    for index in 0..trace.values().len() {
        let value = ValueId(index as u32);
        if let Some(gap) = unreachable(trace, value, None) {
            if gaps.is_empty() {
                gaps.push(gap);
            }
        }
    }
    gaps
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
