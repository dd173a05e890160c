//! The failing block, and the rules by which a cell is judged.

use crate::grammar::SUM;
use crate::names::cells;
use crate::stand_in::observe;
use mlx_assay::capability::RefusalCode;
use mlx_assay::case::cell::Cell;
use mlx_assay::case::data::Data;
use mlx_assay::harness::block::block;
use mlx_assay::harness::expect::conclude;
use mlx_assay::harness::seam::{Observed, Reference, ReferenceOutput};
use mlx_assay::reference::Policy;
use mlx_assay::scorecard::outcome::{Ending, Fate, Outcome, Verdict};
use mlx_assay::vocabulary::{DType, Decision, Reason, State};
use std::time::Duration;

fn judge(cell: &Cell, change: impl FnOnce(&mut Observed)) -> Outcome {
    let mut observed = observe(cell);
    change(&mut observed);
    conclude(cell, observed, Duration::ZERO)
}

fn refusal(code: RefusalCode) -> Ending {
    Ending::Refused {
        code,
        capability: "c".into(),
        message: "mlx_exp".into(),
        remedy: "wait".into(),
    }
}

fn expected(dtype: DType, shape: &[i32], elements: &[f64]) -> Reference {
    let output = ReferenceOutput {
        shape: shape.to_vec(),
        dtype,
        data: Data::Float(elements.to_vec()),
        policy: Policy::Reduction,
    };
    Reference::Expected(vec![output])
}

/// The design's own example: the sum of 4,096 ones in float16.
fn narrow_sum() -> (Cell, Outcome) {
    let text = SUM.split("expected_fail").next().expect("the part before it");
    let mut cell = cells(text)
        .into_iter()
        .find(|cell| cell.id == "test::float16::4096")
        .expect("the cell");
    cell.id = cell.id.replace("test", "ops::reduce::sum");
    let outcome = judge(&cell, |observed| {
        observed.evidence.outputs[0].array.shape = vec![];
        observed.values = vec![Data::Float(vec![2048.0])];
        observed.reference = expected(DType::Float16, &[], &[4096.0]);
    });
    (cell, outcome)
}

#[test]
fn the_block_of_the_design() {
    let (cell, outcome) = narrow_sum();
    assert_eq!(
        (outcome.record, outcome.value),
        (Verdict::Pass, Some(Verdict::Fail))
    );
    insta::assert_snapshot!(block(&cell, &outcome));
}

#[test]
fn the_block_of_a_wrong_record() {
    let text = "inputs: {x: {shape: [2, 4]}}\nmodel:\n  sequential:\n    - linear: {input: 4, output: 8}\n    - gelu\n\
                expect:\n  state: passed\n  ops: [input, linear, relu]\n  parents: {gelu_1: [linear_1]}\n  \
                decisions: {gelo_1: verified}\n  modules: {layers: {class: list, calls: 1}}\n";
    let cell = &cells(text)[0];
    let outcome = judge(cell, |observed| {
        let gelu = &mut observed.evidence.ops[2];
        gelu.parents = vec!["input_1:1".into()];
        gelu.decision = Some(Decision::Failed);
        gelu.reason = Some(Reason::DeclaredParentsInconsistent);
        observed.evidence.state = Some(State::Failed);
        observed.evidence.message = "gelu_1 does not depend on input_1".into();
    });
    insta::assert_snapshot!(block(cell, &outcome));
}

#[test]
fn the_block_of_a_crash() {
    let cell = &cells("inputs: {x: {shape: [2]}}\nmodel: gelu\nexpect: {state: passed}\n")[0];
    let outcome = judge(cell, |observed| {
        let at = Some("in floor_divide (call 3), parents int32 (2, 3), int32 ()".to_owned());
        let message = "SIGFPE".to_owned();
        observed.evidence = mlx_assay::scorecard::outcome::Evidence::ended(Ending::Crashed { at, message });
    });
    assert_eq!(outcome.record, Verdict::Crash);
    insta::assert_snapshot!(block(cell, &outcome));
}

#[test]
fn the_block_of_a_known_failure_that_fails_otherwise() {
    let text = "inputs: {x: {shape: [2]}}\nmodel: gelu\nexpect: {state: passed, outputs: [{shape: [3]}]}\n\
                expected_fail:\n  - {check: record, because: a, issue: b, opened: 2026-01-01, expires: 2027-01-01}\n  \
                - {check: value, fails: dtype expect.dtype, because: a, issue: b,\n     opened: 2026-01-01, expires: \
                2027-01-01}\n";
    let cell = &cells(text)[0];
    let outcome = judge(cell, |observed| observed.evidence.state = Some(State::Failed));
    assert_eq!(
        (outcome.record, outcome.value),
        (Verdict::ChangedFail, Some(Verdict::ChangedFail))
    );
    insta::assert_snapshot!(block(cell, &outcome));
}

/// One row of the table below: what a case expects, what was seen, and the two verdicts.
type Row = (
    &'static str,
    &'static str,
    fn(&mut Observed),
    Verdict,
    Option<Verdict>,
);

#[test]
fn expected_and_observed_make_verdicts() {
    use Verdict::{ChangedFail, ExpectedFail, Fail, Invalid, Pass, Skipped, UnexpectedPass};
    const FAILS: &str =
        "{}\nexpected_fail: [{check: record, fails: state expect, because: a, issue: b, opened: 2026-01-01, expires: 2027-01-01}]";
    const VALUES: &str = "{outputs: [{values: [0.5, .nan]}]}";
    let table: &[Row] = &[
        ("silence means passed", "{}", |_| {}, Pass, None),
        (
            "a failed trace",
            "{}",
            |it| it.evidence.state = Some(State::Failed),
            Fail,
            None,
        ),
        (
            "a trace without status",
            "{}",
            |it| it.evidence.state = None,
            Fail,
            None,
        ),
        (
            "as the state says",
            "{state: failed}",
            |it| it.evidence.state = Some(State::Failed),
            Pass,
            None,
        ),
        (
            "better than the state says",
            "{state: failed}",
            |_| {},
            Fail,
            None,
        ),
        (
            "an error",
            "{}",
            |it| it.evidence.ending = Ending::error("shapes"),
            Fail,
            None,
        ),
        (
            "as the error says",
            "{error: shapes}",
            |it| it.evidence.ending = Ending::error("bad shapes"),
            Pass,
            None,
        ),
        ("no error", "{error: shapes}", |_| {}, Fail, None),
        (
            "as the refusal says",
            "{refusal: nested_capture}",
            |it| it.evidence.ending = refusal(RefusalCode::NestedCapture),
            Pass,
            None,
        ),
        (
            "another refusal",
            "{refusal: nested_capture}",
            |it| it.evidence.ending = refusal(RefusalCode::UnwrappedOpInCapture),
            Fail,
            None,
        ),
        (
            "success where a refusal is promised",
            "{refusal: nested_capture}",
            |_| {},
            Fail,
            None,
        ),
        (
            "a known failure",
            FAILS,
            |it| it.evidence.state = Some(State::Failed),
            ExpectedFail,
            None,
        ),
        (
            "a known failure that fails otherwise",
            FAILS,
            |it| it.evidence.ending = Ending::error("shapes"),
            ChangedFail,
            None,
        ),
        (
            "a known failure that is none",
            FAILS,
            |_| {},
            UnexpectedPass,
            None,
        ),
        (
            "a surviving mutant",
            "{}",
            |it| it.evidence.mutant.as_mut().expect("a mutant").fate = Fate::Survived,
            Fail,
            None,
        ),
        (
            "another device",
            "{}",
            |it| {
                it.evidence.ending = Ending::Skipped {
                    reason: "metal".into(),
                }
            },
            Skipped,
            None,
        ),
        (
            "right values, a NaN among them",
            VALUES,
            |it| it.values = vec![Data::Float(vec![0.5, f64::NAN])],
            Pass,
            Some(Pass),
        ),
        (
            "wrong values",
            VALUES,
            |it| it.values = vec![Data::Float(vec![0.5, 0.0])],
            Pass,
            Some(Fail),
        ),
        (
            "values that were not read",
            VALUES,
            |it| it.values = vec![],
            Pass,
            Some(Invalid),
        ),
        (
            "another shape",
            "{outputs: [{shape: [3]}]}",
            |_| {},
            Pass,
            Some(Fail),
        ),
        (
            "another number of outputs",
            "{outputs: [{}, {}]}",
            |_| {},
            Fail,
            None,
        ),
        ("no reference", "{reference: true}", |_| {}, Pass, Some(Invalid)),
        (
            "a reference of nothing but NaN",
            "{reference: true}",
            |it| {
                it.values = vec![Data::Float(vec![f64::NAN; 2])];
                it.reference = expected(DType::Float32, &[2], &[f64::NAN; 2]);
            },
            Pass,
            Some(Invalid),
        ),
        (
            "an op that is not there",
            "{parents: {relu_1: [input_1]}}",
            |_| {},
            Fail,
            None,
        ),
    ];
    for (name, expect, change, record, value) in table {
        let text = format!("inputs: {{x: {{shape: [2]}}}}\nmodel: gelu\nexpect: {expect}\n");
        let outcome = judge(&cells(&text)[0], change);
        assert_eq!(
            (outcome.record, outcome.value),
            (*record, *value),
            "{name}: {:?}",
            outcome.findings
        );
    }
}

#[test]
fn a_cell_of_another_device_is_skipped_and_never_run() {
    let cell = &cells("inputs: {x: {shape: [2]}}\nrequires: {device: metal}\nmodel: gelu\nexpect: {}\n")[0];
    let runner = crate::stand_in::StandIn(|_, _| panic!("the cell ran"));
    let runner = std::sync::Arc::new(runner);
    let device = mlx_assay::vocabulary::Device::LinuxCpu;
    let recorder = mlx_assay::harness::suite::Recorder::new(runner, Default::default(), device);
    assert_eq!(recorder.run(cell).map(|it| it.record), Some(Verdict::Skipped));
}
