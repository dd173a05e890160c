//! Whole runs of the binary on the cases that are evidence for a capability: what becomes of the scorecard.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn assay(root: &Path, arguments: &[&str], ci: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.arg("--root").arg(root).args(arguments).env_remove("CI");
    command.envs(ci.map(|value| ("CI", value)));
    command.output().expect("the binary starts")
}

fn said(output: &Output) -> String {
    let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8(text).expect("UTF-8")
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
