//! What a capture records, and what validation makes of it, on real mlx-rs models.

use std::panic::{catch_unwind, AssertUnwindSafe};

use mlx_assay::capability::RefusalCode;
use mlx_assay::capture::containers::{List, Map, Sequential};
use mlx_assay::capture::{
    function_scope, End, EvaluationKind, OpKind, Origin, PayloadPolicy, Scoped, Selector, TraceError,
};
use mlx_assay::validate::mutate::Fault;
use mlx_assay::validate::validate;
use mlx_assay::vocabulary::{Decision, Reason, State};
use mlx_assay::{trace, unwrapped_policy, Session, Trace, UnwrappedPolicy};
use mlx_rs::builder::Builder;
use mlx_rs::error::Exception;
use mlx_rs::module::Module;
use mlx_rs::nn::{Dropout, Gelu, LayerNorm, Linear, Transformer, TransformerBuilder, TransformerInput};
use mlx_rs::{linalg, ops, random, Array};

fn input() -> Array {
    Array::from_slice(&[0.5_f32, -1.0, 2.0, 0.25, 1.0, 1.0, -1.0, 0.0], &[2, 4])
}

fn tutorial() -> Sequential {
    random::seed(0).unwrap();
    Sequential::new()
        .push(Linear::new(4, 8).unwrap())
        .push(Gelu::new())
        .push(Linear::new(8, 2).unwrap())
}

fn names(trace: &Trace) -> Vec<String> {
    trace.ops().iter().map(|op| op.func_name().to_string()).collect()
}

fn run(inputs: &Array, f: impl FnOnce() -> Result<Array, Exception>) -> Trace {
    Session::new().run(inputs, f).unwrap().0
}

#[test]
fn the_tutorial_model_has_the_ops_parents_and_modules_of_the_design() {
    let x = input();
    let trace = trace(&mut tutorial(), &x).unwrap();
    assert_eq!(names(&trace), ["input", "linear", "gelu", "linear"]);
    let ops = trace.ops();
    let parents: Vec<_> = ops.iter().map(|op| op.parents().to_vec()).collect();
    assert_eq!(parents, [vec![], vec![0], vec![1], vec![2]]);
    let labels: Vec<_> = ops.iter().map(|op| op.label()).collect();
    assert_eq!(labels, ["input_1:1", "linear_1:1", "gelu_1:1", "linear_2:1"]);
    assert_eq!(trace.value(trace.outputs()[0].value()).shape(), [2, 2]);
    assert_eq!(trace.output_ops(), [ops[3].clone()]);

    let modules: Vec<_> = trace
        .modules()
        .iter()
        .map(|m| (m.address(), m.class(), m.calls()))
        .collect();
    assert_eq!(
        modules,
        [
            ("", Some("Sequential"), 1),
            ("layers", Some("list"), 1),
            ("layers.0", Some("Linear"), 1),
            ("layers.1", Some("Gelu"), 1),
            ("layers.2", Some("Linear"), 1),
        ]
    );
    let parameters: Vec<_> = trace
        .module("layers.0")
        .unwrap()
        .parameters()
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(parameters, ["bias", "weight"]);

    let status = validate(&trace);
    assert_eq!(status.state(), State::Passed, "{status}");
    assert_eq!(
        trace.closures().len(),
        1,
        "gelu is compiled inside mlx-rs and ran inlined"
    );
}

#[test]
fn an_inlined_trace_computes_what_the_plain_run_does() {
    let x = input();
    let mut model = tutorial();
    let trace = trace(&mut model, &x).unwrap();
    let traced = trace.value(trace.outputs()[0].value()).payload().unwrap().clone();
    mlx_rs::transforms::compile::disable_compile();
    let plain = model.forward(&x).unwrap();
    mlx_rs::transforms::compile::enable_compile();
    mlx_rs::transforms::eval([&traced, &plain]).unwrap();
    assert!(mlx_assay::graph::compare(&traced, &plain).unwrap().is_none());
}

#[test]
fn the_transformer_of_mlx_rs_is_recorded_call_by_call_and_replays_by_both_routes() {
    random::seed(1).unwrap();
    let mut model = TransformerBuilder::new()
        .dimensions(64)
        .num_heads(4)
        .encoder_layer_count(2_usize)
        .decoder_layer_count(2_usize)
        .build()
        .unwrap();
    <Transformer as Module<TransformerInput<'_>>>::training_mode(&mut model, false);
    let source = random::normal::<f32>(&[1, 6, 64], None, None, None).unwrap();
    let target = random::normal::<f32>(&[1, 5, 64], None, None, None).unwrap();
    let mask = Array::from_f32(0.0);
    let input = TransformerInput {
        source: &source,
        target: &target,
        source_mask: &mask,
        target_mask: &mask,
        memory_mask: &mask,
    };
    let trace = trace(&mut model, input).unwrap();
    let status = validate(&trace);
    assert_eq!(status.state(), State::Passed, "{status}");
    for decision in status.calls() {
        let call = trace.call(decision.call());
        if !call.is_producer_leaf() {
            assert!(
                decision.routes().function && decision.routes().graph,
                "{}",
                call.function().name
            );
        }
    }
    let record = trace.module("encoder.layers.0.attention.query_proj").unwrap();
    let (name, weight) = &record.parameters()[0];
    assert_eq!(name, "weight");
    let address = "encoder.layers.0.attention.query_proj.weight".into();
    assert_eq!(*trace.value(*weight).origin(), Origin::Parameter { address });
    assert!(trace
        .calls()
        .iter()
        .any(|call| call.operands().any(|operand| operand == *weight)));
}

#[test]
fn a_closure_array_is_a_constant_with_payload_that_its_consumer_lists() {
    let x = input();
    let outer = Array::from_f32(3.0);
    let trace = run(&x, || ops::multiply(&x, &outer));
    assert_eq!(names(&trace), ["input", "constant", "multiply"]);
    assert_eq!(trace.ops()[2].parents(), [0, 1]);
    let constant = trace.constants().next().unwrap();
    assert_eq!(trace.value(constant).payload().unwrap().item_exact::<f32>(), 3.0);
    let status = validate(&trace);
    assert_eq!(status.state(), State::Passed, "{status}");
    assert_eq!(status.ops()[2].reason(), Some(Reason::ConstantParentPayload));
    assert_eq!(status.ops()[1].reason(), Some(Reason::ConstantProducerLeaf));
}

#[test]
fn a_literal_made_inside_the_forward_is_a_producer_and_not_an_unwrapped_op() {
    let x = input();
    let trace = run(&x, || ops::multiply(&x, Array::from_f32(3.0)));
    assert_eq!(names(&trace), ["input", "array", "multiply"]);
    assert_eq!(trace.ops()[1].kind(), OpKind::Literal);
    assert!(trace.capture_verified());
    let status = validate(&trace);
    assert_eq!(status.state(), State::Passed, "{status}");
    assert_eq!(status.ops()[1].decision(), Decision::Exempt);
    assert_eq!(status.ops()[2].reason(), None);
}

/// A forward whose norm is hidden from the recorded surface.
fn hidden_norm(session: Session, x: &Array, evaluate: bool) -> Result<Trace, TraceError<Exception>> {
    session
        .hide(["mlx_linalg_norm_l2", "mlx_linalg_norm", "mlx_linalg_norm_matrix"])
        .run(x, || {
            let norm = linalg::norm_l2(x, linalg::NormOptions::default())?;
            if evaluate {
                norm.eval()?;
            }
            ops::multiply(x, &norm)
        })
        .map(|(trace, _)| trace)
}

#[test]
fn a_hidden_op_makes_the_trace_unverified_with_count_reason_and_first_use() {
    let x = input();
    for evaluate in [false, true] {
        let trace = hidden_norm(Session::new(), &x, evaluate).unwrap();
        assert!(!trace.capture_verified());
        assert!(trace.unwrapped_arrays() >= 1);
        let warning = &trace.warnings()[0];
        let first_use = if evaluate {
            "what mlx_array_eval evaluates"
        } else {
            "argument b of mlx_multiply (call 1)"
        };
        assert!(warning.starts_with("unwrapped_op_in_capture"), "{warning}");
        assert!(warning.contains(first_use), "{warning}");
        assert_eq!(validate(&trace).state(), State::Unverified);
    }
}

#[test]
fn under_refuse_a_hidden_op_is_a_typed_error_and_nothing_stays_behind() {
    let x = input();
    let before = format!("{:?}", trace(&mut tutorial(), &x).unwrap().ops());
    for evaluate in [false, true] {
        let error = unwrapped_policy(UnwrappedPolicy::Refuse, || {
            hidden_norm(Session::new(), &x, evaluate)
        })
        .unwrap_err();
        assert_eq!(error.refusal().unwrap().code, RefusalCode::UnwrappedOpInCapture);
        let session = Session::new().unwrapped(UnwrappedPolicy::Refuse);
        let error = hidden_norm(session, &x, evaluate).unwrap_err();
        assert_eq!(error.refusal().unwrap().code, RefusalCode::UnwrappedOpInCapture);
        let after = trace(&mut tutorial(), &x).unwrap();
        assert!(after.capture_verified());
        assert_eq!(format!("{:?}", after.ops()), before);
    }
}

#[test]
fn evaluating_in_the_middle_loses_no_edge_and_is_listed() {
    let x = input();
    let trace = run(&x, || {
        let doubled = ops::add(&x, &x)?;
        doubled.eval()?;
        let total = ops::sum(&doubled, None)?;
        let shifted = if total.item_exact::<f32>() > 0.0 {
            ops::exp(&doubled)?
        } else {
            ops::negative(&doubled)?
        };
        let _ = format!("{shifted}");
        ops::multiply(&shifted, &total)
    });
    assert_eq!(names(&trace), ["input", "add", "sum", "exp", "multiply"]);
    let parents: Vec<_> = trace.ops().iter().map(|op| op.parents().to_vec()).collect();
    assert_eq!(parents, [vec![], vec![0], vec![1], vec![1], vec![3, 2]]);
    let evaluations: Vec<_> = trace
        .evaluations()
        .iter()
        .map(|e| (e.function(), e.kind()))
        .collect();
    assert_eq!(
        evaluations,
        [
            ("mlx_array_eval", EvaluationKind::Explicit),
            ("mlx_array_item_float32", EvaluationKind::Implicit),
            ("mlx_array_tostring", EvaluationKind::Implicit),
        ]
    );
    let status = validate(&trace);
    assert_eq!(status.state(), State::Passed, "{status}");
}

#[test]
fn reading_a_slice_is_one_implicit_evaluation() {
    let x = input();
    let trace = run(&x, || {
        let y = ops::exp(&x)?;
        let _: &[f32] = y.as_slice();
        ops::negative(&y)
    });
    let evaluations: Vec<_> = trace
        .evaluations()
        .iter()
        .map(|e| (e.function(), e.kind()))
        .collect();
    assert_eq!(
        evaluations,
        [("mlx_array_data_float32", EvaluationKind::Implicit)]
    );
}

#[test]
fn an_error_in_the_model_reaches_the_caller_unchanged_and_leaves_nothing() {
    let x = input();
    let error = Session::new().run(&x, || ops::matmul(&x, &x)).unwrap_err();
    let TraceError::Model(exception) = error else {
        panic!("{error}")
    };
    let plain = ops::matmul(&x, &x).unwrap_err();
    assert_eq!(exception.what(), plain.what());
    assert_eq!(
        names(&trace(&mut tutorial(), &x).unwrap()),
        ["input", "linear", "gelu", "linear"]
    );
}

#[test]
fn a_panic_in_the_model_reaches_the_caller_and_leaves_nothing() {
    let x = input();
    let panic = catch_unwind(AssertUnwindSafe(|| {
        function_scope("outer", || run(&x, || panic!("the model's own")));
    }))
    .unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"the model's own"));
    assert_eq!(
        names(&trace(&mut tutorial(), &x).unwrap()),
        ["input", "linear", "gelu", "linear"]
    );
}

#[test]
fn a_capture_inside_a_capture_is_refused() {
    let x = input();
    let mut inner = None;
    run(&x, || {
        inner = Some(Session::new().run(&x, || ops::exp(&x)).unwrap_err());
        ops::negative(&x)
    });
    assert_eq!(inner.unwrap().refusal().unwrap().code, RefusalCode::NestedCapture);
}

#[test]
fn without_payloads_a_trace_has_shapes_and_validation_is_unavailable() {
    let x = input();
    let session = Session::new().payloads(PayloadPolicy::None);
    let (trace, _) = session.run(&x, || ops::exp(&x)).unwrap();
    assert_eq!(trace.value(trace.outputs()[0].value()).shape(), [2, 4]);
    assert!(trace.values().iter().all(|value| value.payload().is_none()));
    assert_eq!(validate(&trace).state(), State::Unavailable);
}

#[test]
fn containers_nest_and_have_records() {
    let x = input();
    let mut model = List::new()
        .push(Linear::new(4, 4).unwrap())
        .push_container(
            Map::new()
                .insert("norm", LayerNorm::new(4).unwrap())
                .insert("act", Gelu::new()),
        )
        .push_container(tutorial());
    let trace = trace(&mut model, &x).unwrap();
    assert_eq!(
        names(&trace),
        [
            "input",
            "linear",
            "layer_norm",
            "gelu",
            "linear",
            "gelu",
            "linear"
        ]
    );
    let modules: Vec<_> = trace
        .modules()
        .iter()
        .map(|m| (m.address(), m.class().unwrap_or("-")))
        .collect();
    assert_eq!(
        modules,
        [
            ("", "List"),
            ("0", "Linear"),
            ("1", "map"),
            ("1.act", "Gelu"),
            ("1.norm", "LayerNorm"),
            ("2", "Sequential"),
            ("2.layers", "list"),
            ("2.layers.0", "Linear"),
            ("2.layers.1", "Gelu"),
            ("2.layers.2", "Linear"),
        ]
    );
    assert_eq!(validate(&trace).state(), State::Passed);
}

#[test]
fn a_layer_called_twice_is_one_module_with_two_calls() {
    let x = input();
    let mut layer = Scoped::new(Linear::new(4, 4).unwrap()).at("shared");
    let session = Session::new().module_at("shared", layer.inner());
    let (trace, _) = session
        .run(&x, || {
            let once = layer.forward(&x)?;
            layer.forward(&once)
        })
        .unwrap();
    let labels: Vec<_> = trace.ops().iter().map(|op| op.label()).collect();
    assert_eq!(labels, ["input_1:1", "linear_1:1", "linear_1:2"]);
    assert_eq!(trace.module("shared").unwrap().calls(), 2);
    assert_eq!(trace.ops()[2].parents(), [1]);
}

#[test]
fn dropout_in_evaluation_gives_back_its_input_and_is_no_cycle() {
    let x = input();
    let mut model = Sequential::new()
        .push(Linear::new(4, 4).unwrap())
        .push(Dropout::new())
        .push(Gelu::new());
    model.training_mode(false);
    let trace = trace(&mut model, &x).unwrap();
    assert_eq!(names(&trace), ["input", "linear", "dropout", "gelu"]);
    let parents: Vec<_> = trace.ops().iter().map(|op| op.parents().to_vec()).collect();
    assert_eq!(parents, [vec![], vec![0], vec![1], vec![2]]);
    let status = validate(&trace);
    assert_eq!(status.state(), State::Passed, "{status}");
}

#[test]
fn dropout_in_training_draws_a_recorded_random_value_that_replays() {
    let x = input();
    let mut model = Sequential::new().push(Dropout::new());
    model.training_mode(true);
    let trace = trace(&mut model, &x).unwrap();
    let functions: Vec<_> = trace.calls().iter().map(|call| call.function().name).collect();
    assert!(functions.contains(&"mlx_random_bernoulli"), "{functions:?}");
    let status = validate(&trace);
    assert_eq!(status.state(), State::Passed, "{status}");
}

#[test]
fn operands_in_lists_and_several_results_are_each_recorded() {
    let x = input();
    let trace = run(&x, || {
        let parts = ops::split_equal(&x, 2, 0)?;
        ops::concatenate(&[&parts[1], &parts[0], &x], 0)
    });
    let split = &trace.calls()[0];
    assert_eq!(split.results().len(), 2);
    let joined = &trace.calls()[1];
    let operands: Vec<_> = joined.operands().collect();
    assert_eq!(
        operands,
        [split.results()[1], split.results()[0], trace.inputs()[0]]
    );
    let status = validate(&trace);
    assert_eq!(status.state(), State::Passed, "{status}");
    assert!(status.calls()[1]
        .proofs()
        .iter()
        .all(|proof| proof.found.is_some()));
}

#[test]
fn what_no_candidate_shows_to_matter_is_unproven_and_never_failed() {
    let x = input();
    let trace = run(&x, || {
        let one = ops::power(&x, Array::from_f32(0.0))?;
        ops::multiply(&one, &x)
    });
    let status = validate(&trace);
    assert_eq!(status.state(), State::Unverified, "{status}");
    assert_eq!(status.ops()[2].reason(), Some(Reason::PerturbationInsensitive));
}

#[test]
fn a_dead_relu_and_a_product_with_zero_are_shown_by_a_nan() {
    let x = Array::from_slice(&[-5.0_f32, -4.0, -3.0], &[3]);
    let trace = run(&x, || ops::multiply(&x, Array::from_f32(0.0)));
    assert_eq!(validate(&trace).state(), State::Passed);
}

#[test]
fn what_a_function_does_not_read_is_exempt() {
    let x = Array::from_slice(&[1, 2, 3], &[3]);
    let trace = run(&x, || ops::is_nan(&x));
    let status = validate(&trace);
    assert_eq!(status.state(), State::Passed, "{status}");
    assert_eq!(status.ops()[1].reason(), Some(Reason::OperandNotRead));
}

#[test]
fn an_operand_without_elements_is_exempt() {
    let x = ops::zeros::<f32>(&[0, 3]).unwrap();
    x.eval().unwrap();
    let trace = run(&x, || ops::sum_axes(&x, &[0], None));
    let status = validate(&trace);
    assert_eq!(status.state(), State::Passed, "{status}");
    assert_eq!(status.ops()[1].reason(), Some(Reason::OperandNotRead));
}

#[test]
fn truths_minima_and_lone_indices_are_shown_to_matter() {
    let x = Array::from_slice(&[3, 4, 5], &[3]);
    let table = Array::from_slice(&[0.0_f32, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], &[4, 2]);
    type Program = fn(&Array, &Array) -> Result<Array, Exception>;
    let programs: [(&str, Program); 4] = [
        ("any", |x, _| ops::any(x, None)),
        ("minimum", |x, _| ops::minimum(x, Array::from_int(2))),
        ("is_inf", |_, table| ops::is_inf(table)),
        ("take", |_, table| {
            ops::indexing::take_axis(table, Array::from_int(3), 0)
        }),
    ];
    for (name, program) in programs {
        let inputs = vec![x.clone(), table.clone()];
        let (trace, _) = Session::new().run(&inputs, || program(&x, &table)).unwrap();
        let status = validate(&trace);
        assert_eq!(status.state(), State::Passed, "{name}: {status}");
    }
}

#[test]
fn a_norm_over_all_axes_replays_by_both_routes() {
    let x = input();
    let trace = run(&x, || linalg::norm_l2(&x, linalg::NormOptions::default()));
    let status = validate(&trace);
    assert_eq!(status.state(), State::Passed, "{status}");
    let routes = status.ops()[1].routes();
    assert!(routes.function && routes.graph);
}

#[test]
fn a_trace_that_lost_its_only_call_is_failed_and_not_unavailable() {
    let x = input();
    let mut trace = run(&x, || ops::exp(&x));
    let call = trace.ops()[1].calls()[0];
    assert!(Fault::CallDropped.apply(&mut trace, call).unwrap());
    let status = validate(&trace);
    assert_eq!(status.state(), State::Failed, "{status}");
    assert!(!status.gaps().is_empty());
}

#[test]
fn a_bit_flipped_beside_a_nan_is_flagged() {
    let x = Array::from_slice(&[f32::NAN, 1.0], &[2]);
    let mut trace = run(&x, || ops::square(&x));
    let call = trace.ops()[1].calls()[0];
    assert!(Fault::BitFlipped.apply(&mut trace, call).unwrap());
    let status = validate(&trace);
    assert_eq!(status.state(), State::Failed, "{status}");
    assert_eq!(status.calls()[0].reason(), Some(Reason::ReplayMismatch));
}

#[test]
fn a_trace_sent_to_another_thread_keeps_the_function_route() {
    let x = input();
    let trace = trace(&mut tutorial(), &x).unwrap();
    trace.evaluate().unwrap();
    let status = std::thread::spawn(move || validate(&trace)).join().unwrap();
    assert_eq!(status.state(), State::Passed, "{status}");
    assert!(status.calls().iter().all(|decision| !decision.routes().graph));
}

#[test]
fn a_gradient_is_one_op_replayed_from_its_subgraph() {
    let x = input();
    let trace = run(&x, || {
        let loss = |x: &Array| ops::sum(&ops::square(x)?, None);
        mlx_rs::transforms::grad(loss)(&x)
    });
    assert_eq!(trace.calls().len(), 1);
    let status = validate(&trace);
    assert_eq!(status.state(), State::Passed, "{status}");
    assert!(status.calls()[0].routes().graph && !status.calls()[0].routes().function);
}

#[test]
fn a_forward_that_fails_leaves_what_it_recorded_until_then() {
    let x = Array::from_slice(&[1.0_f32, 2.0, 3.0], &[3]);
    let attempt = Session::new().attempt(&x, || {
        let y = ops::exp(&x)?;
        ops::add(&y, ops::zeros::<f32>(&[7])?)
    });
    let attempt = attempt.unwrap();
    assert!(matches!(attempt.end, End::Failed(_)), "{:?}", attempt.end);
    let trace = attempt.trace.unwrap();
    let names: Vec<_> = trace.ops().iter().map(|op| op.func_name().to_string()).collect();
    assert_eq!(names, ["input", "exp", "zeros"]);
    let failed = trace.failed_calls().last().unwrap();
    let read: Vec<_> = failed
        .operands
        .iter()
        .map(|value| trace.describe(*value))
        .collect();
    assert_eq!(failed.function, "mlx_add");
    assert_eq!(
        read,
        ["the result of exp (call 1)", "the result of zeros (call 2)"]
    );

    let attempt = Session::new().attempt(&x, || -> Result<Array, Exception> {
        let _y = ops::exp(&x)?;
        panic!("on purpose")
    });
    let attempt = attempt.unwrap();
    assert!(matches!(attempt.end, End::Panicked(_)));
    assert_eq!(attempt.trace.unwrap().calls().len(), 1);
}

#[test]
fn nothing_runs_after_a_halt() {
    let x = Array::from_slice(&[1.0_f32, 2.0], &[2]);
    let ran = std::cell::Cell::new(0);
    let after = Selector::Label("exp_1".to_string());
    let trace = Session::new().run_until(after, &x, || {
        let y = ops::exp(&x)?;
        ran.set(1);
        let z = ops::negative(&y)?;
        ran.set(2);
        Ok::<_, Exception>(z)
    });
    let trace = trace.unwrap();
    assert!(trace.is_halted());
    assert_eq!((ran.get(), trace.calls().len(), trace.outputs().len()), (1, 1, 1));
    assert_eq!(trace.outputs()[0].value(), trace.calls()[0].results()[0]);
    // An op that never comes is no halt.
    let nowhere = Selector::Name("tanh".to_string());
    let refused = Session::new()
        .run_until(nowhere, &x, || ops::exp(&x))
        .unwrap_err();
    assert_eq!(refused.refusal().unwrap().code, RefusalCode::SelectorWithoutMatch);
}

#[test]
fn another_thread_computes_undisturbed_while_this_one_captures() {
    let x = Array::from_slice(&[1.0_f32, 2.0], &[2]);
    let (trace, _) = Session::new()
        .run(&x, || {
            let sums: Vec<f32> = std::thread::scope(|scope| {
                let sum = |start: f32| {
                    let y = ops::add(Array::from_f32(start), Array::from_f32(1.0)).unwrap();
                    y.item_exact::<f32>()
                };
                let threads: Vec<_> = [1.0, 2.0].map(|start| scope.spawn(move || sum(start))).into();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert_eq!(sums, [2.0, 3.0]);
            ops::exp(&x)
        })
        .unwrap();
    assert_eq!(trace.calls().len(), 1);
}
