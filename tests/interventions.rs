//! Interventions: results replaced while the forward runs.

use mlx_assay::capture::containers::List;
use mlx_assay::capture::{Edit, Op, Selector};
use mlx_assay::validate::validate;
use mlx_assay::vocabulary::{Decision, Reason, State};
use mlx_assay::Session;
use mlx_rs::module::Module;
use mlx_rs::nn::{Gelu, Relu};
use mlx_rs::{ops, Array};

fn input() -> Array {
    Array::from_slice(&[0.5_f32, -1.0, 2.0, 0.25, 1.0, 1.0, -1.0, 0.0], &[2, 4])
}

fn floats(array: &Array) -> Vec<f32> {
    array.eval().unwrap();
    array.as_slice::<f32>().to_vec()
}

#[test]
fn an_intervention_reaches_all_that_follows_and_both_values_are_kept() {
    let x = input();
    let forward = || {
        let doubled = ops::multiply(&x, Array::from_f32(2.0))?;
        ops::add(&doubled, &x)
    };
    let run = |at: Selector, edit: Edit| Session::new().intervene(at, edit).run(&x, forward);
    let label = || Selector::Label("multiply_1".to_string());
    let (trace, y) = run(label(), Edit::Zero).unwrap();
    assert_eq!(floats(&y), floats(&x), "0 + x");
    let status = validate(&trace);
    assert_eq!(status.state(), State::Passed, "{status}");
    let decision = status
        .ops()
        .iter()
        .find(|op| op.label() == "multiply_1:1")
        .unwrap();
    assert_eq!(decision.reason(), Some(Reason::UserInterventionReplacement));
    assert_eq!(decision.decision(), Decision::Exempt);
    let [replaced] = trace.replacements() else {
        panic!("{:?}", trace.replacements());
    };
    let payload = |value| floats(trace.value(value).payload().unwrap());
    let twice: Vec<f32> = floats(&x).iter().map(|x| 2.0 * x).collect();
    assert_eq!(payload(replaced.original), twice);
    assert_eq!(payload(replaced.replacement), [0.0; 8]);
    assert!(trace
        .calls()
        .last()
        .unwrap()
        .operands()
        .any(|it| it == replaced.replacement));
    let ops = trace.ops();
    let add = ops.iter().position(|op| op.func_name() == "add").unwrap();
    let parents: Vec<_> = ops[add]
        .parents()
        .iter()
        .map(|row| ops[*row].func_name())
        .collect();
    assert_eq!(parents, ["multiply", "input"]);

    // By name, by a function that computes what nobody records, and by a number.
    let (trace, y) = run(
        Selector::Name("add".to_string()),
        Edit::With(Box::new(|sum| ops::negative(ops::abs(sum)?))),
    )
    .unwrap();
    assert!(floats(&y).iter().all(|y| *y <= 0.0));
    assert_eq!(trace.calls().len(), forward_calls(&x));
    assert_eq!(validate(&trace).state(), State::Passed);
    let (_, y) = run(label(), Edit::Scale(3.0)).unwrap();
    assert_eq!(
        floats(&y),
        floats(&x).iter().map(|x| 6.0 * x + x).collect::<Vec<_>>()
    );

    // What does not fit, and what never comes, is refused, and the next capture is as ever.
    let shape = run(label(), Edit::Replace(Array::from_f32(1.0))).unwrap_err();
    insta::assert_snapshot!("an_edit_that_does_not_fit", shape);
    let nowhere = run(Selector::Label("gelu_1".to_string()), Edit::Zero).unwrap_err();
    insta::assert_snapshot!("an_edit_without_a_place", nowhere);
    let (trace, _) = Session::new().run(&x, forward).unwrap();
    assert!(trace.replacements().is_empty());
    assert_eq!(validate(&trace).state(), State::Passed);
}

fn forward_calls(x: &Array) -> usize {
    let run = Session::new().run(x, || {
        let doubled = ops::multiply(x, Array::from_f32(2.0))?;
        ops::add(&doubled, x)
    });
    run.unwrap().0.calls().len()
}

#[test]
fn a_module_is_intervened_in_by_its_address_each_time_it_runs() {
    let x = input();
    let mut layers = List::new().push(Relu).push(Gelu::new()).push(Relu);
    let session = Session::new().intervene(Selector::Module("1".to_string()), Edit::Add(5.0));
    let (trace, y) = session.run(&x, || layers.forward(&x)).unwrap();
    assert!(floats(&y).iter().all(|y| *y >= 4.8), "{y:?}");
    let labels: Vec<_> = trace.ops().iter().map(Op::label).collect();
    assert_eq!(labels, ["input_1:1", "relu_1:1", "gelu_1:1", "relu_2:1"]);
    assert_eq!(trace.ops()[3].parents(), [2]);
    let reasons: Vec<_> = validate(&trace).ops().iter().map(|op| op.reason()).collect();
    assert_eq!(reasons[2], Some(Reason::UserInterventionReplacement));
}

#[test]
fn a_halt_gives_what_the_module_gave_and_not_its_last_call() {
    // Dropout in evaluation gives back its input, and makes no call at all.
    let mut model = List::new().push(Relu).push(mlx_rs::nn::Dropout::new());
    model.training_mode(false);
    let x = input();
    let after = Selector::Module("1".to_string());
    let trace = Session::new().run_until(after, &x, || model.forward(&x).and_then(|y| ops::exp(&y)));
    let trace = trace.unwrap();
    let names: Vec<_> = trace.ops().iter().map(|op| op.func_name().to_string()).collect();
    assert_eq!(names, ["input", "relu", "dropout"]);
    assert_eq!(trace.ops()[1].results(), [trace.outputs()[0].value()]);
}

/// Nothing is replaced inside a transform, and nobody may think that it was.
#[test]
fn an_op_inside_a_transform_is_refused_by_every_way_to_name_it() {
    let x = input();
    let forward = || {
        let gradient = mlx_rs::transforms::grad(|x: &Array| ops::square(ops::exp(x)?)?.sum(false))(&x)?;
        ops::exp(&gradient)
    };
    let label = |label: &str| Selector::Label(label.to_string());
    for selector in [
        label("square_1"),
        label("square_1:1"),
        Selector::Name("exp".to_string()),
    ] {
        let refused = Session::new()
            .intervene(selector.clone(), Edit::Zero)
            .run(&x, forward)
            .unwrap_err();
        let refusal = refused.refusal().unwrap();
        assert_eq!(refusal.code.name(), "intervention_inside_transform", "{selector}");
        assert_eq!(refusal.capability, "session.intervene_inside_transform");
    }
    let refused = Session::new()
        .run_until(label("square_1"), &x, forward)
        .unwrap_err();
    assert_eq!(
        refused.refusal().unwrap().code.name(),
        "intervention_inside_transform"
    );
    // A label that the forward itself has is the op there, whatever goes by it inside.
    let (trace, y) = Session::new()
        .intervene(label("exp_1"), Edit::Zero)
        .run(&x, forward)
        .unwrap();
    assert_eq!(floats(&y), [0.0; 8]);
    assert_eq!(trace.replacements().len(), 1);
    // Nothing stays behind.
    let (trace, _) = Session::new().run(&x, forward).unwrap();
    assert!(trace.replacements().is_empty());
    assert_eq!(validate(&trace).state(), State::Passed);
}
