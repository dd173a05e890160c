//! What a capture gives.

use std::cell::OnceCell;
use std::sync::Arc;
use std::thread::ThreadId;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::call::{Call, CallId};
use super::evaluation::Evaluation;
use super::intervention::Replacement;
use super::module::{module_records, ModuleRecord};
use super::op::{self, Op};
use super::policy::{CompilePolicy, PayloadPolicy};
use super::scope::{Scope, ScopeId};
use super::stack::{Named, SourceLine};
use super::tables::Tables;
use super::transform::Transform;
use super::value::{Origin, Value, ValueId};
use crate::graph::{self, GraphError, Subgraph};

/// The record of one forward, in single-assignment form: a call reads only values that stand before its results.
///
/// Two levels: [`calls`](Self::calls) as they crossed into C, and [`ops`](Self::ops), where the calls of one layer
/// or of one named function are one row.
#[derive(Debug)]
pub struct Trace {
    pub(crate) tables: Tables,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) parameters: Vec<(Arc<str>, ValueId)>,
    pub(crate) declared: Vec<(String, String)>,
    /// Derived when first asked for: many forwards are captured for their values alone.
    pub(crate) modules: OnceCell<Vec<ModuleRecord>>,
    pub(crate) inputs: Vec<ValueId>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) evaluations: Vec<Evaluation>,
    pub(crate) closures: Vec<Closure>,
    pub(crate) compile: CompilePolicy,
    pub(crate) transforms: Vec<Transform>,
    pub(crate) failed: Vec<FailedCall>,
    pub(crate) halted: bool,
    pub(crate) unwrapped: Vec<Unwrapped>,
    pub(crate) replacements: Vec<Replacement>,
    pub(crate) payloads: PayloadPolicy,
    /// What stacks told, where they were taken down.
    pub(crate) named: Named,
    pub(crate) thread: ThreadId,
    /// The constants that were not computed yet when first used, and behind which MLX's graph was read. A constant that
    /// had a producer and stands not here is one whose making nobody recorded.
    pub(crate) lazy: FxHashSet<ValueId>,
    /// Whether it was read from where it was saved: nothing of MLX's graph is left.
    pub(crate) loaded: bool,
}

/// One output of the forward.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    pub(crate) path: String,
    pub(crate) value: ValueId,
}

impl Output {
    /// The way to it in what the forward returned; empty for a lone array.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The value.
    pub fn value(&self) -> ValueId {
        self.value
    }
}

/// A function that the forward compiled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Closure {
    /// How many calls had been recorded when it was compiled.
    pub calls_before: usize,
    /// How it ran.
    pub compile: CompilePolicy,
    /// How many random draws in it take a key that is none of its arguments: MLX repeats the first ones for ever.
    pub draws: usize,
}

/// A call that gave an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedCall {
    /// The mlx-c function.
    pub function: &'static str,
    /// The recorded values among its operands.
    pub operands: Vec<ValueId>,
    /// How many calls had been recorded before it.
    pub after: usize,
}

/// Values that an unseen operation computed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unwrapped {
    /// How many arrays were affected.
    pub arrays: usize,
    /// Where the first of them was used: `argument a of mlx_add (call 3)`.
    pub first_use: String,
    /// The recorded values that they descend from.
    pub ancestors: Vec<ValueId>,
}

impl Trace {
    /// Every value, in the order first seen.
    pub fn values(&self) -> &[Value] {
        &self.tables.values
    }

    /// One value.
    pub fn value(&self, id: ValueId) -> &Value {
        &self.tables.values[id.index()]
    }

    /// Every call, in order.
    pub fn calls(&self) -> &[Call] {
        &self.tables.calls
    }

    /// One call.
    pub fn call(&self, id: CallId) -> &Call {
        &self.tables.calls[id.index()]
    }

    /// Whether no call was recorded after this one.
    pub fn is_last(&self, id: CallId) -> bool {
        id.index() + 1 >= self.tables.calls.len()
    }

    /// What MLX's own graph shows of a call, where it could be read.
    pub fn subgraph(&self, call: &Call) -> Option<Subgraph<'_>> {
        call.page.map(|page| self.tables.book.open(page))
    }

    /// Lets go of one value's payload: its memory is free once nobody else holds the array, and what needs it to be
    /// validated is unproven from then on.
    pub fn release_payload(&mut self, id: ValueId) {
        self.tables.values[id.index()].payload = None;
    }

    /// The trace at op level: inputs, constants, literal producers, ops.
    pub fn ops(&self) -> Vec<Op> {
        op::derive(self)
    }

    /// The ops that made the outputs, in the order of the outputs.
    pub fn output_ops(&self) -> Vec<Op> {
        let ops = self.ops();
        self.outputs
            .iter()
            .filter_map(|output| {
                ops.iter()
                    .rev()
                    .find(|op| op.results().contains(&output.value))
                    .cloned()
            })
            .collect()
    }

    /// Every scope, in the order of entry.
    pub fn scopes(&self) -> &[Scope] {
        &self.scopes
    }

    /// One scope.
    pub fn scope(&self, id: ScopeId) -> &Scope {
        &self.scopes[id.index()]
    }

    /// Every module, by address.
    pub fn modules(&self) -> &[ModuleRecord] {
        self.modules
            .get_or_init(|| module_records(&self.declared, &self.scopes, &self.parameters))
    }

    /// The results that an intervention replaced.
    pub fn replacements(&self) -> &[Replacement] {
        &self.replacements
    }

    /// The parameters by mlx-rs's addresses, sorted. A tied one stands at each of its addresses.
    pub fn parameters(&self) -> &[(Arc<str>, ValueId)] {
        &self.parameters
    }

    /// The module at an address; empty for the model itself.
    pub fn module(&self, address: &str) -> Option<&ModuleRecord> {
        self.modules().iter().find(|module| module.address == address)
    }

    /// The inputs, in order.
    pub fn inputs(&self) -> &[ValueId] {
        &self.inputs
    }

    /// The line of the model that a call comes from: the innermost that is neither mlx-rs's nor the standard library's.
    /// `None` where stacks were not taken down, or the program has no debug information there.
    pub fn source(&self, call: CallId) -> Option<&SourceLine> {
        self.named.lines.get(call.index())?.as_ref()
    }

    /// What the call stacks could not tell, and why; `None` where they told all, or were not taken down.
    pub fn lacking(&self) -> Option<&str> {
        self.named.lacking.as_deref()
    }

    /// The outputs, in order.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// The values that were neither input, parameter nor result of a recorded call.
    pub fn constants(&self) -> impl Iterator<Item = ValueId> + '_ {
        self.tables
            .values
            .iter()
            .enumerate()
            .filter(|(_, value)| value.origin == Origin::Constant)
            .map(|(i, _)| number(i))
    }

    /// Evaluations during the forward, in order.
    pub fn evaluations(&self) -> &[Evaluation] {
        &self.evaluations
    }

    /// How compiled functions ran: `inlined`, as their operations, or `opaque`, as one op.
    pub fn compile(&self) -> &'static str {
        self.compile.name()
    }

    /// The insides of the calls that ran a closure, in the order of the calls.
    pub fn transforms(&self) -> &[Transform] {
        &self.transforms
    }

    /// The inside of a call, where it ran a closure; of several runs the last.
    pub fn transform(&self, call: CallId) -> Option<&Transform> {
        self.transforms
            .iter()
            .rev()
            .find(|transform| transform.call == call)
    }

    /// The calls that gave an error, in order. In the trace of a forward that failed the last one is where it did.
    pub fn failed_calls(&self) -> &[FailedCall] {
        &self.failed
    }

    /// Whether the forward was halted on request, so that the trace ends in the middle.
    pub fn is_halted(&self) -> bool {
        self.halted
    }

    /// What a reader may overlook, in sentences: none of it makes the trace less true.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.loaded {
            let lost = "loaded: MLX's graph did not survive saving, so that calls are replayed by their functions alone, \
                        and transforms and opaque compiled functions not at all";
            notes.push(lost.to_string());
        }
        let drawing: usize = self.closures.iter().map(|closure| closure.draws).sum();
        if drawing > 0 {
            let shown = match self.compile {
                CompilePolicy::Inline => "this trace shows them drawn anew (compile: inlined)",
                CompilePolicy::Opaque => "this trace shows them as frozen as there (compile: opaque)",
            };
            notes.push(format!(
                "{drawing} random draws in compiled functions take no state: a plain run repeats the first ones for \
                 ever, and {shown}"
            ));
        }
        for transform in &self.transforms {
            let call = self.call(transform.call());
            let called = call.name();
            let outer: Vec<String> = transform
                .captured()
                .iter()
                .map(|captured| self.describe(captured.outside))
                .collect();
            if !outer.is_empty() {
                notes.push(format!(
                    "the closure of {called} reads {} beside its arguments",
                    outer.join(", ")
                ));
            }
        }
        notes
    }

    /// A value as a person would name it.
    pub fn describe(&self, value: ValueId) -> String {
        match self.value(value).origin() {
            Origin::Input { path } if path.is_empty() => "the input".to_string(),
            Origin::Input { path } => format!("the input {path}"),
            Origin::Parameter { address } => format!("the parameter {address}"),
            Origin::Result { call, .. } => {
                format!("the result of {} (call {})", self.call(*call).name(), call.0 + 1)
            }
            Origin::Constant => "a constant".to_string(),
            Origin::Intervention => "the result of an intervention".to_string(),
            Origin::Unwrapped => "the result of an operation that was not seen".to_string(),
        }
    }

    /// The functions that the forward compiled.
    pub fn closures(&self) -> &[Closure] {
        &self.closures
    }

    /// Whether every operation that the forward used was recorded.
    pub fn capture_verified(&self) -> bool {
        self.unwrapped.is_empty()
    }

    /// What unseen operations computed, by first use.
    pub fn unwrapped(&self) -> &[Unwrapped] {
        &self.unwrapped
    }

    /// How many arrays unseen operations computed.
    pub fn unwrapped_arrays(&self) -> usize {
        self.unwrapped.iter().map(|unwrapped| unwrapped.arrays).sum()
    }

    /// What a reader should know before trusting the trace.
    pub fn warnings(&self) -> Vec<String> {
        let Some(first) = self.unwrapped.first() else {
            return Vec::new();
        };
        let arrays = self.unwrapped_arrays();
        let noun = if arrays == 1 { "array was" } else { "arrays were" };
        vec![format!(
            "unwrapped_op_in_capture: {arrays} {noun} computed by operations that capture did not see; first used as \
             {}",
            first.first_use
        )]
    }

    /// What was kept alive.
    pub fn payload_policy(&self) -> &PayloadPolicy {
        &self.payloads
    }

    /// Whether it was loaded from where it was [saved](Self::save): then nothing of MLX's graph is left, and its calls are
    /// replayed by their functions alone.
    pub fn is_loaded(&self) -> bool {
        self.loaded
    }

    /// The thread that captured, or loaded: only there can subgraphs be evaluated.
    pub fn thread(&self) -> ThreadId {
        self.thread
    }

    /// Evaluates every payload, many at a time.
    ///
    /// # Errors
    ///
    /// MLX's message, from the forward's own computation or from a thread that is not the capturing one.
    pub fn evaluate(&self) -> Result<(), GraphError> {
        let pending: Vec<_> = self
            .tables
            .values
            .iter()
            .filter_map(Value::payload)
            .filter(|array| !graph::is_available(array))
            .collect();
        if pending.is_empty() {
            return Ok(());
        }
        graph::evaluate(pending)
    }
}

/// The id of the value at `index`.
pub(crate) fn number(index: usize) -> ValueId {
    // A session refuses to record more values than a `u32` numbers.
    ValueId(index as u32)
}
