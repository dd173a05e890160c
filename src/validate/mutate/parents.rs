//! Faults of what a call is said to read.
//!
//! Only operands that take any number change places or are exchanged: MLX checks no bounds, so that indices,
//! lengths and divisors of another origin could end the process on replay.

use mlx_sys::function::Role;

use crate::capture::{CallId, Recorded, Trace, ValueId};

use super::{alike, own_result, places, Touched};

/// MLX trusts what these are given to fit together: exchanged, they write foreign memory.
const TRUSTED: &[&str] = &["pad", "put_along_axis", "scatter", "segmented_mm"];

/// The places of operands that may hold any number.
fn free_places(trace: &Trace, at: CallId) -> Vec<(usize, usize)> {
    let parameters = trace.call(at).function().parameters;
    let name = trace.call(at).function().name;
    let mut free = places(trace, at);
    free.retain(|_| !TRUSTED.iter().any(|part| name.contains(part)));
    free.retain(|(argument, _)| parameters[*argument].role == Role::Value);
    free
}

fn get(trace: &Trace, at: CallId, (argument, place): (usize, usize)) -> ValueId {
    trace.call(at).arguments()[argument].operands()[place]
}

fn set(trace: &mut Trace, at: CallId, (argument, place): (usize, usize), value: ValueId) {
    trace.tables.calls[at.index()].arguments[argument].operands_mut()[place] = value;
}

/// Exchanges the first two operands that differ.
pub(super) fn swap(trace: &mut Trace, at: CallId) -> Option<Touched> {
    // What MLX compiled has no witness of the order of its arguments: no function to ask, and a graph that knows values,
    // no places.
    if trace.call(at).function().name == "mlx_closure_apply" {
        return None;
    }
    let places = free_places(trace, at);
    let (&first, rest) = places.split_first()?;
    let one = get(trace, at, first);
    let second = *rest.iter().find(|place| get(trace, at, **place) != one)?;
    let other = get(trace, at, second);
    set(trace, at, first, other);
    set(trace, at, second, one);
    Some(Touched::call(at))
}

/// Exchanges one operand for an earlier value of the same kind that the call does not read.
pub(super) fn replace(trace: &mut Trace, at: CallId) -> Option<Touched> {
    let places = free_places(trace, at);
    let place = *places.get(at.index() % places.len().max(1))?;
    let old = get(trace, at, place);
    let end = own_result(trace, at)?;
    let other = (0..end.0).map(ValueId).find(|value| {
        let declared = trace.call(at).operands().any(|operand| operand == *value);
        !declared && alike(trace, *value, old) && trace.value(*value).payload().is_some()
    })?;
    set(trace, at, place, other);
    Some(Touched::call(at))
}

/// Takes one operand away; of a closure, one that it read beside its arguments.
pub(super) fn drop_parent(trace: &mut Trace, at: CallId) -> Option<Touched> {
    if trace.tables.calls[at.index()].captured.pop().is_some() {
        return Some(Touched::call(at));
    }
    let places = places(trace, at);
    let (argument, place) = *places.get(at.index() % places.len().max(1))?;
    match &mut trace.tables.calls[at.index()].arguments[argument] {
        Recorded::Arrays(values) => {
            values.remove(place);
        }
        lone => *lone = Recorded::Array(None),
    }
    Some(Touched::call(at))
}

/// Adds an earlier value that the call does not read: to its list of arrays, or beside its arguments.
pub(super) fn invent(trace: &mut Trace, at: CallId) -> Option<Touched> {
    let end = own_result(trace, at)?;
    let other = (0..end.0)
        .rev()
        .map(ValueId)
        .find(|value| !trace.call(at).operands().any(|operand| operand == *value))?;
    let call = &mut trace.tables.calls[at.index()];
    let list = call.arguments.iter_mut().find_map(|argument| match argument {
        Recorded::Arrays(values) => Some(values),
        _ => None,
    });
    list.unwrap_or(&mut call.captured).push(other);
    Some(Touched::call(at))
}

/// Makes a call read its own result.
pub(super) fn own(trace: &mut Trace, at: CallId) -> Option<Touched> {
    let places = places(trace, at);
    let place = *places.get(at.index() % places.len().max(1))?;
    let result = own_result(trace, at)?;
    set(trace, at, place, result);
    Some(Touched::call(at))
}
