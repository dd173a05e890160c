//! Faults of whole calls: one that is gone, and a draw that is gone and stands as a constant.

use crate::capture::{CallId, Origin, Trace};

use super::{is_own, Touched};

/// Removes a call; its results are left without a maker.
pub(super) fn drop_call(trace: &mut Trace, at: CallId) -> Option<Touched> {
    let values = trace.call(at).results().to_vec();
    if values.is_empty() {
        return None;
    }
    remove(trace, at);
    Some(Touched {
        values,
        removed: Some(at),
        ..Touched::default()
    })
}

/// Removes a random draw and makes its results constants, payloads and all.
pub(super) fn freeze(trace: &mut Trace, at: CallId) -> Option<Touched> {
    let call = trace.call(at);
    let name = call.function().name;
    // Keys are made and split, not drawn.
    let draws = name.starts_with("mlx_random_") && !name.contains("_key") && !name.contains("_split");
    let values = call.results().to_vec();
    if !draws || values.is_empty() || !values.iter().all(|value| is_own(trace, at, *value)) {
        return None;
    }
    for value in &values {
        trace.tables.values[value.index()].origin = Origin::Constant;
    }
    remove(trace, at);
    Some(Touched {
        values,
        removed: Some(at),
        ..Touched::default()
    })
}

/// Takes a call out; all that names a later call names it by its new number.
fn remove(trace: &mut Trace, at: CallId) {
    trace.tables.calls.remove(at.index());
    for value in &mut trace.tables.values {
        if let Origin::Result { call, .. } = &mut value.origin {
            if *call > at {
                call.0 -= 1;
            }
        }
    }
    for evaluation in &mut trace.evaluations {
        if let Some(after) = evaluation.after.filter(|after| *after >= at) {
            evaluation.after = after.0.checked_sub(1).map(CallId);
        }
    }
}
