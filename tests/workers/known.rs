//! Known failures: each way in which one changes has an exit status of its own, and names the edit to make.

use crate::roots::{assay, code, said, whole_root};
use std::path::Path;

/// What an entry says of values that are wrong.
const WRONG: &str = "fails: \"values expect.outputs[0].values\", ";

/// A case that computes `exp(0)`, expects `value`, and excuses what `fails` names until `expires`.
fn case(root: &Path, value: &str, fails: &str, expires: &str) -> String {
    let text = format!(
        "inputs: {{x: {{value: 0.0}}}}\nforward: [{{y: {{exp: x}}}}]\nexpect: {{outputs: [{{values: {value}}}]}}\n\
         # kept as it is\nexpected_fail:\n  - {{check: value, {fails}because: a test, issue: none,\n     opened: 2026-01-01, \
         expires: {expires}}}\n"
    );
    std::fs::write(root.join("cases/known.yaml"), &text).expect("written");
    text
}

fn written(root: &Path) -> String {
    std::fs::read_to_string(root.join("cases/known.yaml")).expect("a case")
}

/// Runs a command, which must end so and say these.
fn ends(root: &Path, command: &str, status: i32, says: &[&str]) {
    let output = assay(root, &[command]);
    assert_eq!(code(&output), status, "{command}: {}", said(&output));
    for wanted in says {
        assert!(said(&output).contains(wanted), "{wanted}\n{}", said(&output));
    }
}

#[test]
fn a_known_failure_is_clean_until_it_expires() {
    let root = whole_root();
    case(root.path(), "2.0", WRONG, "2999-01-01");
    ends(root.path(), "run", 0, &[]);
    case(root.path(), "2.0", WRONG, "2026-06-01");
    let wanted = "expired  cases/known.yaml:6  expected_fail[0] excuses 1 cell until 2026-06-01";
    ends(root.path(), "run", 4, &[wanted]);
}

#[test]
fn one_that_passes_is_an_improvement_and_accept_makes_the_edit() {
    let root = whole_root();
    let text = case(root.path(), "1.0", WRONG, "2999-01-01");
    let wanted = "passes   cases/known.yaml:6  nothing that expected_fail[0] excuses fails any more";
    ends(root.path(), "run", 5, &[wanted]);
    ends(root.path(), "accept", 0, &[]);
    let end = text.find("expected_fail").expect("an entry");
    assert_eq!(written(root.path()), text[..end]);
    ends(root.path(), "run", 0, &[]);
}

#[test]
fn one_that_fails_otherwise_is_a_regression_and_accept_makes_the_edit() {
    let root = whole_root();
    case(root.path(), "2.0", WRONG, "2999-01-01");
    ends(root.path(), "run", 0, &[]);
    let text = case(root.path(), "[1.0, 2.0]", WRONG, "2999-01-01");
    let says = [
        "changed-fail",
        "was    values expect.outputs[0].values",
        "now    shape expect.outputs[0].values",
        "changed  cases/known.yaml:6  expected_fail[0] does not name what fails in 1 cell; write `fails: \"shape \
         expect.outputs[0].values\"`",
    ];
    ends(root.path(), "run", 1, &says);
    ends(
        root.path(),
        "accept",
        0,
        &["accepted: cases/known.yaml; run again, and commit both"],
    );
    assert_eq!(
        written(root.path()),
        text.replace("values expect.outputs", "shape expect.outputs")
    );
    ends(root.path(), "run", 0, &["scorecard current"]);
}

#[test]
fn one_that_names_nothing_excuses_nothing_until_it_is_accepted() {
    let root = whole_root();
    let text = case(root.path(), "2.0", "", "2999-01-01");
    let says = [
        "was    nothing, since the entry has no `fails:`",
        "edit   cases/known.yaml:6  write `fails: \"values expect.outputs[0].values\"`, or let `assay accept` do it",
    ];
    ends(root.path(), "run", 1, &says);
    ends(root.path(), "accept", 0, &["accepted: cases/known.yaml"]);
    let filled = text.replace("value, because", &format!("value, {WRONG}because"));
    assert_eq!(written(root.path()), filled);
    ends(root.path(), "run", 0, &["scorecard current"]);
}

#[test]
fn one_of_which_some_cells_pass_is_left_to_a_person() {
    let root = whole_root();
    let text = "inputs: {x: {value: 0.0}}\nforward: [{y: {exp: x}}, {z: {add: [y, $n]}}]\nmatrix: {n: [0.0, 1.0]}\n\
                expect: {outputs: [{values: 1.0}]}\nexpected_fail:\n  - {check: value, fails: \
                \"values expect.outputs[0].values\", because: a, issue: b,\n     opened: 2026-01-01, expires: 2999-01-01}\n";
    std::fs::write(root.path().join("cases/known.yaml"), text).expect("written");
    let wanted =
        "of the 2 cells that expected_fail[0] excuses these pass: known; narrow its `where:` to the others: \
                  known::n=1.0";
    ends(root.path(), "run", 5, &[wanted]);
    let by_hand =
        "by hand  cases/known.yaml:6  narrow the `where:` of expected_fail[0] to known::n=1.0, since";
    ends(root.path(), "accept", 5, &[by_hand]);
    assert_eq!(written(root.path()), text);
}

#[test]
fn what_accept_cannot_edit_it_says_how_to_write() {
    let root = whole_root();
    let text = case(
        root.path(),
        "2.0",
        "fails: [\n       # why\n       a], ",
        "2999-01-01",
    );
    ends(root.path(), "run", 1, &[]);
    let by_hand = "by hand  cases/known.yaml:6  write `fails: \"values expect.outputs[0].values\"` into \
                   expected_fail[0], since a comment stands in its `fails:`";
    ends(root.path(), "accept", 1, &[by_hand]);
    assert_eq!(written(root.path()), text);
}

#[test]
fn one_that_excuses_no_cell_is_a_fault_of_the_suite() {
    let root = whole_root();
    let text = "op: exp\nmatrix: {dtype: [float32], shape: [[2]]}\nexpect: {reference: true}\nexpected_fail:\n  \
                - {where: {dtype: int32}, check: value, because: a, issue: b, opened: 2026-01-01, expires: 2999-01-01}\n";
    std::fs::write(root.path().join("cases/known.yaml"), text).expect("written");
    ends(root.path(), "run", 3, &["the axis `dtype` has no value int32"]);
}
