//! What can go wrong in reading or replaying MLX's graph.

use std::ffi::CStr;

use mlx_sys::raw;

/// MLX threw while its graph was being `doing`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{doing}: {message}")]
pub struct GraphError {
    /// What was being done.
    pub doing: &'static str,
    /// MLX's message.
    pub message: String,
}

/// The thread's last failure as an error, if `status` says that there was one.
pub(super) fn check(status: i32, doing: &'static str) -> Result<(), GraphError> {
    if status == 0 {
        return Ok(());
    }
    // SAFETY: the message lives until this thread's next failure; it is copied at once.
    let message = unsafe { CStr::from_ptr(raw::mlx_graph_error()) }
        .to_string_lossy()
        .into_owned();
    Err(GraphError { doing, message })
}
