//! The capture backends by name. There is one, `mlx`.

use crate::capability::RefusalCode;
use crate::capture::{BackendUnsupportedError, Trace};
use crate::validate::{validate, Status};

/// A capture backend.
#[derive(Debug)]
pub struct Backend {
    name: &'static str,
}

/// The backend called `name`.
///
/// # Errors
///
/// There is one backend, `mlx`: any other name is refused with the code `unknown_backend`.
pub fn spec(name: &str) -> Result<&'static Backend, BackendUnsupportedError> {
    static MLX: Backend = Backend { name: "mlx" };
    match name {
        "mlx" => Ok(&MLX),
        _ => {
            let message = format!("there is no capture backend called {name:?}");
            Err(BackendUnsupportedError::new(RefusalCode::UnknownBackend, message))
        }
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
