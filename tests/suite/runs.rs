//! Whole runs of the binary on the cases that are evidence for a capability: what becomes of the scorecard.

use crate::binary::said;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn assay(root: &Path, arguments: &[&str], ci: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.arg("--root").arg(root).args(arguments).env_remove("CI");
    command.envs(ci.map(|value| ("CI", value)));
    command.output().expect("the binary starts")
}

/// A root with the cases that cover something, so that no claim is without evidence.
fn root() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a folder for the test");
    copy(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("cases").as_path(),
        &root.path().join("cases"),
    );
    root
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("the cases") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else if fs::read_to_string(&path).expect("UTF-8").contains("covers: [") {
            fs::create_dir_all(to).expect("made");
            fs::copy(&path, &target).expect("copied");
        }
    }
}

fn change(root: &Path, file: &str, from: &str, to: &str) {
    let path = root.join(file);
    let text = fs::read_to_string(&path).expect("the case");
    assert!(text.contains(from), "{file}: {text}");
    fs::write(path, text.replace(from, to)).expect("written");
}

const CARD: &str = "scorecards/mlx.json";
const CELLS: &str = "scorecards/mlx.cells.json";
const PENDING: &str = "target/assay/scorecard.new.json";

#[test]
fn a_filtered_run_leaves_the_scorecard_alone_and_says_so() {
    let root = root();
    let root = root.path();
    let whole = assay(root, &["run"], None);
    assert_eq!(whole.status.code(), Some(0), "{}", said(&whole));
    let before = fs::read(root.join(CARD)).expect("written by the whole run");
    let filtered = assay(root, &["run", "tutorial"], None);
    assert_eq!(filtered.status.code(), Some(0), "{}", said(&filtered));
    assert!(
        said(&filtered).contains("scorecard not updated: 1 of "),
        "{}",
        said(&filtered)
    );
    assert_eq!(fs::read(root.join(CARD)).expect("still there"), before);
}

#[test]
fn a_verdict_that_got_worse_waits_with_a_diff_until_it_is_accepted() {
    let root = root();
    let root = root.path();
    assert_eq!(assay(root, &["run"], None).status.code(), Some(0));
    let before = fs::read(root.join(CELLS)).expect("written by the whole run");
    change(
        root,
        "cases/tutorial/sequential.yaml",
        "[input, linear, gelu, linear]",
        "[input, linear, linear]",
    );
    let worse = assay(root, &["run"], None);
    assert_eq!(worse.status.code(), Some(1), "{}", said(&worse));
    for part in [
        "FAIL tutorial::sequential",
        "worse",
        "+    {\"case\":\"tutorial::sequential\"",
        "assay accept",
    ] {
        assert!(said(&worse).contains(part), "{part}: {}", said(&worse));
    }
    assert!(root.join(PENDING).exists());
    assert_eq!(fs::read(root.join(CELLS)).expect("still there"), before);
    assert_eq!(assay(root, &["accept"], None).status.code(), Some(0));
    assert_ne!(fs::read(root.join(CELLS)).expect("accepted"), before);
    assert!(!root.join(PENDING).exists());
}

fn git(root: &Path, arguments: &[&str]) -> String {
    let output = std::process::Command::new("git")
        .arg("-C")
        .arg(root)
        .args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "-c",
            "commit.gpgsign=false",
        ])
        .args(arguments)
        .output()
        .expect("git starts");
    assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
}

const RULES: &str = "supported: [forward.modules]\ndevices: [linux-cpu]\n\
                     coverage: {mlx_c_percent: 0, mlx_rs_percent: 0}\nkill_rate_percent: 100\n\
                     expired_failures: refused\n";

#[test]
fn a_label_is_decided_on_holds_and_breaks() {
    let root = root();
    let root = root.path();
    fs::create_dir_all(root.join("scorecards")).expect("made");
    fs::write(root.join("scorecards/gate.yaml"), RULES).expect("written");
    assert_eq!(assay(root, &["run"], None).status.code(), Some(0));
    git(root, &["init", "--quiet"]);
    let uncommitted = assay(root, &["gate", "--to", "stable"], None);
    assert_ne!(uncommitted.status.code(), Some(0), "{}", said(&uncommitted));
    git(root, &["add", "--all"]);
    git(root, &["commit", "--quiet", "--message", "evidence"]);
    let open = assay(root, &["gate", "--to", "stable"], None);
    assert_eq!(open.status.code(), Some(0), "{}", said(&open));
    let decision = said(&open);
    let decision = &decision[decision.find("label:").expect("a decision to paste")..];
    let file = root.join("scorecards/mlx.decision.yaml");
    fs::write(&file, decision).expect("written");
    let blank = assay(root, &["run"], None);
    assert_eq!(blank.status.code(), Some(3), "{}", said(&blank));
    assert!(said(&blank).contains("at `who`: is blank"), "{}", said(&blank));
    let signed = decision
        .replace("who: \"\"", "who: me")
        .replace("why: \"\"", "why: all is proven");
    fs::write(&file, signed).expect("written");
    let held = assay(root, &["run"], None);
    assert_eq!(held.status.code(), Some(0), "{}", said(&held));
    assert!(said(&held).contains("label: stable, held"), "{}", said(&held));
    change(
        root,
        "cases/tutorial/sequential.yaml",
        "  ops: [input, linear, gelu, linear]\n",
        "",
    );
    let broken = assay(root, &["run"], None);
    assert_eq!(broken.status.code(), Some(1), "{}", said(&broken));
    for part in [
        "label: stable, broken",
        "broken  tutorial::sequential [linux-cpu]: no longer expects ops",
        "worse   tutorial::sequential: no longer expects ops",
    ] {
        assert!(said(&broken).contains(part), "{part}: {}", said(&broken));
    }
    // Accepted is not decided: the label stays broken until somebody decides anew.
    assert_eq!(assay(root, &["accept"], None).status.code(), Some(0));
    let accepted = assay(root, &["run"], None);
    assert_eq!(accepted.status.code(), Some(1), "{}", said(&accepted));
    let compared = assay(root, &["diff", "HEAD"], None);
    assert_eq!(compared.status.code(), Some(1), "{}", said(&compared));
    assert!(
        said(&compared).contains("weakened tutorial::sequential"),
        "{}",
        said(&compared)
    );
    let markdown = assay(root, &["diff", "HEAD", "--format", "markdown"], None);
    assert!(
        said(&markdown).starts_with("### Scorecard: HEAD"),
        "{}",
        said(&markdown)
    );
    let nowhere = assay(root, &["diff", "no-such-revision"], None);
    assert_eq!(nowhere.status.code(), Some(2), "{}", said(&nowhere));
    // Without its cases the scorecard cannot prove what the gate asks for.
    fs::write(
        root.join("scorecards/gate.yaml"),
        RULES.replace("[linux-cpu]", "[macos-metal]"),
    )
    .expect("written");
    let missing = assay(root, &["gate"], None);
    assert_eq!(missing.status.code(), Some(4), "{}", said(&missing));
    assert!(
        said(&missing).contains("nothing has run there"),
        "{}",
        said(&missing)
    );
}

#[test]
fn where_ci_is_set_nothing_is_written() {
    let root = root();
    let root = root.path();
    let first = assay(root, &["run"], Some("1"));
    assert!(!root.join("scorecards").exists(), "{}", said(&first));
    assert_eq!(assay(root, &["run"], None).status.code(), Some(0));
    let before = fs::read(root.join(CELLS)).expect("written without CI");
    change(
        root,
        "cases/tutorial/sequential.yaml",
        "[input, linear, gelu, linear]",
        "[input, linear, linear]",
    );
    let worse = assay(root, &["run"], Some("1"));
    assert_eq!(worse.status.code(), Some(1), "{}", said(&worse));
    assert!(!root.join(PENDING).exists());
    assert_eq!(fs::read(root.join(CELLS)).expect("still there"), before);
}

#[test]
fn answers_for_programs_are_json_and_nothing_else() {
    let root = root();
    let output = assay(root.path(), &["run", "--format", "json"], None);
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["exit"], 0, "{answer}");
    assert_eq!(answer["totals"]["red"], 0);
    let cells = answer["cells"].as_array().expect("a list");
    assert!(cells
        .iter()
        .any(|cell| cell["cell"] == "tutorial::sequential" && cell["record"] == "pass"));
}

#[test]
fn every_cells_rerun_command_goes_through_a_shell_as_it_is() {
    let names = mlx_assay::under_test::backend().names;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let suite = mlx_assay::case::check::suite(root, &names).expect("the suite");
    assert!(suite.cells.len() > 300);
    let safe = |letter: char| letter.is_ascii_alphanumeric() || "_:.,=+-".contains(letter);
    for cell in &suite.cells {
        assert!(cell.id.chars().all(safe), "{}", cell.id);
    }
}
