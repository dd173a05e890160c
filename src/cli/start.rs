//! How a new case begins: text that runs as it stands, from the signature of what it is about.

use crate::case::error::nearest;
use crate::case::names::{Names, Signature};
use crate::generate::recipe::{self, Recipe};
use crate::reference::table::covered;

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

    /// Where no function or layer has this name but some have one like it: those, since a slip may be meant.
    pub fn near(self, name: &str, names: &Names) -> Option<Vec<&'static str>> {
        let known: Vec<&'static str> = match self {
            Kind::Op => names.functions.iter().map(|it| it.name).collect(),
            Kind::Layer => names.layers.iter().map(|it| it.name).collect(),
            Kind::Model | Kind::Refusal => return None,
        };
        if known.contains(&name) {
            return None;
        }
        Some(nearest(name, known.into_iter())).filter(|near| !near.is_empty())
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
    let recipe = recipe::function(signature);
    let mut text = format!("# {signature}\nop: {}\n", signature.name);
    if let Some(fill) = recipe.fills.first().filter(|fill| **fill != "normal") {
        text.push_str(&format!("fill: {fill}\n"));
    }
    if !recipe.inputs.is_empty() {
        text.push_str(&format!("inputs: {}\n", at_its_usual(recipe.inputs, &recipe)));
    } else if let Some(shape) = recipe.shapes.first() {
        text.push_str(&format!("shape: {shape}\n"));
    }
    if let Some(args) = recipe.args.first().filter(|args| **args != "{}") {
        text.push_str(&format!("args: {}\n", at_its_usual(args, &recipe)));
    }
    if let ("", Some(dtype)) = (
        recipe.inputs,
        recipe.dtypes.first().filter(|dtype| **dtype != "float32"),
    ) {
        text.push_str(&format!("dtype: {dtype}\n"));
    }
    text.push_str(match covered(signature.name) {
        Some(_) => "expect: {reference: true}\n",
        None => "expect: {state: passed}\n",
    });
    text
}

/// A fragment with everything that a matrix would vary at its usual value.
fn at_its_usual(fragment: &str, recipe: &Recipe) -> String {
    let dtype = recipe.dtypes.first().copied().unwrap_or("float32");
    let shape = recipe.shapes.first().copied().unwrap_or("[2, 4]");
    fragment
        .replace(", view: $view", "")
        .replace("$dtype", dtype)
        .replace("$shape", shape)
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
    let (name, recipe) = (signature.name, recipe::layer(signature));
    let model = match recipe.args.first() {
        Some(settings) if *settings != "{}" => format!("{{{name}: {settings}}}"),
        _ => name.to_owned(),
    };
    let inputs = match recipe.inputs {
        "" => "{x: {dtype: $dtype, shape: $shape}}",
        inputs => inputs,
    };
    let expect = match covered(&format!("layer.{name}")) {
        Some(_) => "reference: true",
        None => "state: passed",
    };
    format!(
        "# {signature}\nmodel: {model}\ninputs: {}\nexpect: {{{expect}}}\n",
        at_its_usual(inputs, &recipe)
    )
}
