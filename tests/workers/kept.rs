//! A worker goes on after an error that left nothing behind, and is replaced after one that did.

use crate::roots::{root_with, script};
use mlx_assay::case::cell::Cell;
use mlx_assay::case::check;
use mlx_assay::harness::pool::Workers;
use mlx_assay::harness::seam::Runner;
use mlx_assay::scorecard::outcome::Ending;
use mlx_assay::under_test::backend;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// How many workers it takes to run these cases one after another, and how each of their cells ended.
fn workers_of(root: &Path, cases: &[&str]) -> (usize, Vec<Ending>) {
    let started = root.join("started");
    let (count, assay) = (started.display(), env!("CARGO_BIN_EXE_assay"));
    let program = script(root, &format!("echo >> '{count}'\nexec '{assay}' \"$@\""));
    let backend = backend();
    let suite = check::suite(root, &backend.names).expect("cases");
    let cells: Vec<&Cell> = cases
        .iter()
        .flat_map(|case| suite.cells.iter().filter(move |cell| cell.case.id == *case))
        .collect();
    assert!(cells.len() >= cases.len(), "{cases:?}");
    let endings = Mutex::new(Vec::new());
    Workers::new(program, Arc::clone(&backend.runner)).run_all(&cells, &|_, outcome| {
        endings.lock().expect("no panic").push(outcome.evidence.ending);
    });
    let started = std::fs::read_to_string(started).expect("at least one started");
    (started.lines().count(), endings.into_inner().expect("no panic"))
}

#[test]
fn an_error_that_leaves_nothing_costs_no_worker() {
    let root = root_with(&["tutorial", "ops/shape/reshape_mismatch.yaml"]);
    let (started, endings) = workers_of(
        root.path(),
        &["ops::shape::reshape_mismatch", "tutorial::sequential"],
    );
    assert!(matches!(endings[0], Ending::Error { .. }), "{}", endings[0]);
    assert_eq!((started, endings.last()), (1, Some(&Ending::Traced)));
}

#[test]
fn an_error_that_leaves_another_costs_its_worker() {
    let root = root_with(&["tutorial", "field/23_error_of_compiled_inline.yaml"]);
    let file = root.path().join("cases/field/23_error_of_compiled_inline.yaml");
    let text = std::fs::read_to_string(&file).expect("a case");
    // It says of itself that it wants a worker of its own; here the worker has to see it.
    std::fs::write(&file, text.replace("isolate: true\n", "")).expect("written");
    let (started, endings) = workers_of(
        root.path(),
        &["field::23_error_of_compiled_inline", "tutorial::sequential"],
    );
    assert!(matches!(endings[0], Ending::Error { .. }), "{}", endings[0]);
    assert_eq!((started, endings.last()), (2, Some(&Ending::Traced)));
}

/// A worker shares one processor with MLX's thread on Linux only; elsewhere hardly any task is lost.
#[cfg(target_os = "linux")]
#[test]
fn a_task_that_mlx_lost_costs_the_worker() {
    let root = root_with(&["tutorial"]);
    let text = "inputs: {x: {shape: [3]}}\nmodel: {fault: {kind: lost_task}}\nexpect: {error: task}\n";
    std::fs::write(root.path().join("cases/lost.yaml"), text).expect("written");
    let (started, endings) = workers_of(root.path(), &["lost", "tutorial::sequential"]);
    let ending = endings[0].to_string();
    assert!(ending.contains("a task was lost"), "{ending}");
    assert_eq!((started, endings.last()), (2, Some(&Ending::Traced)));
}
