//! Listing and reading files, with errors that name them.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::BuildError;

/// The entries of `folder`, sorted.
pub fn within(folder: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let failed = |source| BuildError::file("list", folder, source);
    let entries = fs::read_dir(folder).map_err(failed)?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = paths.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    paths.sort();
    Ok(paths)
}

/// The files directly in `folder` whose name ends in `.extension`, sorted.
pub fn with_extension(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, BuildError> {
    let mut files = within(folder)?;
    files.retain(|file| file.extension() == Some(OsStr::new(extension)));
    Ok(files)
}

/// All files below `folder`, sorted.
pub fn below(folder: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let mut files = Vec::new();
    for path in within(folder)? {
        if path.is_dir() {
            files.extend(below(&path)?);
        } else {
            files.push(path);
        }
    }
    Ok(files)
}

pub fn read(path: &Path) -> Result<Vec<u8>, BuildError> {
    fs::read(path).map_err(|source| BuildError::file("read", path, source))
}
