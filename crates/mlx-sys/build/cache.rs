//! The per-user folder of native libraries: MLX itself, libclang, and the C layer built upon MLX.
//!
//! It lies outside any target folder because binaries refer to the libraries by absolute path and outlive target
//! folders (`cargo install --git` deletes its own), and because all projects and profiles can share one build.
//! Entries are named by content, never change, and appear whole or not at all.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::error::BuildError;
use crate::files;

pub const VARIABLE: &str = "MLX_SYS_CACHE";

#[derive(Debug)]
pub struct Cache {
    root: PathBuf,
}

/// What the environment says about where caches go.
#[derive(Debug, Default)]
pub struct Places {
    pub explicit: Option<PathBuf>,
    pub xdg: Option<PathBuf>,
    pub home: Option<PathBuf>,
}

impl Places {
    fn from_env() -> Self {
        // An empty variable counts as unset, as the XDG specification has it.
        let path = |name| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        Places {
            explicit: path(VARIABLE),
            xdg: path("XDG_CACHE_HOME"),
            home: path("HOME"),
        }
    }

    /// The folder that belongs to the user, by the custom of the building machine's system.
    pub fn per_user(&self, os: &str) -> Option<PathBuf> {
        let absolute = |path: &Option<PathBuf>| path.clone().filter(|path| path.is_absolute());
        let base = match os {
            "macos" => absolute(&self.home).map(|home| home.join("Library/Caches")),
            _ => absolute(&self.xdg).or_else(|| absolute(&self.home).map(|home| home.join(".cache"))),
        };
        base.map(|base| base.join("mlx-sys"))
    }
}

impl Cache {
    /// Opens the cache. Without a home, or where it cannot be written, the libraries go to `out_dir` and live as long
    /// as that does; but a folder that was asked for by name must work.
    pub fn open(out_dir: &Path) -> Result<Self, BuildError> {
        let places = Places::from_env();
        if let Some(root) = &places.explicit {
            if root.is_relative() {
                return Err(BuildError::RelativePath {
                    variable: VARIABLE,
                    path: root.clone(),
                });
            }
            fs::create_dir_all(root).map_err(|source| BuildError::file("create", root, source))?;
            return Ok(Cache { root: root.clone() });
        }
        let per_user = places
            .per_user(std::env::consts::OS)
            .filter(|root| is_writable(root));
        let root = per_user.unwrap_or_else(|| out_dir.join("mlx-sys-cache"));
        fs::create_dir_all(&root).map_err(|source| BuildError::file("create", &root, source))?;
        Ok(Cache { root })
    }

    #[cfg(test)]
    pub fn at(root: &Path) -> Self {
        Cache {
            root: root.to_path_buf(),
        }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder that the entry `name` has or will have.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The entry `name`, filled by `fill` if it is not there yet. `fill` writes into a scratch folder, which becomes
    /// the entry when it succeeds; what it writes must refer to itself by [`Cache::path`].
    pub fn entry(
        &self,
        name: &str,
        fill: impl FnOnce(&Path) -> Result<(), BuildError>,
    ) -> Result<PathBuf, BuildError> {
        let entry = self.path(name);
        if entry.is_dir() {
            return Ok(entry);
        }
        let lock = Lock::take(&self.root, name)?;
        // Another build may have filled it while this one waited.
        if entry.is_dir() {
            return Ok(entry);
        }
        if lock.is_exclusive() {
            self.remove_leftovers(name);
        }
        let scratch = self
            .root
            .join(format!("{}{}", scratch_prefix(name), std::process::id()));
        let filled = fs::create_dir_all(&scratch)
            .map_err(|source| BuildError::file("create", &scratch, source))
            .and_then(|()| fill(&scratch))
            .and_then(|()| backdate(&scratch))
            .and_then(|()| publish(&scratch, &entry));
        if filled.is_err() {
            // The failure is what matters to the caller; what stays behind is removed by the next build.
            let _ = fs::remove_dir_all(&scratch);
        }
        filled.map(|()| entry)
    }

    /// Removes scratch folders of builds that were killed: with the lock held, nobody can be filling them.
    fn remove_leftovers(&self, name: &str) {
        let prefix = scratch_prefix(name);
        for leftover in fs::read_dir(&self.root).into_iter().flatten().flatten() {
            if leftover.file_name().to_string_lossy().starts_with(&prefix) {
                // It only takes room; the next build tries again.
                let _ = fs::remove_dir_all(leftover.path());
            }
        }
    }
}

fn scratch_prefix(name: &str) -> String {
    format!(".building-{name}-")
}

/// Makes `scratch` the entry. If another build was faster (possible where the file system has no locks), its entry has
/// the same content by construction, so this one is dropped.
fn publish(scratch: &Path, entry: &Path) -> Result<(), BuildError> {
    match fs::rename(scratch, entry) {
        Ok(()) => Ok(()),
        Err(_) if entry.is_dir() => {
            // It only takes room.
            let _ = fs::remove_dir_all(scratch);
            Ok(())
        }
        Err(source) => Err(BuildError::file("create", entry, source)),
    }
}

/// Gives all files below `folder` one early modification time. Cargo runs a build script again if a file it names is
/// newer than the script's start, as a file that the script itself made would be.
fn backdate(folder: &Path) -> Result<(), BuildError> {
    let early = SystemTime::UNIX_EPOCH + Duration::from_secs(946_684_800);
    for path in files::below(folder)? {
        File::options()
            .write(true)
            .open(&path)
            .and_then(|file| file.set_modified(early))
            .map_err(|source| BuildError::file("set the time of", &path, source))?;
    }
    Ok(())
}

/// An advisory lock on one entry, so that a second build waits for the first instead of doing its work again.
struct Lock {
    /// Held until dropped; `None` where the file system has no locks, which costs only time.
    file: Option<File>,
}

impl Lock {
    fn take(root: &Path, name: &str) -> Result<Self, BuildError> {
        let path = root.join(format!(".{name}.lock"));
        let file = File::options()
            .create(true)
            .append(true)
            .open(&path)
            .map_err(|source| BuildError::file("create", &path, source))?;
        Ok(Lock {
            file: file.lock().is_ok().then_some(file),
        })
    }

    fn is_exclusive(&self) -> bool {
        self.file.is_some()
    }
}

fn is_writable(root: &Path) -> bool {
    let probe = root.join(format!(".probe-{}", std::process::id()));
    let written = fs::create_dir_all(root)
        .and_then(|()| File::create(&probe))
        .is_ok();
    // A probe that could not be made cannot be removed either.
    let _ = fs::remove_file(&probe);
    written
}
