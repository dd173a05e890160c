//! Roots to run in: copies of some of the repository's cases, so that nothing disturbs the checkout.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The repository.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A root with copies of these files or folders below `cases/`.
pub fn root_with(cases: &[&str]) -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a folder for the test");
    for case in cases {
        copy(
            &repository().join("cases").join(case),
            &root.path().join("cases").join(case),
        );
    }
    root
}

pub fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        for entry in std::fs::read_dir(from).expect("a folder of cases") {
            let entry = entry.expect("listed");
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        std::fs::create_dir_all(to.parent().expect("a folder")).expect("made");
        std::fs::copy(from, to).expect("copied");
    }
}

/// A root of the cases that prove every claim, and some more, so that its runs are clean and write the scorecard
/// themselves.
pub fn whole_root() -> tempfile::TempDir {
    let root = root_with(&["capture", "evaluation", "torchlens", "models"]);
    copy_proving(&repository().join("cases"), &root.path().join("cases"));
    root
}

/// Copies the cases that are evidence for a claim.
fn copy_proving(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).expect("a folder of cases") {
        let entry = entry.expect("listed");
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_proving(&path, &target);
        } else if std::fs::read_to_string(&path)
            .expect("UTF-8")
            .contains("covers: [")
        {
            copy(&path, &target);
        }
    }
}

/// `assay` in a root.
pub fn command(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.arg("--root").arg(root).args(arguments).env_remove("CI");
    command
}

/// What `assay` says and how it ends, in a root.
pub fn assay(root: &Path, arguments: &[&str]) -> Output {
    command(root, arguments).output().expect("the binary starts")
}

pub fn said(output: &Output) -> String {
    let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8_lossy(&text).into_owned()
}

pub fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

/// A program in a root, made of a shell script, that stands where `assay` would be started.
pub fn script(root: &Path, lines: &str) -> PathBuf {
    let program = root.join("worker.sh");
    std::fs::write(&program, format!("#!/bin/sh\n{lines}\n")).expect("written");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("made to run");
    program
}

/// The outcomes of the latest run, on all its devices.
pub fn outcomes(root: &Path) -> Vec<mlx_assay::scorecard::outcome::Outcome> {
    parts(root).into_iter().flat_map(|part| part.outcomes).collect()
}

/// The outcomes of the latest run, by device.
pub fn parts(root: &Path) -> Vec<mlx_assay::scorecard::outcomes::Outcomes> {
    let file = root.join(mlx_assay::scorecard::store::OUTCOMES);
    let text = std::fs::read_to_string(&file).expect("outcomes");
    mlx_assay::scorecard::outcomes::Outcomes::read("outcomes", &text).expect("readable")
}

/// The processes that have `mark` in their environment, where the system tells.
pub fn marked(mark: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir("/proc").expect("a system that lists its processes");
    let folders = entries.flatten().map(|entry| entry.path());
    folders
        .filter(|folder| {
            // A process that is being waited for has no environment any more.
            let environment = std::fs::read(folder.join("environ")).unwrap_or_default();
            String::from_utf8_lossy(&environment).contains(mark)
        })
        .collect()
}

/// Whether something that a test takes is there. Where it is not, the test is left out and says so; under `CI` it fails,
/// since what is left out there looks like a pass.
pub fn may_be_missing(is_there: bool, otherwise: &str) -> bool {
    let must = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
    assert!(is_there || !must, "cannot be tested: {otherwise}");
    if !is_there {
        eprintln!("not tested: {otherwise}");
    }
    is_there
}
