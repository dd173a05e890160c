//! Payload policies: what is kept, what can be validated then, and what it costs.

use mlx_assay::capture::{PayloadPolicy, Selector, TraceError};
use mlx_assay::validate::validate;
use mlx_assay::vocabulary::{Decision, Reason, State};
use mlx_assay::{Session, Trace};
use mlx_rs::error::Exception;
use mlx_rs::{memory, ops, transforms, Array};

fn label(label: &str) -> Selector {
    Selector::Label(label.to_string())
}

/// Fifty additions, one after another.
fn additions(x: &Array) -> Result<Array, Exception> {
    (0..50).try_fold(x.clone(), |sum, _| ops::add(&sum, x))
}

fn captured(policy: PayloadPolicy, x: &Array) -> Trace {
    let session = Session::new().call_stacks(false).payloads(policy);
    let (trace, y) = session.run(x, || additions(x)).unwrap();
    y.eval().unwrap();
    trace
}

/// The most memory that MLX held beyond what it held before.
fn peak(f: impl FnOnce()) -> f64 {
    memory::clear_cache().unwrap();
    memory::reset_peak_memory().unwrap();
    f();
    memory::peak_memory().unwrap() as f64
}

#[test]
fn without_payloads_the_peak_is_that_of_the_plain_forward() {
    let x = ops::ones::<f32>(&[1024, 1024]).unwrap();
    x.eval().unwrap();
    let plain = peak(|| additions(&x).unwrap().eval().unwrap());
    let with = |policy: PayloadPolicy| {
        peak(|| {
            // The trace is alive while its forward is computed.
            let trace = captured(policy, &x);
            assert_eq!(trace.calls().len(), 50);
        }) / plain
    };
    let (none, chosen, all) = (
        with(PayloadPolicy::None),
        with(PayloadPolicy::Ops(vec![label("add_25")])),
        with(PayloadPolicy::All),
    );
    println!("peak memory against the plain forward: none {none:.3}, one op {chosen:.3}, all {all:.3}");
    assert!(none <= 1.2, "{none}");
    // The op's own two arrays beside what runs; the forward's input is there anyway.
    assert!(chosen <= 2.2, "{chosen}");
    assert!(all > 10.0, "else the test shows nothing: {all}");
}

#[test]
fn chosen_ops_are_verified_and_their_neighbours_say_what_they_lack() {
    let x = Array::from_slice(&[0.5_f32, -1.0, 2.0], &[3]);
    let forward = || ops::sin(ops::exp(ops::square(&x)?)?);
    let keep = |chosen: Vec<Selector>| {
        Session::new()
            .payloads(PayloadPolicy::Ops(chosen))
            .run(&x, forward)
    };
    let trace = keep(vec![label("exp_1")]).unwrap().0;
    let kept: Vec<bool> = trace
        .values()
        .iter()
        .map(|value| value.payload().is_some())
        .collect();
    assert_eq!(kept, [false, true, true, false]);
    let status = validate(&trace);
    assert_eq!(status.state(), State::Unverified);
    let decisions: Vec<_> = status
        .ops()
        .iter()
        .map(|op| (op.decision(), op.reason()))
        .collect();
    let missing = (Decision::Unproven, Some(Reason::ParentPayloadMissing));
    assert_eq!(decisions[1..], [missing, (Decision::Verified, None), missing]);
    let whole = ["square", "exp", "sin"].map(|name| Selector::Name(name.to_string()));
    let trace = keep(whole.to_vec()).unwrap().0;
    assert_eq!(validate(&trace).state(), State::Passed);
    let Err(TraceError::Capture(refused)) = keep(vec![label("exp_1"), label("cos_1")]) else {
        panic!("there is no cosine");
    };
    assert!(
        refused.to_string().contains("selector_without_match"),
        "{refused}"
    );
    assert!(refused.to_string().contains("op cos_1"), "{refused}");
}

#[test]
fn a_forward_that_fails_has_its_own_error_to_tell() {
    let x = Array::from_slice(&[0.5_f32, -1.0, 2.0], &[3]);
    let session = Session::new().payloads(PayloadPolicy::Ops(vec![label("sin_1")]));
    let failed = session.run(&x, || ops::sin(x.reshape(&[7])?));
    assert!(matches!(failed, Err(TraceError::Model(_))), "{failed:?}");
}

#[test]
fn the_inside_of_a_transform_is_kept_with_it() {
    let x = Array::from_slice(&[0.5_f32, -1.0, 2.0], &[3]);
    let forward = || {
        let gradient = transforms::grad(|x: &Array| ops::square(x)?.sum(false))(&x)?;
        ops::exp(&gradient)
    };
    let with = |chosen: &str| {
        let session = Session::new().payloads(PayloadPolicy::Ops(vec![label(chosen)]));
        session.run(&x, forward).unwrap().0
    };
    let inside = |trace: &Trace| validate(trace).insides()[0].forward().state();
    assert_eq!(inside(&with("value_and_grad_1")), State::Passed);
    assert_eq!(inside(&with("exp_1")), State::Unavailable);
}
