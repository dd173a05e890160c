//! References against values worked out by hand: nothing here calls MLX.

use mlx_assay::case::check;
use mlx_assay::case::data::Data;
use mlx_assay::case::load::Source;
use mlx_assay::case::names::stands_for;
use mlx_assay::reference::{expected, table, Expected, NoReference, Seen};
use mlx_assay::under_test::backend;
use mlx_assay::vocabulary::DType;

/// The first result of a case's one function: shape, element type, elements.
fn computed(text: &str) -> Result<(Vec<usize>, DType, Data), NoReference> {
    let names = backend().names;
    let source = Source {
        id: "test".to_owned(),
        file: "cases/test.yaml".to_owned(),
        text: format!("{text}\nexpect: {{}}\n").into(),
    };
    let cells = check::case(&source, &names).expect("the test's case is right");
    let Expected::Outputs(results) = expected(&cells[0], &names, &Seen::default())? else {
        panic!("the test's function has values");
    };
    let (tensor, _) = &results[0];
    Ok((tensor.shape().to_vec(), tensor.dtype, tensor.data()))
}

fn floats(elements: &[f64]) -> Data {
    Data::Float(elements.to_vec())
}

#[test]
fn values_are_those_worked_out_by_hand() {
    let table: [(&str, &[usize], DType, Data); 11] = [
        (
            "op: floor_divide\ninputs: {a: {dtype: int32, value: [-7, 7]}, b: {dtype: int32, value: [2, -2]}}",
            &[2],
            DType::Int32,
            Data::Int(vec![-4, -4]),
        ),
        (
            "op: remainder\ninputs: {a: {dtype: int32, value: [-7, 7]}, b: {dtype: int32, value: [2, -2]}}",
            &[2],
            DType::Int32,
            Data::Int(vec![1, -1]),
        ),
        (
            "op: sum\ninputs: {x: {dtype: float16, value: [[2048.0, 1.0], [1.0, 0.0]]}}\nargs: {axes: [0], keep_dims: true}",
            &[1, 2],
            DType::Float16,
            // 2049 lies between two neighbours of float16, and the even one is 2048: rounded once, at the end.
            floats(&[2048.0, 1.0]),
        ),
        (
            "op: add\ninputs: {a: {dtype: uint8, value: [250]}, b: {dtype: uint8, value: [[10], [1]]}}",
            &[2, 1],
            DType::Uint8,
            Data::Int(vec![4, 251]),
        ),
        (
            "op: getitem\ninputs: {x: {value: [0.0, 1.0, 2.0, 3.0, 4.0]}}\nargs: {index: \"3:0:-2\"}",
            &[2],
            DType::Float32,
            floats(&[3.0, 1.0]),
        ),
        (
            "op: argmax\ninputs: {x: {value: [3.0, .nan, 1.0, .nan]}}",
            &[],
            DType::Uint32,
            Data::Int(vec![1]),
        ),
        (
            "op: cumsum\ninputs: {x: {value: [1.0, 2.0, 3.0]}}\nargs: {axis: 0, reverse: true, inclusive: false}",
            &[3],
            DType::Float32,
            floats(&[5.0, 3.0, 0.0]),
        ),
        (
            "op: matmul\ninputs: {a: {value: [[1.0, 2.0]]}, b: {value: [[3.0], [4.0]]}}",
            &[1, 1],
            DType::Float32,
            floats(&[11.0]),
        ),
        (
            "op: softmax\ninputs: {x: {value: [[0.0, 0.0], [1.0, 1.0]]}}\nargs: {axes: [-1]}",
            &[2, 2],
            DType::Float32,
            floats(&[0.5; 4]),
        ),
        (
            "op: sort\ninputs: {x: {value: [[3.0, .inf], [1.0, 2.0]]}}",
            &[4],
            DType::Float32,
            floats(&[1.0, 2.0, 3.0, f64::INFINITY]),
        ),
        (
            "op: take\ninputs: {x: {value: [[1.0, 2.0], [3.0, 4.0]]}, indices: {dtype: int32, value: [-1, 0]}}\nargs: {axis: 1}",
            &[2, 2],
            DType::Float32,
            floats(&[2.0, 1.0, 4.0, 3.0]),
        ),
    ];
    for (text, shape, dtype, data) in table {
        assert_eq!(computed(text), Ok((shape.to_vec(), dtype, data)), "{text}");
    }
}

#[test]
fn what_has_no_reference_says_so() {
    let missing = |text: &str| computed(text).expect_err(text).to_string();
    assert_eq!(
        missing("op: erf\ndtype: complex64\nshape: [3]"),
        "the reference does not cover complex64 here"
    );
    assert_eq!(
        missing("op: round\nshape: [3]\nargs: {decimals: 1}"),
        "the reference for `round` does not cover decimals"
    );
    assert_eq!(
        missing("model: {sequential: [gelu]}\ninputs: {x: {shape: [3]}}"),
        "there is no reference for `layer.sequential`"
    );
}

#[test]
fn every_reference_is_of_a_function_that_a_case_may_call() {
    let names = backend().names;
    let strangers: Vec<&str> = table::names()
        .filter(|name| match name.strip_prefix("layer.") {
            Some(layer) => names.layer(layer).is_none(),
            None => !names
                .functions
                .iter()
                .any(|it| it.name == *name || stands_for(it.name) == *name),
        })
        .collect();
    assert!(strangers.is_empty(), "{strangers:?}");
}
