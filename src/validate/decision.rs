//! What validation concluded about one call or one op.

use std::fmt;

use crate::capture::{CallId, ValueId};
use crate::graph::Difference;
use crate::vocabulary::{Decision, Reason};

use super::candidate::Candidate;

/// By which routes a call was replayed, bit for bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Routes {
    /// Through the function.
    pub function: bool,
    /// Through the primitives of MLX's own graph.
    pub graph: bool,
}

/// A place of a call that an array is passed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Operand {
    /// The argument; the arguments' count for what a closure read beside them.
    pub argument: usize,
    /// The place in the argument's list; 0 for a lone array.
    pub place: usize,
}

/// What validation concluded about one call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallDecision {
    pub(crate) call: CallId,
    pub(crate) decision: Decision,
    pub(crate) reason: Option<Reason>,
    pub(crate) detail: Detail,
    pub(crate) routes: Routes,
    pub(crate) proofs: Vec<(Operand, Option<Candidate>)>,
}

/// What a decision rests on.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Detail {
    /// Nothing more to say.
    #[default]
    None,
    /// A replay gave something else.
    Mismatch {
        /// Through which route: `function` or `graph`.
        route: &'static str,
        /// Which result.
        result: usize,
        /// How it differs from the saved payload.
        difference: Difference,
    },
    /// A replay did not run.
    ReplayFailed {
        /// Through which route.
        route: &'static str,
        /// MLX's message.
        message: String,
    },
    /// The record and MLX's graph, or the function, disagree about a parent.
    Parent {
        /// The value.
        value: ValueId,
        /// What disagrees, one clause.
        message: String,
    },
    /// Something in between was never recorded.
    Gap {
        /// What is missing, one clause.
        message: String,
    },
    /// An operand that no candidate showed to matter, or whose payload is missing.
    Operand {
        /// The operand.
        operand: Operand,
        /// The parameter's name.
        parameter: &'static str,
    },
}

impl CallDecision {
    /// The call.
    pub fn call(&self) -> CallId {
        self.call
    }

    /// The decision.
    pub fn decision(&self) -> Decision {
        self.decision
    }

    /// Its reason, from the closed list; `None` for plainly verified.
    pub fn reason(&self) -> Option<Reason> {
        self.reason
    }

    /// What it rests on.
    pub fn detail(&self) -> &Detail {
        &self.detail
    }

    /// By which routes it was replayed.
    pub fn routes(&self) -> Routes {
        self.routes
    }

    /// Each operand, and the candidate that showed a result to depend on it.
    pub fn proofs(&self) -> &[(Operand, Option<Candidate>)] {
        &self.proofs
    }
}

/// What validation concluded about one op: its calls' decisions rolled up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpDecision {
    pub(crate) label: String,
    pub(crate) decision: Decision,
    pub(crate) reason: Option<Reason>,
    pub(crate) call: Option<CallId>,
    pub(crate) routes: Routes,
}

impl OpDecision {
    /// The op's label.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The decision.
    pub fn decision(&self) -> Decision {
        self.decision
    }

    /// Its reason.
    pub fn reason(&self) -> Option<Reason> {
        self.reason
    }

    /// The call that decided, where one did.
    pub fn call(&self) -> Option<CallId> {
        self.call
    }

    /// The routes by which all its calls were replayed.
    pub fn routes(&self) -> Routes {
        self.routes
    }
}

/// How bad a decision is: the worst call decides for its op.
pub(super) fn severity(decision: Decision) -> u8 {
    match decision {
        Decision::Exempt => 0,
        Decision::Verified => 1,
        Decision::Unproven => 2,
        Decision::Failed => 3,
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Mismatch {
                route,
                result,
                difference,
            } => {
                write!(f, "{route} replay of result {result} differs ")?;
                match difference {
                    Difference::None => write!(f, "in nothing"),
                    Difference::Shape => write!(f, "in shape"),
                    Difference::Dtype => write!(f, "in dtype"),
                    Difference::Values { count, first } => {
                        write!(f, "in {count} elements, the first at {first}")
                    }
                }
            }
            Self::ReplayFailed { route, message } => write!(f, "{route} replay failed: {message}"),
            Self::Parent { message, .. } | Self::Gap { message } => f.write_str(message),
            Self::Operand { parameter, operand } => write!(f, "operand {parameter}[{}]", operand.place),
        }
    }
}
