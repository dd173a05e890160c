//! The binary, as a person or a script calls it.

use crate::binary::{assay, said};

fn root_with(file: &str, text: &str) -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a folder for the test");
    let path = root.path().join(file);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    std::fs::write(path, text).expect("written");
    root
}

const CASE: &str = "inputs: {x: {shape: [3]}}\nmodel: gelu\nexpect: {}\n";

#[test]
fn misuse_ends_with_2() {
    let root = root_with("cases/a/b.yaml", CASE);
    for arguments in [
        &["fly"][..],
        &["show", "a::c"],
        &["run", "nothing"],
        &["list", "nothing"],
        &["accept"],
    ] {
        let output = assay(root.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", said(&output));
    }
    assert!(said(&assay(root.path(), &["show", "a::c"])).contains("did you mean  a::b"));
}

#[test]
fn a_broken_case_ends_with_3_and_points_at_the_line() {
    let root = root_with(
        "cases/a.yaml",
        "inputs: {x: {shape: [3]}}\nmodel: gleu\nexpect: {}\n",
    );
    for command in ["check", "list", "run"] {
        let output = assay(root.path(), &[command]);
        assert_eq!(output.status.code(), Some(3), "{command}: {}", said(&output));
        assert!(said(&output).contains("cases/a.yaml:2:8"), "{}", said(&output));
        assert!(said(&output).contains("did you mean `gelu`"), "{}", said(&output));
    }
}

#[test]
fn a_filter_that_only_a_broken_file_would_meet_shows_what_is_wrong_with_it() {
    let root = root_with("cases/mine.yaml", "op: epx\nshape: [3]\nexpect: {}\n");
    let output = assay(root.path(), &["run", "mine"]);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(said(&output).contains("did you mean `exp`"), "{}", said(&output));
    assert!(
        said(&output).contains("but 1 file with problems"),
        "{}",
        said(&output)
    );
}

#[test]
fn whatever_is_in_a_file_the_answer_is_a_place_and_a_way_out() {
    let bomb: String = (0..12)
        .map(|level| match level {
            0 => "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned(),
            _ => format!(
                "a{level}: &a{level} [{}]\n",
                vec![format!("*a{}", level - 1); 10].join(", ")
            ),
        })
        .collect();
    let broken: [(&str, &[u8]); 7] = [
        (
            "indentation",
            b"inputs:\n  x: {shape: [3]}\n model: gelu\nexpect: {}\n",
        ),
        (
            "unknown key",
            b"inputs: {x: {shape: [3]}}\nmodle: gelu\nexpect: {}\n",
        ),
        (
            "wrong type",
            b"inputs: {x: {shape: three}}\nmodel: gelu\nexpect: {}\n",
        ),
        (
            "a shape of -1",
            b"inputs: {x: {shape: [-1]}}\nmodel: gelu\nexpect: {}\n",
        ),
        (
            "10^12 elements",
            b"inputs: {x: {shape: [1000000, 1000000]}}\nmodel: gelu\nexpect: {}\n",
        ),
        ("a bomb", bomb.as_bytes()),
        (
            "not UTF-8",
            b"inputs: {x: {shape: [3]}}\nmodel: gelu # na\xefve\nexpect: {}\n",
        ),
    ];
    for (name, text) in broken {
        let root = root_with("cases/a.yaml", "");
        std::fs::write(root.path().join("cases/a.yaml"), text).expect("written");
        let output = assay(root.path(), &["check"]);
        assert_eq!(output.status.code(), Some(3), "{name}: {}", said(&output));
        let said = said(&output);
        let placed = said.contains("cases/a.yaml:") || name == "not UTF-8" && said.contains("cases/a.yaml");
        assert!(
            placed && said.contains("help:") && !said.contains("panicked"),
            "{name}: {said}"
        );
    }
}

#[test]
fn a_new_case_is_right_as_it_stands_and_never_replaces_one() {
    let root = root_with("cases/a.yaml", CASE);
    for kind in ["op", "layer", "model", "refusal"] {
        let made = assay(root.path(), &["new", kind, "mine"]);
        assert_eq!(made.status.code(), Some(0), "{}", said(&made));
        assert_eq!(assay(root.path(), &["new", kind, "mine"]).status.code(), Some(2));
    }
    let output = assay(root.path(), &["run", "mine"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(
        said(&output).contains("9 of 10 cells ran, record 9 pass"),
        "{}",
        said(&output)
    );
    assert_eq!(
        assay(root.path(), &["new", "op", "../out"]).status.code(),
        Some(2)
    );
}

/// What is red as it begins, and why.
const RED_FROM_THE_START: [(&str, &[&str]); 4] = [
    (
        "results go through the host, or begin at the clock: a second capture finds other constants",
        &[
            "ops::array.deep_clone",
            "ops::optimizer.clip_grad_norm",
            "ops::random_state.new",
        ],
    ),
    (
        "no small change of the inputs it begins with changes the answer: choose others",
        &[
            "ops::all_close",
            "ops::array.all_close",
            "ops::array.eq_exact",
            "ops::array.eq_values",
            "ops::array_eq",
            "ops::fast.rope_dynamic",
        ],
    ),
    (
        "computes otherwise than its reference, or nothing in evaluation: see its case in cases/surface",
        &[
            "ops::nn.gelu_fast_approximate",
            "layers::alibi",
            "layers::gru",
            "layers::lstm",
            "layers::rnn",
            "layers::dropout",
            "layers::dropout2d",
            "layers::dropout3d",
        ],
    ),
    (
        "refuses what it begins with",
        &["ops::nn.glu", "ops::qqmm", "ops::segmented_mm"],
    ),
];

#[test]
fn a_new_case_begins_with_the_signature_of_any_function_and_layer() {
    let root = root_with("cases/a.yaml", CASE);
    let names = mlx_assay::under_test::backend().names;
    let ops = names.functions.iter().map(|it| ("op", it.name));
    for (kind, name) in ops.chain(names.layers.iter().map(|it| ("layer", it.name))) {
        let made = assay(root.path(), &["new", kind, name]);
        assert_eq!(made.status.code(), Some(0), "{name}: {}", said(&made));
    }
    let output = said(&assay(root.path(), &["run"]));
    let mut red: Vec<&str> = output
        .lines()
        .filter_map(|line| line.strip_prefix("FAIL ")?.split_whitespace().next())
        .collect();
    let mut known: Vec<&str> = RED_FROM_THE_START
        .iter()
        .flat_map(|(_, cells)| cells.iter().copied())
        .collect();
    red.sort_unstable();
    known.sort_unstable();
    assert_eq!(red, known, "{output}");
}

#[test]
fn lists_are_for_programs_too() {
    let root = root_with("cases/a/b.yaml", CASE);
    assert_eq!(said(&assay(root.path(), &["list"])), "a::b\n");
    let json = said(&assay(root.path(), &["list", "--format", "json"]));
    assert_eq!(
        json,
        "{\"cell\":\"a::b\",\"file\":\"cases/a/b.yaml\",\"covers\":[]}\n"
    );
}
