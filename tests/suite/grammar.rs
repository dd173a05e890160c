//! The design's four examples, and what each of their words comes to.

use crate::names::cells;
use mlx_assay::case::arguments::Arguments;
use mlx_assay::case::cell::{Cell, Program};
use mlx_assay::case::data::{Data, Input, View};
use mlx_assay::case::schema::{Check, Unwrapped};
use mlx_assay::case::value::Value;
use mlx_assay::vocabulary::{DType, Decision, Reason, State};

const SEQUENTIAL: &str = include_str!("../../cases/tutorial/sequential.yaml");

pub const SUM: &str = r#"
op: sum
matrix:
  dtype: [bool, int32, float16, bfloat16, float32, complex64]
  shape: [[], [0, 3], [3, 4], [4096]]
  view: [plain, transposed]
  args: [{}, {axes: [-1], keep_dims: true}]
exclude: [{shape: [], args: {axes: [-1], keep_dims: true}}, {shape: [], view: transposed}]
expect: {reference: true, dtype: {bool: int32, else: same}}
expected_fail:
  - {where: {dtype: [float16, bfloat16], shape: [4096]}, check: value,
     because: narrow accumulation, issue: "…", opened: 2026-11-29, expires: 2027-06-01}
"#;

const GRU: &str = r#"
inputs: {x1: {shape: [2, 5, 8], fill: normal}, x2: {shape: [2, 5, 8], fill: normal}}
layers: {cell: {gru: {input: 8, hidden: 16}}, never: {linear: {input: 16, output: 4}}}
forward:
  - h1: {cell: x1}
  - h2: {cell: x2}
  - y: {power: [h2, 0.0]}
outputs: [h1, y]
expect:
  state: unverified
  modules: {cell: {class: Gru, calls: 2}, never: {calls: 0}}
  decisions: {"gru_1:2": verified, power_1: {unproven: perturbation_insensitive}}
"#;

const REFUSE: &str = r#"
inputs: {x: {shape: [3], fill: normal}}
session: {unwrapped: refuse, hide: [mlx_linalg_norm]}    # hide: a seam for tests
forward: [{n: {linalg.norm: x}}]
expect: {refusal: unwrapped_op_in_capture}
"#;

fn array<'a>(cell: &'a Cell, name: &str) -> &'a mlx_assay::case::data::ArraySpec {
    match &cell.inputs[name] {
        Input::Array(array) => array,
        other => panic!("an array wanted, found {other:?}"),
    }
}

#[test]
fn a_model_is_a_tree_of_layers_with_places() {
    let cells = cells(SEQUENTIAL);
    let [cell] = cells.as_slice() else {
        panic!("one cell wanted")
    };
    assert_eq!(cell.id, "test");
    let x = array(cell, "x");
    assert_eq!((x.dtype, x.shape.as_slice()), (DType::Float32, [2, 4].as_slice()));
    assert_eq!(
        x.data(),
        Data::Float(vec![0.5, -1.0, 2.0, 0.25, 1.0, 1.0, -1.0, 0.0])
    );
    let Program::Model(spec) = &cell.program else {
        panic!("a model wanted")
    };
    let mlx_assay::case::spec::Children::List(layers) = &spec.children else {
        panic!("a list wanted")
    };
    let seen: Vec<_> = layers
        .iter()
        .map(|layer| (layer.name.as_str(), layer.position.line))
        .collect();
    assert_eq!(seen, [("linear", 8), ("gelu", 9), ("linear", 10)]);
    assert_eq!(layers[0].args["output"], Value::Int(8));
}

#[test]
fn an_op_spreads_over_its_matrix() {
    let cells = cells(SUM);
    // 6 element types; of 4 x 2 x 2 points the scalar keeps one of four.
    assert_eq!(cells.len(), 6 * (3 * 4 + 1));
    let id = "test::float16::4096";
    let cell = cells
        .iter()
        .find(|cell| cell.id == id)
        .expect("the cell that the design names");
    assert_eq!(array(cell, "x").view, View::Plain);
    let failing: Vec<_> = cells
        .iter()
        .filter(|cell| !cell.expected_fail.is_empty())
        .collect();
    assert_eq!(failing.len(), 2 * 4);
    assert_eq!(failing[0].expected_fail[0].item.check, Check::Value);
    let rule = cell.expect[0].item.dtype.as_ref().expect("a rule");
    assert_eq!(
        (rule.resolve(DType::Bool), rule.resolve(DType::Int8)),
        (Some(DType::Int32), Some(DType::Int8))
    );

    let with_args = cells
        .iter()
        .find(|cell| cell.id.ends_with("float32::3x4::args=axes:-1+keep_dims:true"));
    let Program::Forward { steps, outputs, .. } = &with_args.expect("the point exists").program else {
        panic!("steps wanted")
    };
    assert_eq!(
        (steps.len(), outputs.as_slice()),
        (1, ["result".to_owned()].as_slice())
    );
    let Arguments::Named(arguments) = &steps[0].arguments else {
        panic!("named arguments wanted")
    };
    assert_eq!(
        Value::Map(arguments.clone()).to_string(),
        "{axes: [-1], keep_dims: true, x: x}"
    );
}

#[test]
fn steps_call_layers_and_functions() {
    let cells = cells(GRU);
    let Program::Forward {
        layers,
        steps,
        outputs,
    } = &cells[0].program
    else {
        panic!("steps wanted")
    };
    assert_eq!(layers.keys().collect::<Vec<_>>(), ["cell", "never"]);
    let seen: Vec<_> = steps
        .iter()
        .map(|step| (step.name.as_str(), step.callee.as_str()))
        .collect();
    assert_eq!(seen, [("h1", "cell"), ("h2", "cell"), ("y", "power")]);
    assert_eq!(
        steps[2].arguments,
        Arguments::Positional(vec![Value::Text("h2".into()), Value::Float(0.0)])
    );
    assert_eq!(outputs, &["h1", "y"]);
    let expectation = &cells[0].expect[0].item;
    assert_eq!(expectation.state, Some(State::Unverified));
    assert_eq!(expectation.decisions["gru_1:2"].decision, Decision::Verified);
    assert_eq!(
        expectation.decisions["power_1"].reason,
        Some(Reason::PerturbationInsensitive)
    );
    assert_eq!(
        (
            expectation.modules["cell"].calls,
            expectation.modules["never"].calls
        ),
        (Some(2), Some(0))
    );
    // Another name, another stream.
    assert_ne!(array(&cells[0], "x1").data(), array(&cells[0], "x2").data());
}

#[test]
fn a_session_refuses_and_hides() {
    let cells = cells(REFUSE);
    assert_eq!(cells[0].session.unwrapped, Unwrapped::Refuse);
    assert_eq!(cells[0].session.hide, ["mlx_linalg_norm"]);
    assert!(cells[0].expect[0].item.refusal.is_some());
}

#[test]
fn inputs_nest_and_numbers_stay_numbers() {
    let cells = cells(
        "inputs:\n  pair: [{shape: [2]}, {value: 3}]\n  tree: {map: {a: {shape: [0]}, n: 4}}\n  \
         flag: true\nforward: [{y: {stack: [pair.0, pair.1]}}]\nexpect: {}\n",
    );
    let Input::List(pair) = &cells[0].inputs["pair"] else {
        panic!("a list wanted")
    };
    assert!(matches!(pair.as_slice(), [Input::Array(_), Input::Array(_)]));
    let Input::Map(tree) = &cells[0].inputs["tree"] else {
        panic!("a map wanted")
    };
    assert_eq!(tree["n"], Input::Int(4));
    assert_eq!(cells[0].inputs["flag"], Input::Bool(true));
}

#[test]
fn an_axis_goes_wherever_its_name_stands() {
    let cells = cells(
        "matrix: {heads: [1, 2], shape: [[3, 4], [1, 4]]}\ninputs: {x: {shape: $shape}}\n\
         model: {linear: {input: 4, output: $heads}}\nexpect: {}\n",
    );
    let ids: Vec<_> = cells.iter().map(|cell| cell.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "test::3x4",
            "test::1x4",
            "test::3x4::heads=2",
            "test::1x4::heads=2"
        ]
    );
    let Program::Model(spec) = &cells[2].program else {
        panic!("a model wanted")
    };
    assert_eq!(spec.args["output"], Value::Int(2));
}

#[test]
fn a_list_of_arrays_gets_one_for_each_shape() {
    let cells = cells("op: stack\nshape: [[3], [3], [3]]\nargs: {axis: 0}\nexpect: {}\n");
    let Program::Forward { steps, .. } = &cells[0].program else {
        panic!("steps wanted")
    };
    let Arguments::Named(arguments) = &steps[0].arguments else {
        panic!("named arguments wanted")
    };
    assert_eq!(arguments["arrays"].to_string(), "[arrays_0, arrays_1, arrays_2]");
}
