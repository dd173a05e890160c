//! The capture backends by name. There is one, `mlx`.

use crate::capture::Trace;
use crate::validate::{validate, Status};

/// A capture backend.
#[derive(Debug)]
pub struct Backend {
    name: &'static str,
}

/// No backend has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no capture backend called {name:?}; there is `mlx`")]
pub struct UnknownBackend {
    /// The name asked for.
    pub name: String,
}

/// The backend called `name`.
///
/// # Errors
///
/// There is one backend, `mlx`.
pub fn spec(name: &str) -> Result<&'static Backend, UnknownBackend> {
    static MLX: Backend = Backend { name: "mlx" };
    match name {
        "mlx" => Ok(&MLX),
        _ => Err(UnknownBackend {
            name: name.to_string(),
        }),
    }
}

impl Backend {
    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Replays and perturbs every call of a trace, and decides on every op.
    ///
    /// Cannot fail: what could not be done is part of the status. The `Result` leaves room for backends that can.
    ///
    /// # Errors
    ///
    /// None, for `mlx`.
    pub fn validate_trace(&self, trace: &Trace) -> Result<Status, std::convert::Infallible> {
        Ok(validate(trace))
    }
}
