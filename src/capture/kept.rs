//! Payloads of chosen ops only: what the others read and give is let go when the forward is over.
//!
//! Ops have their names and labels only then. Nothing is lost by waiting: a payload is a handle, and what the forward left
//! lazy takes no memory before it is computed.

use std::collections::HashSet;

use super::call::CallId;
use super::error::BackendUnsupportedError;
use super::intervention::Selector;
use super::policy::PayloadPolicy;
use super::trace::Trace;
use super::value::ValueId;
use crate::capability::RefusalCode;

/// Why the capture is refused: a selector that means no op of a forward that came to its end.
pub(super) fn refusal(trace: &Trace, chosen: &[Selector]) -> Option<BackendUnsupportedError> {
    let ops = trace.ops();
    let missed = chosen.iter().find(|it| !ops.iter().any(|op| it.means(op)))?;
    let message = format!("the forward has no {missed}, whose payloads are to be kept");
    Some(BackendUnsupportedError::new(
        RefusalCode::SelectorWithoutMatch,
        message,
    ))
}

/// Keeps what the chosen ops read and give.
pub(super) fn keep(trace: &mut Trace, chosen: Vec<Selector>) {
    let ops = trace.ops();
    let mut values: HashSet<ValueId> = HashSet::new();
    let mut calls: HashSet<CallId> = HashSet::new();
    for op in ops.iter().filter(|op| chosen.iter().any(|it| it.means(op))) {
        values.extend(op.results());
        calls.extend(op.calls());
    }
    for call in &calls {
        values.extend(trace.call(*call).operands());
        values.extend(trace.call(*call).results());
    }
    release(trace, &|value| values.contains(&value));
    for transform in &mut trace.transforms {
        if !calls.contains(&transform.call) {
            release_all(&mut transform.forward);
        }
    }
    trace.payloads = PayloadPolicy::Ops(chosen);
}

/// Lets go of every payload, those inside transforms too.
fn release_all(trace: &mut Trace) {
    release(trace, &|_| false);
    trace.payloads = PayloadPolicy::None;
    for transform in &mut trace.transforms {
        release_all(&mut transform.forward);
    }
}

fn release(trace: &mut Trace, keeps: &dyn Fn(ValueId) -> bool) {
    for number in 0..trace.values().len() {
        let value = ValueId(number as u32);
        if !keeps(value) {
            trace.release_payload(value);
        }
    }
}
