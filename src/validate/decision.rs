//! What validation concluded about one call or one op.

use std::fmt;

use crate::capture::{CallId, ValueId};
use crate::graph::Difference;
use crate::vocabulary::{Decision, Reason};

use super::candidate::Candidate;
use super::contrast::Contrast;

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
    pub(crate) function: &'static str,
    /// Empty where only some calls were validated.
    pub(crate) op: String,
    pub(crate) decision: Decision,
    pub(crate) reason: Option<Reason>,
    pub(crate) detail: Detail,
    pub(crate) routes: Routes,
    pub(crate) distance: f64,
    pub(crate) proofs: Vec<Proof>,
}

/// What showed a result of a call to depend on one of its operands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The operand.
    pub operand: Operand,
    /// The parameter's name; `captured` for what a closure read beside its arguments.
    pub parameter: &'static str,
    /// The value passed there.
    pub value: ValueId,
    /// The candidate that changed a result, and how; `None` where none did.
    pub found: Option<(Candidate, Reaction)>,
}

/// How a call reacted to a perturbed operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    /// Elements of a result changed.
    Values,
    /// Something else than elements changed: extents, the type, or whether it runs at all.
    Otherwise,
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
        /// Expected against found.
        contrast: Contrast,
    },
    /// Over one perturbation of the operands, the two routes computed different results: what the record says of the
    /// call is not what MLX's graph holds, even where both give the saved payload.
    RoutesPart {
        /// Which result.
        result: usize,
        /// What the function gave against what the graph gave.
        contrast: Contrast,
    },
    /// What is recorded of an array is not what the array is.
    Metadata {
        /// The value.
        value: ValueId,
        /// Recorded against held.
        contrast: Contrast,
    },
    /// A constant or literal had other bits when only the inputs were changed.
    Changed {
        /// The value.
        value: ValueId,
        /// Its bits in the first capture against those in the second.
        contrast: Contrast,
    },
    /// A function that the transform ran evaluated something, which cuts MLX's graph.
    Evaluated {
        /// The function that evaluated.
        function: &'static str,
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

    /// The label of the op that it belongs to.
    pub fn op(&self) -> &str {
        &self.op
    }

    /// How far a replay lay from the saved payload at most, relative to 1 + its size: 0 where bits must agree.
    pub fn distance(&self) -> f64 {
        self.distance
    }

    /// Each operand, and what showed a result to depend on it.
    pub fn proofs(&self) -> &[Proof] {
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
                ..
            } => {
                write!(f, "{route} replay of result {result} differs ")?;
                match difference {
                    Difference::None => write!(f, "in nothing"),
                    Difference::Shape => write!(f, "in shape"),
                    Difference::Dtype => write!(f, "in dtype"),
                    Difference::Values { count: 1, first } => write!(f, "in 1 element, at {first}"),
                    Difference::Values { count, first } => {
                        write!(f, "in {count} elements, the first at {first}")
                    }
                }
            }
            Self::ReplayFailed { route, message } => write!(f, "{route} replay failed: {message}"),
            Self::RoutesPart { result, .. } => write!(
                f,
                "over perturbed operands, result {result} of the function is not that of MLX's graph"
            ),
            Self::Metadata { value, .. } => write!(f, "value {} is not of the recorded kind", value.0),
            Self::Changed { value, .. } => {
                write!(f, "value {} changed when only the inputs did", value.0)
            }
            Self::Evaluated { function } => write!(
                f,
                "{function} ran inside the transform, which cuts MLX's graph: some edges cannot be seen"
            ),
            Self::Parent { message, .. } | Self::Gap { message } => f.write_str(message),
            Self::Operand { parameter, operand } => write!(f, "operand {parameter}[{}]", operand.place),
        }
    }
}

impl Detail {
    /// Expected against found, where a failure has both.
    pub fn contrast(&self) -> Option<&Contrast> {
        match self {
            Self::Mismatch { contrast, .. }
            | Self::RoutesPart { contrast, .. }
            | Self::Metadata { contrast, .. }
            | Self::Changed { contrast, .. } => Some(contrast),
            _ => None,
        }
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}[{}] value {}: ",
            self.parameter, self.operand.place, self.value.0
        )?;
        match self.found {
            None => write!(f, "no candidate changed a result"),
            Some((candidate, Reaction::Values)) => write!(f, "{candidate} changed a result"),
            Some((candidate, Reaction::Otherwise)) => write!(f, "{candidate} changed the kind of result"),
        }
    }
}

impl fmt::Display for CallDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} call {} {}: {}",
            self.op,
            self.call.0 + 1,
            self.function,
            self.decision
        )?;
        if let Some(reason) = self.reason {
            write!(f, ", {reason}")?;
        }
        let routes = match (self.routes.function, self.routes.graph) {
            (true, true) => "replayed by both routes",
            (true, false) => "replayed by the function",
            (false, true) => "replayed by MLX's graph",
            (false, false) => "not replayed",
        };
        if !matches!(self.decision, Decision::Failed) {
            write!(f, "; {routes}")?;
        }
        if self.distance > 0.0 {
            write!(f, ", {:e} apart", self.distance)?;
        }
        if self.detail != Detail::None {
            write!(f, "\n  {}", self.detail)?;
        }
        if let Some(contrast) = self.detail.contrast() {
            for line in contrast.to_string().lines() {
                write!(f, "\n    {line}")?;
            }
        }
        // Where nothing was replayed, nothing was perturbed either.
        if self.decision != Decision::Failed && (self.routes.function || self.routes.graph) {
            for proof in &self.proofs {
                write!(f, "\n  {proof}")?;
            }
        }
        Ok(())
    }
}
