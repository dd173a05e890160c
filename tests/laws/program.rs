//! Random programs over the dispatch tables: drawn as numbers, so that they shrink, and written as YAML, so that a
//! counterexample is a case.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};

use mlx_assay::case::check;
use mlx_assay::case::data::Input;
use mlx_assay::case::load::Source;
use mlx_assay::case::names::{Names, Parameter, Signature, Takes};
use mlx_assay::case::value::Value;
use mlx_assay::generate::recipe;
use mlx_assay::model::functions::{self, signatures};
use mlx_assay::model::to_array;
use mlx_rs::{transforms, Array};
use proptest::prelude::*;

use crate::risks;

/// One step as it is drawn: which function, which values it reads, which of its forms.
#[derive(Debug, Clone, Copy)]
pub struct Draw {
    function: usize,
    operands: [usize; 3],
    form: usize,
}

/// Draws between 1 and `most` steps. Some fit no value that there is by then, and are left out.
pub fn draws(most: usize) -> impl Strategy<Value = Vec<Draw>> {
    let draw = (
        0..signatures().len(),
        [0..256_usize, 0..256_usize, 0..256_usize],
        0..64_usize,
    );
    let draw = draw.prop_map(|(function, operands, form)| Draw {
        function,
        operands,
        form,
    });
    proptest::collection::vec(draw, 1..=most)
}

/// A program that MLX can build and evaluate.
#[derive(Debug, Default)]
pub struct Program {
    /// The functions that it calls, in order.
    pub functions: Vec<&'static str>,
    steps: Vec<String>,
    inputs: BTreeSet<&'static str>,
    outputs: Vec<String>,
}

/// What programs read: all 14 element types, extents that broadcast, nothing, one element, other layouts; and some
/// that functions with demands of their own can use.
const INPUTS: &[(&str, &str)] = &[
    ("x", "{shape: [2, 3]}"),
    ("row", "{shape: [3]}"),
    ("scalar", "{shape: []}"),
    ("half", "{dtype: float16, shape: [2, 3]}"),
    ("brain", "{dtype: bfloat16, shape: [2, 1]}"),
    ("double", "{dtype: float64, shape: [2, 3]}"),
    ("complex", "{dtype: complex64, shape: [2, 3]}"),
    ("int", "{dtype: int32, shape: [2, 3]}"),
    ("long", "{dtype: int64, shape: [1, 3]}"),
    ("short", "{dtype: int16, shape: [3]}"),
    ("tiny", "{dtype: int8, shape: [2, 3]}"),
    ("byte", "{dtype: uint8, shape: [3]}"),
    ("word", "{dtype: uint16, shape: [3]}"),
    ("count", "{dtype: uint32, shape: [2, 1]}"),
    ("wide", "{dtype: uint64, shape: [3]}"),
    ("flags", "{dtype: bool, shape: [3]}"),
    ("empty", "{shape: [0, 3]}"),
    ("nothing", "{shape: [2, 3], fill: zeros}"),
    ("turned", "{shape: [2, 3], view: transposed}"),
    ("spaced", "{shape: [3, 4], view: strided}"),
    ("square", "{shape: [4, 4]}"),
    ("batch", "{shape: [2, 8, 4]}"),
    ("kernel", "{shape: [6, 3, 4]}"),
    ("many", "{shape: [2, 64]}"),
    // By name only.
    ("places", "{dtype: int32, value: [1, 0]}"),
    ("drawn", "{dtype: uint32, value: [17, 4]}"),
    ("regular", "{value: [[4, 1, 0], [1, 3, 1], [0, 1, 2]]}"),
];

/// How many of the inputs any function may read.
const GENERAL: usize = INPUTS.len() - 3;

/// How often other values are tried where those drawn do not fit.
const TRIES: usize = 12;

/// Where the call is written that is tried at the moment, so that one that ends the process is not lost.
pub fn trying() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("law.step.yaml")
}

/// The case of a text.
pub fn source(id: &str, text: &str) -> Source {
    Source {
        id: id.to_string(),
        file: format!("cases/{}.yaml", id.replace("::", "/")),
        text: text.into(),
    }
}

impl Program {
    /// The program of these draws: each step is made, and left out if MLX refuses it.
    pub fn new(names: &Names, seed: u64, draws: &[Draw]) -> Self {
        let mut program = Self::default();
        let (mut pool, mut values) = inputs(names, seed);
        for draw in draws {
            let signature = &signatures()[draw.function];
            let Some(made) = made(signature, draw, &pool, &values) else {
                continue;
            };
            let read = |input: &&str| made.reads.iter().any(|name| name == input);
            program
                .inputs
                .extend(INPUTS.iter().map(|(input, _)| *input).filter(read));
            let name = format!("v{}", program.steps.len());
            program.steps.push(format!("{name}: {}", made.text));
            program.functions.push(signature.name);
            let several = made.results.len() > 1;
            for (place, result) in made.results.into_iter().enumerate() {
                let name = match several {
                    true => format!("{name}.{place}"),
                    false => name.clone(),
                };
                pool.push(name.clone());
                values.insert(name, result);
            }
        }
        program.outputs = pool.split_off(GENERAL.max(pool.len().saturating_sub(2)));
        program
    }

    /// Whether nothing was left of the draws.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The program as a case, with what it expects.
    pub fn text(&self, seed: u64, note: &str, expect: &str) -> String {
        let mut text =
            format!("# yaml-language-server: $schema=../schema.json\n{note}seed: {seed}\ninputs:\n");
        for (name, spec) in INPUTS.iter().filter(|(name, _)| self.inputs.contains(name)) {
            text.push_str(&format!("  {name}: {spec}\n"));
        }
        if self.inputs.is_empty() {
            text = text.replace("inputs:\n", "");
        }
        text.push_str("forward:\n");
        for step in &self.steps {
            text.push_str(&format!("  - {step}\n"));
        }
        text.push_str(&format!(
            "outputs: [{}]\nexpect: {expect}\n",
            self.outputs.join(", ")
        ));
        text
    }
}

/// The inputs with their names, those that any function may read first.
fn inputs(names: &Names, seed: u64) -> (Vec<String>, HashMap<String, Array>) {
    let specs: String = INPUTS
        .iter()
        .map(|(name, spec)| format!("  {name}: {spec}\n"))
        .collect();
    let text =
        format!("seed: {seed}\ninputs:\n{specs}forward: [{{y: {{abs: x}}}}]\nexpect: {{state: passed}}\n");
    let cells = check::case(&source("laws::inputs", &text), names).expect("the inputs are well-formed");
    let arrays = cells[0].inputs.iter().map(|(name, input)| match input {
        Input::Array(spec) => (name.clone(), to_array(spec).expect("an input")),
        _ => unreachable!("all inputs are arrays"),
    });
    let pool = INPUTS[..GENERAL]
        .iter()
        .map(|(name, _)| name.to_string())
        .collect();
    (pool, arrays.collect())
}

/// A step that can be made.
struct Made {
    /// In YAML, but for its name.
    text: String,
    /// The names of the values that it reads.
    reads: Vec<String>,
    results: Vec<Array>,
}

/// One step; `None` where nothing that was tried fits.
fn made(
    signature: &'static Signature,
    draw: &Draw,
    pool: &[String],
    values: &HashMap<String, Array>,
) -> Option<Made> {
    let forms = recipe::function(signature).args;
    // An element type is that of the case, of which a program has none.
    let form = match forms {
        [] => "{}".to_string(),
        forms => forms[draw.form % forms.len()].replace("$dtype", "float32"),
    };
    let settings: BTreeMap<String, Value> = serde_yaml::from_str(&form).expect("a recipe is YAML");
    let given = |it: &&Parameter| settings.contains_key(it.name);
    let needed = signature
        .parameters
        .iter()
        .filter(|it| it.is_required() && !given(it));
    let (operands, plain): (Vec<&'static Parameter>, Vec<&'static Parameter>) =
        needed.partition(|it| it.takes.is_array());
    if !plain.is_empty() {
        return None;
    }
    (0..TRIES).find_map(|attempt| {
        let operands: Vec<(&str, Value)> = operands
            .iter()
            .enumerate()
            .map(|(place, it)| (it.name, operand(signature, it, place, draw, attempt, pool)))
            .collect();
        let set = signature.parameters.iter().filter(given);
        let arguments: BTreeMap<&'static str, Value> = set
            .map(|it| (it.name, settings[it.name].clone()))
            .chain(operands.iter().cloned())
            .collect();
        risks::none(signature, &arguments, values).then_some(())?;
        let text = step(signature, &operands, &form);
        // A call that ends the process says so here.
        std::fs::write(trying(), &text).expect("the target folder can be written");
        // What mlx-rs panics at is a case of its own.
        let call = || functions::call(signature.name, &arguments, values);
        let results = catch_unwind(AssertUnwindSafe(call)).ok()??.ok()?;
        let small = |it: &Array| it.size() <= 2048 && it.ndim() <= 5;
        if results.is_empty() || results.len() > 8 || !results.iter().all(small) {
            return None;
        }
        transforms::eval(&results).ok()?;
        let reads = operands
            .iter()
            .flat_map(|(_, value)| named(value))
            .map(str::to_string);
        Some(Made {
            text,
            reads: reads.collect(),
            results,
        })
    })
}

/// What an operand is bound to: the input of its kind where only one will do, or a value that exists.
fn operand(
    signature: &Signature,
    parameter: &'static Parameter,
    place: usize,
    draw: &Draw,
    attempt: usize,
    pool: &[String],
) -> Value {
    if let Some(name) = risks::bound(signature, parameter) {
        return Value::Text(name.to_string());
    }
    let pick = |place: usize| {
        let drawn = draw.operands[place % draw.operands.len()] + attempt * (2 * place + 1);
        // Half of what is read was made last, so that programs are deep.
        let recent = pool.len().min(6);
        let index = match drawn % 2 {
            0 => drawn / 2 % pool.len(),
            _ => pool.len() - 1 - drawn / 2 % recent,
        };
        Value::Text(pool[index].clone())
    };
    match parameter.takes {
        Takes::Arrays => Value::List(vec![pick(place), pick(place + 1), pick(place)]),
        _ => pick(place),
    }
}

/// The values that an argument names.
pub fn named(argument: &Value) -> Vec<&str> {
    match argument {
        Value::Text(name) => vec![name],
        Value::List(items) => items.iter().flat_map(named).collect(),
        _ => Vec::new(),
    }
}

/// One step in YAML: what it reads, and its settings as the recipe has them.
fn step(signature: &Signature, operands: &[(&str, Value)], form: &str) -> String {
    let operands = operands
        .iter()
        .map(|(parameter, value)| format!("{parameter}: {value}"));
    let settings = form.trim_start_matches('{').trim_end_matches('}');
    let settings = Some(settings.to_string()).filter(|it| !it.is_empty());
    let arguments: Vec<String> = operands.chain(settings).collect();
    format!("{{{}: {{{}}}}}", signature.name, arguments.join(", "))
}
