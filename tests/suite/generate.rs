//! Files from the tables, by the binary.

use crate::binary;
use std::path::Path;

fn assay(root: &Path, arguments: &[&str]) -> String {
    binary::said(&binary::assay(root, arguments))
}

/// A family that takes a blink: convolutions.
const FAMILY: &str = "conv";

fn generated(root: &Path) -> String {
    assay(root, &["generate", FAMILY])
}

#[test]
fn a_second_run_changes_nothing_and_missing_restores_what_was_removed() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let root = root.path();
    std::fs::create_dir_all(root.join("cases")).expect("made");
    assert!(generated(root).contains("written: cases/surface/conv/conv1d.yaml"));
    let second = generated(root);
    assert!(second.contains("7 of 7 files unchanged"), "{second}");

    let file = root.join("cases/surface/conv/conv1d.yaml");
    let before = std::fs::read_to_string(&file).expect("written");
    std::fs::remove_file(&file).expect("removed");
    let restored = assay(root, &["generate", "--missing", FAMILY]);
    assert!(
        restored.contains("written: cases/surface/conv/conv1d.yaml"),
        "{restored}"
    );
    assert!(restored.contains("6 of 7 files unchanged"), "{restored}");
    assert_eq!(std::fs::read_to_string(&file).expect("written again"), before);
}

#[test]
fn an_edited_file_is_kept_unless_forced() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let root = root.path();
    std::fs::create_dir_all(root.join("cases")).expect("made");
    generated(root);
    let file = root.join("cases/surface/conv/conv2d.yaml");
    let before = std::fs::read_to_string(&file).expect("written");
    let edited = format!("{before}# a person was here\n");
    std::fs::write(&file, &edited).expect("edited");
    assert!(generated(root).contains("kept: cases/surface/conv/conv2d.yaml"));
    assert_eq!(std::fs::read_to_string(&file).expect("there"), edited);
    assay(root, &["generate", "--force", FAMILY]);
    assert_eq!(std::fs::read_to_string(&file).expect("there"), before);
}

#[test]
fn a_generated_file_says_what_was_asked_and_what_came_of_it() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let root = root.path();
    std::fs::create_dir_all(root.join("cases")).expect("made");
    generated(root);
    let text = std::fs::read_to_string(root.join("cases/surface/conv/conv1d.yaml")).expect("written");
    insta::assert_snapshot!(text);
}

#[test]
fn an_unknown_family_is_named_with_those_that_there_are() {
    let root = tempfile::tempdir().expect("a folder for the test");
    std::fs::create_dir_all(root.path().join("cases")).expect("made");
    let said = assay(root.path(), &["generate", "reduc"]);
    assert!(
        said.contains("no family is called `reduc`") && said.contains("did you mean  reduce"),
        "{said}"
    );
}

#[test]
fn nothing_that_asking_left_open_is_undecided() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (sources, problems) = mlx_assay::case::load::find(root).expect("the cases");
    assert!(problems.is_empty() && !sources.is_empty());
    let marked = sources.iter().filter(|it| it.text.contains("# decide:"));
    let marked: Vec<&str> = marked.map(|it| it.file.as_str()).collect();
    assert!(
        marked.is_empty(),
        "say in src/generate/decided.rs what is right of {marked:?}"
    );
}
