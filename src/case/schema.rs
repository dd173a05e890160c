//! The grammar of a case file, as serde types.
//!
//! A file computes one thing, said in one of three ways: `op:` (one function over a matrix), `model:` (one layer,
//! possibly nested), or `layers:` with `forward:` and `outputs:` (layers called step by step). Unknown keys are
//! errors. Text that begins with `$` stands for the value of a matrix axis.

use super::arguments::Arguments;
use super::data::{GivenAs, View};
use super::date::Date;
use super::fill::Fill;
use super::intervention::Intervention;
use super::payloads::Payloads;
pub use super::requires::Requires;
use super::spec::Spec;
use super::value::Value;
use crate::capability::RefusalCode;
use crate::vocabulary::{DType, Decision, Reason, State};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A case: what is computed from which inputs, and what must come out.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "mlx-assay case")]
pub struct CaseFile {
    /// What a reader should know; nothing is judged by it.
    pub note: Option<String>,
    /// Where the case comes from: a page, an issue, a field case.
    pub source: Option<String>,
    /// Ids of the capabilities that this case gives evidence for.
    pub covers: Vec<String>,
    /// Where all random draws begin: fills and layers' parameters. 0 if left out.
    pub seed: u64,
    /// What goes in, by name and in order.
    pub inputs: IndexMap<String, InputFile>,

    /// One function; `dtype`, `shape`, `view`, `fill` and `args` bind to its operands.
    pub op: Option<String>,
    /// For `op:`: the operands' element type.
    pub dtype: Option<DType>,
    /// For `op:`: the operands' shape, or one shape for each operand.
    pub shape: Option<OperandShapes>,
    /// For `op:`: how the operands lie in memory.
    pub view: Option<View>,
    /// For `op:`: what the operands are filled with.
    pub fill: Option<Fill>,
    /// For `op:`: the function's other arguments, by name.
    pub args: Option<BTreeMap<String, Value>>,

    /// One layer, called with all inputs.
    pub model: Option<Spec>,

    /// Layers by name, for the steps of `forward:`; each may be called any number of times, or never.
    pub layers: IndexMap<String, Spec>,
    /// Steps, in order: `- result: {layer or function: arguments}`.
    pub forward: Vec<StepFile>,
    /// Names of the values that come out. The last step's result if left out.
    pub outputs: Vec<String>,

    /// How the case is captured.
    pub session: Session,
    /// Where its cells run: elsewhere they are skipped, which is never evidence.
    pub requires: Requires,
    /// How long a cell may take and how much memory its process; the suite's own limits if left out.
    pub limits: Limits,
    /// Whether a cell may end, hang or spoil the process that runs it, so that it only ever runs in one of its own.
    /// What expects a crash, a timeout or the like needs no saying.
    pub isolate: bool,
    /// Why the calls come in another order each time, if they do: two runs of a cell must then agree on everything but
    /// the order.
    pub unordered: Option<String>,
    /// Axes, and the values of each; the case has a cell for every combination.
    pub matrix: IndexMap<String, Vec<Value>>,
    /// Which combinations there are.
    pub vary: Vary,
    /// Combinations that make no sense: axis values, or lists of them.
    pub exclude: Vec<Selection>,
    /// What must come out; a list where expectations differ between cells.
    pub expect: Expectations,
    /// Known failures, each with why and until when.
    pub expected_fail: Vec<ExpectedFail>,
}

/// Which combinations of a matrix's values are cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Vary {
    /// Every one.
    #[default]
    All,
    /// Those in which at most one axis has another than its first value.
    One,
}

/// A selection of cells: for each axis named, one value or a list of those that match.
pub type Selection = BTreeMap<String, Value>;

/// An input as written.
#[derive(Clone, Debug)]
pub enum InputFile {
    /// An array.
    Array(ArrayFile),
    /// A number or bool that stays one.
    Scalar(Value),
    /// A list of inputs: `[..]` or `{list: [..]}`.
    List(Vec<InputFile>),
    /// Inputs by name: `{map: {..}}`.
    Map(IndexMap<String, InputFile>),
}

/// An array as written: by value, or by shape and fill.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ArrayFile {
    /// Element type; float32 if left out.
    pub dtype: Option<Bound<DType>>,
    /// Extents, outermost first; `[]` is a scalar.
    pub shape: Option<Bound<Vec<i64>>>,
    /// The elements: a number, or nested lists of them.
    pub value: Option<Value>,
    /// What to fill with; `normal`, or small integers, if left out.
    pub fill: Option<Bound<Fill>>,
    /// How the array lies in memory; `plain` if left out.
    pub view: Option<Bound<View>>,
    /// What of the host's the input is made of; an array from the start if left out.
    #[serde(rename = "as")]
    pub given_as: Option<GivenAs>,
}

/// A value as written, or the axis that has it.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound<T> {
    /// Written in place.
    Here(T),
    /// `$axis`.
    Axis(String),
}

/// For `op:`, one shape for all operands or one for each.
#[derive(Clone, Debug, PartialEq)]
pub enum OperandShapes {
    /// `[3, 4]`.
    All(Vec<i64>),
    /// `[[3, 4], [4]]`.
    Each(Vec<Vec<i64>>),
}

/// A step as written: `result: {callee: arguments}`.
#[derive(Clone, Debug)]
pub struct StepFile {
    /// The result's name.
    pub name: String,
    /// The layer or function.
    pub callee: String,
    /// What it is called with.
    pub arguments: Arguments,
}

/// What a cell may take; more ends it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Seconds until the cell is ended.
    #[schemars(range(min = 1, max = 3600))]
    pub seconds: Option<u64>,
    /// Resident memory of the cell's process, in MB.
    #[schemars(range(min = 16, max = 1_000_000))]
    pub memory_mb: Option<u64>,
}

/// How a case is captured.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Session {
    /// What happens when an operation outside the recorded surface takes part.
    pub unwrapped: Unwrapped,
    /// Which payloads the trace keeps.
    pub payloads: Payloads,
    /// Results to replace, by op label.
    pub intervene: BTreeMap<String, Intervention>,
    /// The op after which the forward is halted.
    pub halt: Option<String>,
    /// How compiled functions run.
    pub compile: Compile,
    /// Where the forward's operations run.
    pub on: On,
    /// The capture backend to ask for; `mlx` if left out.
    pub backend: Option<String>,
    /// Whether the capture is begun inside another one.
    pub nested: bool,
    /// Whether ops get their names and source lines from the call stack, as in code that nobody touched, instead of from
    /// the case's own names.
    pub call_stacks: bool,
    /// Whether the trace is saved and loaded again, and then validated as it was loaded.
    pub reload: bool,
    /// Functions of mlx-c that the recorder pretends not to know: a seam for tests of the recorder.
    pub hide: Vec<String>,
}

/// What happens when an operation outside the recorded surface takes part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unwrapped {
    /// The trace says so and is never `passed`.
    #[default]
    Warn,
    /// The capture ends with a typed error.
    Refuse,
}

/// How compiled functions run while a trace is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Compile {
    /// As their operations.
    #[default]
    Inline,
    /// As MLX runs them: one op.
    Opaque,
}

/// Where the forward's operations run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum On {
    /// Where MLX puts them.
    #[default]
    Default,
    /// On a GPU, whether or not there is one.
    Gpu,
    /// On a stream of the capture's own, of the CPU.
    OwnStream,
}

/// The expectations of a case: one map, or a list of maps of which each cell meets some.
#[derive(Clone, Debug, Default)]
pub enum Expectations {
    /// Nothing is expected: an error, since nothing could fail.
    #[default]
    Nothing,
    /// `expect: {...}`.
    One(Box<Expectation>),
    /// `expect: [...]`.
    Many(Vec<Expectation>),
}

/// What must come out of the cells that it selects.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Expectation {
    /// The cells meant; all if left out.
    #[serde(rename = "where")]
    pub cells: Selection,
    /// The trace's state; `passed` if neither this nor `refusal` or `error` is given.
    pub state: Option<State>,
    /// The ops' names, in order, inputs first.
    pub ops: Option<Vec<String>>,
    /// Parents of ops, by label: `gelu_1: [linear_1]`.
    pub parents: BTreeMap<String, Vec<String>>,
    /// Decisions by op label: `verified`, or `{unproven: perturbation_insensitive}`.
    pub decisions: BTreeMap<String, DecisionFile>,
    /// For an op that ran a closure, by its label: the ops of the closure's own forward, in order.
    pub inside: BTreeMap<String, Vec<String>>,
    /// For an op that ran a closure, by its label: the primitives of the derivative, in any order, each as often as it is
    /// there.
    pub backward: BTreeMap<String, Vec<String>>,
    /// Sentences of which each note of the trace must contain one.
    pub notes: Option<Vec<String>>,
    /// Evaluations during the forward, in order: the function, or part of its name.
    pub evaluations: Option<Vec<String>>,
    /// Module records by address; the model itself is `""`.
    pub modules: BTreeMap<String, ModuleExpectation>,
    /// The outputs' paths in what the forward returned, in order.
    pub paths: Option<Vec<String>>,
    /// Outputs, in order; `{}` claims nothing about one.
    pub outputs: Option<Vec<OutputExpectation>>,
    /// Whether the outputs' values must equal the reference.
    pub reference: bool,
    /// Every output's element type: one, or a map from the cell's `dtype` to it; `same` is the cell's own.
    pub dtype: Option<ResultDType>,
    /// The code with which the backend must refuse.
    pub refusal: Option<RefusalCode>,
    /// Text that the error's message must contain.
    pub error: Option<String>,
    /// The forward panics, with this text in the message.
    pub panic: Option<String>,
    /// The forward ends well, but MLX holds back an error, with this text in the message.
    pub pending: Option<String>,
    /// The process ends, and the report of how and where contains this: `SIGFPE in floor_divide`.
    pub crash: Option<String>,
    /// The cell does not end in time, and the report of where contains this.
    pub timeout: Option<String>,
    /// The process takes more memory than allowed, and the report of where contains this.
    pub memory: Option<String>,
}

/// A decision as written: alone, or with its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecisionFile {
    /// The decision.
    pub decision: Decision,
    /// The reason, if one is claimed.
    pub reason: Option<Reason>,
}

/// What a module's record must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ModuleExpectation {
    /// The class, such as `Linear`; a list of modules is `list`.
    pub class: Option<String>,
    /// How many times it was called.
    pub calls: Option<u32>,
    /// The names of its own parameters, in any order.
    pub parameters: Option<Vec<String>>,
}

/// What one output must be.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OutputExpectation {
    /// Extents, outermost first.
    pub shape: Option<Vec<i32>>,
    /// Element type.
    pub dtype: Option<DType>,
    /// The elements: a number, or nested lists of them.
    pub values: Option<Value>,
    /// How far the elements may lie from `values`; equal to the last bit if left out.
    pub tolerance: Option<Tolerance>,
    /// Why the tolerance is right.
    pub because: Option<String>,
}

/// How far a found element may lie from an expected one: `absolute + relative * |expected|`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tolerance {
    /// The share that does not depend on the element.
    pub absolute: f64,
    /// The share that grows with the expected element.
    pub relative: f64,
}

/// Every output's element type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultDType {
    /// The same rule in every cell.
    Always(DTypeRule),
    /// By the cell's own `dtype`; `else` for those not named.
    ByDType {
        /// The element types named.
        named: BTreeMap<DType, DTypeRule>,
        /// All others.
        otherwise: Option<DTypeRule>,
    },
}

/// One element type, or the operands' own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DTypeRule {
    /// `same`: the cell's own.
    Same,
    /// This one.
    Is(DType),
}

/// A known failure.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectedFail {
    /// The cells meant; all if left out.
    #[serde(rename = "where", default)]
    pub cells: Selection,
    /// Which verdict fails.
    pub check: Check,
    /// What of that verdict fails, and how: a cell that shows anything else is not excused. Left out it excuses no cell;
    /// `assay accept` fills it in.
    #[serde(default)]
    pub fails: Fails,
    /// Why it fails, in a few words.
    pub because: String,
    /// Where it is reported.
    pub issue: String,
    /// When it was entered.
    pub opened: Date,
    /// When somebody must look again.
    pub expires: Date,
}

/// What fails and how, a line each, as the scorecard spells it but without the word for the verdict:
/// `values expect.reference`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fails(pub Vec<String>);

impl Fails {
    /// Whether each of these lines is among them.
    pub fn cover(&self, lines: &[String]) -> bool {
        lines.iter().all(|line| self.0.contains(line))
    }
}

/// As a case spells it: one text alone, several as a list.
impl std::fmt::Display for Fails {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plain = |line: &str| {
            line.chars()
                .all(|letter| letter.is_ascii_alphanumeric() || " ._-".contains(letter))
        };
        let spelled = |line: &String| match plain(line) {
            true => line.clone(),
            // What JSON quotes, YAML reads.
            false => serde_json::Value::from(line.as_str()).to_string(),
        };
        match &self.0[..] {
            [only] => f.write_str(&spelled(only)),
            lines => write!(
                f,
                "[{}]",
                lines.iter().map(spelled).collect::<Vec<_>>().join(", ")
            ),
        }
    }
}

/// One of the two verdicts of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// Is the record true?
    Record,
    /// Is MLX's value right?
    Value,
}

impl Check {
    /// `record` or `value`.
    pub const fn name(self) -> &'static str {
        match self {
            Check::Record => "record",
            Check::Value => "value",
        }
    }
}

impl Expectations {
    /// The expectations, in order.
    pub fn items(&self) -> &[Expectation] {
        match self {
            Expectations::Nothing => &[],
            Expectations::One(one) => std::slice::from_ref(one),
            Expectations::Many(many) => many,
        }
    }
}

impl Expectation {
    /// Whether it claims anything that decides the value verdict: about outputs, but not how many there are.
    pub fn claims_values(&self) -> bool {
        let of_output = |output: &OutputExpectation| *output != OutputExpectation::default();
        self.reference || self.dtype.is_some() || self.outputs.iter().flatten().any(of_output)
    }
}

impl Expectation {
    /// The endings without a trace that it claims: the key, and the text or code that must be in the report.
    pub fn endings(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let refusal = self.refusal.map(RefusalCode::name);
        [
            ("refusal", refusal),
            ("error", self.error.as_deref()),
            ("panic", self.panic.as_deref()),
            ("pending", self.pending.as_deref()),
            ("crash", self.crash.as_deref()),
            ("timeout", self.timeout.as_deref()),
            ("memory", self.memory.as_deref()),
        ]
        .into_iter()
        .filter_map(|(key, text)| Some((key, text?)))
    }

    /// Whether it claims that the cell spoils the process or the thread that runs it.
    pub fn claims_ruin(&self) -> bool {
        self.endings()
            .any(|(key, _)| matches!(key, "pending" | "crash" | "timeout" | "memory"))
    }
}

impl ResultDType {
    /// The element type claimed for a cell whose own is `own`; `None` where nothing is claimed.
    pub fn resolve(&self, own: DType) -> Option<DType> {
        let rule = match self {
            ResultDType::Always(rule) => Some(rule),
            ResultDType::ByDType { named, otherwise } => named.get(&own).or(otherwise.as_ref()),
        };
        rule.map(|rule| match rule {
            DTypeRule::Same => own,
            DTypeRule::Is(dtype) => *dtype,
        })
    }
}
