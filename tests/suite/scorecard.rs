//! The scorecard's life: written, left alone, put aside, accepted, compared.

use crate::names::{cells, NAMES};
use crate::stand_in::StandIn;
use mlx_assay::capability::Capability;
use mlx_assay::case::cell::Cell;
use mlx_assay::harness::block::block;
use mlx_assay::harness::seam::Observed;
use mlx_assay::harness::suite::{end, Ended, Recorder, Scope};
use mlx_assay::report::text;
use mlx_assay::scorecard::exit::Exit;
use mlx_assay::scorecard::outcome::{Ending, Verdict};
use mlx_assay::scorecard::outcomes::Origin;
use mlx_assay::scorecard::settle::{Mode, Update};
use mlx_assay::scorecard::store::{Store, CARD, CELLS, PENDING_CARD};
use mlx_assay::vocabulary::{Device, State};
use std::sync::Arc;

const CASE: &str =
    "covers: [forward.modules]\nop: sum\nmatrix: {dtype: [float32, int32], shape: [[3], [2, 2]]}\n\
                    expect: {state: passed}\n";

fn claims() -> Vec<Capability> {
    NAMES
        .capabilities
        .iter()
        .filter(|row| row.id == "forward.modules")
        .copied()
        .collect()
}

fn run(store: &Store, mode: Mode, cells: &[Cell], change: fn(&Cell, &mut Observed)) -> Ended {
    run_some(store, mode, cells, cells.len(), change)
}

fn run_some(
    store: &Store,
    mode: Mode,
    cells: &[Cell],
    most: usize,
    change: fn(&Cell, &mut Observed),
) -> Ended {
    let committed = store.committed().expect("readable");
    let recorder = Recorder::new(
        Arc::new(StandIn(change)),
        committed.cells.clone(),
        Device::LinuxCpu,
    );
    for cell in cells.iter().take(most) {
        recorder.run(cell);
    }
    let scope = Scope {
        store,
        capabilities: &claims(),
        origin: &Origin::new(Device::LinuxCpu, Default::default(), Default::default()),
        suite: cells,
        today: "2026-11-29".parse().expect("a date"),
        problems: 0,
        mode,
        surface: Box::new(|_| Ok(vec![])),
    };
    end(&scope, recorder.outcomes()).expect("the run ends")
}

fn said(ended: &Ended) -> String {
    text::summary(&ended.totals(), &ended.settled, &ended.label, ended.page)
}

fn fail_one(cell: &Cell, observed: &mut Observed) {
    if cell.id == "test::int32::3" {
        observed.evidence.state = Some(State::Failed);
    }
}

#[test]
fn a_scorecard_is_written_once_and_then_left_alone() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let store = Store::new(root.path());
    let cells = cells(CASE);
    let first = run(&store, Mode::Write, &cells, |_, _| {});
    assert_eq!(
        (first.settled.update.clone(), first.settled.exit),
        (Update::Written, Exit::Clean)
    );
    insta::assert_snapshot!("summary of a first run", said(&first));
    let read = |file| std::fs::read_to_string(store.path(file)).expect("written");
    insta::assert_snapshot!("scorecard", read(CARD));
    insta::assert_snapshot!("cells", read(CELLS));
    let time = || {
        std::fs::metadata(store.path(CARD))
            .and_then(|it| it.modified())
            .expect("a time")
    };
    let written = time();
    let second = run(&store, Mode::Write, &cells, |_, _| {});
    assert_eq!(
        (second.settled.update, second.settled.exit, time()),
        (Update::Current, Exit::Clean, written)
    );
}

#[test]
fn the_committed_scorecard_is_small_a_line_a_row_and_as_it_was_written() {
    let store = Store::new(env!("CARGO_MANIFEST_DIR"));
    let version = store.committed().expect("readable, and not edited by hand");
    let text = |file| std::fs::read_to_string(store.path(file)).expect("committed");
    assert_eq!(text(CARD), version.card.write().expect("spelled"));
    assert_eq!(text(CELLS), version.cells.write().expect("spelled"));
    assert!(text(CARD).len() <= 200_000, "{} bytes", text(CARD).len());
    let cases: std::collections::BTreeSet<&str> =
        version.cells.cells.iter().map(|row| row.case.as_str()).collect();
    assert!(text(CELLS).lines().count() < cases.len() + 10);
}

#[test]
fn the_committed_schemas_are_current() {
    for (file, wanted) in mlx_assay::scorecard::schema::texts().expect("spelled") {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let found = std::fs::read_to_string(path).unwrap_or_default();
        assert!(found == wanted, "{file} is old: run `assay generate --missing`");
    }
}

#[test]
fn the_order_of_the_cells_shows_nowhere() {
    let bytes = |cells: &[Cell]| {
        let root = tempfile::tempdir().expect("a folder for the test");
        let store = Store::new(root.path());
        run(&store, Mode::Write, cells, |_, _| {});
        [CARD, CELLS].map(|file| std::fs::read(store.path(file)).expect("written"))
    };
    let cells = cells(CASE);
    let backwards: Vec<Cell> = cells.iter().rev().cloned().collect();
    assert_eq!(bytes(&cells), bytes(&backwards));
}

#[test]
fn what_got_worse_waits_to_be_accepted() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let store = Store::new(root.path());
    let cells = cells(CASE);
    run(&store, Mode::Write, &cells, |_, _| {});
    let committed = std::fs::read(store.path(CARD)).expect("written");
    let worse = run(&store, Mode::Write, &cells, fail_one);
    assert_eq!(
        (worse.settled.update.clone(), worse.settled.exit),
        (Update::Pending, Exit::Regression)
    );
    assert_eq!(std::fs::read(store.path(CARD)).expect("still there"), committed);
    assert!(store.path(PENDING_CARD).exists());
    insta::assert_snapshot!("summary of a regression", said(&worse));
    let better = run(&store, Mode::Write, &cells, |_, _| {});
    assert_eq!(
        (better.settled.update, store.path(PENDING_CARD).exists()),
        (Update::Current, false)
    );
}

#[test]
fn what_waits_is_not_that_of_a_run_before_the_latest_whole_one() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let store = Store::new(root.path());
    let cells = cells(CASE);
    run(&store, Mode::Write, &cells, |_, _| {});
    run(&store, Mode::Write, &cells, fail_one);
    assert!(store.path(PENDING_CARD).exists());
    // A run of some cells says nothing about it.
    run_some(&store, Mode::Write, &cells, 1, |_, _| {});
    assert!(store.path(PENDING_CARD).exists());
    let invalid = run(&store, Mode::Write, &cells, |_, it| {
        it.evidence.ending = Ending::Invalid {
            message: "no".to_owned(),
        }
    });
    assert_eq!(invalid.settled.update, Update::Invalid { cells: 4 });
    assert!(!store.path(PENDING_CARD).exists());
}

#[test]
fn a_filtered_run_leaves_the_scorecard_alone_and_says_so() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let store = Store::new(root.path());
    let cells = cells(CASE);
    let ended = run_some(&store, Mode::Write, &cells, 1, |_, _| {});
    assert_eq!(
        (ended.settled.update.clone(), ended.settled.exit),
        (Update::Partial { ran: 1, of: 4 }, Exit::Clean)
    );
    assert!(!store.path(CARD).exists());
    assert!(
        said(&ended).contains("scorecard not updated: 1 of 4 cells ran"),
        "{}",
        said(&ended)
    );
}

#[test]
fn continuous_integration_only_compares() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let store = Store::new(root.path());
    let cells = cells(CASE);
    let update = |ended: Ended| (ended.settled.update, ended.settled.exit);
    let none = run(&store, Mode::Compare, &cells, |_, _| {});
    assert_eq!(update(none), (Update::NothingToCompare, Exit::Clean));
    run(&store, Mode::Write, &cells[..2], |_, _| {});
    let committed = std::fs::read(store.path(CARD)).expect("written");
    let same = run(&store, Mode::Compare, &cells[..2], |_, _| {});
    assert_eq!(update(same), (Update::Current, Exit::Clean));
    let more = run(&store, Mode::Compare, &cells, |_, _| {});
    assert_eq!(update(more), (Update::Differs, Exit::Improvement));
    let worse = run(&store, Mode::Compare, &cells, fail_one);
    assert_eq!(update(worse), (Update::Differs, Exit::Regression));
    assert_eq!(std::fs::read(store.path(CARD)).expect("still there"), committed);
    assert!(!store.path(PENDING_CARD).exists());
}

#[test]
fn a_claim_that_nothing_proves_fails_the_run() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let store = Store::new(root.path());
    let ended = run(&store, Mode::Write, &cells(CASE), |_, observed| {
        observed.evidence.mutant = None
    });
    assert_eq!(ended.settled.exit, Exit::Regression);
    assert_eq!(
        ended.settled.over_claims,
        [(
            "forward.modules",
            "claimed, but no covering cell killed a mutant".to_owned()
        )]
    );
}

#[test]
fn a_case_that_goes_is_a_regression() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let store = Store::new(root.path());
    let cells = cells(CASE);
    run(&store, Mode::Write, &cells, |_, _| {});
    let fewer = run(&store, Mode::Write, &cells[1..], |_, _| {});
    assert_eq!(
        (fewer.settled.update, fewer.settled.exit),
        (Update::Pending, Exit::Regression)
    );
}

#[test]
fn an_expected_failure_that_fails_otherwise_is_a_regression() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let store = Store::new(root.path());
    let text =
        "inputs: {x: {shape: [2]}}\nmodel: gelu\nexpect: {outputs: [{values: [1, 2]}]}\nexpected_fail:\n  \
                - {check: value, fails: [\"shape expect.outputs[0].values\", \"values expect.outputs[0].values\"], because: a, \
                issue: b, opened: 2026-01-01, expires: 2027-01-01}\n";
    let cells = cells(text);
    use mlx_assay::case::data::Data;
    let first = run(&store, Mode::Write, &cells, |_, it| {
        it.values = vec![Data::Float(vec![0.0, 2.0])]
    });
    assert_eq!(first.devices[0].outcomes[0].value, Some(Verdict::ExpectedFail));
    mlx_assay::cli::accept_pending(&store).expect("accepted");
    let alike = run(&store, Mode::Write, &cells, |_, it| {
        it.values = vec![Data::Float(vec![9.0, 9.0])]
    });
    assert_eq!(alike.devices[0].outcomes[0].value, Some(Verdict::ExpectedFail));
    // The case excuses it, but it is not what is recorded.
    let shape = |_: &Cell, it: &mut Observed| it.evidence.outputs[0].array.shape = vec![3];
    let otherwise = run(&store, Mode::Write, &cells, shape);
    assert_eq!(otherwise.devices[0].outcomes[0].value, Some(Verdict::ChangedFail));
    assert_eq!(otherwise.settled.exit, Exit::Regression);
    insta::assert_snapshot!(
        "a block of what is not as recorded",
        block(&cells[0], &otherwise.devices[0].outcomes[0])
    );
    // Once accepted it is what is recorded, and no change any more.
    mlx_assay::cli::accept_pending(&store).expect("accepted");
    let again = run(&store, Mode::Write, &cells, shape);
    assert_eq!(again.devices[0].outcomes[0].value, Some(Verdict::ExpectedFail));
    assert_eq!((again.settled.changes, again.settled.diff.as_str()), (vec![], ""));
}
