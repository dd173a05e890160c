//! Calling a function again from recorded arguments.

use std::ffi::c_int;

use crate::error;
use crate::function::{Argument, Function, Returned};
use crate::raw;

/// The status of a generated entry point whose arguments are not the function's.
pub(crate) const MISMATCH: c_int = -0x6d6c78;

/// Why a function could not be called again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InvokeError {
    /// Something that the function reads cannot be recorded.
    NotInvocable(&'static str),
    /// The arguments are not of the function's kinds, or not as many.
    Arguments(&'static str),
    /// MLX reported an error.
    Mlx {
        /// The function.
        function: &'static str,
        /// MLX's message.
        message: String,
    },
}

impl std::fmt::Display for InvokeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotInvocable(name) => write!(
                f,
                "{name} reads what cannot be recorded, so it cannot be called again"
            ),
            Self::Arguments(name) => write!(f, "the arguments given are not those of {name}"),
            Self::Mlx { function, message } => write!(f, "{function} failed: {message}"),
        }
    }
}

impl std::error::Error for InvokeError {}

/// Calls `function`, unobserved, and gives what it yields as owned handles in the order of its results.
///
/// # Safety
///
/// The handles among `arguments` are valid, and their streams belong to this thread.
///
/// # Errors
///
/// See [`InvokeError`]; nothing is left behind.
pub unsafe fn invoke(
    function: &'static Function,
    arguments: &[Argument<'_>],
) -> Result<Vec<Returned>, InvokeError> {
    let entry = function.invoke.ok_or(InvokeError::NotInvocable(function.name))?;
    let mut results = Vec::with_capacity(function.results.len());
    // SAFETY: the entry point checks the kinds; the handles are the caller's promise.
    let (status, message) = error::collect(|| unsafe { entry(arguments, &mut results) });
    match status {
        0 => Ok(results),
        failed => {
            results.into_iter().for_each(free);
            if failed == MISMATCH {
                return Err(InvokeError::Arguments(function.name));
            }
            let message = message.unwrap_or_else(|| "no message".to_string());
            Err(InvokeError::Mlx {
                function: function.name,
                message,
            })
        }
    }
}

fn free(result: Returned) {
    // SAFETY: handles that `invoke` made and that nobody else has.
    unsafe {
        match result {
            Returned::Array(array) => raw::mlx_array_free(array),
            Returned::Arrays(arrays) => raw::mlx_vector_array_free(arrays),
        };
    }
}
