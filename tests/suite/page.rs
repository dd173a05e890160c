//! The page and the tables.

use crate::names::{cells, NAMES};
use crate::stand_in::StandIn;
use mlx_assay::case::cell::Cell;
use mlx_assay::harness::seam::Observed;
use mlx_assay::harness::suite::{end, Recorder, Scope};
use mlx_assay::report::text;
use mlx_assay::scorecard::outcome::{Ending, EvaluationKind, EvaluationPlace, EvaluationRow};
use mlx_assay::scorecard::outcomes::Origin;
use mlx_assay::scorecard::settle::Mode;
use mlx_assay::scorecard::store::Store;
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

/// The pages of a run of these cells.
fn report(text: &str, change: fn(&mut Observed)) -> impl Fn(&str) -> String {
    let root = tempfile::tempdir().expect("a folder for the test");
    let store = Store::new(root.path());
    let cells = cells(text);
    let committed = store.committed().expect("readable");
    let runner = StandIn(move |_: &Cell, observed: &mut Observed| change(observed));
    let recorder = Recorder::new(Arc::new(runner), committed.cells.clone(), Device::LinuxCpu);
    for cell in &cells {
        recorder.run(cell);
    }
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
    move |path| {
        let page = std::fs::read_to_string(root.path().join("reports").join(path)).expect("written");
        assert!(
            !page.contains("<script>"),
            "what a case says is text, never markup: {path}"
        );
        for from_elsewhere in ["http://", "https://", "@import", "url(", "src=\"/", "href=\"/"] {
            assert!(!page.contains(from_elsewhere), "{path} asks for {from_elsewhere}");
        }
        page
    }
}

#[test]
fn the_pages() {
    let page = report(SEQUENTIAL, |observed| {
        observed.evidence.ops[2].module = Some("<script>alert('x')</script>".into());
        observed.evidence.ops[3].decision = Some(Decision::Unproven);
        observed.evidence.ops[3].reason = Some(Reason::PerturbationInsensitive);
        observed.evidence.warnings = vec!["unwrapped & unseen".into()];
    });
    insta::assert_snapshot!("index", page("index.html"));
    insta::assert_snapshot!("case", page("cases/test.html"));
    insta::assert_snapshot!("capability", page("capabilities/forward.modules.html"));
}

#[test]
fn a_function_is_shown_by_element_type() {
    let case = "op: sum\nmatrix: {dtype: [float32, int32], shape: [[3], [2, 2]]}\n\
                expect: {state: passed, outputs: [{values: [0.0, 0.0, 0.0]}]}\n\
                expected_fail:\n  - {where: {dtype: float32}, check: value, \
                fails: [\"shape expect.outputs[0].values\", \"values expect.outputs[0].values\"], \
                because: it is <b>wrong</b>, issue: b, opened: 2026-01-01, expires: 2026-06-01}\n";
    let page = report(case, |observed| {
        observed.values = vec![mlx_assay::case::data::Data::Float(vec![0.5, 0.0, 0.0])];
    });
    insta::assert_snapshot!("function", page("functions/sum.html"));
    insta::assert_snapshot!("index with functions", page("index.html"));
}

#[test]
fn a_known_failure_that_fails_otherwise_shows_the_edit() {
    let case = "inputs: {x: {shape: [2]}}\nmodel: gelu\nexpect: {outputs: [{shape: [3]}]}\nexpected_fail:\n  \
                - {check: value, fails: dtype expect.dtype, because: a, issue: b, opened: 2026-01-01, expires: \
                2027-01-01}\n";
    let page = report(case, |_| {});
    let text = page("cases/test.html");
    let fix = text.lines().find(|line| line.contains("How to fix it"));
    insta::assert_snapshot!(fix.expect("a line on it"));
}

#[test]
fn a_badge_says_it_in_words_too() {
    let (version, label) = (crate::sides::prepared().version(), Default::default());
    let templates = mlx_assay::report::site::Templates::new().expect("read");
    let badges = mlx_assay::report::badge::badges(&version, Device::LinuxCpu, &label);
    let pictures = badges.iter().map(|badge| {
        let (_, text) = templates.page("badge.svg", badge.path, badge).expect("drawn");
        text
    });
    insta::assert_snapshot!(pictures.collect::<Vec<_>>().join("\n"));
}

#[test]
fn the_committed_badges_say_what_the_scorecard_says() {
    let root = Store::new(env!("CARGO_MANIFEST_DIR"));
    let version = root.committed().expect("readable");
    let label = mlx_assay::harness::publish::standing_of(&root, &version, "2026-11-29").expect("decided");
    let badges = mlx_assay::report::site::badge_files(&version, Device::LinuxCpu, &label);
    for (path, wanted) in badges.expect("drawn") {
        let found = std::fs::read_to_string(root.path(&path)).unwrap_or_default();
        assert!(found == wanted, "{path} is old: run `assay run`");
    }
}

#[test]
fn the_document_says_what_the_scorecard_says() {
    let root = Store::new(env!("CARGO_MANIFEST_DIR"));
    let card = root.committed().expect("readable").card;
    let wanted = mlx_assay::report::document::document(&card, mlx_assay::capability::CAPABILITIES);
    let found = std::fs::read_to_string(root.path("docs/capabilities.md")).expect("committed");
    assert!(
        wanted.expect("written") == found,
        "docs/capabilities.md is old: run `assay run`"
    );
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
