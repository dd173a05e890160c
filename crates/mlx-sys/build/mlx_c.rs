//! mlx-c's sources, which the published mlx-sys carries: none of its code is copied into this crate.

use std::path::{Path, PathBuf};

use cargo_metadata::MetadataCommand;

use crate::error::BuildError;

pub const VARIABLE: &str = "MLX_C_ROOT";

const PACKAGE: &str = "mlx-sys";
const PACKAGE_VERSION: &str = "0.7.0";

/// The folder that holds `mlx/c`.
pub fn locate(manifest_dir: &Path, out_dir: &Path) -> Result<PathBuf, BuildError> {
    let root = match std::env::var_os(VARIABLE)
        .filter(|root| !root.is_empty())
        .map(PathBuf::from)
    {
        Some(root) if root.is_relative() => {
            return Err(BuildError::RelativePath {
                variable: VARIABLE,
                path: root,
            });
        }
        Some(root) => root,
        None => published(manifest_dir, out_dir)?,
    };
    for file in ["mlx/c/mlx.h", "mlx/c/array.cpp"] {
        if !root.join(file).is_file() {
            return Err(BuildError::IncompleteMlxC {
                root,
                missing: file.to_owned(),
            });
        }
    }
    Ok(root)
}

/// Asks cargo where the published package lies; cargo downloads it if need be.
///
/// The question is put through a workspace of its own, which no `[patch]` reaches. Cargo reads its configuration
/// (vendored sources, mirrors) from the current folder upwards. The user's is above this package when that is
/// vendored or part of their workspace, else usually above the build output.
fn published(manifest_dir: &Path, out_dir: &Path) -> Result<PathBuf, BuildError> {
    let manifest = manifest_dir.join("upstream/Cargo.toml");
    ask(&manifest, manifest_dir).or_else(|first| ask(&manifest, out_dir).map_err(|_| first))
}

fn ask(manifest: &Path, folder: &Path) -> Result<PathBuf, BuildError> {
    let failed = |detail: String| BuildError::MlxCNotLocated {
        version: PACKAGE_VERSION,
        detail,
    };
    let mut command = MetadataCommand::new();
    command
        .manifest_path(manifest)
        .current_dir(folder)
        .other_options(["--locked".to_owned()]);
    for variable in OUTER_BUILD {
        command.env_remove(variable);
    }
    let metadata = command
        .exec()
        .map_err(|error| failed(one_line(&error.to_string())))?;
    let package = metadata
        .packages
        .iter()
        .find(|package| package.name == PACKAGE && package.version.to_string() == PACKAGE_VERSION)
        .ok_or_else(|| failed(format!("`{}` does not name it", manifest.display())))?;
    let root = package
        .manifest_path
        .parent()
        .map(|folder| folder.join("src/mlx-c").into_std_path_buf());
    root.ok_or_else(|| failed("its manifest has no folder".to_owned()))
}

/// Variables that say how the outer cargo builds. The inner one builds nothing and must not be led astray by them, for
/// example to a compiler wrapper that only works within the outer build.
const OUTER_BUILD: [&str; 8] = [
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_TARGET_DIR",
    "CARGO_MAKEFLAGS",
    "MAKEFLAGS",
];

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
