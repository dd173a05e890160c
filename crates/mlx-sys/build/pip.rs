//! Fetching a pinned wheel through pip, so that pip's own configuration (index, proxy, `PIP_FIND_LINKS`, cache)
//! holds, and unpacking it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::digest::{self, Key};
use crate::error::BuildError;
use crate::files;
use crate::wheel::Wheel;

/// Fetches `wheels`, checks their contents against the pins and unpacks them side by side into `folder`.
pub fn install(wheels: &[Wheel], folder: &Path) -> Result<(), BuildError> {
    let python = Python::from_env();
    for wheel in wheels {
        let downloads = folder.join(".download");
        fs::create_dir_all(&downloads).map_err(|source| BuildError::file("create", &downloads, source))?;
        let file = python.download(wheel, &downloads)?;
        check(wheel, &file)?;
        python.unpack(&file, folder)?;
        fs::remove_dir_all(&downloads).map_err(|source| BuildError::file("remove", &downloads, source))?;
    }
    Ok(())
}

/// The name of the cache entry that holds `wheels`: readable by the first, fixed by the contents of all.
pub fn entry_name(wheels: &[Wheel]) -> String {
    let key = wheels
        .iter()
        .fold(Key::default(), |key, wheel| key.part("wheel", wheel.sha256))
        .finish();
    let first = wheels
        .first()
        .map(|wheel| format!("{}-{}-", wheel.distribution, wheel.version));
    format!("{}{key}", first.unwrap_or_default())
}

/// Fails unless `file` has the pinned content. pip checks only against what its index says.
pub fn check(wheel: &Wheel, file: &Path) -> Result<(), BuildError> {
    let found = digest::of_file(file)?;
    if found == wheel.sha256 {
        return Ok(());
    }
    Err(BuildError::WrongHash {
        what: wheel.describe(),
        expected: wheel.sha256,
        found,
    })
}

struct Python {
    program: OsString,
}

impl Python {
    fn from_env() -> Self {
        Python {
            program: std::env::var_os("PYTHON").unwrap_or_else(|| "python3".into()),
        }
    }

    fn name(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }

    fn download(&self, wheel: &Wheel, folder: &Path) -> Result<PathBuf, BuildError> {
        let mut command = Command::new(&self.program);
        command
            .args([
                "-m",
                "pip",
                "download",
                "--disable-pip-version-check",
                "--no-input",
                "--progress-bar",
                "off",
            ])
            .args([
                "--no-deps",
                "--only-binary",
                ":all:",
                "--platform",
                wheel.platform,
                "--dest",
            ])
            .arg(folder)
            .arg(format!("{}=={}", wheel.distribution, wheel.version));
        let output = command.output().map_err(|error| BuildError::PythonMissing {
            python: self.name(),
            what: wheel.describe(),
            detail: error.to_string(),
        })?;
        if !output.status.success() {
            return Err(self.explain(wheel, &output));
        }
        files::with_extension(folder, "whl")?
            .pop()
            .ok_or_else(|| BuildError::WheelNotFound {
                what: wheel.describe(),
                detail: "it reported success and left no wheel".to_owned(),
            })
    }

    fn explain(&self, wheel: &Wheel, output: &Output) -> BuildError {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let what = wheel.describe();
        let detail = last_error(&stderr).unwrap_or_else(|| output.status.to_string());
        match Failure::of(&stderr) {
            Failure::NoPip => BuildError::PipMissing {
                python: self.name(),
                what,
            },
            Failure::Unreachable => BuildError::Unreachable { what, detail },
            Failure::NotFound => BuildError::WheelNotFound { what, detail },
            Failure::NotPython => BuildError::PythonMissing {
                python: self.name(),
                what,
                detail,
            },
            Failure::Other => BuildError::PipFailed { what, detail },
        }
    }

    fn unpack(&self, wheel: &Path, folder: &Path) -> Result<(), BuildError> {
        let failed = |detail: String| BuildError::Unpack {
            wheel: wheel.to_path_buf(),
            detail,
        };
        let output = Command::new(&self.program)
            .args(["-m", "zipfile", "-e"])
            .args([wheel, folder])
            .output()
            .map_err(|error| failed(error.to_string()))?;
        if output.status.success() {
            return Ok(());
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        Err(failed(
            last_error(&stderr).unwrap_or_else(|| output.status.to_string()),
        ))
    }
}

/// Why `python -m pip download` failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    NotPython,
    NoPip,
    Unreachable,
    NotFound,
    Other,
}

impl Failure {
    /// pip ends with the same status and the same last line whether an index lacks a wheel or cannot be reached, so
    /// its warnings decide.
    pub fn of(stderr: &str) -> Self {
        let says = |text: &str| stderr.contains(text);
        if says("No module named pip") {
            Failure::NoPip
        } else if says("connection broken by") || says("Max retries exceeded") || says("Could not fetch URL")
        {
            Failure::Unreachable
        } else if says("No matching distribution found") {
            Failure::NotFound
        } else if says("pip") || says("ERROR:") {
            Failure::Other
        } else {
            Failure::NotPython
        }
    }
}

/// The last line that pip marked as an error, else the last line.
pub fn last_error(stderr: &str) -> Option<String> {
    let lines = || {
        stderr
            .lines()
            .rev()
            .map(str::trim)
            .filter(|line| !line.is_empty())
    };
    let marked = lines().find_map(|line| line.strip_prefix("ERROR: "));
    marked.or_else(|| lines().next()).map(str::to_owned)
}
