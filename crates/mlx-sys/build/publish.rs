//! What the build script tells cargo: how to link, when to run again, and what dependents may know.

use std::ffi::OsStr;
use std::path::Path;

use crate::cache;
use crate::mlx;
use crate::mlx_c;
use crate::wheel::MLX_VERSION;
use crate::Native;

pub fn link(native: &Native) {
    if let Some(folder) = native.library.parent() {
        println!("cargo:rustc-link-search=native={}", folder.display());
    }
    println!("cargo:rustc-link-lib=dylib=mlxc");
}

/// Dependents read these as `DEP_MLX_*`. The first three have the published crate's meaning; `observable` tells that
/// this is the crate whose calls can be watched.
pub fn metadata(native: &Native) {
    let include = native.include_dirs.iter().map(|folder| folder.as_os_str());
    // A path that holds the separator cannot be in the list, nor on most compilers' command lines.
    let include = include.collect::<Vec<_>>().join(OsStr::new(":"));
    println!("cargo::metadata=include={}", include.display());
    println!("cargo::metadata=defines=");
    println!("cargo::metadata=version={MLX_VERSION}");
    println!("cargo::metadata=observable=1");
    println!("cargo::metadata=root={}", native.mlx_root.display());
    println!("cargo::metadata=library={}", native.library.display());
}

/// Names all that the outcome depends on. bindgen and cc name their own inputs; which Python or index served a wheel makes
/// no difference to it. Naming what MLX and the C layer were put into makes a deleted cache come back.
pub fn rerun_conditions(native: &Native, manifest_dir: &Path) {
    for variable in [mlx::VARIABLE, mlx_c::VARIABLE, cache::VARIABLE] {
        println!("cargo:rerun-if-env-changed={variable}");
    }
    let own = [
        "native",
        "roles.toml",
        "upstream/Cargo.toml",
        "upstream/Cargo.lock",
    ]
    .map(|path| manifest_dir.join(path));
    let found = [
        native.mlx_c_root.join("mlx/c"),
        native.mlx_library.clone(),
        native.library.clone(),
    ];
    // Cargo would run the script each time for a file that is not there, as `upstream` is not in a vendored copy.
    for path in own.iter().chain(&found).filter(|path| path.exists()) {
        println!("cargo:rerun-if-changed={}", path.display());
    }
}
