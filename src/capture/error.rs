//! Why a capture ended without a trace.

use crate::capability::RefusalCode;
use crate::graph::GraphError;

/// The backend does not support what was asked for: the one refusal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}; {remedy}")]
pub struct BackendUnsupportedError {
    /// The code, of a closed list.
    pub code: RefusalCode,
    /// The capability that is missing, by id.
    pub capability: &'static str,
    /// What was refused.
    pub message: String,
    /// What to do instead.
    pub remedy: &'static str,
}

impl BackendUnsupportedError {
    /// The refusal with this code; capability and remedy are those of the table.
    pub fn new(code: RefusalCode, message: impl Into<String>) -> Self {
        let row = code.capability();
        Self {
            code,
            capability: row.id,
            message: message.into(),
            remedy: row.remedy,
        }
    }
}

/// Why a capture failed, other than by the model's own error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CaptureError {
    /// The backend refused.
    #[error(transparent)]
    Unsupported(#[from] BackendUnsupportedError),
    /// MLX's graph could not be read.
    #[error("capturing a forward")]
    Graph(#[from] GraphError),
}

/// Why a forward gave no trace.
#[derive(Debug, thiserror::Error)]
pub enum TraceError<E> {
    /// The capture failed.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The model's own error, unchanged.
    #[error(transparent)]
    Model(E),
}

impl<E> TraceError<E> {
    /// The refusal, if it is one.
    pub fn refusal(&self) -> Option<&BackendUnsupportedError> {
        match self {
            Self::Capture(CaptureError::Unsupported(refusal)) => Some(refusal),
            _ => None,
        }
    }
}
