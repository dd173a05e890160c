//! A trace as it was: a fault is seeded in place, and taken back.

use crate::capture::{Call, Evaluation, Trace, Value};

/// What faults change of a trace. Handles are shared, so that this is cheap.
pub(super) struct Saved {
    pub(super) values: Vec<Value>,
    pub(super) calls: Vec<Call>,
    evaluations: Vec<Evaluation>,
}

impl Saved {
    pub(super) fn of(trace: &Trace) -> Self {
        Self {
            values: trace.tables.values.clone(),
            calls: trace.tables.calls.clone(),
            evaluations: trace.evaluations.clone(),
        }
    }

    pub(super) fn restore(self, trace: &mut Trace) {
        trace.tables.values = self.values;
        trace.tables.calls = self.calls;
        trace.evaluations = self.evaluations;
    }
}
