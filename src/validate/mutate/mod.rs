//! Seeded faults: what keeps the validator honest.
//!
//! A mutant is a trace with one fault. Each must be flagged, with a reason that fits; a validator that does not has
//! let it survive. A mutant that cannot be flagged because nothing about it is wrong is *equivalent*, which is proven
//! and never assumed.
//!
//! One file for each family of faults; [`attempt`] seeds one, validates what it touches again, and takes it back.

mod attempt;
mod calls;
mod equivalent;
#[cfg(test)]
mod fields;
mod parents;
mod payloads;
mod results;
mod saved;
mod scalars;

pub use attempt::{all, attempt, choice, one, Attempt, Fate, Report};

use crate::capture::{CallId, Trace, ValueId};
use crate::graph::GraphError;
use crate::vocabulary::Reason;

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fault {
    /// A call is removed.
    CallDropped,
    /// A result's payload is that of another value of the same kind.
    PayloadStale,
    /// One bit of a result's payload is flipped.
    BitFlipped,
    /// A result is recorded with another element type.
    DtypeChanged,
    /// An argument that is no array has another value.
    ScalarChanged,
    /// Two operands change places.
    ParentsSwapped,
    /// An operand is exchanged for another recorded value of the same kind.
    ParentReplaced,
    /// An operand is removed.
    ParentDropped,
    /// An operand is added.
    ParentInvented,
    /// Two results of one call change places, with all that refers to them.
    ResultsReordered,
    /// A call reads its own result.
    OwnParent,
    /// A random draw is removed, and what it drew stands as a constant.
    RandomFrozen,
    /// A call that handed back its operand is recorded with a result of its own.
    AliasLost,
}

impl Fault {
    /// Every kind.
    pub const ALL: &'static [Fault] = &[
        Self::CallDropped,
        Self::PayloadStale,
        Self::BitFlipped,
        Self::DtypeChanged,
        Self::ScalarChanged,
        Self::ParentsSwapped,
        Self::ParentReplaced,
        Self::ParentDropped,
        Self::ParentInvented,
        Self::ResultsReordered,
        Self::OwnParent,
        Self::RandomFrozen,
        Self::AliasLost,
    ];

    /// Its name in outcomes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CallDropped => "call_dropped",
            Self::PayloadStale => "payload_stale",
            Self::BitFlipped => "bit_flipped",
            Self::DtypeChanged => "dtype_changed",
            Self::ScalarChanged => "scalar_changed",
            Self::ParentsSwapped => "parents_swapped",
            Self::ParentReplaced => "parent_replaced",
            Self::ParentDropped => "parent_dropped",
            Self::ParentInvented => "parent_invented",
            Self::ResultsReordered => "results_reordered",
            Self::OwnParent => "own_parent",
            Self::RandomFrozen => "random_frozen",
            Self::AliasLost => "alias_lost",
        }
    }

    /// The reasons that fit it.
    pub const fn fitting(self) -> &'static [Reason] {
        use Reason::{
            ConstantDependsOnInput, DeclaredParentsInconsistent, NoReplayableFunction,
            PerturbationInsensitive, ReplayCoverageIncomplete, ReplayMismatch,
        };
        match self {
            Self::CallDropped => &[ReplayCoverageIncomplete],
            Self::PayloadStale | Self::BitFlipped | Self::DtypeChanged => &[ReplayMismatch],
            // Another axis may ask for a reduction that MLX does not always end: it is not run, and so unproven.
            Self::ScalarChanged => &[ReplayMismatch, NoReplayableFunction],
            Self::ParentsSwapped => &[DeclaredParentsInconsistent, ReplayMismatch],
            Self::ParentReplaced | Self::ParentDropped => &[
                DeclaredParentsInconsistent,
                ReplayMismatch,
                ReplayCoverageIncomplete,
            ],
            // A closure may ignore an input: that it does is unproven, and so the trace no longer passes.
            Self::ParentInvented => &[
                DeclaredParentsInconsistent,
                ReplayMismatch,
                PerturbationInsensitive,
            ],
            Self::ResultsReordered => &[ReplayCoverageIncomplete, ReplayMismatch],
            Self::OwnParent => &[ReplayCoverageIncomplete],
            Self::RandomFrozen => &[ReplayCoverageIncomplete, ConstantDependsOnInput],
            Self::AliasLost => &[DeclaredParentsInconsistent],
        }
    }

    /// Seeds the fault at a call, for good; false where the call offers no place for it, and then the trace is as
    /// before. [`attempt`] takes it back.
    ///
    /// # Errors
    ///
    /// A payload that cannot be computed or read.
    pub fn apply(self, trace: &mut Trace, at: CallId) -> Result<bool, GraphError> {
        trace.evaluate()?;
        Ok(self.seed(trace, at)?.is_some())
    }

    /// Seeds the fault at a call; `None` where the call offers no place for it, and then the trace is as before.
    ///
    /// # Errors
    ///
    /// A payload that cannot be read.
    fn seed(self, trace: &mut Trace, at: CallId) -> Result<Option<Touched>, GraphError> {
        if at.index() >= trace.calls().len() {
            return Ok(None);
        }
        match self {
            Self::CallDropped => Ok(calls::drop_call(trace, at)),
            Self::PayloadStale => Ok(payloads::stale(trace, at)),
            Self::BitFlipped => payloads::flip_bit(trace, at),
            Self::DtypeChanged => Ok(payloads::change_dtype(trace, at)),
            Self::ScalarChanged => Ok(scalars::change(trace, at)),
            Self::ParentsSwapped => Ok(parents::swap(trace, at)),
            Self::ParentReplaced => Ok(parents::replace(trace, at)),
            Self::ParentDropped => Ok(parents::drop_parent(trace, at)),
            Self::ParentInvented => Ok(parents::invent(trace, at)),
            Self::ResultsReordered => Ok(results::reorder(trace, at)),
            Self::OwnParent => Ok(parents::own(trace, at)),
            Self::RandomFrozen => Ok(calls::freeze(trace, at)),
            Self::AliasLost => Ok(results::lose_alias(trace, at)),
        }
    }
}

/// What a fault changed.
#[derive(Debug, Clone, Default)]
struct Touched {
    calls: Vec<CallId>,
    values: Vec<ValueId>,
    /// The place of a call that is gone: what followed it is one place further up.
    removed: Option<CallId>,
}

impl Touched {
    fn call(at: CallId) -> Self {
        Self {
            calls: vec![at],
            ..Self::default()
        }
    }

    fn value(value: ValueId) -> Self {
        Self {
            values: vec![value],
            ..Self::default()
        }
    }

    /// The calls to validate again: those changed, and those that read or give what changed.
    fn calls_of(&self, trace: &Trace) -> Vec<CallId> {
        let concerns = |index: usize| {
            let call = &trace.calls()[index];
            self.calls.iter().any(|changed| changed.index() == index)
                || call
                    .operands()
                    .chain(call.results().iter().copied())
                    .any(|value| self.values.contains(&value))
        };
        (0..trace.calls().len())
            .filter(|index| concerns(*index))
            .map(|index| CallId(index as u32))
            .collect()
    }
}

/// The first result of a call that the call itself made: an alias is its operand's.
fn own_result(trace: &Trace, at: CallId) -> Option<ValueId> {
    let results = trace.call(at).results();
    results.iter().copied().find(|result| is_own(trace, at, *result))
}

fn is_own(trace: &Trace, at: CallId, result: ValueId) -> bool {
    matches!(*trace.value(result).origin(), crate::capture::Origin::Result { call, .. } if call == at)
}

/// Whether two values have the same extents and element type.
fn alike(trace: &Trace, one: ValueId, other: ValueId) -> bool {
    let (one, other) = (trace.value(one), trace.value(other));
    one.shape() == other.shape() && one.dtype() == other.dtype()
}

/// The places of a call's array operands: argument, place in its list.
fn places(trace: &Trace, at: CallId) -> Vec<(usize, usize)> {
    let arguments = trace.call(at).arguments().iter().enumerate();
    arguments
        .flat_map(|(argument, it)| (0..it.operands().len()).map(move |place| (argument, place)))
        .collect()
}
