//! Builds mlx-sys from prebuilt MLX: the order of the steps. Each step is a module, which says why it is as it is.

mod bindings;
mod cache;
mod codegen;
mod compiler;
mod digest;
mod error;
mod files;
mod libclang;
mod link;
mod mlx;
mod mlx_c;
mod native;
mod nvidia;
mod pip;
mod publish;
mod target;
mod units;
mod wheel;

use std::path::PathBuf;

use error::BuildError;

/// What the native half of the build made.
#[derive(Debug)]
pub struct Native {
    /// The folder of MLX that holds `include` and `lib`.
    pub mlx_root: PathBuf,
    /// MLX's own shared library.
    pub mlx_library: PathBuf,
    /// The folder that holds mlx-c's `mlx/c`.
    pub mlx_c_root: PathBuf,
    /// All folders that C++ code using MLX and mlx-c must have on its include path.
    pub include_dirs: Vec<PathBuf>,
    /// The shared library of the C layer, in the cache.
    pub library: PathBuf,
    /// `bindings.rs`, as bindgen wrote it, in `OUT_DIR`.
    pub bindings: PathBuf,
}

fn main() {
    if let Err(error) = run() {
        report(&error);
    }
}

fn run() -> Result<(), BuildError> {
    let manifest_dir = cargo_folder("CARGO_MANIFEST_DIR")?;
    let out_dir = cargo_folder("OUT_DIR")?;
    let native = prepare(&manifest_dir, &out_dir)?;
    codegen::generate(&native.bindings, &manifest_dir.join("roles.toml"), &out_dir)?;
    publish::link(&native);
    publish::metadata(&native);
    publish::rerun_conditions(&native, &manifest_dir);
    Ok(())
}

fn prepare(manifest_dir: &std::path::Path, out_dir: &std::path::Path) -> Result<Native, BuildError> {
    let native_dir = manifest_dir.join("native");
    let target = target::Target::from_cargo()?;
    let cache = cache::Cache::open(out_dir)?;
    let mlx = mlx::locate(&target, &cache)?;
    let mlx_c_root = mlx_c::locate(manifest_dir, out_dir)?;
    let clang_arguments = libclang::load(&cache)?;
    let bindings = bindings::generate(&mlx_c_root, &native_dir, &clang_arguments, out_dir)?;
    let sources = native::Sources {
        mlx: &mlx,
        mlx_c_root: &mlx_c_root,
        native_dir: &native_dir,
    };
    let library = native::build(&sources, &target, &cache)?;
    let mut include_dirs = mlx.include_dirs();
    include_dirs.push(mlx_c_root.clone());
    Ok(Native {
        mlx_library: mlx.library(target.family()?),
        mlx_root: mlx.root,
        mlx_c_root,
        include_dirs,
        library,
        bindings,
    })
}

fn cargo_folder(name: &'static str) -> Result<PathBuf, BuildError> {
    std::env::var_os(name)
        .map(PathBuf::from)
        .ok_or(BuildError::MissingCargoVariable { name })
}

fn report(error: &BuildError) {
    let mut message = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        message.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    // One `cargo::error` a line, and a successful exit: cargo then shows these lines alone, and fails the build. After a
    // failing exit it would bury them under all else that was printed.
    for line in message.lines() {
        println!("cargo::error={line}");
    }
    println!("cargo::error=help: {}", error.remedy());
}
