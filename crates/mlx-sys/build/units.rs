//! mlx-c's files, joined into a few.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::BuildError;
use crate::files;

/// How many files mlx-c is compiled as. Each of its 26 reads all of MLX's headers, which takes longer than the rest:
/// apart they take 75 s of processor time, joined 14 s, and in four 20 s, which four cores share.
const UNITS: usize = 4;

/// Writes files into `folder` that include mlx-c's, about as much in each.
pub fn write(mlx_c: &Path, folder: &Path) -> Result<Vec<PathBuf>, BuildError> {
    fs::create_dir_all(folder).map_err(|source| BuildError::file("create", folder, source))?;
    let mut sized = Vec::new();
    for file in files::with_extension(mlx_c, "cpp")? {
        let size = fs::metadata(&file)
            .map_err(|source| BuildError::file("read", &file, source))?
            .len();
        sized.push((size, file));
    }
    let mut written = Vec::new();
    for (index, files) in balance(sized, UNITS).iter().enumerate() {
        let includes: String = files
            .iter()
            .map(|file| format!("#include \"{}\"\n", file.display()))
            .collect();
        let path = folder.join(format!("unit{index}.cpp"));
        fs::write(&path, includes).map_err(|source| BuildError::file("write", &path, source))?;
        written.push(path);
    }
    Ok(written)
}

/// Deals `sized` out into at most `count` heaps of about the same total size.
pub fn balance(mut sized: Vec<(u64, PathBuf)>, count: usize) -> Vec<Vec<PathBuf>> {
    sized.sort_by(|a, b| b.cmp(a));
    let mut heaps = vec![(0, Vec::new()); count];
    for (size, file) in sized {
        if let Some((total, files)) = heaps.iter_mut().min_by_key(|(total, _)| *total) {
            *total += size;
            files.push(file);
        }
    }
    heaps
        .into_iter()
        .map(|(_, files)| files)
        .filter(|files| !files.is_empty())
        .collect()
}
