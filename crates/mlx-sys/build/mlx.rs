//! MLX itself: an installed one that `MLX_ROOT` names, else the pinned wheel.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cache::Cache;
use crate::error::BuildError;
use crate::pip;
use crate::target::{self, Family, Target};
use crate::wheel::MLX_VERSION;

pub const VARIABLE: &str = "MLX_ROOT";

/// An MLX that mlx-c can be compiled against and linked with.
#[derive(Debug)]
pub struct Mlx {
    /// The folder that holds `include` and `lib`.
    pub root: PathBuf,
}

impl Mlx {
    pub fn library_dir(&self) -> PathBuf {
        self.root.join("lib")
    }

    pub fn library(&self, family: Family) -> PathBuf {
        self.library_dir().join(family.shared_library("mlx"))
    }

    /// The folders that C++ code using MLX must have on its include path.
    pub fn include_dirs(&self) -> Vec<PathBuf> {
        let include = self.root.join("include");
        let metal_cpp = include.join("metal_cpp");
        std::iter::once(include)
            .chain(metal_cpp.is_dir().then_some(metal_cpp))
            .collect()
    }
}

pub fn locate(target: &Target, cache: &Cache) -> Result<Mlx, BuildError> {
    match std::env::var_os(VARIABLE).filter(|root| !root.is_empty()) {
        Some(root) => installed(PathBuf::from(root), target.family()?),
        None => from_wheel(target, cache),
    }
}

fn installed(root: PathBuf, family: Family) -> Result<Mlx, BuildError> {
    if root.is_relative() {
        return Err(BuildError::RelativePath {
            variable: VARIABLE,
            path: root,
        });
    }
    check(&root, VARIABLE, family)?;
    Ok(Mlx { root })
}

fn from_wheel(target: &Target, cache: &Cache) -> Result<Mlx, BuildError> {
    let family = target.family()?;
    let wheels = target.wheels(target::host_macos())?;
    if family == Family::Elf && target.triple == std::env::var("HOST").unwrap_or_default() {
        target::check_glibc(&target::host_glibc())?;
    }
    let root = cache
        .entry(&pip::entry_name(&wheels), |folder| pip::install(&wheels, folder))?
        .join("mlx");
    check(&root, "mlx-sys's cache", family)?;
    Ok(Mlx { root })
}

/// Fails unless `root` holds a shared library, headers, and the version that mlx-c needs.
fn check(root: &Path, origin: &'static str, family: Family) -> Result<(), BuildError> {
    for file in [
        format!("lib/{}", family.shared_library("mlx")),
        "include/mlx/version.h".to_owned(),
    ] {
        if !root.join(&file).is_file() {
            return Err(BuildError::IncompleteMlx {
                origin,
                root: root.to_path_buf(),
                missing: file,
            });
        }
    }
    let path = root.join("include/mlx/version.h");
    let header = fs::read_to_string(&path).map_err(|source| BuildError::file("read", &path, source))?;
    match version_in(&header) {
        None => Err(BuildError::UnreadableVersion { path }),
        Some(found) if found != MLX_VERSION => Err(BuildError::WrongMlxVersion {
            root: root.to_path_buf(),
            found,
            expected: MLX_VERSION,
        }),
        Some(_) => Ok(()),
    }
}

/// The version that MLX's `version.h` defines.
pub fn version_in(header: &str) -> Option<String> {
    let number = |name: &str| {
        header.lines().find_map(|line| {
            let mut words = line.split_whitespace();
            let defines = words.next() == Some("#define") && words.next() == Some(name);
            if defines {
                words.next()?.parse::<u32>().ok()
            } else {
                None
            }
        })
    };
    let [major, minor, patch] = ["MLX_VERSION_MAJOR", "MLX_VERSION_MINOR", "MLX_VERSION_PATCH"].map(number);
    Some(format!("{}.{}.{}", major?, minor?, patch?))
}
