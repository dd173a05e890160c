//! Why a case's program could not be built or run.

use mlx_rs::error::Exception;

use crate::capture::BackendUnsupportedError;

/// Why a case's program could not be built or run.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// MLX, or mlx-rs, refused.
    #[error("{doing}: {message}")]
    Mlx {
        /// What was being done.
        doing: String,
        /// MLX's message.
        message: String,
    },
    /// An argument is not what the table takes; `case` lets none through that it can see.
    #[error("{callee}: {parameter} must be {wanted}")]
    Argument {
        /// The layer or function.
        callee: String,
        /// The parameter.
        parameter: String,
        /// What it must be.
        wanted: &'static str,
    },
    /// A name that no table or step gives.
    #[error("{what} {name:?} does not exist")]
    Unknown {
        /// What kind of name it is.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The capture layer refused an input.
    #[error(transparent)]
    Refused(#[from] BackendUnsupportedError),
    /// A layer that takes more than one array stands where one array goes in and one comes out.
    #[error("{name} takes several arrays, so it cannot stand inside a container")]
    NotUnary {
        /// The layer.
        name: String,
    },
}

impl ModelError {
    /// An error of mlx-rs while `doing` something.
    pub fn mlx(doing: impl Into<String>, error: &Exception) -> Self {
        Self::Mlx {
            doing: doing.into(),
            message: without_place(error.what()).to_string(),
        }
    }
}

/// MLX's message without the place in mlx-rs's sources that it ends with: a path of one machine says nothing on
/// another.
fn without_place(message: &str) -> &str {
    match message.rfind(" at /") {
        Some(end) if message[end..].contains(".rs:") || message[end..].contains(".cpp:") => {
            message[..end].trim_end()
        }
        _ => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_sources_are_left_out() {
        assert_eq!(without_place("[add] no. at /home/a/b.cpp:12"), "[add] no.");
        assert_eq!(without_place("[add] look at /this"), "[add] look at /this");
    }
}
