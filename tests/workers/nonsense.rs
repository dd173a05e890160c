//! A worker that is none: what answers nonsense, or nothing, costs the cell that asked.

use crate::roots::{self, repository, root_with};
use mlx_assay::case::check;
use mlx_assay::harness::pool::Workers;
use mlx_assay::harness::seam::Runner;
use mlx_assay::scorecard::outcome::Ending;
use mlx_assay::under_test::backend;
use std::sync::Arc;

/// How the first cell of a case ends where `script` stands in for the worker; its input is the socket.
fn ending(script: &str) -> Ending {
    let root = root_with(&["tutorial/sequential.yaml"]);
    let program = roots::script(root.path(), script);
    let backend = backend();
    let suite = check::suite(root.path(), &backend.names).expect("cases");
    let mut cell = suite.cells[0].clone();
    cell.limits.seconds = Some(1);
    Workers::new(program, Arc::clone(&backend.runner))
        .run(&cell)
        .evidence
        .ending
}

#[test]
fn whatever_it_answers_is_the_end_of_it_and_of_one_cell() {
    let nonsense = "a crash: nonsense on the worker's own socket; not where it was";
    for (script, wanted) in [
        // A length beyond all frames.
        ("printf '\\377\\377\\377\\377' >&0; sleep 30", "nonsense"),
        // A frame that is no JSON, and one that is no answer.
        ("printf '\\004\\000\\000\\000oops' >&0; sleep 30", "nonsense"),
        ("printf '\\002\\000\\000\\000{}' >&0; sleep 30", "nonsense"),
        ("exit 7", "exit status 7"),
        ("kill -SEGV $$", "SIGSEGV"),
        // Half a frame and then silence; silence; nothing but its own socket closed.
        ("printf '\\004\\000' >&0; sleep 30", "no end after 1 s"),
        ("sleep 30", "no end after 1 s"),
        ("exec 0<&-; sleep 30", "SIGKILL"),
    ] {
        let ending = ending(script).to_string();
        assert!(
            ending.contains(wanted),
            "{script}: {ending}, not {wanted} ({nonsense})"
        );
    }
}

#[test]
fn a_worker_that_cannot_be_started_is_the_suites_own_fault() {
    let backend = backend();
    let suite = check::suite(repository(), &backend.names).expect("cases");
    let workers = Workers::new("/nowhere/assay", Arc::clone(&backend.runner));
    let ending = workers.run(&suite.cells[0]).evidence.ending;
    assert!(
        matches!(&ending, Ending::Invalid { message } if message.contains("/nowhere/assay")),
        "{ending}"
    );
}
