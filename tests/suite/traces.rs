//! Saved traces on the command line.

use crate::binary::said;
use std::path::Path;
use std::process::{Command, Output};

fn assay(root: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.current_dir(root).args(arguments).env_remove("CI");
    command.output().expect("the binary starts")
}

/// Two cases that differ in one number, and their traces, one in each form.
fn root() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a folder for the test");
    std::fs::create_dir(root.path().join("cases")).expect("made");
    for (name, by, trace) in [("one", "1.0", "first"), ("other", "1.25", "second.safetensors")] {
        let case = format!(
            "inputs: {{x: {{dtype: float32, value: [1.0, -2.0, 4.0]}}}}\nforward: [{{a: {{square: x}}}}, {{b: {{multiply: \
             [a, {by}]}}}}, {{c: {{negative: b}}}}]\noutputs: [c]\nexpect: {{}}\n"
        );
        std::fs::write(root.path().join(format!("cases/{name}.yaml")), case).expect("written");
        let output = assay(root.path(), &["show", name, "--save", trace]);
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    }
    root
}

#[test]
fn two_traces_side_by_side() {
    let root = root();
    let output = assay(root.path(), &["diff", "first", "second.safetensors"]);
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!("traces_apart", said(&output));
    let output = assay(
        root.path(),
        &["diff", "first", "second.safetensors", "--tolerance", "0.3"],
    );
    assert_eq!(output.status.code(), Some(0));
    insta::assert_snapshot!("traces_near", said(&output));
    let output = assay(root.path(), &["diff", "first", "first", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0));
    let rows: serde_json::Value = serde_json::from_str(&said(&output)).expect("JSON");
    assert!(
        rows.as_array()
            .expect("rows")
            .iter()
            .all(|row| row["difference"].is_null()),
        "{rows}"
    );
}

#[test]
fn a_saved_trace_is_shown_and_drawn() {
    let root = root();
    let output = assay(
        root.path(),
        &["show", "second.safetensors", "--draw", "picture.svg"],
    );
    assert_eq!(output.status.code(), Some(0));
    insta::assert_snapshot!("trace_saved", said(&output));
    let picture = std::fs::read_to_string(root.path().join("picture.svg")).expect("drawn");
    assert!(picture.starts_with("<svg xmlns=") && picture.trim_end().ends_with("</svg>"));
    assert!(picture.contains(">multiply_1:1</text>"), "{picture}");
}

#[test]
fn misuse_of_traces_says_what_to_do() {
    let root = root();
    let mut messages = String::new();
    let mut misuse = |arguments: &[&str], status: i32| {
        let output = assay(root.path(), arguments);
        assert_eq!(
            output.status.code(),
            Some(status),
            "{arguments:?}: {}",
            said(&output)
        );
        let error = String::from_utf8(output.stderr).expect("UTF-8");
        messages.push_str(&format!("$ assay {}\n{error}\n", arguments.join(" ")));
    };
    misuse(&["show", "one", "--save", "first"], 2);
    misuse(&["show", "second.safetensors", "--save", "again"], 2);
    misuse(&["diff", "first"], 2);
    misuse(&["diff", "first", "HEAD"], 2);
    misuse(&["diff", "HEAD", "first"], 2);
    std::fs::write(root.path().join("bad.safetensors"), "no tensors").expect("written");
    misuse(&["show", "bad.safetensors"], 3);
    let file = root.path().join("first/trace.json");
    let text = std::fs::read_to_string(&file).expect("saved");
    std::fs::write(&file, text.replace("mlx_square", "mlx_sqrt")).expect("written");
    misuse(&["show", "first"], 3);
    insta::assert_snapshot!("traces_misused", messages);
}
