//! Faults of what is recorded of a value: its payload, one bit of it, its element type.

use mlx_rs::{Array, Dtype};

use crate::capture::{CallId, Trace, ValueId};
use crate::graph::{self, GraphError};

use super::{alike, own_result, Touched};

/// Gives a result the payload of another value of its kind.
pub(super) fn stale(trace: &mut Trace, at: CallId) -> Option<Touched> {
    let result = own_result(trace, at)?;
    let other = (0..trace.values().len())
        .map(|index| ValueId(index as u32))
        .filter(|other| *other != result && alike(trace, *other, result))
        // The operands first: a record made too late holds what an in-place update left.
        .min_by_key(|other| {
            (
                !trace.call(at).operands().any(|operand| operand == *other),
                *other,
            )
        })?;
    let payload = trace.value(other).payload()?.clone();
    trace.tables.values[result.index()].payload = Some(payload);
    Some(Touched::value(result))
}

/// Flips the lowest bit of the byte in the middle of the first element that it makes another one.
pub(super) fn flip_bit(trace: &mut Trace, at: CallId) -> Result<Option<Touched>, GraphError> {
    let Some(result) = own_result(trace, at) else {
        return Ok(None);
    };
    let Some(payload) = trace.value(result).payload() else {
        return Ok(None);
    };
    let memory = graph::span(payload)?;
    let width = payload.item_size();
    // The first element that one bit makes another one: of a NaN it makes a NaN.
    for place in (width.saturating_sub(1) / 2..memory.len()).step_by(width) {
        let mut memory = memory.clone();
        memory[place] ^= 1;
        let changed: Array = graph::respan(payload, &memory)?;
        if !graph::compare(payload, &changed)?.is_none() {
            trace.tables.values[result.index()].payload = Some(changed);
            return Ok(Some(Touched::value(result)));
        }
    }
    Ok(None)
}

/// Records another element type.
pub(super) fn change_dtype(trace: &mut Trace, at: CallId) -> Option<Touched> {
    let result = own_result(trace, at)?;
    let dtype = &mut trace.tables.values[result.index()].dtype;
    *dtype = match dtype {
        Dtype::Float32 => Dtype::Float16,
        Dtype::Int32 => Dtype::Uint32,
        _ => Dtype::Float32,
    };
    Some(Touched::value(result))
}
