//! `assay new`: begins a case that runs as it stands.

use super::context::{CliError, Context};
use super::output::say;
use crate::case::load::{self, FOLDER};
use crate::scorecard::exit::Exit;
use clap::{Args, ValueEnum};

/// What to begin.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The new case's id, such as `models::my_layer`
    #[arg(value_name = "ID")]
    id: String,
    /// What it computes
    #[arg(long, value_enum, default_value_t)]
    kind: Kind,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// One function over element types and shapes
    Op,
    /// A model of layers
    #[default]
    Model,
    /// Something that the backend must refuse
    Refusal,
}

/// Writes the new case.
pub fn new(context: &Context<'_>, arguments: &Arguments) -> Result<Exit, CliError> {
    let store = context.store()?;
    let file = format!("{FOLDER}/{}.yaml", arguments.id.replace("::", "/"));
    if load::id(&file).is_err() {
        return Err(CliError::BadId {
            id: arguments.id.clone(),
        });
    }
    if store.path(&file).exists() {
        return Err(CliError::Exists { file });
    }
    let depth = file.matches('/').count();
    let schema = format!("{}schema.json", "../".repeat(depth - 1));
    let text = format!(
        "# yaml-language-server: $schema={schema}\n{}",
        start(arguments.kind)
    );
    store.write(&file, text.as_bytes())?;
    say(format_args!(
        "{file}\ncheck it with  assay check\nrun it with    assay run {}\n",
        arguments.id.replace('/', "::")
    ));
    Ok(Exit::Clean)
}

fn start(kind: Kind) -> &'static str {
    match kind {
        Kind::Op => {
            "op: exp\n\
             matrix:\n  dtype: [float16, float32]\n  shape: [[], [3, 4]]\n\
             expect: {state: passed, dtype: same}\n"
        }
        Kind::Model => {
            "inputs: {x: {shape: [2, 4], fill: normal}}\n\
             model:\n  sequential:\n    - linear: {input: 4, output: 8}\n    - gelu\n\
             expect:\n  state: passed\n  ops: [input, linear, gelu]\n  outputs: [{shape: [2, 8]}]\n"
        }
        Kind::Refusal => {
            "inputs: {x: {shape: [2, 4], fill: normal}}\n\
             session: {unwrapped: refuse, hide: [mlx_addmm]}    # hide: a seam for tests\n\
             model: {linear: {input: 4, output: 8}}\n\
             expect: {refusal: unwrapped_op_in_capture}\n"
        }
    }
}
