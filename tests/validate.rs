//! The decisions of validation: every reason of the closed list, and how it reads.

use mlx_assay::capability::RefusalCode;
use mlx_assay::validate::mutate::{self, Fate, Fault};
use mlx_assay::validate::{compare_captures, validate, Comparison, Detail, Status};
use mlx_assay::vocabulary::{Decision, Reason, State};
use mlx_assay::{Session, Trace};
use mlx_rs::error::Exception;
use mlx_rs::{linalg, ops, random, Array, Dtype};

fn input() -> Array {
    Array::from_slice(&[0.5_f32, -1.0, 2.0, 0.25], &[2, 2])
}

fn run(x: &Array, forward: impl FnOnce() -> Result<Array, Exception>) -> Trace {
    Session::new().run(x, forward).unwrap().0
}

/// Seeds a fault at the call at `place`, for good.
fn with_fault(mut trace: Trace, fault: Fault, place: usize) -> (Trace, Status) {
    let at = validate(&trace).calls()[place].call();
    assert!(fault.apply(&mut trace, at).unwrap(), "no place for {fault:?}");
    let status = validate(&trace);
    (trace, status)
}

/// The first decision with this reason, as it reads; it must be the decision of the design's table.
#[track_caller]
fn reads(status: &Status, reason: Reason) -> String {
    let found = status.calls().iter().find(|it| it.reason() == Some(reason));
    let found = found.unwrap_or_else(|| panic!("no call is {reason}: {status}"));
    assert_eq!(found.decision(), reason.decision());
    let state = match reason.decision() {
        Decision::Failed => State::Failed,
        Decision::Unproven => State::Unverified,
        Decision::Exempt | Decision::Verified => State::Passed,
    };
    assert_eq!(status.state(), state, "{status}");
    found.to_string()
}

#[test]
fn replay_mismatch_shows_the_elements_of_a_small_array() {
    let x = input();
    let (_, status) = with_fault(run(&x, || ops::multiply(&x, &x)), Fault::BitFlipped, 0);
    insta::assert_snapshot!(reads(&status, Reason::ReplayMismatch));
    insta::assert_snapshot!("replay_mismatch_in_the_status", status.message());
}

#[test]
fn replay_mismatch_sums_up_a_large_array() {
    let x = ops::ones::<f32>(&[8, 8]).unwrap();
    let (_, status) = with_fault(run(&x, || ops::exp(ops::exp(&x)?)), Fault::PayloadStale, 0);
    insta::assert_snapshot!(reads(&status, Reason::ReplayMismatch));
}

#[test]
fn replay_mismatch_names_another_kind() {
    let x = input();
    let (_, status) = with_fault(run(&x, || ops::exp(&x)), Fault::DtypeChanged, 0);
    insta::assert_snapshot!(reads(&status, Reason::ReplayMismatch));
}

#[test]
fn routes_that_part_off_the_record_are_a_mismatch() {
    // x - y where both hold the same bits: the swapped record replays, and still is not what MLX computed.
    let x = input();
    let y = input();
    let (trace, _) = Session::new()
        .run(&[x.clone(), y.clone()], || ops::subtract(&x, &y))
        .unwrap();
    let (_, status) = with_fault(trace, Fault::ParentsSwapped, 0);
    insta::assert_snapshot!(reads(&status, Reason::ReplayMismatch));
}

#[test]
fn declared_parents_inconsistent_names_the_value() {
    let x = input();
    let forward = || ops::add(ops::exp(ops::multiply(&x, &x)?)?, &x);
    let (_, status) = with_fault(run(&x, forward), Fault::ParentReplaced, 2);
    insta::assert_snapshot!(reads(&status, Reason::DeclaredParentsInconsistent));
}

#[test]
fn replay_coverage_incomplete_says_what_is_missing() {
    let x = input();
    let forward = || ops::add(ops::exp(&x)?, &x);
    let (_, status) = with_fault(run(&x, forward), Fault::CallDropped, 0);
    insta::assert_snapshot!(reads(&status, Reason::ReplayCoverageIncomplete));
}

#[test]
fn a_draw_frozen_as_a_constant_has_a_maker_that_nobody_recorded() {
    let x = input();
    let mut trace = run(&x, || {
        ops::add(&x, random::normal::<f32>(&[2, 2], None, None, &random::key(3)?)?)
    });
    let calls: Vec<_> = validate(&trace).calls().iter().map(|it| it.call()).collect();
    let frozen: Vec<_> = calls
        .iter()
        .filter_map(|at| mutate::attempt(&mut trace, Fault::RandomFrozen, *at).unwrap())
        .collect();
    assert_eq!(frozen.len(), 1);
    assert_eq!(frozen[0].fate, Fate::Killed(Reason::ReplayCoverageIncomplete));
}

#[test]
fn parent_payload_missing_is_unproven() {
    let x = input();
    let mut trace = run(&x, || ops::negative(ops::exp(&x)?));
    let middle = trace.calls()[0].results()[0];
    trace.release_payload(middle);
    insta::assert_snapshot!(reads(&validate(&trace), Reason::ParentPayloadMissing));
}

#[test]
fn no_replayable_function_is_what_a_gradient_is_on_another_thread() {
    let x = input();
    let loss = |x: &Array| -> Result<Array, Exception> { ops::sum(ops::square(x)?, None) };
    let trace = run(&x, || mlx_rs::transforms::grad(loss)(&x));
    trace.evaluate().unwrap();
    let status = std::thread::spawn(move || validate(&trace)).join().unwrap();
    insta::assert_snapshot!(reads(&status, Reason::NoReplayableFunction));
}

#[test]
fn perturbation_insensitive_names_the_operand() {
    let x = input();
    let trace = run(&x, || ops::power(&x, Array::from_f32(0.0)));
    insta::assert_snapshot!(reads(&validate(&trace), Reason::PerturbationInsensitive));
}

#[test]
fn evaluated_inside_transform_is_unproven() {
    let x = input();
    let outer = Array::from_slice(&[2.0_f32, 3.0], &[2]);
    let loss = |x: &Array| -> Result<Array, Exception> {
        let scale = ops::sum(&outer, None)?;
        scale.eval()?;
        ops::sum(ops::multiply(ops::square(x)?, &scale)?, None)
    };
    let trace = run(&x, || mlx_rs::transforms::grad(loss)(&x));
    assert!(trace.capture_verified(), "{:?}", trace.warnings());
    insta::assert_snapshot!(reads(&validate(&trace), Reason::EvaluatedInsideTransform));
}

#[test]
fn an_input_that_a_closure_may_ignore_is_unproven_where_no_function_can_be_asked() {
    // Found by a law: an operand invented for a gradient passed.
    let x = input();
    let mut trace = run(&x, || {
        let loss = |x: &Array| -> Result<Array, Exception> { ops::sum(ops::square(x)?, None) };
        mlx_rs::transforms::grad(loss)(&ops::exp(&x)?)
    });
    let at = validate(&trace).calls()[1].call();
    let invented = mutate::attempt(&mut trace, Fault::ParentInvented, at)
        .unwrap()
        .unwrap();
    assert_eq!(invented.fate, Fate::Killed(Reason::PerturbationInsensitive));
}

#[test]
fn a_literal_is_exempt_and_its_reader_verified() {
    let x = input();
    let trace = run(&x, || ops::multiply(&x, Array::from_f32(3.0)));
    let status = validate(&trace);
    insta::assert_snapshot!(reads(&status, Reason::ConstantProducerLeaf));
    assert_eq!(status.calls()[1].decision(), Decision::Verified);
    insta::assert_snapshot!("verified", status.calls()[1]);
}

#[test]
fn operand_not_read_is_exempt() {
    let x = Array::from_slice(&[1, 2, 3], &[3]);
    let trace = run(&x, || ops::is_nan(&x));
    insta::assert_snapshot!(reads(&validate(&trace), Reason::OperandNotRead));
}

#[test]
fn constant_parent_payload_is_verified_by_perturbing_the_constant() {
    let x = input();
    let outer = Array::from_f32(3.0);
    let trace = run(&x, || ops::multiply(&x, &outer));
    insta::assert_snapshot!(reads(&validate(&trace), Reason::ConstantParentPayload));
}

/// A forward captured over two inputs, from the same random state.
fn twice(session: fn() -> Session, forward: fn(&Array) -> Result<Array, Exception>) -> (Status, Comparison) {
    let capture = |x: &Array| {
        random::seed(7).unwrap();
        session().run(x, || forward(x)).unwrap().0
    };
    let first = capture(&input());
    let second = capture(&ops::multiply(input(), Array::from_f32(1.0625)).unwrap());
    let comparison = compare_captures(&first, &second);
    (validate(&first).against(&first, &comparison), comparison)
}

#[test]
fn constant_depends_on_input_where_a_hidden_op_goes_through_the_host() {
    let hidden = || Session::new().hide(["mlx_linalg_norm", "mlx_linalg_norm_l2"]);
    let (status, comparison) = twice(hidden, |x| {
        let norm = linalg::norm_l2(x, linalg::NormOptions::default())?;
        let copied = Array::from_slice(norm.as_slice::<f32>(), &[1]);
        ops::multiply(x, copied)
    });
    assert_eq!(comparison.changed().len(), 1);
    assert_eq!(status.state(), State::Failed);
    insta::assert_snapshot!(reads(&status, Reason::ConstantDependsOnInput));
}

#[test]
fn constant_depends_on_input_where_another_thread_computes() {
    let (status, _) = twice(Session::new, |x| {
        let copy: Vec<f32> = x.as_slice::<f32>().to_vec();
        let sum = std::thread::spawn(move || {
            let sum = ops::sum(Array::from_slice(&copy, &[4]), None).unwrap();
            sum.item_exact::<f32>()
        });
        // A number, and no array, comes back.
        ops::multiply(x, Array::from_f32(sum.join().unwrap()))
    });
    reads(&status, Reason::ConstantDependsOnInput);
}

#[test]
fn an_array_that_another_thread_made_is_refused() {
    let x = Array::from_slice(&[1.0_f32, 2.0], &[2]);
    x.eval().unwrap();
    let captured = Session::new().run(&x, || {
        let sent = x.clone();
        let back = std::thread::spawn(move || {
            let doubled = ops::add(&sent, &sent).unwrap();
            doubled.eval().unwrap();
            doubled
        });
        ops::negative(back.join().unwrap())
    });
    let code = captured.unwrap_err().refusal().map(|refusal| refusal.code);
    assert_eq!(code, Some(RefusalCode::OtherThread));
    // What another thread does meanwhile, and keeps, concerns nobody.
    let captured = Session::new().run(&x, || {
        let sent = x.clone();
        std::thread::spawn(move || ops::add(&sent, &sent).unwrap().eval().unwrap())
            .join()
            .unwrap();
        ops::negative(&x)
    });
    assert_eq!(validate(&captured.unwrap().0).state(), State::Passed);
}

#[test]
fn a_hidden_op_that_is_evaluated_never_passes() {
    let hidden = || Session::new().hide(["mlx_linalg_norm", "mlx_linalg_norm_l2"]);
    let (status, _) = twice(hidden, |x| {
        let norm = linalg::norm_l2(x, linalg::NormOptions::default())?;
        norm.eval()?;
        ops::multiply(x, norm)
    });
    assert_ne!(status.state(), State::Passed);
}

#[test]
fn constant_depends_on_input_where_a_draw_of_the_host_is_frozen() {
    use std::sync::atomic::{AtomicU32, Ordering};
    static DRAWS: AtomicU32 = AtomicU32::new(1);
    let (status, _) = twice(Session::new, |x| {
        let draw = DRAWS.fetch_add(1, Ordering::Relaxed) as f32;
        ops::multiply(x, Array::from_f32(draw))
    });
    reads(&status, Reason::ConstantDependsOnInput);
}

#[test]
fn draws_of_mlx_repeat_from_the_same_state_and_pass() {
    let (status, comparison) = twice(Session::new, |x| {
        ops::add(x, random::normal::<f32>(&[2, 2], None, None, None)?)
    });
    assert_eq!(status.state(), State::Passed, "{status}");
    assert!(comparison.notes().is_empty(), "{comparison}");
}

#[test]
fn what_two_captures_do_differently_is_listed_and_not_passed_over() {
    let (_, comparison) = twice(Session::new, |x| {
        let large = ops::max(ops::abs(x)?, None)?.item_exact::<f32>() > 2.05;
        let y = if large { ops::exp(x)? } else { ops::sin(x)? };
        ops::multiply(y, Array::from_f32(0.5))
    });
    assert_eq!(comparison.not_compared().len(), 1);
    insta::assert_snapshot!(comparison);
}

#[test]
fn healthy_arrays_of_every_type_and_of_no_or_one_element_never_fail() {
    let dtypes = [
        Dtype::Bool,
        Dtype::Uint8,
        Dtype::Uint16,
        Dtype::Uint32,
        Dtype::Uint64,
        Dtype::Int8,
        Dtype::Int16,
        Dtype::Int32,
        Dtype::Int64,
        Dtype::Float16,
        Dtype::Float32,
        Dtype::Float64,
        Dtype::Bfloat16,
        Dtype::Complex64,
    ];
    for dtype in dtypes {
        for shape in [&[][..], &[1], &[0, 3], &[2, 3]] {
            let count: i32 = shape.iter().product();
            let numbers: Vec<i32> = (0..count).map(|i| i % 5).collect();
            let x = Array::from_slice(&numbers, shape).as_dtype(dtype).unwrap();
            let trace = run(&x, || {
                let y = ops::add(ops::multiply(&x, &x)?, &x)?;
                ops::concatenate(&[y.reshape(&[-1, 1])?, x.reshape(&[-1, 1])?], 0)
            });
            let status = validate(&trace);
            assert_ne!(status.state(), State::Failed, "{dtype:?} {shape:?}: {status}");
            assert_ne!(
                status.state(),
                State::Unavailable,
                "{dtype:?} {shape:?}: {status}"
            );
        }
    }
}

#[test]
fn a_record_that_calls_a_commutative_sum_the_other_way_round_is_proven_equivalent() {
    let x = input();
    let mut trace = run(&x, || ops::add(ops::exp(&x)?, &x));
    let at = validate(&trace).calls()[1].call();
    let swapped = mutate::attempt(&mut trace, Fault::ParentsSwapped, at)
        .unwrap()
        .unwrap();
    assert!(matches!(swapped.fate, Fate::Equivalent(_)), "{swapped:?}");
    let mut trace = run(&x, || ops::add(&x, &x));
    let at = validate(&trace).calls()[0].call();
    assert_eq!(
        mutate::attempt(&mut trace, Fault::ParentsSwapped, at).unwrap(),
        None
    );
}

#[test]
fn an_attempt_takes_its_fault_back() {
    let x = input();
    let mut trace = run(&x, || {
        let parts = ops::split_equal(ops::exp(&x)?, 2, 0)?;
        ops::add(
            ops::stack(&parts, 0)?,
            random::normal::<f32>(&[2], None, None, None)?,
        )
    });
    let before = validate(&trace);
    assert_eq!(before.state(), State::Passed, "{before}");
    let report = mutate::all(&mut trace, usize::MAX, 0).unwrap();
    assert!(report.left_out.is_empty());
    assert_eq!(validate(&trace), before);
    for attempt in &report.attempts {
        assert!(
            matches!(attempt.fate, Fate::Killed(_) | Fate::Equivalent(_)),
            "{attempt:?}"
        );
    }
    let has = |fault| report.attempts.iter().any(|attempt| attempt.fault == fault);
    assert!(has(Fault::ResultsReordered) && has(Fault::RandomFrozen));
    // What a run picks is among them, with the same fate.
    for choice in 0..64 {
        let picked = mutate::one(&mut trace, choice).unwrap().unwrap();
        let all = mutate::all(&mut trace, 2, choice).unwrap();
        assert!(all.attempts.contains(&picked), "{picked:?}");
    }
}

#[test]
fn the_detail_of_a_failure_carries_expected_against_found() {
    let x = input();
    let (_, status) = with_fault(run(&x, || ops::exp(&x)), Fault::BitFlipped, 0);
    assert!(matches!(status.calls()[0].detail(), Detail::Mismatch { .. }));
    assert!(status.calls()[0].detail().contrast().is_some());
}

/// MLX walks past the end of such a reduction's plan: whether it ends depends on what lies in memory there.
#[test]
fn a_replay_that_mlx_may_never_end_is_not_run() {
    let x = ops::zeros::<f32>(&[0, 3]).unwrap();
    x.eval().unwrap();
    let trace = run(&x, || x.transpose()?.square()?.sum_axis(0, false));
    let status = validate(&trace);
    assert_eq!(status.state(), State::Passed, "{status}");
    let at = status.calls()[2].call();
    let mut trace = trace;
    let tried = mutate::attempt(&mut trace, Fault::ScalarChanged, at)
        .unwrap()
        .unwrap();
    assert!(matches!(tried.fate, Fate::Killed(_)), "{tried:?}");
    let (_, status) = with_fault(trace, Fault::ScalarChanged, 2);
    insta::assert_snapshot!(reads(&status, Reason::NoReplayableFunction));
}
