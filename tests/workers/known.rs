//! Known failures: each way in which one changes has an exit status of its own, and names the edit to make.

use crate::roots::{assay, code, said, whole_root};
use std::path::Path;

/// A case that computes `exp(0)`, expects `value`, and excuses it until `expires`.
fn case(root: &Path, value: &str, expires: &str) -> String {
    let text = format!(
        "inputs: {{x: {{value: 0.0}}}}\nforward: [{{y: {{exp: x}}}}]\nexpect: {{outputs: [{{values: {value}}}]}}\n\
         # kept as it is\nexpected_fail:\n  - {{check: value, because: a test, issue: none,\n     opened: 2026-01-01, expires: {expires}}}\n"
    );
    std::fs::write(root.join("cases/known.yaml"), &text).expect("written");
    text
}

#[test]
fn a_known_failure_is_clean_until_it_expires() {
    let root = whole_root();
    case(root.path(), "2.0", "2999-01-01");
    let output = assay(root.path(), &["run"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    case(root.path(), "2.0", "2026-06-01");
    let output = assay(root.path(), &["run"]);
    assert_eq!(code(&output), 4, "{}", said(&output));
    let wanted = "expired  cases/known.yaml:6  expected_fail[0] excuses 1 cell until 2026-06-01";
    assert!(said(&output).contains(wanted), "{}", said(&output));
}

#[test]
fn one_that_passes_is_an_improvement_and_accept_makes_the_edit() {
    let root = whole_root();
    let text = case(root.path(), "1.0", "2999-01-01");
    let output = assay(root.path(), &["run"]);
    assert_eq!(code(&output), 5, "{}", said(&output));
    let wanted = "passes   cases/known.yaml:6  nothing that expected_fail[0] excuses fails any more";
    assert!(said(&output).contains(wanted), "{}", said(&output));
    let output = assay(root.path(), &["accept"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    let edited = std::fs::read_to_string(root.path().join("cases/known.yaml")).expect("a case");
    let end = text.find("expected_fail").expect("an entry");
    assert_eq!(edited, text[..end]);
    let output = assay(root.path(), &["run"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
}

#[test]
fn one_that_fails_otherwise_is_a_regression() {
    let root = whole_root();
    case(root.path(), "2.0", "2999-01-01");
    assert_eq!(code(&assay(root.path(), &["run"])), 0);
    case(root.path(), "[1.0, 2.0]", "2999-01-01");
    let output = assay(root.path(), &["run"]);
    assert_eq!(code(&output), 1, "{}", said(&output));
    assert!(said(&output).contains("changed-fail"), "{}", said(&output));
}

#[test]
fn one_that_excuses_no_cell_is_a_fault_of_the_suite() {
    let root = whole_root();
    let text = "op: exp\nmatrix: {dtype: [float32], shape: [[2]]}\nexpect: {reference: true}\nexpected_fail:\n  \
                - {where: {dtype: int32}, check: value, because: a, issue: b, opened: 2026-01-01, expires: 2999-01-01}\n";
    std::fs::write(root.path().join("cases/known.yaml"), text).expect("written");
    let output = assay(root.path(), &["run"]);
    assert_eq!(code(&output), 3, "{}", said(&output));
    assert!(
        said(&output).contains("the axis `dtype` has no value int32"),
        "{}",
        said(&output)
    );
}
