//! What is written of a trace: its structure, as plain data.

use serde::{Deserialize, Serialize};

use super::argument::ArgumentDocument;
use crate::capture::{
    CallId, Captured, Closure, CompilePolicy, EvaluationKind, Output, PayloadPolicy, Replacement, Scope,
    ScopeId, Unwrapped, ValueId,
};
use crate::graph::Layout;
use crate::vocabulary::DType;

/// A trace, without its arrays.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TraceDocument {
    pub(super) inputs: Vec<ValueId>,
    pub(super) outputs: Vec<Output>,
    pub(super) parameters: Vec<(String, ValueId)>,
    /// The modules that were declared: address and class.
    pub(super) declared: Vec<(String, String)>,
    pub(super) values: Vec<ValueDocument>,
    pub(super) calls: Vec<CallDocument>,
    pub(super) scopes: Vec<Scope>,
    pub(super) transforms: Vec<TransformDocument>,
    pub(super) evaluations: Vec<EvaluationDocument>,
    pub(super) closures: Vec<Closure>,
    pub(super) replacements: Vec<Replacement>,
    pub(super) unwrapped: Vec<Unwrapped>,
    pub(super) failed: Vec<FailedDocument>,
    pub(super) compile: CompilePolicy,
    pub(super) payloads: PayloadPolicy,
    pub(super) halted: bool,
    /// What call stacks could not tell.
    pub(super) lacking: Option<String>,
}

/// A value.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ValueDocument {
    pub(super) origin: OriginDocument,
    pub(super) shape: Vec<i32>,
    pub(super) dtype: DType,
    pub(super) had_producer: bool,
    /// Whether it is a constant whose making MLX's graph showed.
    pub(super) lazy: bool,
    /// `None` where no payload was kept.
    pub(super) payload: Option<PayloadDocument>,
}

/// Where a value comes from.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub(super) enum OriginDocument {
    Input { path: String },
    Parameter { address: String },
    Constant,
    Result { call: CallId, index: u32 },
    Intervention,
    Unwrapped,
}

/// A payload, beside its elements.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PayloadDocument {
    pub(super) strides: Vec<i64>,
    pub(super) data_size: u64,
    pub(super) contiguous: bool,
    pub(super) row_contiguous: bool,
    pub(super) col_contiguous: bool,
    /// Of its elements.
    pub(super) digest: String,
}

impl PayloadDocument {
    pub(super) fn new(layout: Layout, digest: String) -> Self {
        Self {
            strides: layout.strides,
            data_size: layout.data_size,
            contiguous: layout.contiguous,
            row_contiguous: layout.row_contiguous,
            col_contiguous: layout.col_contiguous,
            digest,
        }
    }

    pub(super) fn layout(&self) -> Layout {
        Layout {
            strides: self.strides.clone(),
            data_size: self.data_size,
            contiguous: self.contiguous,
            row_contiguous: self.row_contiguous,
            col_contiguous: self.col_contiguous,
        }
    }
}

/// A call.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallDocument {
    pub(super) function: String,
    pub(super) arguments: Vec<ArgumentDocument>,
    pub(super) results: Vec<ValueId>,
    pub(super) captured: Vec<ValueId>,
    pub(super) scope: Option<ScopeId>,
    /// `src/model.rs:12`.
    pub(super) line: Option<String>,
}

/// The inside of a call that ran a closure; its derivative is part of MLX's graph, and stays behind.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TransformDocument {
    pub(super) call: CallId,
    pub(super) captured: Vec<Captured>,
    pub(super) given: Vec<Captured>,
    pub(super) arguments: Vec<Option<ValueId>>,
    pub(super) forward: TraceDocument,
}

/// An evaluation.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EvaluationDocument {
    pub(super) function: String,
    pub(super) kind: EvaluationKind,
    pub(super) values: Vec<ValueId>,
    pub(super) after: Option<CallId>,
    pub(super) inside: bool,
    pub(super) line: Option<String>,
}

/// A call that gave an error.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FailedDocument {
    pub(super) function: String,
    pub(super) operands: Vec<ValueId>,
    pub(super) after: usize,
}
