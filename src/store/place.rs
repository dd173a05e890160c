//! Where a saved trace lies: a folder of two files, or one file.
//!
//! Saving replaces nothing, and what it writes appears whole or not at all: everything is written under a name of its own
//! beside the target, and then renamed. No part of a trace is ever part of a path.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::error::StoreError;

/// The structure, in a folder.
pub(super) const STRUCTURE: &str = "trace.json";

/// The payloads, in a folder.
pub(super) const PAYLOADS: &str = "payloads.safetensors";

/// What the path of a trace in one file ends in.
pub(super) const EXTENSION: &str = "safetensors";

/// Whether a trace of this path is one file.
pub(super) fn is_one_file(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == EXTENSION)
}

/// Whether what lies at a path could be a saved trace, by what it is called: a folder that holds `trace.json`, or a file
/// that ends in `.safetensors`.
pub fn is_saved_trace(path: &Path) -> bool {
    path.join(STRUCTURE).is_file() || (is_one_file(path) && path.is_file())
}

/// The folder that a target lies in.
///
/// # Errors
///
/// Something is there already, also a link that leads nowhere; or the path ends in no name.
pub(super) fn parent(path: &Path) -> Result<PathBuf, StoreError> {
    if path.file_name().is_none() {
        return Err(StoreError::NoName {
            path: path.to_path_buf(),
        });
    }
    // Does not follow links.
    if fs::symlink_metadata(path).is_ok() {
        return Err(StoreError::Exists {
            path: path.to_path_buf(),
        });
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    Ok(parent.unwrap_or(Path::new(".")).to_path_buf())
}

/// Writes one file.
///
/// # Errors
///
/// The file system's.
pub(super) fn write_file(path: &Path, content: &[u8]) -> Result<(), StoreError> {
    let folder = parent(path)?;
    let failed = |source| failed("writing", path, source);
    let mut builder = tempfile::Builder::new();
    let mut file = like_others(&mut builder, 0o666)
        .tempfile_in(&folder)
        .map_err(failed)?;
    file.write_all(content).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    // Not over what somebody else put there meanwhile.
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => Err(StoreError::Exists {
            path: path.to_path_buf(),
        }),
        Err(error) => Err(failed(error.error)),
    }
}

/// Writes a folder of both files.
///
/// # Errors
///
/// The file system's.
pub(super) fn write_folder(path: &Path, structure: &[u8], payloads: &[u8]) -> Result<(), StoreError> {
    let folder = parent(path)?;
    let failed = |source| failed("writing", path, source);
    let mut builder = tempfile::Builder::new();
    let made = like_others(&mut builder, 0o777)
        .tempdir_in(&folder)
        .map_err(failed)?;
    for (name, content) in [(STRUCTURE, structure), (PAYLOADS, payloads)] {
        let mut file = File::create_new(made.path().join(name)).map_err(failed)?;
        file.write_all(content).map_err(failed)?;
        file.sync_all().map_err(failed)?;
    }
    // A folder is never renamed over anything but an empty one, and one that was not there a moment ago.
    fs::rename(made.path(), path).map_err(failed)?;
    // Nothing is left there to be removed.
    let _ = made.keep();
    Ok(())
}

/// Temporary files are their owner's alone; these become files like others, as far as the process's mask lets them.
fn like_others<'a>(
    builder: &'a mut tempfile::Builder<'static, 'static>,
    mode: u32,
) -> &'a mut tempfile::Builder<'static, 'static> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    builder
}

/// The content of a file.
///
/// # Errors
///
/// The file system's.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, StoreError> {
    fs::read(path).map_err(|source| failed("reading", path, source))
}

fn failed(doing: &'static str, path: &Path, source: std::io::Error) -> StoreError {
    StoreError::Files {
        doing,
        path: path.to_path_buf(),
        source,
    }
}
