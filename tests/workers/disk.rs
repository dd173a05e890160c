//! Bad flags, folders that cannot be read or written, a full disk: a clear error, and nothing is lost.

use crate::roots::{self, assay, code, root_with, said};
use mlx_assay::scorecard::store::{CARD, CELLS, OUTCOMES};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

#[test]
fn bad_flags_say_what_would_be_right() {
    let root = root_with(&["tutorial"]);
    for (arguments, part) in [
        (&["run", "--shard", "4/3"][..], "as in 2/3"),
        (&["run", "--shard", "x"], "as in 2/3"),
        (&["run", "--shard", "99/99"], "shard 99/99 of 1 cell has none"),
        (&["run", "--repeat", "0"], "0"),
        (&["run", "--workers", "many"], "many"),
        (&["run", "--shuffle=x"], "x"),
        (&["run", "--fly"], "--fly"),
        (&["merge"], "OUTCOMES"),
        (&["worker"], "assay run"),
        (&["collect"], "cargo nextest run"),
    ] {
        let output = assay(root.path(), arguments);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", said(&output));
        assert!(said(&output).contains(part), "{arguments:?}: {}", said(&output));
    }
    let missing = assay(root.path(), &["merge", "/nowhere/outcomes.jsonl"]);
    assert_eq!(code(&missing), 3);
    assert!(
        said(&missing).contains("cannot read /nowhere/outcomes.jsonl"),
        "{}",
        said(&missing)
    );
}

#[test]
fn a_seed_is_taken_with_and_without_an_equals_sign() {
    let root = root_with(&["tutorial"]);
    for arguments in [&["run", "--shuffle", "7"][..], &["run", "--shuffle=7"]] {
        let output = assay(root.path(), arguments);
        assert!(said(&output).contains("seed 7: "), "{}", said(&output));
        assert!(
            !said(&output).contains("no cell's id contains"),
            "{}",
            said(&output)
        );
    }
}

#[test]
fn a_pipe_among_the_cases_is_told_and_not_waited_for() {
    let root = root_with(&["tutorial"]);
    let pipe = root.path().join("cases/pipe.yaml");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("made");
    assert!(made.success());
    let output = assay(root.path(), &["check"]);
    assert_eq!(code(&output), 3, "{}", said(&output));
    assert!(said(&output).contains("cases/pipe.yaml"), "{}", said(&output));
    assert!(said(&output).contains("it is no plain file"), "{}", said(&output));
}

#[test]
fn what_ran_is_kept_where_the_scorecard_cannot_be_settled() {
    let (root, before) = settled();
    let outcomes = root.path().join(OUTCOMES);
    std::fs::remove_file(&outcomes).expect("removed");
    let lock = root.path().join("target/assay/lock");
    std::fs::remove_file(&lock).expect("removed");
    std::fs::create_dir(&lock).expect("made");
    let output = assay(root.path(), &["run"]);
    assert_eq!(code(&output), 3, "{}", said(&output));
    assert!(
        said(&output).contains("what ran is kept in target/assay/outcomes.jsonl"),
        "{}",
        said(&output)
    );
    assert_eq!(scorecard(root.path()), before);
    std::fs::remove_dir(&lock).expect("removed");
    let output = assay(root.path(), &["merge", &outcomes.display().to_string()]);
    assert!(said(&output).contains("1 of 1 cells ran"), "{}", said(&output));
    // Not every capability has evidence in so small a suite.
    assert_eq!(code(&output), 1, "{}", said(&output));
}

/// A root whose scorecard is written, and its bytes.
fn settled() -> (tempfile::TempDir, [Vec<u8>; 2]) {
    let root = root_with(&["tutorial"]);
    assay(root.path(), &["run"]);
    assay(root.path(), &["accept"]);
    let bytes = scorecard(root.path());
    (root, bytes)
}

fn scorecard(root: &Path) -> [Vec<u8>; 2] {
    [CARD, CELLS].map(|file| std::fs::read(root.join(file)).expect("written"))
}

/// Runs a shell script in a user and mount namespace of its own; `None` where the system forbids it.
fn in_namespace(script: &str, root: &Path) -> Option<Output> {
    let unshared = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]);
        command
            .env("ROOT", root)
            .env("ASSAY", env!("CARGO_BIN_EXE_assay"))
            .env_remove("CI");
        command.output().ok()
    };
    let may = unshared("mount -t tmpfs none \"$ROOT/target/assay\"").is_some_and(|it| it.status.success());
    roots::may_be_missing(may, "this system lets nobody mount a file system for a test")
        .then(|| unshared(script))
        .flatten()
}

#[test]
fn a_full_disk_is_told_and_the_scorecard_stays() {
    let (root, before) = settled();
    let script = "mount -t tmpfs -o size=8k none \"$ROOT/target/assay\" && \"$ASSAY\" --root \"$ROOT\" run";
    let Some(output) = in_namespace(script, root.path()) else {
        return;
    };
    assert_eq!(code(&output), 3, "{}", said(&output));
    assert!(
        said(&output).contains("cannot write target/assay/"),
        "{}",
        said(&output)
    );
    assert!(
        said(&output).contains("the disk is not full"),
        "{}",
        said(&output)
    );
    assert_eq!(scorecard(root.path()), before);
}

#[test]
fn a_full_disk_of_temporary_files_is_told_and_no_cells_fault() {
    let root = root_with(&["faults/noise.yaml", "faults/abort.yaml"]);
    std::fs::create_dir_all(root.path().join("target/assay")).expect("made");
    std::fs::create_dir(root.path().join("small")).expect("made");
    // Room for what a worker takes before anything is printed, and for nothing more.
    let script = "mount -t tmpfs -o size=128k none \"$ROOT/small\" && TMPDIR=\"$ROOT/small\" \"$ASSAY\" --root \"$ROOT\" run --workers 1";
    let Some(output) = in_namespace(script, root.path()) else {
        return;
    };
    assert_eq!(code(&output), 3, "{}", said(&output));
    for part in [
        "/small is full, which changes what cells come to",
        "the suite is at fault in",
    ] {
        assert!(said(&output).contains(part), "{}", said(&output));
    }
}

#[test]
fn a_checkout_that_may_not_be_written_is_told_before_anything_runs() {
    let (root, before) = settled();
    let script = "mount --bind \"$ROOT\" \"$ROOT\" && mount -o remount,bind,ro \"$ROOT\" && \"$ASSAY\" --root \"$ROOT\" run";
    let Some(output) = in_namespace(script, root.path()) else {
        return;
    };
    assert_eq!(code(&output), 3, "{}", said(&output));
    assert!(
        said(&output).contains("cannot write target/assay/running"),
        "{}",
        said(&output)
    );
    assert!(!said(&output).contains("cells ran"), "{}", said(&output));
    assert_eq!(scorecard(root.path()), before);
}

#[test]
fn a_folder_that_cannot_be_read_is_named() {
    let root = root_with(&["tutorial", "evaluation"]);
    let folder = root.path().join("cases/evaluation");
    let mode = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode));
    mode(root.path(), 0o755).expect("opened");
    mode(&folder, 0o000).expect("closed");
    // Whoever runs as root reads it all the same, so without that right.
    let output = match std::fs::read_dir(&folder) {
        Err(_) => assay(root.path(), &["run"]),
        Ok(_) => {
            let mut command = Command::new("setpriv");
            // Root without the right to read what its owner may not.
            command.args([
                "--bounding-set=-dac_override,-dac_read_search",
                env!("CARGO_BIN_EXE_assay"),
            ]);
            let output = command.arg("--root").arg(root.path()).arg("run").output();
            match output {
                Ok(output) if !said(&output).contains("setpriv:") => output,
                _ => {
                    roots::may_be_missing(false, "this user reads every folder, and cannot give that up");
                    return;
                }
            }
        }
    };
    mode(&folder, 0o755).expect("opened");
    assert_eq!(code(&output), 3, "{}", said(&output));
    assert!(
        said(&output).contains("cannot list the folder cases/evaluation"),
        "{}",
        said(&output)
    );
}
