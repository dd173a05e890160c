//! Names and source lines for code that nobody touched: mlx-rs's own models, unchanged, and what is called beside them.

use mlx_assay::capture::ScopeKind;
use mlx_assay::validate::validate;
use mlx_assay::vocabulary::State;
use mlx_assay::{Session, Trace};
use mlx_rs::builder::Builder;
use mlx_rs::error::Exception;
use mlx_rs::macros::ModuleParameters;
use mlx_rs::module::Module;
use mlx_rs::nn::{self, Gelu, Linear, Sequential, TransformerBuilder, TransformerInput};
use mlx_rs::ops::indexing::IndexOp;
use mlx_rs::{random, Array};

fn input(shape: &[i32]) -> Array {
    let x = random::normal::<f32>(shape, None, None, Some(&random::key(3).unwrap())).unwrap();
    x.eval().unwrap();
    x
}

fn names(trace: &Trace) -> Vec<String> {
    trace.ops().iter().map(|op| op.func_name().to_string()).collect()
}

fn labels(trace: &Trace) -> Vec<String> {
    trace.ops().iter().map(|op| op.label()).collect()
}

/// How many times a trace entered modules of a class.
fn scopes_of(trace: &Trace, class: &str) -> usize {
    let is = |kind: &ScopeKind| matches!(kind, ScopeKind::Module(name) if name == class);
    trace.scopes().iter().filter(|scope| is(scope.kind())).count()
}

/// The lines of a trace's ops but its inputs, as far as they are known.
fn lines(trace: &Trace) -> Vec<Option<u32>> {
    let ops = trace.ops();
    let made = ops.iter().filter(|op| op.func_name() != "input");
    made.map(|op| {
        let source = op.source()?;
        assert!(source.file.ends_with("tests/stacks.rs"), "{source}");
        Some(source.line)
    })
    .collect()
}

#[test]
fn mlx_rs_s_own_sequential_then_an_index() {
    let x = input(&[2, 4]);
    let mut model = Sequential::new()
        .append(Linear::new(4, 8).unwrap())
        .append(Gelu::new())
        .append(Linear::new(8, 2).unwrap());
    let session = Session::new().module(&model);
    let begin = line!();
    let (trace, _) = session
        .run(&x, || {
            let h = model.forward(&x)?;
            Ok::<_, Exception>(h.index(0))
        })
        .unwrap();
    assert_eq!(names(&trace), ["input", "linear", "gelu", "linear", "getitem"]);
    let modules: Vec<_> = trace
        .ops()
        .iter()
        .map(|op| op.module().map(str::to_string))
        .collect();
    assert_eq!(modules[1].as_deref(), Some("layers.0"));
    assert_eq!(modules[3].as_deref(), Some("layers.2"));
    assert_eq!(
        lines(&trace),
        [Some(begin + 3), Some(begin + 3), Some(begin + 3), Some(begin + 4)]
    );
    assert_eq!(trace.lacking(), None);
    assert_eq!(validate(&trace).state(), State::Passed);
}

#[test]
fn two_equal_layers_in_a_row_are_kept_apart_and_one_layer_run_twice_is_one_module() {
    let x = input(&[2, 4]);
    let mut model = Sequential::new()
        .append(Gelu::new())
        .append(Gelu::new())
        .append(Linear::new(4, 4).unwrap())
        .append(Linear::new(4, 4).unwrap());
    let session = Session::new().module(&model);
    let (trace, _) = session.run(&x, || model.forward(&x)).unwrap();
    assert_eq!(
        labels(&trace),
        ["input_1:1", "gelu_1:1", "gelu_2:1", "linear_1:1", "linear_2:1"]
    );
    // Its loop comes back to one line for each layer, and is one call of it all the same.
    assert_eq!(scopes_of(&trace, "Sequential"), 1);
    assert_eq!(scopes_of(&trace, "Gelu"), 2);

    let mut shared = Linear::new(4, 4).unwrap();
    let session = Session::new().module_at("shared", &shared);
    let (trace, _) = session
        .run(&x, || (0..3).try_fold(x.clone(), |y, _| shared.forward(&y)))
        .unwrap();
    assert_eq!(
        labels(&trace),
        ["input_1:1", "linear_1:1", "linear_1:2", "linear_1:3"]
    );
    assert_eq!(trace.module("shared").map(|it| it.calls()), Some(3));
}

#[test]
fn the_transformers_ops_stand_under_their_layers_names() {
    let source = input(&[1, 3, 8]);
    let mut model = TransformerBuilder::new()
        .dimensions(8)
        .num_heads(2)
        .encoder_layer_count(2_usize)
        .decoder_layer_count(2_usize)
        .build()
        .unwrap();
    Module::<TransformerInput<'_>>::training_mode(&mut model, false);
    let mask = Array::from_f32(0.0);
    let session = Session::new().module(&model);
    let forward = || {
        model.forward(TransformerInput {
            source: &source,
            target: &source,
            source_mask: &mask,
            target_mask: &mask,
            memory_mask: &mask,
        })
    };
    let (trace, _) = session.run(&source, forward).unwrap();
    let ops = trace.ops();
    let of = |name: &str| ops.iter().filter(|op| op.func_name() == name).count();
    // Two encoder layers with one attention each, two decoder layers with two; four projections an attention, two
    // linear layers a block.
    assert_eq!(of("linear"), 6 * 4 + 4 * 2);
    assert_eq!(of("layer_norm"), 2 * 2 + 2 * 3 + 2);
    let addresses: std::collections::BTreeSet<_> = ops
        .iter()
        .filter(|op| op.func_name() == "linear")
        .filter_map(|op| op.module())
        .collect();
    assert_eq!(addresses.len(), 32, "{addresses:?}");
    assert!(
        addresses.contains("encoder.layers.0.attention.query_proj"),
        "{addresses:?}"
    );
    let class = |address: &str| {
        trace
            .module(address)
            .and_then(|it| it.class())
            .map(str::to_string)
    };
    for (address, expected) in [
        ("", "Transformer"),
        ("encoder", "TransformerEncoder"),
        ("encoder.layers.1", "TransformerEncoderLayer"),
        ("encoder.layers.1.attention", "MultiHeadAttention"),
        ("encoder.layers.1.attention.key_proj", "Linear"),
        ("decoder", "TransformerDecoder"),
        ("decoder.layers.0", "TransformerDecoderLayer"),
        ("decoder.layers.0.cross_attention", "MultiHeadAttention"),
    ] {
        assert_eq!(class(address).as_deref(), Some(expected), "{address}");
        assert_eq!(trace.module(address).map(|it| it.calls()), Some(1), "{address}");
    }
    let softmax: Vec<_> = ops
        .iter()
        .filter(|op| op.func_name() == "softmax")
        .filter_map(|op| op.module())
        .collect();
    assert_eq!(
        softmax[..2],
        ["encoder.layers.0.attention", "encoder.layers.1.attention"]
    );
    assert!(labels(&trace)
        .iter()
        .all(|label| !label.starts_with("linear") || label.ends_with(":1")));
    assert_eq!(validate(&trace).state(), State::Passed);
}

#[test]
fn functions_of_several_calls_have_their_names() {
    let x = input(&[2, 4]);
    let (trace, _) = Session::new()
        .run(&x, || {
            let active = nn::gelu(&x)?;
            Ok::<_, Exception>(&active.index((0, 1..)) * 2.0)
        })
        .unwrap();
    assert_eq!(names(&trace), ["input", "gelu", "getitem", "array", "multiply"]);
}

/// A model of one's own, which knows nothing of captures.
#[derive(Debug, Clone, ModuleParameters)]
struct Block {
    #[param]
    up: Linear,
    #[param]
    down: Linear,
}

impl Module<&Array> for Block {
    type Output = Array;
    type Error = Exception;

    #[inline(never)]
    fn forward(&mut self, x: &Array) -> Result<Array, Exception> {
        let h = nn::relu(self.up.forward(x)?)?;
        self.down.forward(&h)?.add(x)
    }

    fn training_mode(&mut self, _mode: bool) {}
}

const BLOCK_LINES: [u32; 4] = {
    let end = line!();
    [end - 8, end - 8, end - 7, end - 7]
};

#[test]
fn a_module_of_ones_own_gives_each_op_its_line() {
    let x = input(&[2, 4]);
    let mut block = Block {
        up: Linear::new(4, 8).unwrap(),
        down: Linear::new(8, 4).unwrap(),
    };
    let trace = mlx_assay::trace(&mut block, &x).unwrap();
    assert_eq!(names(&trace), ["input", "linear", "relu", "linear", "add"]);
    assert_eq!(lines(&trace), BLOCK_LINES.map(Some));
    let modules: Vec<_> = trace
        .ops()
        .iter()
        .filter_map(|op| op.module().map(str::to_string))
        .collect();
    assert!(
        modules.contains(&"up".to_string()) && modules.contains(&"down".to_string()),
        "{modules:?}"
    );
}

#[test]
fn an_evaluation_in_the_middle_has_its_line() {
    let x = input(&[2, 4]);
    let begin = line!();
    let (trace, _) = Session::new()
        .run(&x, || {
            let y = x.abs()?;
            y.eval()?;
            y.sum(None)
        })
        .unwrap();
    let lines: Vec<_> = trace
        .evaluations()
        .iter()
        .map(|it| it.source().map(|it| it.line))
        .collect();
    assert_eq!(lines, [Some(begin + 4)]);
}

#[test]
fn without_stacks_every_call_is_its_own_op_without_a_line() {
    let x = input(&[2, 4]);
    let mut layer = Linear::new(4, 8).unwrap();
    let session = Session::new().module(&layer).call_stacks(false);
    let (trace, _) = session.run(&x, || layer.forward(&x)).unwrap();
    assert_eq!(names(&trace), ["input", "transpose", "addmm"]);
    assert!(trace.ops().iter().all(|op| op.source().is_none()));
    assert_eq!(trace.lacking(), None);
}

#[test]
fn inside_a_transform_ops_have_their_layers_and_lines_too() {
    let x = input(&[2, 4]);
    let mut model = Sequential::new()
        .append(Linear::new(4, 3).unwrap())
        .append(Gelu::new())
        .append(Linear::new(3, 2).unwrap());
    let session = Session::new().module(&model);
    let begin = line!();
    let (trace, _) = session
        .run(&x, || {
            let loss = |model: &mut Sequential, x: &Array| -> Result<Array, Exception> {
                let y = model.forward(x)?;
                y.index(0).sum(false)
            };
            let mut gradient = nn::value_and_grad(loss);
            gradient(&mut model, &x).map(|(value, _)| value)
        })
        .unwrap();
    assert_eq!(names(&trace), ["input", "value_and_grad"]);
    let inside = trace.transforms()[0].forward();
    assert_eq!(names(inside), ["linear", "gelu", "linear", "getitem", "sum"]);
    let modules: Vec<_> = inside
        .ops()
        .iter()
        .map(|op| op.module().map(str::to_string))
        .collect();
    assert_eq!(modules[0].as_deref(), Some("layers.0"));
    assert_eq!(modules[2].as_deref(), Some("layers.2"));
    let at = |line: u32| Some(begin + line);
    assert_eq!(lines(inside), [at(4), at(4), at(4), at(5), at(5)]);
    assert_eq!(lines(&trace), [at(8)]);
    let status = validate(&trace);
    assert_eq!(status.state(), State::Passed, "{status}");
}

/// A module around a transform is no scope of what runs inside, and a transform in a transform has its own stacks.
#[test]
fn what_lies_around_a_transform_is_no_part_of_its_inside() {
    #[derive(Debug, ModuleParameters)]
    #[module(root = mlx_rs)]
    struct Slope {
        #[param]
        layer: Linear,
    }
    impl Module<&Array> for Slope {
        type Output = Array;
        type Error = Exception;

        fn forward(&mut self, x: &Array) -> Result<Array, Exception> {
            let inner = |x: &Array| -> Result<Array, Exception> {
                let slope = mlx_rs::transforms::grad(|x: &Array| nn::gelu(x)?.sum(false))(x)?;
                slope.square()?.sum(false)
            };
            let slope = mlx_rs::transforms::grad(inner)(x)?;
            self.layer.forward(&slope)
        }

        fn training_mode(&mut self, _mode: bool) {}
    }
    let x = input(&[2, 4]);
    let mut model = Slope {
        layer: Linear::new(4, 3).unwrap(),
    };
    let trace = mlx_assay::trace(&mut model, &x).unwrap();
    let outer = trace.transforms()[0].forward();
    assert_eq!(names(outer), ["input", "value_and_grad", "square", "sum"]);
    assert!(
        outer.ops().iter().all(|op| op.module().is_none()),
        "{:?}",
        outer.ops()
    );
    let innermost = outer.transforms()[0].forward();
    assert_eq!(names(innermost), ["input", "gelu", "sum"]);
    assert!(lines(outer).iter().chain(&lines(innermost)).all(Option::is_some));
    let names = names(&trace);
    assert_eq!(names.last().map(String::as_str), Some("linear"));
}
