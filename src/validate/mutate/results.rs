//! Faults of what a call is said to give.

use crate::capture::{CallId, Origin, Trace, ValueId};

use super::{is_own, Touched};

/// Exchanges the first two results, their origins included: the record is as consistent as before.
pub(super) fn reorder(trace: &mut Trace, at: CallId) -> Option<Touched> {
    let (one, other) = match trace.call(at).results() {
        [one, other, ..] if one != other => (*one, *other),
        _ => return None,
    };
    if !is_own(trace, at, one) || !is_own(trace, at, other) {
        return None;
    }
    trace.tables.calls[at.index()].results.swap(0, 1);
    for (value, index) in [(other, 0), (one, 1)] {
        trace.tables.values[value.index()].origin = Origin::Result { call: at, index };
    }
    Some(Touched {
        calls: vec![at],
        values: vec![one, other],
        removed: None,
    })
}

/// Gives a call that handed back its operand a result of its own, with a copy of the payload.
pub(super) fn lose_alias(trace: &mut Trace, at: CallId) -> Option<Touched> {
    let place = trace
        .call(at)
        .results()
        .iter()
        .position(|result| !is_own(trace, at, *result))?;
    let handed_back = trace.call(at).results()[place];
    let mut value = trace.value(handed_back).clone();
    value.origin = Origin::Result {
        call: at,
        index: place as u32,
    };
    let id = ValueId(trace.tables.values.len() as u32);
    trace.tables.values.push(value);
    trace.tables.calls[at.index()].results[place] = id;
    Some(Touched::call(at))
}
