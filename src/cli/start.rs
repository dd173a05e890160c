//! How a new case begins: text that runs as it stands, from the signature of what it is about.

use crate::case::names::{Names, Parameter, Signature, Takes};

/// What a new case is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// One function over element types and shapes
    Op,
    /// One layer
    Layer,
    /// A model of layers
    Model,
    /// Something that the backend must refuse
    Refusal,
}

impl Kind {
    /// The folder for cases of this kind.
    pub fn folder(self) -> &'static str {
        match self {
            Kind::Op => "ops",
            Kind::Layer => "layers",
            Kind::Model => "models",
            Kind::Refusal => "refusals",
        }
    }

    /// A case of this kind, about `name` where there is a function or layer of that name.
    pub fn start(self, name: &str, names: &Names) -> String {
        match self {
            Kind::Op => op(names.function(name)),
            Kind::Layer => layer(names.layer(name)),
            Kind::Model => MODEL.to_owned(),
            Kind::Refusal => REFUSAL.to_owned(),
        }
    }
}

const MODEL: &str = "\
inputs: {x: {shape: [2, 4], fill: normal}}
model:
  sequential:
    - linear: {input: 4, output: 8}
    - gelu
expect:
  state: passed
  ops: [input, linear, gelu]
  outputs: [{shape: [2, 8]}]
";

const REFUSAL: &str = "\
inputs: {x: {shape: [2, 4], fill: normal}}
session: {unwrapped: refuse, hide: [mlx_addmm]}    # hide: a seam for tests
model: {linear: {input: 4, output: 8}}
expect: {refusal: unwrapped_op_in_capture}
";

fn op(signature: Option<&Signature>) -> String {
    let Some(signature) = signature else {
        return "\
op: exp
matrix:
  dtype: [float16, float32]
  shape: [[], [0, 3], [3, 4]]
expect: {reference: true, dtype: same}
"
        .to_owned();
    };
    let mut text = format!("op: {}\n", signature.name);
    if let Some(operands) = of_its_own(signature.name) {
        return format!("{text}{operands}\nexpect: {{state: passed}}\n");
    }
    let required = || signature.parameters.iter().filter(|it| it.is_required());
    let inputs: Vec<String> = required()
        .filter(|it| it.takes == Takes::Array)
        .map(|it| format!("{}: {}", it.name, operand(it)))
        .collect();
    if !inputs.is_empty() {
        text.push_str(&format!("inputs: {{{}}}\n", inputs.join(", ")));
    } else if required().any(|it| it.takes == Takes::Arrays) {
        text.push_str("shape: [4, 4]\n");
    }
    let args: Vec<String> = required()
        .filter(|it| !it.takes.is_array())
        .map(|it| format!("{}: {}", it.name, setting(it)))
        .collect();
    if !args.is_empty() {
        text.push_str(&format!("args: {{{}}}\n", args.join(", ")));
    }
    text.push_str("expect: {state: passed}\n");
    text
}

/// Operands for functions that four by four normal numbers do not suit.
fn of_its_own(function: &str) -> Option<&'static str> {
    Some(match function {
        "clip" => "shape: [4, 4]\nargs: {min: -0.5, max: 0.5}",
        "eq" | "ne" | "logical_and" | "logical_or" => "shape: [4, 4]\nfill: {integers: [0, 2]}",
        "select" => {
            "inputs: {condition: {dtype: bool, shape: [4, 4]}, a: {shape: [4, 4]}, b: {shape: [4, 4]}}"
        }
        "take_along_axis" => {
            "inputs: {x: {shape: [4, 4]}, indices: {dtype: int32, shape: [4, 4], fill: {integers: [0, 3]}}}\n\
             args: {axis: 0}"
        }
        "random.uniform" => "args: {low: 0.0, high: 1.0, shape: [4]}",
        "fast.rms_norm" => "shape: [[4, 4], [4]]",
        "fast.rope" => "shape: [1, 2, 4, 4]\nargs: {dimensions: 4}",
        "fast.scaled_dot_product_attention" => "shape: [1, 2, 4, 4]",
        _ => return None,
    })
}

fn operand(parameter: &Parameter) -> &'static str {
    match parameter.name {
        "indices" => "{dtype: int32, shape: [4, 4], fill: {integers: [0, 3]}}",
        "values" => "{value: 1.0}",
        _ => "{shape: [4, 4], fill: normal}",
    }
}

/// A setting that goes with operands of four by four.
fn setting(parameter: &Parameter) -> &'static str {
    match (parameter.takes, parameter.name) {
        (Takes::Ints, "axes") => "[0]",
        (Takes::Ints, _) => "[4, 4]",
        (Takes::Int, name) if name.starts_with("axis") || name == "src" || name == "dst" => "0",
        (Takes::Int, _) => "2",
        (Takes::Float, _) => "4.0",
        (Takes::Bool, _) => "true",
        (Takes::DType, _) => "float16",
        (Takes::Index, _) => "[0]",
        _ => "4",
    }
}

fn layer(signature: Option<&Signature>) -> String {
    let Some(signature) = signature else {
        return "\
model: {linear: {input: 4, output: 3}}
inputs: {x: {shape: [2, 4], fill: normal}}
expect: {state: passed, ops: [input, linear], outputs: [{shape: [2, 3]}]}
"
        .to_owned();
    };
    let name = signature.name;
    // A transformer's settings are all optional, and its defaults large.
    let settings: Vec<String> = match name {
        "transformer" => ["dims: 4", "heads: 2", "encoder_layers: 1", "decoder_layers: 1"]
            .map(str::to_owned)
            .into(),
        _ => signature
            .settings()
            .filter(|it| it.is_required())
            .map(|it| format!("{}: {}", it.name, if it.takes == Takes::Ints { "2" } else { "4" }))
            .collect(),
    };
    let model = match settings.is_empty() {
        true => name.to_owned(),
        false => format!("{{{name}: {{{}}}}}", settings.join(", ")),
    };
    let input = match name {
        "embedding" => "{dtype: int32, shape: [3], fill: {integers: [0, 4]}}",
        _ if name.ends_with("2d") => "{shape: [2, 4, 4, 4], fill: normal}",
        _ if name.ends_with("1d") || signature.operands().count() > 1 || name == "instance_norm" => {
            "{shape: [2, 4, 4], fill: normal}"
        }
        _ => "{shape: [2, 4], fill: normal}",
    };
    let inputs: Vec<String> = signature
        .operands()
        .filter(|it| it.is_required())
        .map(|it| format!("{}: {input}", it.name))
        .collect();
    format!(
        "model: {model}\ninputs: {{{}}}\nexpect: {{state: passed}}\n",
        inputs.join(", ")
    )
}
