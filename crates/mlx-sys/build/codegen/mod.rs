//! Writes the observable half of the crate from bindgen's output.
//!
//! `declaration` reads the generated `extern "C"` items with `syn`, `classify` says what each function is to an
//! observer, `roles` adds what an operand means to a perturbation, and `emit` writes the wrappers, the table of
//! functions and the replay entry points to one file.

mod classify;
mod declaration;
mod emit;
mod roles;

use std::path::{Path, PathBuf};

pub use self::classify::ClassifyError;
pub use self::declaration::DeclarationError;
pub use self::roles::RolesError;

/// How many array operations this version of mlx-c has: a bump of mlx-c shows here first.
const OPERATIONS: usize = 334;

/// Why the observable half could not be generated.
#[derive(Debug, thiserror::Error)]
pub enum CodegenError {
    #[error("reading the generated bindings {path}")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("writing the generated wrappers {path}")]
    Write { path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    Declaration(#[from] DeclarationError),
    #[error(transparent)]
    Classify(#[from] ClassifyError),
    #[error(transparent)]
    Roles(#[from] RolesError),
    #[error(
        "mlx-c declares {found} array operations where {OPERATIONS} were expected: the version of mlx-c changed; \
         read what was added or removed, then set OPERATIONS in build/codegen/mod.rs"
    )]
    OperationCount { found: usize },
    #[error("the generated wrappers do not parse, which is a fault of build/codegen/emit.rs")]
    Emit(#[from] syn::Error),
}

/// Reads `bindings` and writes `observed.rs` beside it, in `out_dir`.
///
/// `roles` is the override file for the roles of operands; see its own comment.
pub fn generate(bindings: &Path, roles: &Path, out_dir: &Path) -> Result<(), CodegenError> {
    let source = std::fs::read_to_string(bindings).map_err(|source| CodegenError::Read {
        path: bindings.to_path_buf(),
        source,
    })?;
    let declarations = declaration::read(&source)?;
    let functions = classify::classify(&declarations)?;
    let operations = functions
        .iter()
        .filter(|f| f.class == classify::Class::Operation)
        .count();
    if operations != OPERATIONS {
        return Err(CodegenError::OperationCount { found: operations });
    }
    let roles = roles::Roles::load(roles)?;
    let assigned = roles.assign(&functions)?;
    let path = out_dir.join("observed.rs");
    let text = emit::emit(&functions, &assigned)?;
    std::fs::write(&path, text).map_err(|source| CodegenError::Write { path, source })
}
