//! Finds the cases below a root and reads them. A case's id is its path.

use super::error::{Fault, Problem};
use super::yaml::Mark;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// The folder below the root that holds the cases.
pub const FOLDER: &str = "cases";

/// A file that may be a case.
#[derive(Clone, Debug)]
pub struct Source {
    /// The id that its path gives.
    pub id: String,
    /// The file, relative to the root, with `/` between folders.
    pub file: String,
    /// Its text.
    pub text: Arc<str>,
}

/// No cases can be found.
#[derive(Debug, Error)]
pub enum FindError {
    /// No folder upwards of here holds `cases/`.
    #[error("no folder from {start} upwards holds `{FOLDER}/`; go into the repository, or name its root by --root")]
    NoRoot {
        /// Where the search began.
        start: String,
    },
    /// A folder cannot be listed.
    #[error("cannot list the folder {folder}: {source}")]
    Unlistable {
        /// The folder, relative to the root.
        folder: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The folder holds no case.
    #[error("no case found in {folder}; a case is a file that ends in `.yaml`")]
    NoCases {
        /// The folder, as given.
        folder: String,
    },
}

/// The digest of a case's text: what two machines compare to know that they speak of the same case.
pub fn digest(text: &str) -> String {
    let bytes = Sha256::digest(text.as_bytes());
    bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// The files that may hold the cell or case of this id: an id is a path, and a cell's goes on after its case's.
pub fn named(root: &Path, id: &str) -> Vec<Source> {
    let parts: Vec<&str> = id.split("::").collect();
    let files = (1..=parts.len()).map(|length| format!("{FOLDER}/{}.yaml", parts[..length].join("/")));
    files.filter_map(|file| source(root, &file).ok()).collect()
}

/// The nearest folder from `start` upwards that holds `cases/`.
pub fn find_root(start: &Path) -> Result<PathBuf, FindError> {
    let holds = |folder: &&Path| folder.join(FOLDER).is_dir();
    let found = start.ancestors().find(holds).map(Path::to_path_buf);
    found.ok_or_else(|| FindError::NoRoot {
        start: start.display().to_string(),
    })
}

/// The list of cases that went on purpose, which is none itself.
pub const RETIRED: &str = "cases/retired.yaml";

/// Every case below `root`, sorted by file, and what is wrong with files that are none.
pub fn find(root: &Path) -> Result<(Vec<Source>, Vec<Problem>), FindError> {
    let mut files = Vec::new();
    list(&root.join(FOLDER), FOLDER, &mut files)?;
    files.sort();
    let mut sources = Vec::new();
    let mut problems = Vec::new();
    for file in files {
        match source(root, &file) {
            Ok(source) => sources.push(source),
            Err(problem) => problems.push(*problem),
        }
    }
    if sources.is_empty() && problems.is_empty() {
        return Err(FindError::NoCases {
            folder: root.join(FOLDER).display().to_string(),
        });
    }
    Ok((sources, problems))
}

/// Collects the YAML files below `folder`, as paths relative to the root. What begins with a dot is somebody else's;
/// links to folders are not followed, so that no circle is walked.
fn list(folder: &Path, relative: &str, files: &mut Vec<String>) -> Result<(), FindError> {
    let unlistable = |source| FindError::Unlistable {
        folder: relative.to_owned(),
        source,
    };
    for entry in std::fs::read_dir(folder).map_err(unlistable)? {
        let entry = entry.map_err(unlistable)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        let inner = format!("{relative}/{name}");
        if entry.file_type().map_err(unlistable)?.is_dir() {
            list(&entry.path(), &inner, files)?;
        } else if inner != RETIRED && (name.ends_with(".yaml") || name.ends_with(".yml")) {
            files.push(inner);
        }
    }
    Ok(())
}

fn source(root: &Path, file: &str) -> Result<Source, Box<Problem>> {
    let bad = |fault| Box::new(Problem::new(file, "".into(), Mark::default(), fault));
    let id = id(file).map_err(bad)?;
    let path = root.join(file);
    let unreadable = |message: String| bad(Fault::Unreadable { message });
    // Reading what is no file, such as a pipe, may never end.
    let metadata = std::fs::metadata(&path).map_err(|error| unreadable(error.to_string()))?;
    if !metadata.is_file() {
        return Err(unreadable("it is no plain file".to_owned()));
    }
    let bytes = std::fs::read(&path).map_err(|error| unreadable(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        bad(Fault::NotUtf8 {
            at: error.utf8_error().valid_up_to(),
        })
    })?;
    Ok(Source {
        id,
        file: file.to_owned(),
        text: text.into(),
    })
}

/// `cases/ops/reduce/sum.yaml` is `ops::reduce::sum`.
pub fn id(file: &str) -> Result<String, Fault> {
    let inner = file
        .strip_prefix(FOLDER)
        .and_then(|rest| rest.strip_prefix('/'))
        .unwrap_or(file);
    let stem = inner.strip_suffix(".yaml").ok_or(Fault::Extension)?;
    let fits = |name: &&str| {
        !name.starts_with('.')
            && !name.is_empty()
            && name
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || "_-.".contains(letter))
    };
    match stem.split('/').find(|name| !fits(name)) {
        Some(name) => Err(Fault::FileName {
            name: name.to_owned(),
        }),
        None => Ok(stem.replace('/', "::")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_path() {
        assert_eq!(id("cases/ops/reduce/sum.yaml"), Ok("ops::reduce::sum".to_owned()));
        assert_eq!(id("cases/a.yml"), Err(Fault::Extension));
        assert_eq!(
            id("cases/my ops/a.yaml"),
            Err(Fault::FileName {
                name: "my ops".to_owned()
            })
        );
    }

    #[test]
    fn an_empty_folder_is_an_error_and_not_a_clean_run() {
        let root = tempfile::tempdir().expect("a folder for the test");
        std::fs::create_dir(root.path().join("cases")).expect("a folder for the test");
        assert!(matches!(find(root.path()), Err(FindError::NoCases { .. })));
        assert_eq!(find_root(&root.path().join("cases")).expect("found"), root.path());
    }
}
