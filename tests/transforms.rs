//! Transforms: one op outside, a trace and a derivative inside, and damage to either is noticed.

use mlx_assay::capture::{CompilePolicy, Source};
use mlx_assay::validate::validate;
use mlx_assay::vocabulary::{Decision, State};
use mlx_assay::{Session, Trace};
use mlx_rs::error::Exception;
use mlx_rs::transforms::{compile::compile, grad};
use mlx_rs::{ops, Array};

fn input() -> Array {
    Array::from_slice(&[0.5_f32, -1.0, 2.0], &[3])
}

/// The gradient of sum(x^2 w), where w comes from outside.
fn gradient() -> Trace {
    let x = input();
    let captured = Session::new().run(&x, || {
        let weight = ops::exp(&x)?;
        let f = |x: &Array| ops::sum(ops::multiply(x.square()?, &weight)?, None);
        let slope = grad(f)(&x);
        slope
    });
    captured.unwrap().0
}

#[test]
fn a_transform_is_one_op_with_a_trace_and_a_derivative_inside() {
    let trace = gradient();
    let names: Vec<_> = trace.ops().iter().map(|op| op.func_name().to_string()).collect();
    assert_eq!(names, ["input", "exp", "value_and_grad"]);
    let [transform] = trace.transforms() else {
        panic!("{:?}", trace.transforms());
    };
    let inside = transform.forward();
    let names: Vec<_> = inside.ops().iter().map(|op| op.func_name().to_string()).collect();
    assert_eq!(names, ["input", "square", "constant", "multiply", "sum"]);
    assert_eq!(transform.arguments(), [Some(trace.inputs()[0])]);
    let [captured] = transform.captured() else {
        panic!("{:?}", transform.captured());
    };
    assert_eq!(trace.describe(captured.outside), "the result of exp (call 1)");
    let primitives = transform.primitives();
    assert!(primitives.iter().any(|primitive| primitive.name == "Multiply"));
    let reads = |source: &Source| matches!(source, Source::Forward(value) if *value == captured.inside);
    assert!(primitives
        .iter()
        .any(|primitive| primitive.parents.iter().any(reads)));

    let status = validate(&trace);
    assert_eq!(status.state(), State::Passed, "{status}");
    let [inside] = status.insides() else {
        panic!("{:?}", status.insides());
    };
    assert_eq!(inside.forward().state(), State::Passed, "{}", inside.forward());
    assert_eq!(inside.derivative().len(), primitives.len());
    let verified = |it: &&mlx_assay::validate::PrimitiveDecision| it.decision == Decision::Verified;
    assert_eq!(
        inside.derivative().iter().filter(verified).count(),
        primitives.len()
    );
}

#[test]
fn a_closure_that_fails_leaves_nothing_and_names_the_call() {
    let x = input();
    let f = |x: &Array| ops::add(x, Array::from_slice(&[1.0_f32, 2.0], &[2]));
    let attempt = Session::new().attempt(&x, || grad(f)(&x)).unwrap();
    let trace = attempt.trace.unwrap();
    assert!(trace.calls().is_empty() && trace.transforms().is_empty());
    let failed: Vec<_> = trace
        .failed_calls()
        .iter()
        .map(|failed| failed.function)
        .collect();
    assert_eq!(failed, ["mlx_add", "mlx_closure_value_and_grad_apply"]);
}

#[test]
fn an_opaque_function_is_one_op_and_its_insides_have_no_data() {
    let x = input();
    let f = |x: &Array| -> Result<Array, Exception> { ops::add(x.square()?, x) };
    let session = Session::new().compile(CompilePolicy::Opaque);
    let (trace, _) = session.run(&x, || compile(f, None)(&x)).unwrap();
    assert_eq!(trace.compile(), "opaque");
    let names: Vec<_> = trace.ops().iter().map(|op| op.func_name().to_string()).collect();
    assert_eq!(names, ["input", "compiled"]);
    let inside = trace.transforms()[0].forward();
    assert!(inside.values().iter().all(|value| value.payload().is_none()));
    assert_eq!(validate(&trace).state(), State::Passed);
}
