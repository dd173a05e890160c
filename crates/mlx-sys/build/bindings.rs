//! Rust declarations of mlx-c and of this crate's own C functions, with the published crate's settings.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::error::BuildError;
use crate::files;
use crate::native::COMPAT;

/// Writes `bindings.rs` into `out_dir` and returns its path.
pub fn generate(
    mlx_c_root: &Path,
    native_dir: &Path,
    clang_arguments: &[String],
    out_dir: &Path,
) -> Result<PathBuf, BuildError> {
    let failed = |detail: String| BuildError::Bindings { detail };
    // The published crate's choice: the oldest compiler it supports.
    let rust_target = "1.73.0".parse().map_err(|error| failed(format!("{error}")))?;
    let mut builder = bindgen::Builder::default()
        .rust_target(rust_target)
        .clang_arg(format!("-I{}", mlx_c_root.display()))
        .clang_arg("-DMLX_SYS_BINDINGS")
        .clang_arg("-include")
        .clang_arg(native_dir.join(COMPAT).to_string_lossy())
        .clang_args(clang_arguments)
        // Their sizes as C types trip a lint of newer compilers.
        .blocklist_function("malloc")
        .blocklist_function("realloc")
        // The crate declares it: mlx-rs expects a tuple struct, and C has nothing that bindgen makes one of.
        .blocklist_type("float16_t")
        .parse_callbacks(Box::new(bindgen::CargoCallbacks::new()));
    for header in headers(mlx_c_root, native_dir)? {
        builder = builder.header(header.to_string_lossy());
    }
    let bindings = builder.generate().map_err(|error| failed(error.to_string()))?;
    let path = out_dir.join("bindings.rs");
    bindings
        .write_to_file(&path)
        .map_err(|source| BuildError::file("write", &path, source))?;
    Ok(path)
}

/// mlx-c's headers and this crate's own, but for the one that is included before all others anyway.
fn headers(mlx_c_root: &Path, native_dir: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let mut headers = files::with_extension(&mlx_c_root.join("mlx/c"), "h")?;
    headers.extend(files::with_extension(native_dir, "h")?);
    headers.retain(|header| header.file_name() != Some(OsStr::new(COMPAT)));
    Ok(headers)
}
