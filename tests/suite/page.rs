//! The page and the tables.

use crate::names::{cells, NAMES};
use crate::stand_in::StandIn;
use mlx_assay::harness::suite::{end, Recorder, Scope};
use mlx_assay::report::text;
use mlx_assay::scorecard::outcome::{Ending, EvaluationKind, EvaluationPlace, EvaluationRow};
use mlx_assay::scorecard::outcomes::Origin;
use mlx_assay::scorecard::settle::Mode;
use mlx_assay::scorecard::store::{Store, INDEX};
use mlx_assay::vocabulary::{Decision, Device, Reason};
use std::sync::Arc;

/// A few claims of each kind, so that a new capability leaves the page of this test as it is.
const SHOWN: &[&str] = &[
    "capture.nested",
    "capture.unwrapped_refused",
    "forward.activations",
    "forward.modules",
    "modules.addresses",
];

const SEQUENTIAL: &str = include_str!("../../cases/tutorial/sequential.yaml");

#[test]
fn the_page() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let store = Store::new(root.path());
    let cells = cells(SEQUENTIAL);
    let committed = store.committed().expect("readable");
    let runner = StandIn(|_, observed| {
        observed.evidence.ops[2].module = Some("<script>alert('x')</script>".into());
        observed.evidence.ops[3].decision = Some(Decision::Unproven);
        observed.evidence.ops[3].reason = Some(Reason::PerturbationInsensitive);
        observed.evidence.warnings = vec!["unwrapped & unseen".into()];
    });
    let recorder = Recorder::new(Arc::new(runner), committed.cells.clone(), Device::LinuxCpu);
    recorder.run(&cells[0]);
    let shown = NAMES
        .capabilities
        .iter()
        .filter(|row| SHOWN.contains(&row.id))
        .copied()
        .collect::<Vec<_>>();
    let scope = Scope {
        store: &store,
        capabilities: &shown,
        origin: &Origin::new(Device::LinuxCpu, Default::default(), Default::default()),
        suite: &cells,
        today: "2026-11-29".parse().expect("a date"),
        problems: 0,
        mode: Mode::Write,
        surface: Box::new(|_| Ok(vec![])),
    };
    end(&scope, recorder.outcomes()).expect("the run ends");
    let page = std::fs::read_to_string(store.path(INDEX)).expect("written");
    assert!(
        !page.contains("<script>"),
        "what a case says is text, never markup"
    );
    for from_elsewhere in ["http://", "https://", "src=", "@import", "url("] {
        assert!(
            !page.contains(from_elsewhere),
            "the page asks for {from_elsewhere}"
        );
    }
    insta::assert_snapshot!(page);
}

#[test]
fn the_trace_as_a_table() {
    let cell = &cells(SEQUENTIAL)[0];
    let runner = StandIn(|_, observed| {
        let kind = EvaluationKind::Implicit;
        observed.evidence.evaluations.push(EvaluationRow {
            function: "mlx_array_item_float32".into(),
            kind,
            source: Some("src/model/branch.rs:12".into()),
            place: EvaluationPlace::After("gelu_1:1".into()),
        });
    });
    let outcome = mlx_assay::harness::seam::Runner::run(&runner, cell);
    insta::assert_snapshot!(text::trace(&outcome));
}

#[test]
fn a_refusal_shows_its_remedy() {
    let cell = &cells("inputs: {x: {shape: [3]}}\nmodel: gelu\nexpect: {refusal: nested_capture}\n")[0];
    let runner = StandIn(|_, observed| {
        observed.evidence = mlx_assay::scorecard::outcome::Evidence::ended(Ending::Refused {
            code: mlx_assay::capability::RefusalCode::NestedCapture,
            capability: "capture.nested".into(),
            message: "a capture is running on this thread".into(),
            remedy: "end it first".into(),
        });
    });
    let outcome = mlx_assay::harness::seam::Runner::run(&runner, cell);
    insta::assert_snapshot!(text::trace(&outcome));
}
