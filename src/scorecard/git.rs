//! Files as a revision of the repository has them, asked of git itself.

use std::path::Path;
use std::process::Command;
use thiserror::Error;

/// Git has no answer.
#[derive(Debug, Error)]
pub enum GitError {
    /// It cannot be started.
    #[error("cannot start git: {0}; install it, or name files instead of revisions")]
    NotThere(std::io::Error),
    /// It refuses.
    #[error("git knows no {what}: {said}")]
    Refused {
        /// What it was asked for.
        what: String,
        /// What it said.
        said: String,
    },
}

fn git(root: &Path, what: &str, arguments: &[&str]) -> Result<String, GitError> {
    let output = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(arguments)
        .output()
        .map_err(GitError::NotThere)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(GitError::Refused {
        what: what.to_owned(),
        said: said.lines().next().unwrap_or("no answer").to_owned(),
    })
}

/// The content of `file`, relative to the root, at a revision.
pub fn show(root: &Path, revision: &str, file: &str) -> Result<String, GitError> {
    let object = format!("{revision}:./{file}");
    git(root, &object, &["show", "--end-of-options", &object])
}

/// The revision's full name.
pub fn resolve(root: &Path, revision: &str) -> Result<String, GitError> {
    let commit = format!("{revision}^{{commit}}");
    let arguments = ["rev-parse", "--verify", "--end-of-options", &commit];
    Ok(git(root, revision, &arguments)?.trim().to_owned())
}
