//! Evaluations: events of a trace.

use serde::{Deserialize, Serialize};

use super::call::CallId;
use super::stack::SourceLine;
use super::value::ValueId;

/// One evaluation during capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluation {
    pub(crate) function: &'static str,
    pub(crate) kind: EvaluationKind,
    pub(crate) values: Vec<ValueId>,
    pub(crate) after: Option<CallId>,
    pub(crate) inside: bool,
    pub(crate) source: Option<SourceLine>,
}

/// Whether the model asked for an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvaluationKind {
    /// `eval` or `async_eval` was called.
    Explicit,
    /// Data was read: `item`, `as_slice`, printing, saving.
    Implicit,
}

impl Evaluation {
    /// The mlx-c function that evaluated or, for an implicit evaluation, read.
    pub fn function(&self) -> &'static str {
        self.function
    }

    /// Whether the model asked for it.
    pub fn kind(&self) -> EvaluationKind {
        self.kind
    }

    /// The recorded values among what was evaluated.
    pub fn values(&self) -> &[ValueId] {
        &self.values
    }

    /// The last call recorded before it.
    pub fn after(&self) -> Option<CallId> {
        self.after
    }

    /// The line of the model that it comes from, where stacks were taken down and lines are known.
    pub fn source(&self) -> Option<&SourceLine> {
        self.source.as_ref()
    }

    /// Whether it happened inside a transform's closure.
    pub fn inside_transform(&self) -> bool {
        self.inside
    }
}
