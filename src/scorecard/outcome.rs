//! What a cell yielded: plain data that crosses processes, lies in `outcomes.jsonl`, and feeds scorecard and pages.

use super::about::{About, Distance};
use super::otherwise::Otherwise;
use crate::capability::RefusalCode;
use crate::vocabulary::{Decision, Reason, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything the suite keeps of one cell's run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// The cell's id.
    pub cell: String,
    /// The case's file, relative to the root, with `/` between folders.
    pub file: String,
    /// The line of the file that a failure of the whole cell points at.
    pub line: u32,
    /// Ids of the capabilities that the case covers.
    pub covers: Vec<String>,
    /// Is the record true?
    pub record: Verdict,
    /// Is MLX's value right? `None` where nothing was claimed about values.
    pub value: Option<Verdict>,
    /// Everything that differed from what the case expects.
    pub findings: Vec<Finding>,
    /// For each verdict that is a changed failure, what it was to be and how to go on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub otherwise: Vec<Otherwise>,
    /// The command that runs the cell again, where it is red.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rerun: Option<String>,
    /// What was seen.
    pub evidence: Evidence,
    /// What the cell is about.
    #[serde(default)]
    pub about: About,
    /// How near its values came to what they must be. Never part of the scorecard, since it depends on the processor.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distances: Vec<Distance>,
    /// The ops' results by label where they were read: few elements whole, many as statistics. Never part of the
    /// scorecard, since they depend on the processor.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, String>,
    /// How long the cell took, in milliseconds. Never part of the scorecard.
    pub millis: u64,
    /// The end of what the cell printed, where it is red; differs from run to run.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
}

/// One verdict about one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// As expected.
    Pass,
    /// Not as expected.
    Fail,
    /// Fails, as the case says it does.
    ExpectedFail,
    /// Passes where the case says that it fails: an improvement to accept.
    UnexpectedPass,
    /// Fails where a failure is expected, but otherwise than the case says, or than is recorded: a regression.
    ChangedFail,
    /// The process ended.
    Crash,
    /// The time was up.
    Timeout,
    /// The suite's own fault: nothing follows from this cell.
    Invalid,
    /// Not run, since the device is not the one it needs; never evidence.
    Skipped,
}

/// One thing that differs from what the case expects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// Which verdict it decides.
    pub check: Checked,
    /// The way to the expectation in the case: `expect.outputs[0].shape`.
    pub at: String,
    /// The line where it stands.
    pub line: u32,
    /// What kind of difference it is, free of figures that depend on the processor.
    pub kind: FindingKind,
    /// What was found and what was expected, one line.
    pub message: String,
    /// What is near or how to go on, if something helps.
    pub hint: Option<String>,
}

/// The verdict that a finding decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Checked {
    /// The record.
    Record,
    /// The value.
    Value,
}

/// What kind of difference a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// The capture ended otherwise: an error or refusal that is not expected, or none where one is.
    Ending,
    /// The trace's state.
    State,
    /// The ops' names.
    Ops,
    /// An op's parents.
    Parents,
    /// An op's decision or its reason.
    Decision,
    /// A module's record.
    Module,
    /// An output's shape.
    Shape,
    /// An output's element type.
    Dtype,
    /// An output's elements.
    Values,
    /// The number of outputs.
    Outputs,
    /// A seeded fault that the validator did not flag.
    Mutant,
    /// The case names something that the trace does not have.
    NoSuchName,
    /// The comparison compared nothing.
    Vacuous,
    /// The cell came out otherwise when it ran again.
    Flaky,
    /// The suite could not judge.
    Suite,
}

/// What was seen of a cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// How the capture ended.
    pub ending: Ending,
    /// The trace's state, where there is a trace.
    pub state: Option<State>,
    /// The status's message: the first offending op, or empty.
    pub message: String,
    /// The trace's warnings.
    pub warnings: Vec<String>,
    /// The trace at op level.
    pub ops: Vec<OpRow>,
    /// How many calls were observed.
    pub calls: u64,
    /// Module records, in order of address.
    pub modules: Vec<ModuleRow>,
    /// Evaluations during the forward, in order.
    pub evaluations: Vec<EvaluationRow>,
    /// Outputs, in order.
    pub outputs: Vec<OutputRow>,
    /// How much validation did.
    pub work: Work,
    /// The seeded fault of this run, if one was applied.
    pub mutant: Option<MutantRow>,
    /// What two captures of the cell could not be compared in, and what a reader may overlook.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The insides of the ops that ran a closure, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub insides: Vec<InsideRow>,
    /// Whether its calls come in another order each time, as the case says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unordered: bool,
}

/// The inside of an op that ran a closure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InsideRow {
    /// The op's label; inside another inside, both, with a slash between.
    pub op: String,
    /// The state of the closure's own forward.
    pub state: Option<State>,
    /// The closure's own forward.
    pub forward: Vec<OpRow>,
    /// The primitives of the derivative; their parents are ops of the forward, and one another.
    pub backward: Vec<OpRow>,
}

/// How a capture ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Ending {
    /// With a trace.
    #[default]
    Traced,
    /// The backend refused.
    Refused {
        /// The refusal's code.
        code: RefusalCode,
        /// The capability that is missing.
        capability: String,
        /// The refusal's message.
        message: String,
        /// What to do instead.
        remedy: String,
    },
    /// The model or MLX returned an error.
    Error {
        /// The error's message.
        message: String,
    },
    /// The model panicked.
    Panicked {
        /// The panic's message.
        message: String,
    },
    /// The forward ended well, but MLX holds an error back, which the thread's next operation would get.
    Pending {
        /// MLX's message.
        message: String,
    },
    /// The process ended.
    Crashed {
        /// Where: `in floor_divide (call 3), parents int32 (2, 3), int32 ()`, if known.
        at: Option<String>,
        /// How it ended: `SIGFPE`, `exit status 255`, `stack overflow`.
        message: String,
    },
    /// The time was up.
    TimedOut {
        /// Where it hung, if known.
        at: Option<String>,
        /// The time allowed, in seconds.
        seconds: u64,
    },
    /// The process took more memory than allowed.
    OutOfMemory {
        /// Where, if known.
        at: Option<String>,
        /// The memory allowed, in MB.
        megabytes: u64,
    },
    /// Not run, since something it needs is not there.
    Skipped {
        /// What is not there.
        reason: String,
    },
    /// The suite could not run it, through its own fault.
    Invalid {
        /// What went wrong.
        message: String,
    },
}

/// One op of the trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpRow {
    /// `{name}_{n}:{call}`, such as `linear_1:1`.
    pub label: String,
    /// The op's name, such as `linear`, `input` or `constant`.
    pub name: String,
    /// For an `input` row, which input it is: the input's name in the case.
    pub input: Option<String>,
    /// The labels of its parents, in order of the operands.
    pub parents: Vec<String>,
    /// Its results, in order; most ops have one.
    pub results: Vec<ArrayRow>,
    /// The address of the module it belongs to; empty is the model itself.
    pub module: Option<String>,
    /// The named function scope it belongs to.
    pub scope: Option<String>,
    /// The mlx-c functions it called, in order.
    pub functions: Vec<String>,
    /// What validation concluded; `None` where nothing was validated.
    pub decision: Option<Decision>,
    /// Why.
    pub reason: Option<Reason>,
    /// By which routes it was replayed.
    pub routes: Routes,
    /// The line of the model's source that called it.
    pub source: Option<String>,
}

/// By which routes an op was replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Routes {
    /// By none.
    #[default]
    None,
    /// Through the function.
    Function,
    /// Through MLX's own graph.
    Graph,
    /// Through both.
    Both,
}

/// An array's shape and element type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArrayRow {
    /// Extents, outermost first.
    pub shape: Vec<i32>,
    /// The element type's name.
    pub dtype: String,
}

/// One module's record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModuleRow {
    /// The module's address; empty is the model itself.
    pub address: String,
    /// The class, such as `Linear`; a list of modules is `list`.
    pub class: String,
    /// How many times it was called.
    pub calls: u32,
    /// The names of its own parameters, sorted.
    pub parameters: Vec<String>,
}

/// One evaluation during the forward.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationRow {
    /// The function that evaluated.
    pub function: String,
    /// Whether the model asked for it.
    pub kind: EvaluationKind,
    /// The line of the model's source.
    pub source: Option<String>,
    /// Where in the forward it happened.
    #[serde(default)]
    pub place: EvaluationPlace,
}

/// Where in the forward an evaluation happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvaluationPlace {
    /// After everything was recorded.
    #[default]
    End,
    /// Before anything was recorded.
    Beginning,
    /// In the middle, after the op with this label.
    After(String),
    /// Inside the closure of a transform.
    Inside,
}

/// Whether the model asked for an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvaluationKind {
    /// `eval` was called.
    Explicit,
    /// Data was read: `item`, `as_slice`, printing.
    Implicit,
}

/// One output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputRow {
    /// The label of the op that made it.
    pub op: String,
    /// The way to it in what the forward returned.
    #[serde(default)]
    pub path: String,
    /// Its shape and element type.
    pub array: ArrayRow,
}

/// How much validation did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Work {
    /// Replays, by both routes together.
    pub replays: u64,
    /// Perturbations of operands.
    pub perturbations: u64,
}

/// A seeded fault, and whether the validator flagged it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MutantRow {
    /// What fault, such as `parent_dropped`.
    pub name: String,
    /// The label of the op it was seeded in.
    pub op: String,
    /// What became of it.
    pub fate: Fate,
}

/// What became of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// Flagged, with a reason that fits.
    Killed(Reason),
    /// Flagged, but with a reason that does not fit: not good enough.
    Misnamed(Reason),
    /// Not flagged.
    Survived,
}

impl Verdict {
    /// As files and people spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
            Verdict::ExpectedFail => "expected-fail",
            Verdict::UnexpectedPass => "unexpected-pass",
            Verdict::ChangedFail => "changed-fail",
            Verdict::Crash => "crash",
            Verdict::Timeout => "timeout",
            Verdict::Invalid => "invalid",
            Verdict::Skipped => "skipped",
        }
    }

    /// Whether a trial with this verdict is red.
    pub const fn is_red(self) -> bool {
        !matches!(
            self,
            Verdict::Pass | Verdict::ExpectedFail | Verdict::UnexpectedPass | Verdict::Skipped
        )
    }
}

impl Checked {
    /// Both.
    pub const ALL: [Checked; 2] = [Checked::Record, Checked::Value];

    /// `record` or `value`.
    pub const fn name(self) -> &'static str {
        match self {
            Checked::Record => "record",
            Checked::Value => "value",
        }
    }
}

impl FindingKind {
    /// As files spell it.
    pub const fn name(self) -> &'static str {
        match self {
            FindingKind::Ending => "ending",
            FindingKind::State => "state",
            FindingKind::Ops => "ops",
            FindingKind::Parents => "parents",
            FindingKind::Decision => "decision",
            FindingKind::Module => "module",
            FindingKind::Shape => "shape",
            FindingKind::Dtype => "dtype",
            FindingKind::Values => "values",
            FindingKind::Outputs => "outputs",
            FindingKind::Mutant => "mutant",
            FindingKind::NoSuchName => "no-such-name",
            FindingKind::Vacuous => "vacuous",
            FindingKind::Flaky => "flaky",
            FindingKind::Suite => "suite",
        }
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl Outcome {
    /// The id of its case: the way to the file, without the folder of all cases.
    pub fn case(&self) -> String {
        let inner = self.file.strip_prefix("cases/").unwrap_or(&self.file);
        let plain = inner.rsplit_once('.').map_or(inner, |(plain, _)| plain);
        plain.replace('/', "::")
    }

    /// One of its verdicts, where there is one.
    pub fn verdict(&self, check: Checked) -> Option<Verdict> {
        match check {
            Checked::Record => Some(self.record),
            Checked::Value => self.value,
        }
    }

    /// The outcome with the command that runs it again, where it is red by now.
    pub fn with_rerun(self) -> Self {
        let rerun = self.is_red().then(|| self.rerun_command());
        Self { rerun, ..self }
    }

    /// The command that runs only this cell again.
    pub fn rerun_command(&self) -> String {
        rerun_command(&self.cell)
    }

    /// Whether either verdict is a pass where a failure is expected.
    pub fn passes_unexpectedly(&self) -> bool {
        self.record == Verdict::UnexpectedPass || self.value == Some(Verdict::UnexpectedPass)
    }

    /// Whether either verdict is red.
    pub fn is_red(&self) -> bool {
        self.record.is_red() || self.value.is_some_and(Verdict::is_red)
    }

    /// Whether the cell came out otherwise when it ran again, so that this outcome is no evidence.
    pub fn is_flaky(&self) -> bool {
        self.findings.iter().any(|it| it.kind == FindingKind::Flaky)
    }
}

/// The command that runs only the cell of this id.
pub fn rerun_command(cell: &str) -> String {
    format!("cargo test --test conformance -- --exact {cell}")
}

impl Evidence {
    /// Evidence of a capture that ended without a trace.
    pub fn ended(ending: Ending) -> Self {
        Self {
            ending,
            ..Self::default()
        }
    }

    /// The op that a label names; `:1` is understood.
    pub fn op(&self, label: &str) -> Option<&OpRow> {
        self.ops
            .iter()
            .find(|op| op.label == label || op.label.strip_suffix(":1") == Some(label))
    }
}

impl OpRow {
    /// A row with one result; the rest is filled in where it is known.
    pub fn new(label: impl Into<String>, name: impl Into<String>, result: ArrayRow) -> Self {
        Self {
            label: label.into(),
            name: name.into(),
            results: vec![result],
            ..Self::default()
        }
    }
}

impl ArrayRow {
    /// A shape and an element type.
    pub fn new(shape: impl Into<Vec<i32>>, dtype: impl Into<String>) -> Self {
        Self {
            shape: shape.into(),
            dtype: dtype.into(),
        }
    }
}

/// As a report says it, without an article: `crash: SIGFPE in floor_divide (call 3)`.
impl std::fmt::Display for Ending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = |at: &Option<String>| at.as_ref().map(|at| format!(" {at}")).unwrap_or_default();
        match self {
            Ending::Traced => f.write_str("trace"),
            Ending::Refused { code, message, .. } => write!(f, "refusal: {code} ({message})"),
            Ending::Error { message } => write!(f, "error: \"{message}\""),
            Ending::Panicked { message } => write!(f, "panic: \"{message}\""),
            Ending::Pending { message } => write!(f, "pending: MLX holds back \"{message}\""),
            Ending::Crashed { at, message } => write!(f, "crash: {message}{}", place(at)),
            Ending::TimedOut { at, seconds } => write!(f, "timeout: no end after {seconds} s{}", place(at)),
            Ending::OutOfMemory { at, megabytes } => {
                write!(f, "memory: more than {megabytes} MB{}", place(at))
            }
            Ending::Skipped { reason } => write!(f, "skip: {reason}"),
            Ending::Invalid { message } => write!(f, "the suite's own fault: {message}"),
        }
    }
}

impl Ending {
    /// Whether whatever ran the cell is fit for another one: no process that ended, no thread with an error pending.
    pub const fn leaves_nothing_behind(&self) -> bool {
        matches!(
            self,
            Ending::Traced | Ending::Refused { .. } | Ending::Skipped { .. }
        )
    }

    /// An error's ending.
    pub fn error(error: impl std::fmt::Display) -> Self {
        Ending::Error {
            message: error.to_string(),
        }
    }
}
