//! The libtest contract, on the real harness: the same flags, the same verdicts, also under cargo-nextest.

use crate::roots::{self, repository, root_with, said, whole_root};
use mlx_assay::scorecard::store::{CARD, CELLS};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

/// The harness, built as `cargo test` builds it.
static HARNESS: LazyLock<PathBuf> = LazyLock::new(|| {
    let output = Command::new(env!("CARGO"))
        .args([
            "test",
            "--test",
            "conformance",
            "--no-run",
            "--message-format=json",
        ])
        .current_dir(repository())
        .output()
        .expect("cargo starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let mut messages = text
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let built = messages
        .find(|message| message["target"]["name"] == "conformance" && message["executable"].is_string());
    let built = built.unwrap_or_else(|| panic!("the harness does not build: {}", said(&output)));
    PathBuf::from(built["executable"].as_str().unwrap_or_default())
});

const CASES: [&str; 4] = ["tutorial", "faults/abort.yaml", "faults/noise.yaml", "capture"];

fn root() -> tempfile::TempDir {
    let root = root_with(&CASES);
    let broken = "inputs: {x: {shape: [2]}}\nmodel: {fault: {kind: abort}}\nexpect: {}\n";
    std::fs::write(root.path().join("cases/broken.yaml"), broken).expect("written");
    let elsewhere = "inputs: {x: {shape: [2]}}\nmodel: gelu\nrequires: {mlx: \">= 99\"}\nexpect: {}\n";
    std::fs::write(root.path().join("cases/elsewhere.yaml"), elsewhere).expect("written");
    root
}

fn harness(root: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(&*HARNESS);
    command.args(arguments).current_dir(root);
    for name in [
        "CI",
        "NEXTEST_EXECUTION_MODE",
        "NEXTEST_RUN_ID",
        "NEXTEST_BIN_EXE_assay",
    ] {
        command.env_remove(name);
    }
    command.output().expect("the harness starts")
}

/// The verdict of each trial, as libtest prints it.
fn verdicts(output: &Output) -> BTreeMap<String, String> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = text.lines().filter_map(|line| line.strip_prefix("test "));
    let pairs = lines.filter_map(|line| line.rsplit_once(" ... "));
    pairs
        .map(|(name, verdict)| (name.trim().to_owned(), verdict.trim().to_owned()))
        .collect()
}

#[test]
fn flags_mean_what_they_mean_to_libtest() {
    let root = root();
    let run = |arguments: &[&str]| {
        let output = harness(root.path(), arguments);
        (
            output.status.code().unwrap_or(-1),
            verdicts(&output),
            said(&output),
        )
    };

    let (code, all, text) = run(&[]);
    assert_eq!(code, 101, "{text}");
    assert_eq!(all["broken"], "FAILED", "an abort names its test");
    assert_eq!(all["elsewhere"], "ignored", "what cannot run is no pass");
    assert_eq!(all["faults::abort"], "ok");
    assert!(
        text.contains("found a crash: SIGABRT after exp (call 1)"),
        "{text}"
    );

    let (code, list, text) = run(&["--list"]);
    assert_eq!((code, list.len()), (0, 0));
    let listed: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_suffix(": test"))
        .collect();
    // The scorecard's own trial follows from the others.
    let cells: Vec<&str> = all
        .keys()
        .map(String::as_str)
        .filter(|name| *name != "scorecard")
        .collect();
    let mut sorted = listed.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, cells);
    let (_, _, terse) = run(&["--list", "--format", "terse"]);
    assert!(
        listed.iter().all(|name| terse.contains(&format!("{name}: test"))),
        "{terse}"
    );
    let (_, _, ignored) = run(&["--list", "--format", "terse", "--ignored"]);
    assert_eq!(ignored.trim(), "elsewhere: test");

    let (code, some, _) = run(&["tutorial"]);
    assert!(code == 0 && some.keys().all(|name| name.contains("tutorial")) && !some.is_empty());
    let (code, one, _) = run(&["--exact", "tutorial::sequential"]);
    assert_eq!((code, one.len()), (0, 1));
    let (code, none, text) = run(&["--exact", "tutorial::sequentail"]);
    assert_eq!((code, none.len()), (101, 0), "{text}");
    assert!(text.contains("did you mean  tutorial::sequential"), "{text}");
    for left_out in [
        &["--ignored", "--exact", "tutorial::sequential"][..],
        &[
            "--exact",
            "tutorial::sequential",
            "--skip",
            "tutorial::sequential",
        ],
    ] {
        let (code, none, text) = run(left_out);
        assert_eq!((code, none.len()), (101, 0), "{text}");
        assert!(text.contains("so that nothing would run"), "{text}");
    }
    let (code, none, _) = run(&["nothing-is-called-so"]);
    assert_eq!(
        (code, none.len()),
        (0, 0),
        "a filter for another test binary is no error"
    );

    let (code, rest, _) = run(&["--skip", "broken", "--skip", "capture"]);
    assert!(code == 0 && !rest.contains_key("broken") && rest.keys().all(|name| !name.contains("capture")));
    let (code, asked, text) = run(&["--ignored"]);
    assert_eq!((code, asked["elsewhere"].as_str()), (101, "FAILED"), "{text}");
    assert!(text.contains("it needs MLX >=99"), "{text}");

    let (code, _, text) = run(&["--test-threads", "0"]);
    assert_eq!(code, 101);
    assert!(text.contains("--test-threads 0 would run nothing"), "{text}");
    for threads in ["1", "3"] {
        let (code, again, _) = run(&["--test-threads", threads]);
        assert_eq!((code, &again), (101, &all), "{threads} threads");
    }
    let (_, _, quiet) = run(&["--exact", "faults::noise"]);
    let (_, _, loud) = run(&["--exact", "faults::noise", "--nocapture"]);
    assert!(
        !quiet.contains("noise noise") && loud.contains("noise noise"),
        "{loud}"
    );
}

#[test]
fn one_named_cell_needs_no_other_file() {
    let root = root();
    std::fs::write(root.path().join("cases/torn.yaml"), "op: [\n").expect("written");
    let output = harness(root.path(), &["--exact", "tutorial::sequential"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(
        harness(root.path(), &["tutorial::sequential"]).status.code(),
        Some(0)
    );
}

#[test]
fn a_whole_run_writes_the_same_scorecard_as_assay_run() {
    let (trials, command) = (whole_root(), whole_root());
    let output = harness(trials.path(), &[]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let output = roots::assay(command.path(), &["run"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    for file in [CARD, CELLS] {
        let read = |root: &Path| std::fs::read_to_string(root.join(file)).expect("written");
        assert_eq!(read(trials.path()), read(command.path()));
    }
}

fn cargo(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO"));
    command.args(arguments).current_dir(repository()).env_remove("CI");
    command.output().expect("cargo starts")
}

fn nextest(arguments: &[&str]) -> Output {
    cargo(&[&["nextest"], arguments].concat())
}

fn has_nextest() -> bool {
    let has = nextest(&["--version"]).status.success();
    roots::may_be_missing(has, "cargo-nextest is not installed")
}

#[test]
fn a_whole_run_of_nextest_collected_writes_the_same_scorecard_as_assay_run() {
    if !has_nextest() {
        return;
    }
    let (trials, command) = (whole_root(), whole_root());
    // What the system refuses to run here is ignored, and no process is started for it.
    let elsewhere = "inputs: {x: {shape: [2]}}\nmodel: gelu\nrequires: {mlx: \">= 99\"}\nexpect: {}\n";
    // Nextest looks whether the place where it runs the tests is a workspace.
    std::fs::copy(repository().join("Cargo.toml"), trials.path().join("Cargo.toml")).expect("copied");
    for root in [&trials, &command] {
        std::fs::write(root.path().join("cases/elsewhere.yaml"), elsewhere).expect("written");
    }
    let beside = tempfile::tempdir().expect("a folder for the test");
    let file = |name: &str, output: &Output| {
        assert!(output.status.success(), "{}", said(output));
        let file = beside.path().join(name);
        std::fs::write(&file, &output.stdout).expect("written");
        file.display().to_string()
    };
    let list = [
        "list",
        "--test",
        "conformance",
        "--list-type",
        "binaries-only",
        "--message-format",
        "json",
    ];
    let binaries = file("binaries.json", &nextest(&list));
    let metadata = file("metadata.json", &cargo(&["metadata", "--format-version", "1"]));
    let elsewhere = trials.path().display().to_string();
    let run = |filter: &str| {
        let places = ["--binaries-metadata", &binaries, "--cargo-metadata", &metadata];
        let output = nextest(
            &[
                &["run"],
                &places[..],
                &["--workspace-remap", &elsewhere, "-E", filter],
            ]
            .concat(),
        );
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        roots::assay(trials.path(), &["collect"])
    };
    let partly = run("test(tutorial::) + test(evaluation::)");
    assert!(
        said(&partly).contains("scorecard not updated: "),
        "{}",
        said(&partly)
    );
    let again = roots::assay(trials.path(), &["collect"]);
    assert_eq!(said(&again), said(&partly), "what is no whole run stays");

    let whole = run("all()");
    assert_eq!(whole.status.code(), Some(0), "{}", said(&whole));
    assert!(said(&whole).contains(" skipped"), "{}", said(&whole));
    let output = roots::assay(command.path(), &["run"]);
    assert_eq!(
        said(&whole),
        String::from_utf8_lossy(&output.stdout),
        "the same is told"
    );
    for file in [CARD, CELLS] {
        let read = |root: &Path| std::fs::read_to_string(root.join(file)).expect("written");
        assert_eq!(read(trials.path()), read(command.path()));
    }
    let again = roots::assay(trials.path(), &["collect"]);
    assert!(
        said(&again).contains("no outcomes to collect"),
        "{}",
        said(&again)
    );
}

/// Whether a line of nextest's says how a test ended.
fn is_verdict(line: &str) -> bool {
    line.contains("mlx-assay::conformance ") && !line.trim_start().starts_with("SKIP")
}

#[test]
fn cargo_nextest_gives_the_same_verdicts_and_collect_assembles_them() {
    if !has_nextest() {
        return;
    }
    let filter = "test(tutorial::) + test(faults::) + test(evaluation::)";
    let output = nextest(&[
        "run",
        "--test",
        "conformance",
        "--no-fail-fast",
        "--status-level",
        "all",
        "--final-status-level",
        "none",
        "-E",
        filter,
    ]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let mut theirs = BTreeMap::new();
    for line in text.lines().filter(|line| is_verdict(line)) {
        let name = line.rsplit(' ').next().unwrap_or_default().to_owned();
        let verdict = line.trim_start().split(' ').next().unwrap_or_default();
        theirs.insert(name, if verdict == "PASS" { "ok" } else { "FAILED" }.to_owned());
    }
    let mut ours = BTreeMap::new();
    for family in ["tutorial::", "faults::", "evaluation::"] {
        ours.extend(verdicts(&harness(repository(), &[family])));
    }
    assert_eq!(theirs, ours, "{text}");
    assert!(theirs.len() > 10);

    let collected = roots::assay(repository(), &["collect"]);
    let text = said(&collected);
    let ran = format!("scorecard not updated: {} of ", ours.len());
    assert!(text.contains(&ran), "{text}");
}
