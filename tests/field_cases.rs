//! Field cases: what users of other capture layers met, each with the outcome that is right. Those from 29 on are here,
//! those from 7 on are cases in `cases/field/`.

use std::collections::BTreeMap;
use std::path::Path;

use mlx_assay::capability::RefusalCode;
use mlx_assay::capture::containers::Sequential;
use mlx_assay::capture::{module_scope, ScopeKind, Scoped, TraceError};
use mlx_assay::case::cell::Cell;
use mlx_assay::case::check;
use mlx_assay::case::schema::Expectation;
use mlx_assay::under_test::backend;
use mlx_assay::validate::validate;
use mlx_assay::vocabulary::{Decision, Reason, State};
use mlx_assay::{trace, Session, Trace};
use mlx_rs::error::Exception;
use mlx_rs::module::Module;
use mlx_rs::nn::{Dropout, Gelu, Linear};
use mlx_rs::ops::indexing::IndexMutOp;
use mlx_rs::{ops, Array, Dtype};

fn input() -> Array {
    Array::from_slice(&[0.5_f32, -1.0, 2.0, 0.25], &[2, 2])
}

fn run(x: &Array, forward: impl FnOnce() -> Result<Array, Exception>) -> Trace {
    Session::new().run(x, forward).unwrap().0
}

fn names(trace: &Trace) -> Vec<String> {
    trace.ops().iter().map(|op| op.func_name().to_string()).collect()
}

fn parents(trace: &Trace) -> Vec<Vec<usize>> {
    trace.ops().iter().map(|op| op.parents().to_vec()).collect()
}

#[track_caller]
fn passes(trace: &Trace) {
    let status = validate(trace);
    assert_eq!(status.state(), State::Passed, "{status}");
}

#[test]
fn case_29_operators_and_methods_are_all_recorded() {
    let (x, w) = (input(), input());
    let (trace, _) = Session::new()
        .run(&[x.clone(), w.clone()], || {
            Ok::<_, Exception>((x.matmul(&w)? + 1.0_f32) * 2.0_f32 - x.sum(None)?)
        })
        .unwrap();
    let names = names(&trace);
    let computing: Vec<_> = names
        .iter()
        .filter(|name| *name != "input" && *name != "array")
        .collect();
    assert_eq!(computing, ["matmul", "add", "multiply", "sum", "subtract"]);
    passes(&trace);
}

#[test]
fn case_30_no_edge_is_cut_and_two_equal_parents_are_two() {
    let x = input();
    let trace = run(&x, || {
        ops::add(ops::exp(ops::multiply(&x, Array::from_f32(2.0))?)?, &x)
    });
    assert_eq!(names(&trace), ["input", "array", "multiply", "exp", "add"]);
    assert_eq!(parents(&trace)[4], [3, 0]);
    passes(&trace);

    let trace = run(&x, || ops::add(ops::exp(&x)?, ops::exp(&x)?));
    assert_eq!(parents(&trace), [vec![], vec![0], vec![0], vec![1, 2]]);
    passes(&trace);

    let trace = run(&x, || {
        let y = ops::exp(&x)?;
        ops::add(&y, &y)
    });
    assert_eq!(parents(&trace), [vec![], vec![0], vec![1]]);
    assert_eq!(
        trace.calls()[1].operands().count(),
        2,
        "at call level it stands twice"
    );
    passes(&trace);
}

#[test]
fn case_31_dropout_is_an_alias_in_evaluation_and_replays_in_training() {
    let x = input();
    let mut model = Sequential::new()
        .push(Linear::new(2, 2).unwrap())
        .push(Dropout::new());
    model.training_mode(false);
    let evaluation = trace(&mut model, &x).unwrap();
    assert_eq!(names(&evaluation), ["input", "linear", "dropout"]);
    assert_eq!(parents(&evaluation)[2], [1], "not its own parent");
    passes(&evaluation);

    model.training_mode(true);
    let training = trace(&mut model, &x).unwrap();
    let drawn = |call: &&mlx_assay::capture::Call| call.function().name == "mlx_random_bernoulli";
    assert_eq!(training.calls().iter().filter(drawn).count(), 1);
    passes(&training);
}

#[test]
fn case_32_in_place_updates_keep_the_value_before_and_after() {
    let x = input();
    let given = x.clone();
    let trace = run(&x, || {
        let mut y = given.clone();
        y.index_mut(0, Array::from_f32(9.0));
        let mut z = ops::exp(&y)?;
        z += Array::from_f32(1.0);
        ops::multiply(&z, &given)
    });
    let before = trace.value(trace.inputs()[0]).payload().unwrap();
    assert_eq!(before.as_slice::<f32>(), [0.5, -1.0, 2.0, 0.25]);
    trace.evaluate().unwrap();
    let exp = trace
        .calls()
        .iter()
        .find(|call| call.function().name == "mlx_exp")
        .unwrap();
    let updated = exp.operands().next().unwrap();
    let after = trace.value(updated).payload().unwrap();
    assert_eq!(after.as_slice::<f32>(), [9.0, 9.0, 2.0, 0.25]);
    let raised = trace
        .calls()
        .iter()
        .find(|call| call.operands().any(|it| it == exp.results()[0]))
        .unwrap();
    assert_ne!(
        raised.results()[0],
        exp.results()[0],
        "the sum is a value of its own"
    );
    passes(&trace);
}

#[test]
fn case_33_a_layer_called_three_times_has_three_calls_and_one_never_called_has_none() {
    let x = input();
    let mut layer = Scoped::new(Linear::new(2, 2).unwrap()).at("shared");
    let never = Scoped::new(Linear::new(2, 2).unwrap()).at("never");
    let session = Session::new()
        .module_at("shared", layer.inner())
        .module_at("never", never.inner())
        .declare_module("never", "Linear");
    let (trace, _) = session
        .run(&x, || {
            let y = layer.forward(&x)?;
            let y = layer.forward(&y)?;
            layer.forward(&y)
        })
        .unwrap();
    let labels: Vec<_> = trace.ops().iter().map(|op| op.label()).collect();
    assert_eq!(labels, ["input_1:1", "linear_1:1", "linear_1:2", "linear_1:3"]);
    assert_eq!(trace.module("shared").unwrap().calls(), 3);
    assert_eq!(trace.module("never").unwrap().calls(), 0);
    passes(&trace);
}

#[test]
fn case_34_tied_weights_two_addresses_and_recursion() {
    let x = input();
    let mut layer = Linear::new(2, 2).unwrap();
    let session = Session::new().module_at("a", &layer).module_at("b", &layer);
    let (tied, _) = session.run(&x, || layer.forward(&x)).unwrap();
    let at = |address: &str| {
        let mut found = tied.parameters().iter().filter(|(name, _)| **name == *address);
        found.next().map(|(_, value)| *value).unwrap()
    };
    assert_eq!(at("a.weight"), at("b.weight"), "one value at two addresses");
    passes(&tied);

    // A block that calls itself, one level down.
    fn block(x: &Array, depth: u32) -> Result<Array, Exception> {
        module_scope(ScopeKind::Module("Block".into()), Some("block"), || {
            let y = ops::exp(ops::negative(x)?)?;
            match depth {
                0 => Ok(y),
                _ => block(&y, depth - 1),
            }
        })
    }
    let recursive = run(&x, || block(&x, 1));
    assert_eq!(recursive.calls().len(), 4);
    assert_eq!(recursive.module("block").unwrap().calls(), 1);
    assert_eq!(recursive.module("block.block").unwrap().calls(), 1);
    passes(&recursive);
}

#[test]
fn case_35_nested_inputs_and_outputs_each_by_its_path() {
    let (a, b) = (input(), ops::exp(input()).unwrap());
    let mut map = BTreeMap::new();
    map.insert("left".to_string(), vec![a.clone()]);
    map.insert("right".to_string(), vec![b.clone(), a.clone()]);
    let (trace, _) = Session::new()
        .run(&map, || {
            let y = ops::add(&a, &b)?;
            let mut named = BTreeMap::new();
            named.insert("sum".to_string(), y.clone());
            Ok::<_, Exception>((named, vec![ops::negative(&y)?]))
        })
        .unwrap();
    assert_eq!(names(&trace)[..2], ["input", "input"]);
    let paths: Vec<_> = trace.outputs().iter().map(|output| output.path()).collect();
    assert_eq!(paths, ["0.sum", "1.0"]);
    passes(&trace);
}

#[test]
fn case_36_every_array_of_a_list_is_a_parent_and_is_perturbed() {
    let (x, y) = (input(), ops::exp(input()).unwrap());
    for stacks in [true, false] {
        let (trace, _) = Session::new()
            .run(&[x.clone(), y.clone()], || match stacks {
                true => ops::stack(&[&x, &y], 0),
                false => ops::concatenate(&[&x, &y, &x], 0),
            })
            .unwrap();
        assert_eq!(parents(&trace)[2], [0, 1]);
        let status = validate(&trace);
        assert_eq!(status.state(), State::Passed, "{status}");
        assert_eq!(status.calls()[0].proofs().len(), if stacks { 2 } else { 3 });
        assert!(status.calls()[0]
            .proofs()
            .iter()
            .all(|proof| proof.found.is_some()));
    }
}

#[test]
fn case_37_a_split_is_one_op_with_results_by_index() {
    let x = input();
    let trace = run(&x, || {
        let parts = ops::split_equal(&x, 2, 0)?;
        ops::subtract(&parts[1], &parts[0])
    });
    assert_eq!(names(&trace), ["input", "split", "subtract"]);
    let split = &trace.calls()[0];
    assert_eq!(split.results().len(), 2);
    let read: Vec<_> = trace.calls()[1].operands().collect();
    assert_eq!(read, [split.results()[1], split.results()[0]]);
    passes(&trace);
}

#[test]
fn case_38_what_is_healthy_is_never_failed() {
    type Forward = fn(&Array) -> Result<Array, Exception>;
    let forwards: [(&str, Forward); 6] = [
        ("argmax", |x| ops::indexing::argmax(x, None)),
        ("argmin", |x| ops::indexing::argmin(x, None)),
        ("softmax", |x| ops::softmax_axis(x, -1, None)),
        ("times 0", |x| ops::multiply(x, Array::from_f32(0.0))),
        ("to the 0", |x| ops::power(x, Array::from_f32(0.0))),
        ("plus", |x| ops::add(x, x)),
    ];
    let arrays = [
        ("ordinary", input()),
        ("zeros", ops::zeros::<f32>(&[2, 3]).unwrap()),
        ("one column", ops::ones::<f32>(&[3, 1]).unwrap()),
        ("one element", Array::from_slice(&[2.0_f32], &[1])),
        ("bfloat16", input().as_dtype(Dtype::Bfloat16).unwrap()),
        ("complex64", input().as_dtype(Dtype::Complex64).unwrap()),
        ("empty", ops::zeros::<f32>(&[0, 3]).unwrap()),
    ];
    for (kind, x) in &arrays {
        for (name, forward) in forwards {
            // No order is defined on complex numbers, and no largest of none.
            let undefined = match *kind {
                "complex64" => matches!(name, "argmax" | "argmin" | "softmax"),
                "empty" => matches!(name, "argmax" | "argmin"),
                _ => false,
            };
            if undefined {
                continue;
            }
            let status = validate(&run(x, || forward(x)));
            assert_ne!(status.state(), State::Failed, "{name} of {kind}: {status}");
            assert_ne!(status.state(), State::Unavailable, "{name} of {kind}: {status}");
        }
    }
    // What no candidate shows to matter is unproven, with its reason.
    let x = Array::from_slice(&[2.0_f32], &[1]);
    let status = validate(&run(&x, || ops::power(&x, Array::from_f32(0.0))));
    assert_eq!(status.ops()[2].decision(), Decision::Unproven);
    assert_eq!(status.ops()[2].reason(), Some(Reason::PerturbationInsensitive));
    // Of one element MLX gives a 0 without reading it.
    let status = validate(&run(&x, || ops::indexing::argmax(&x, None)));
    assert_eq!(status.ops()[1].decision(), Decision::Exempt);
    assert_eq!(status.ops()[1].reason(), Some(Reason::OperandNotRead));
}

#[test]
fn case_39_an_error_inside_the_model_arrives_unchanged_and_the_next_capture_works() {
    let x = Array::from_slice(&[1.0_f32, 2.0, 3.0], &[1, 3]);
    let error = Session::new().run(&x, || ops::matmul(&x, &x)).unwrap_err();
    let TraceError::Model(error) = error else {
        panic!("{error}")
    };
    assert_eq!(error.what(), ops::matmul(&x, &x).unwrap_err().what());
    passes(&trace(&mut Sequential::new().push(Gelu::new()), &x).unwrap());
}

#[test]
fn case_40_a_capture_inside_a_capture_is_a_typed_refusal() {
    let x = input();
    let mut inner = None;
    let outer = run(&x, || {
        inner = Some(Session::new().run(&x, || ops::exp(&x)).unwrap_err());
        ops::negative(&x)
    });
    assert_eq!(inner.unwrap().refusal().unwrap().code, RefusalCode::NestedCapture);
    assert_eq!(names(&outer), ["input", "negative"]);
    passes(&outer);
}

/// Cases 7 to 28 are YAML: what `assay run field::` runs. Each number has at least one, which says what is right.
#[test]
fn cases_7_to_28_are_in_the_suite_by_number_each_with_what_is_right() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let suite = check::suite(root, &backend().names).unwrap();
    let mut by_number: BTreeMap<u32, Vec<&Cell>> = BTreeMap::new();
    for cell in &suite.cells {
        let Some(name) = cell.id.strip_prefix("field::") else {
            continue;
        };
        let number = name.split('_').next().and_then(|digits| digits.parse().ok());
        let number = number.unwrap_or_else(|| panic!("{} begins with no number", cell.case.file));
        let text = std::fs::read_to_string(root.join(&cell.case.file)).unwrap();
        assert!(
            text.contains(&format!("source: field case {number}\n")),
            "{}",
            cell.id
        );
        let says = |it: &Expectation| it.reference || it.outputs.is_some() || it.error.is_some();
        assert!(
            cell.expect.iter().any(|it| says(&it.item)),
            "{} says nothing of what is right",
            cell.id
        );
        by_number.entry(number).or_default().push(cell);
    }
    for (number, cells) in &by_number {
        for cell in cells {
            let known = cell.expected_fail.iter().map(|it| it.item.because.as_str());
            let known: Vec<_> = known.collect();
            println!("{number:2}  {}  {}", cell.id, known.join("; "));
        }
    }
    let numbers: Vec<u32> = by_number.into_keys().collect();
    assert_eq!(numbers, (7..=28).collect::<Vec<_>>());
}
