//! Seeded faults: what keeps the validator honest.
//!
//! A mutant is a trace with one fault. Each must be flagged, with a reason that fits; a validator that does not has
//! let it survive.

use mlx_rs::Array;

use crate::capture::{CallId, Origin, Recorded, Trace, ValueId};
use crate::graph::{self, GraphError};
use crate::validate::Status;
use crate::vocabulary::{Decision, Reason, State};

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// A call is removed.
    CallDropped,
    /// One bit of a result's payload is flipped.
    BitFlipped,
    /// An operand is exchanged for another recorded value of the same shape and dtype.
    ParentReplaced,
}

impl Fault {
    /// Every kind.
    pub const ALL: &'static [Fault] = &[Self::CallDropped, Self::BitFlipped, Self::ParentReplaced];

    /// Its name in outcomes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CallDropped => "call_dropped",
            Self::BitFlipped => "bit_flipped",
            Self::ParentReplaced => "parent_replaced",
        }
    }

    /// The reasons that fit it.
    pub const fn fitting(self) -> &'static [Reason] {
        match self {
            Self::CallDropped => &[Reason::ReplayCoverageIncomplete],
            Self::BitFlipped => &[Reason::ReplayMismatch],
            Self::ParentReplaced => &[
                Reason::DeclaredParentsInconsistent,
                Reason::ReplayMismatch,
                Reason::ReplayCoverageIncomplete,
            ],
        }
    }

    /// Seeds the fault at a call; false where the call offers no place for it.
    ///
    /// # Errors
    ///
    /// A payload that cannot be read.
    pub fn seed(self, trace: &mut Trace, at: CallId) -> Result<bool, GraphError> {
        trace.evaluate()?;
        match self {
            Self::CallDropped => Ok(drop_call(trace, at)),
            Self::BitFlipped => flip_bit(trace, at),
            Self::ParentReplaced => Ok(replace_parent(trace, at)),
        }
    }
}

/// A fault that was seeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutant {
    /// What kind.
    pub fault: Fault,
    /// The label of the op whose call it was seeded in.
    pub op: String,
}

/// What a validator made of a mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flagged {
    /// Failed, with a reason that fits the fault.
    Fitting(Reason),
    /// Failed, but with another reason.
    Unfitting(Reason),
    /// Not failed: the mutant survived.
    Not,
}

/// A number that chooses a fault and a place for a name; the 64-bit FNV-1a hash (Fowler, Noll, Vo).
pub fn choice(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Seeds one fault, which `choice` picks: the kind, and the first call from a starting point that offers a place.
/// `None` where no call offers a place for any kind.
pub fn seed_one(trace: &mut Trace, choice: u64) -> Option<Mutant> {
    let calls = trace.calls.len();
    let kinds = Fault::ALL.len();
    let labels = trace.ops();
    for kind in 0..kinds {
        let fault = Fault::ALL[(choice as usize + kind) % kinds];
        for step in 0..calls {
            let at = CallId((((choice >> 8) as usize + step) % calls) as u32);
            let op = labels
                .iter()
                .find(|op| op.calls().contains(&at))
                .map(|op| op.label());
            if fault.seed(trace, at).unwrap_or(false) {
                return Some(Mutant {
                    fault,
                    op: op.unwrap_or_default(),
                });
            }
        }
    }
    None
}

/// Whether a status flags a fault, and whether with a reason that fits.
pub fn flagged(status: &Status, fault: Fault) -> Flagged {
    if status.state() != State::Failed {
        return Flagged::Not;
    }
    let gap = (!status.gaps().is_empty()).then_some(Reason::ReplayCoverageIncomplete);
    let reasons: Vec<Reason> = status
        .calls()
        .iter()
        .filter(|decision| decision.decision() == Decision::Failed)
        .filter_map(|decision| decision.reason())
        .chain(gap)
        .collect();
    match (
        reasons.iter().find(|reason| fault.fitting().contains(reason)),
        reasons.first(),
    ) {
        (Some(reason), _) => Flagged::Fitting(*reason),
        (None, Some(reason)) => Flagged::Unfitting(*reason),
        (None, None) => Flagged::Not,
    }
}

fn drop_call(trace: &mut Trace, at: CallId) -> bool {
    let Some(call) = trace.calls.get(at.index()) else {
        return false;
    };
    // A call that only gives back its operands makes no value: without it nothing is missing.
    if !call.results.is_empty()
        && call
            .results
            .iter()
            .all(|result| call.operands().any(|it| it == *result))
    {
        return false;
    }
    trace.calls.remove(at.index());
    true
}

fn flip_bit(trace: &mut Trace, at: CallId) -> Result<bool, GraphError> {
    let Some(&result) = trace.calls.get(at.index()).and_then(|call| call.results.first()) else {
        return Ok(false);
    };
    // An alias shares its payload with an operand: both would change alike.
    if !matches!(trace.values[result.index()].origin, Origin::Result { call, .. } if call == at) {
        return Ok(false);
    }
    let Some(payload) = trace.values[result.index()].payload() else {
        return Ok(false);
    };
    let memory = graph::span(payload)?;
    let width = payload.item_size();
    // The first element that one bit makes another one: of a NaN it makes a NaN.
    for place in (width.saturating_sub(1) / 2..memory.len()).step_by(width) {
        let mut memory = memory.clone();
        memory[place] ^= 1;
        let changed: Array = graph::respan(payload, &memory)?;
        if !graph::compare(payload, &changed)?.is_none() {
            trace.values[result.index()].payload = Some(changed);
            return Ok(true);
        }
    }
    Ok(false)
}

fn replace_parent(trace: &mut Trace, at: CallId) -> bool {
    let Some(call) = trace.calls.get(at.index()) else {
        return false;
    };
    let Some((place, old)) = call
        .arguments
        .iter()
        .enumerate()
        .find_map(|(i, argument)| argument.operands().first().map(|old| (i, *old)))
    else {
        return false;
    };
    let likeness = |value: ValueId| {
        let value = trace.value(value);
        (value.shape().to_vec(), value.dtype())
    };
    let declared: Vec<ValueId> = call.operands().collect();
    let other = (0..old.0).map(ValueId).find(|value| {
        !declared.contains(value)
            && likeness(*value) == likeness(old)
            && trace.value(*value).payload().is_some()
    });
    let Some(other) = other else { return false };
    let argument: &mut Recorded = &mut trace.calls[at.index()].arguments[place];
    match argument.operands_mut().first_mut() {
        Some(operand) => *operand = other,
        None => return false,
    }
    true
}
