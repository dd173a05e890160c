//! The C layer: mlx-c and this crate's own C++ files, in one shared library.
//!
//! The library is named, in itself and so in all that links to it, by its absolute path in the cache, and it knows where
//! libmlx lies. Binaries therefore start from anywhere, without a loader path: also installed and downstream ones, whose
//! link options a build script cannot influence.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::cache::Cache;
use crate::compiler::Compiler;
use crate::digest::Key;
use crate::error::BuildError;
use crate::files;
use crate::link;
use crate::mlx::Mlx;
use crate::target::Target;
use crate::units;

/// The header that is included before everything else.
pub const COMPAT: &str = "compat.h";

/// Sets of sources as the compiler sees them.
pub struct Sources<'a> {
    pub mlx: &'a Mlx,
    pub mlx_c_root: &'a Path,
    /// This crate's own C++ files.
    pub native_dir: &'a Path,
}

/// Builds the library, unless the cache has it, and returns its path.
pub fn build(sources: &Sources, target: &Target, cache: &Cache) -> Result<PathBuf, BuildError> {
    let family = target.family()?;
    let compiler = Compiler::find(sources, target)?;

    // mlx-c never changes, this crate's own files do: apart, so that an edit here costs only those.
    let mlx_c = sources.mlx_c_root.join("mlx/c");
    let objects_key = Key::default()
        .part("compiler", &compiler.identity)
        .tree("mlx", &sources.mlx.root.join("include/mlx"), |file| {
            file.extension() == Some(OsStr::new("h"))
        })?
        .tree("mlx-c", &mlx_c, |_| true)?
        .part("compat", files::read(&sources.native_dir.join(COMPAT))?)
        .finish();
    let objects = cache.entry(&format!("mlx-c-objects-{objects_key}"), |folder| {
        let units = folder.join("units");
        let written = units::write(&mlx_c, &units)?;
        compiler.compile(&written, folder)?;
        fs::remove_dir_all(&units).map_err(|source| BuildError::file("remove", &units, source))
    })?;

    let file_name = family.shared_library("mlxc");
    // The library holds the paths of the cache and of MLX, so it is worth nothing in another place. The cache's stands for
    // its own, which is yet to be made from this key.
    let link = link::options(cache.root(), &sources.mlx.library_dir(), family);
    let key = Key::default()
        .part("objects", &objects_key)
        .tree("native", sources.native_dir, |_| true)?
        .part("link", format!("{link:?}"))
        .finish();
    let name = format!("mlxc-{key}");
    let library = cache.path(&name).join(&file_name);
    cache.entry(&name, |folder| {
        let own = folder.join("objects");
        fs::create_dir_all(&own).map_err(|source| BuildError::file("create", &own, source))?;
        compiler.compile(&files::with_extension(sources.native_dir, "cpp")?, &own)?;
        let all = [
            files::with_extension(&objects, "o")?,
            files::with_extension(&own, "o")?,
        ]
        .concat();
        compiler.link(&all, &folder.join(&file_name), &library, sources.mlx, family)?;
        fs::remove_dir_all(&own).map_err(|source| BuildError::file("remove", &own, source))
    })?;
    Ok(library)
}
