//! Why there is nothing to compare with.

use crate::vocabulary::DType;

/// Why there is nothing to compare with.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoReference {
    /// The cell computes more than one function, or a layer.
    #[error("there is a reference for one function only, not for layers or several steps")]
    Program,
    /// The function is not in the table.
    #[error("there is no reference for `{function}`")]
    Function {
        /// The function.
        function: String,
    },
    /// The function's reference does not cover what the cell asks for.
    #[error("the reference for `{function}` does not cover {what}")]
    NotCovered {
        /// The function.
        function: String,
        /// What is not covered.
        what: String,
    },
    /// The function's reference does not cover the element type.
    #[error("the reference does not cover {0} here")]
    DType(DType),
}
