//! The state of a trace, with one decision per op.

use std::fmt;

use crate::vocabulary::{Decision, State};

use super::decision::{CallDecision, OpDecision};
use super::inside::Inside;

/// How much validation did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// Replays, by both routes together.
    pub replays: u64,
    /// Perturbed replays.
    pub perturbations: u64,
}

/// What validation makes of a trace: a state, never a bool, with a decision for each call and each op.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    pub(crate) state: State,
    pub(crate) message: String,
    pub(crate) calls: Vec<CallDecision>,
    pub(crate) ops: Vec<OpDecision>,
    pub(crate) gaps: Vec<String>,
    pub(crate) work: Work,
    pub(crate) insides: Vec<Inside>,
}

/// What validation makes of some calls of a trace.
pub(super) struct Partial {
    pub(super) calls: Vec<CallDecision>,
    pub(super) gaps: Vec<String>,
}

impl Status {
    /// The state.
    pub fn state(&self) -> State {
        self.state
    }

    /// One line: the first offending op and why, or what was shown.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// One decision per call, in order.
    pub fn calls(&self) -> &[CallDecision] {
        &self.calls
    }

    /// One decision per op, in the order of [`Trace::ops`](crate::Trace::ops).
    pub fn ops(&self) -> &[OpDecision] {
        &self.ops
    }

    /// What no call answers for: outputs and values that no recorded call gave.
    pub fn gaps(&self) -> &[String] {
        &self.gaps
    }

    /// The insides of the calls that ran a closure, in the order of [`Trace::transforms`](crate::Trace::transforms); none
    /// where nothing could be replayed.
    pub fn insides(&self) -> &[Inside] {
        &self.insides
    }

    /// How much was done.
    pub fn work(&self) -> Work {
        self.work
    }

    /// How many ops have this decision.
    pub fn count(&self, decision: Decision) -> usize {
        self.ops.iter().filter(|op| op.decision == decision).count()
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} ops verified, {} exempt, {} unproven, {} failed; {} replays, {} perturbations",
            self.state,
            self.count(Decision::Verified),
            self.count(Decision::Exempt),
            self.count(Decision::Unproven),
            self.count(Decision::Failed),
            self.work.replays,
            self.work.perturbations,
        )?;
        if !self.message.is_empty() {
            write!(f, "\n{}", self.message)?;
        }
        Ok(())
    }
}
