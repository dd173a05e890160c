//! One fault seeded, judged and taken back; and all of them, at places chosen deterministically.

use std::collections::BTreeMap;

use crate::capture::{CallId, Trace};
use crate::graph::GraphError;
use crate::validate::engine::revalidate;
use crate::validate::status::Partial;
use crate::vocabulary::{Decision, Reason};

use super::equivalent::proof;
use super::saved::Saved;
use super::Fault;

/// A fault that was seeded, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// What kind.
    pub fault: Fault,
    /// The call it was seeded at.
    pub call: CallId,
    /// The label of that call's op.
    pub op: String,
    /// What became of it.
    pub fate: Fate,
}

/// What became of a mutant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// Failed, with a reason that fits the fault.
    Killed(Reason),
    /// Failed, but with another reason.
    Misnamed(Reason),
    /// Not failed.
    Survived,
    /// Not failed, and proven to be no fault; how it was proven.
    Equivalent(String),
}

/// Every kind of fault on one trace.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// What was tried, by kind and call.
    pub attempts: Vec<Attempt>,
    /// For each kind, how many places were left out; kinds that left out none are missing.
    pub left_out: BTreeMap<Fault, usize>,
}

/// A number that chooses a fault and a place for a name; the 64-bit FNV-1a hash (Fowler, Noll, Vo).
pub fn choice(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Seeds one fault at one call, validates again the calls that it touches, and takes it back; `None` where the call
/// offers no place for it.
///
/// # Errors
///
/// A payload that cannot be computed or read.
pub fn attempt(trace: &mut Trace, fault: Fault, at: CallId) -> Result<Option<Attempt>, GraphError> {
    trace.evaluate()?;
    let saved = Saved::of(trace);
    let touched = match fault.seed(trace, at) {
        Ok(Some(touched)) => touched,
        Ok(None) => return Ok(None),
        Err(error) => {
            saved.restore(trace);
            return Err(error);
        }
    };
    let partial = revalidate(trace, &touched.calls_of(trace));
    let fate = match judged(&partial, fault) {
        Some(fate) => fate,
        None => proof(&saved, trace, &touched).map_or(Fate::Survived, Fate::Equivalent),
    };
    saved.restore(trace);
    let label = trace.ops().into_iter().find(|op| op.calls().contains(&at));
    Ok(Some(Attempt {
        fault,
        call: at,
        op: label.map(|op| op.label()).unwrap_or_default(),
        fate,
    }))
}

/// Killed or misnamed; `None` where the trace would still pass. A fault may also be flagged as unproven, where that
/// is what fits: the trace passed before.
fn judged(partial: &Partial, fault: Fault) -> Option<Fate> {
    let gap = (!partial.gaps.is_empty()).then_some(Reason::ReplayCoverageIncomplete);
    let reasons: Vec<Reason> = partial
        .calls
        .iter()
        .filter(|decision| decision.decision() == Decision::Failed)
        .filter_map(|decision| decision.reason())
        .chain(gap)
        .collect();
    let fitting = reasons.iter().find(|reason| fault.fitting().contains(reason));
    let unproven = || {
        let decisions = partial
            .calls
            .iter()
            .filter(|it| it.decision() == Decision::Unproven);
        decisions
            .filter_map(|decision| decision.reason())
            .find(|reason| fault.fitting().contains(reason))
    };
    match (fitting, reasons.first()) {
        (Some(reason), _) => Some(Fate::Killed(*reason)),
        (None, Some(reason)) => Some(Fate::Misnamed(*reason)),
        (None, None) => unproven().map(Fate::Killed),
    }
}

/// The calls in the order in which `choice` looks for a place.
fn order(trace: &Trace, choice: u64) -> impl Iterator<Item = CallId> {
    let calls = trace.calls().len();
    let start = (choice >> 8) as usize;
    (0..calls).map(move |step| CallId(((start % calls + step) % calls) as u32))
}

/// Seeds the one fault that `choice` picks: the kind, and the first place from a starting point; where there is no
/// place, or only mutants that are proven equivalent, the next kind. `None` where no kind has any.
///
/// # Errors
///
/// As [`attempt`].
pub fn one(trace: &mut Trace, choice: u64) -> Result<Option<Attempt>, GraphError> {
    let kinds = Fault::ALL.len();
    let start = (choice % kinds as u64) as usize;
    for step in 0..kinds {
        if let Some(found) = first_of(trace, Fault::ALL[(start + step) % kinds], choice)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The first mutant of a kind that is not proven equivalent.
fn first_of(trace: &mut Trace, fault: Fault, choice: u64) -> Result<Option<Attempt>, GraphError> {
    for at in order(trace, choice) {
        match attempt(trace, fault, at)? {
            None
            | Some(Attempt {
                fate: Fate::Equivalent(_),
                ..
            }) => {}
            found => return Ok(found),
        }
    }
    Ok(None)
}

/// Seeds every kind of fault, each at no more than `bound` places spread over the trace; the one that [`one`] picks
/// is among them.
///
/// # Errors
///
/// As [`attempt`].
pub fn all(trace: &mut Trace, bound: usize, choice: u64) -> Result<Report, GraphError> {
    trace.evaluate()?;
    let mut report = Report::default();
    for &fault in Fault::ALL {
        let mut fitting = Vec::new();
        for at in order(trace, choice) {
            let saved = Saved::of(trace);
            if fault.seed(trace, at)?.is_some() {
                fitting.push(at);
                saved.restore(trace);
            }
        }
        let count = fitting.len().min(bound);
        let mut chosen: Vec<CallId> = (0..count)
            .map(|step| fitting[step * fitting.len() / count])
            .collect();
        let mut attempts = BTreeMap::new();
        // What a run picks, which may lie behind mutants that are equivalent.
        if let Some(found) = first_of(trace, fault, choice)? {
            chosen.retain(|at| *at != found.call);
            attempts.insert(found.call, found);
        }
        for at in chosen {
            if let Some(found) = attempt(trace, fault, at)? {
                attempts.insert(at, found);
            }
        }
        let left_out = fitting.len() - attempts.len();
        if left_out > 0 {
            report.left_out.insert(fault, left_out);
        }
        report.attempts.extend(attempts.into_values());
    }
    Ok(report)
}
