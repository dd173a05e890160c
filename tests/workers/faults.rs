//! Every fault costs its own cell, and the report says where.

use crate::roots::{assay, code, outcomes, root_with, said};
use mlx_assay::scorecard::outcome::Verdict;
use mlx_assay::scorecard::store::{JUNIT, OUTCOMES};

const OTHERS: [&str; 3] = ["tutorial", "evaluation", "models/mlp.yaml"];

#[test]
fn every_fault_is_told_and_costs_no_other_cell() {
    let with = root_with(&["faults", OTHERS[0], OTHERS[1], OTHERS[2]]);
    let without = root_with(&OTHERS);
    let (faulty, plain) = (assay(with.path(), &["run"]), assay(without.path(), &["run"]));
    let table: Vec<String> = outcomes(with.path())
        .iter()
        .filter(|outcome| outcome.cell.starts_with("faults::"))
        .map(|outcome| {
            let value = outcome
                .value
                .map(|value| format!(", value {value}"))
                .unwrap_or_default();
            format!(
                "{}: record {}{value}; {}",
                outcome.cell, outcome.record, outcome.evidence.ending
            )
        })
        .collect();
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        insta::assert_snapshot!(table.join("\n"));
    }
    // Not every capability has evidence in so small a suite, so neither run is clean; no cell is red.
    assert!(!said(&faulty).contains("FAIL"), "{}", said(&faulty));
    assert_eq!(code(&faulty), code(&plain), "{}", said(&faulty));
    let others = outcomes(with.path());
    let others: Vec<_> = others
        .iter()
        .filter(|it| !it.cell.starts_with("faults::"))
        .collect();
    let alone = outcomes(without.path());
    assert_eq!(others.len(), alone.len());
    assert!(others
        .iter()
        .zip(&alone)
        .all(|(with, without)| with.same_as(without)));
}

#[test]
fn an_unexpected_crash_names_the_op_and_shows_what_was_printed() {
    let root = root_with(&[]);
    let case = |text: &str| {
        let file = root.path().join("cases/a.yaml");
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        std::fs::write(file, text).expect("written");
        assay(root.path(), &["run"])
    };
    let output = case("inputs: {x: {shape: [3]}}\nmodel: {fault: {kind: overflow}}\nexpect: {}\n");
    assert_eq!(code(&output), 1, "{}", said(&output));
    assert_eq!(outcomes(root.path())[0].record, Verdict::Crash);
    let text = said(&output);
    for part in [
        "FAIL a   record crash",
        "cases/a.yaml:3  expect",
        "found a crash: stack overflow after exp (call 1), expected a trace that is passed",
        "| thread 'cell'",
        "has overflowed its stack",
        "rerun  cargo test --test conformance -- --exact a",
    ] {
        assert!(text.contains(part), "{part} is not in:\n{text}");
    }
    assert_eq!(
        outcomes(root.path())[0].rerun.as_deref(),
        Some("cargo test --test conformance -- --exact a")
    );
    let junit = root.path().join(JUNIT);
    let junit = std::fs::read_to_string(junit).expect("written");
    for part in [
        r#"<testcase name="a" classname="cases/a.yaml""#,
        r#"type="crash""#,
        "rerun  cargo test --test conformance -- --exact a",
        "<system-out>",
    ] {
        assert!(junit.contains(part), "{part} is not in:\n{junit}");
    }
}

#[test]
fn a_fault_is_refused_where_it_would_end_the_suite() {
    let root = root_with(&["faults/abort.yaml", "faults/divide_by_zero.yaml"]);
    let output = assay(root.path(), &["run", "--workers", "0"]);
    assert_eq!(code(&output), 3, "{}", said(&output));
    assert!(outcomes(root.path())
        .iter()
        .all(|it| it.record == Verdict::Invalid));
    assert!(
        said(&output).contains("run it without `--workers 0`"),
        "{}",
        said(&output)
    );
}

#[test]
fn rounds_in_any_order_come_out_alike_and_say_their_seed() {
    let root = root_with(&[
        "faults/abort.yaml",
        "faults/divide_by_zero.yaml",
        "tutorial",
        "evaluation",
    ]);
    let output = assay(root.path(), &["run", "--repeat", "3", "--shuffle=7"]);
    assert!(said(&output).contains("seed 7"), "{}", said(&output));
    assert!(said(&output).contains("3 rounds, all alike"), "{}", said(&output));
}

#[test]
fn a_cell_that_does_not_come_out_alike_is_found() {
    let root = root_with(&["tutorial"]);
    // Its name in the temporary folder is what differs from run to run: an error that names a process.
    let text = "inputs: {x: {shape: [3]}}\nmodel: {fault: {kind: flake}}\nisolate: true\nexpect: {}\n";
    std::fs::write(root.path().join("cases/flaky.yaml"), text).expect("written");
    let output = assay(root.path(), &["run", "--repeat", "8", "--shuffle=1"]);
    assert_eq!(code(&output), 1, "{}", said(&output));
    let text = said(&output);
    assert!(text.contains("FLAKE flaky"), "{text}");
    assert!(
        text.contains("scorecard not updated: 1 cell did not come out alike"),
        "{text}"
    );
    // It is kept as what it is: red, for whoever reads the outcomes, and for a merge.
    let kept = outcomes(root.path());
    let flaky = kept.iter().find(|it| it.cell == "flaky").expect("kept");
    assert!(flaky.is_flaky() && flaky.record == Verdict::Fail, "{flaky:?}");
    assert!(flaky.rerun.is_some());
    assert!(kept.len() > 1 && kept.iter().filter(|it| it.is_red()).count() == 1);
    let junit = std::fs::read_to_string(root.path().join(JUNIT)).expect("written");
    assert!(
        junit.contains("it did not come out alike: first record"),
        "{junit}"
    );
    let kept = root.path().join(OUTCOMES).display().to_string();
    let merged = assay(root.path(), &["merge", &kept]);
    assert_eq!(code(&merged), 1, "{}", said(&merged));
    assert!(
        said(&merged).contains("1 cell did not come out alike"),
        "{}",
        said(&merged)
    );
    let json = assay(
        root.path(),
        &["run", "--repeat", "8", "--shuffle", "1", "--format", "json"],
    );
    let answer: serde_json::Value = serde_json::from_slice(&json.stdout).expect("nothing but an answer");
    assert_eq!(answer["exit"], 1, "{answer}");
    assert!(said(&json).contains("FLAKE flaky") && said(&json).contains("seed 1"));
}
