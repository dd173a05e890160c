//! Runs a cell in this process: builds its program, captures, validates, seeds one fault.

use std::collections::BTreeMap;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::time::Instant;

use indexmap::IndexMap;

use super::expect::conclude;
use super::flight::{self, Phase};
use super::probe;
use super::rows::{evidence, plain_row};
use super::seam::{Cell, Mutated, Mutation, Observed, Reference, ReferenceOutput, ReferenceRelation, Runner};
use crate::capability::CAPABILITIES;
use crate::capture::{CaptureError, Evaluation, Op, Trace, TraceError, ValueId};
use crate::case::data::{ArraySpec, Data, GivenAs, Input, Source, View};
use crate::case::elements;
use crate::case::names::Names;
use crate::graph;
use crate::model::{data_of, dtype_name, faults_allowed, functions, layers, Inputs, Model, ModelError};
use crate::reference::{self, Expected, Policy, Seen, Tensor};
use crate::scorecard::outcome::{Ending, Evidence, Fate, MutantRow, Outcome};
use crate::validate::{compare_captures, mutate, validate, Comparison};
use crate::vocabulary::{DType, State};

/// The runner of this process.
#[derive(Debug, Clone, Copy, Default)]
pub struct InProcess;

impl Runner for InProcess {
    fn run(&self, cell: &Cell) -> Outcome {
        let start = Instant::now();
        let observed = catch_unwind(AssertUnwindSafe(|| observe(cell))).unwrap_or_else(|panic| {
            let message = panic_message(panic.as_ref());
            Observed {
                evidence: Evidence::ended(Ending::Panicked { message }),
                ..Observed::default()
            }
        });
        flight::enter(Phase::Judging);
        conclude(cell, observed, start.elapsed())
    }

    /// Most errors are MLX's before anything was computed, and leave nothing; an error that somebody dropped or that is held
    /// back is seen in what comes next. Whatever failed while it was computed, also in validation, may have made MLX lose
    /// count of its tasks, after some of which it hangs.
    fn is_fit_after(&self, cell: &Cell, outcome: &Outcome) -> bool {
        let left_nothing = match &outcome.evidence.ending {
            // What may end the process may also leave what no probe sees.
            Ending::Error { .. } if !cell.isolate => {
                matches!(catch_unwind(|| probe::same_as_before(&names)), Ok(Ok(())))
            }
            ending => ending.leaves_nothing_behind(),
        };
        left_nothing && graph::active_tasks() == 0
    }

    fn mutate(&self, cell: &Cell, bound: usize) -> Result<Mutated, String> {
        let seeded = catch_unwind(AssertUnwindSafe(|| seed_all(cell, bound)));
        seeded.unwrap_or_else(|panic| Err(format!("panic: {}", panic_message(panic.as_ref()))))
    }
}

/// The text of a panic, as the standard hook prints it.
fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().map(str::to_string);
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "no message".to_string())
}

fn observe(cell: &Cell) -> Observed {
    let ended = |ending| Observed {
        evidence: Evidence::ended(ending),
        ..Observed::default()
    };
    if cell.isolate && !faults_allowed() {
        let message =
            "it may end the process that runs it, so it only runs in a worker: run it without `--workers 0`";
        return ended(Ending::Invalid {
            message: message.to_owned(),
        });
    }
    flight::enter(Phase::Building);
    probe::remember(&names);
    let inputs = match Inputs::new(&cell.inputs) {
        Ok(inputs) => inputs,
        Err(error) => {
            let end = ending(TraceError::Model(error));
            return match (&end, probe::same_as_before(&names)) {
                (Ending::Refused { .. }, Err(harm)) => {
                    ended(Ending::error(format!("{end:?}, and then {harm}")))
                }
                _ => ended(end),
            };
        }
    };
    // A refusal must leave what it was given as it was, and the thread too.
    let unharmed = |end: &Ending| match end {
        Ending::Refused { .. } => inputs
            .unharmed(&cell.inputs)
            .and_then(|()| probe::same_as_before(&names)),
        _ => inputs.unharmed(&cell.inputs),
    };
    let refused = |end: Ending| match unharmed(&end) {
        Ok(()) => ended(end),
        Err(harm) => ended(Ending::error(format!("{end:?}, and then {harm}"))),
    };
    let mut trace = match capture(cell, Phase::Capturing, |_| Ok(inputs.clone())) {
        Ok(trace) => trace,
        Err(error @ TraceError::Model(_)) => {
            let mut observed = refused(ending(error));
            add_partial(cell, &inputs, &mut observed.evidence);
            return observed;
        }
        Err(error) => return refused(ending(error)),
    };
    // Only an evaluation that nobody waits for can leave one, and looking costs a tenth of a small cell.
    let unawaited = |evaluation: &Evaluation| evaluation.function() == "mlx_async_eval";
    let left = trace.evaluations().iter().any(unawaited);
    if let Some(message) = left.then(pending_error).flatten() {
        return ended(Ending::Pending { message });
    }
    // Some refusals come only when something is computed; asked a second time, MLX would hand out garbage.
    if let Err(error) = trace.evaluate() {
        return refused(Ending::error(format!("evaluating: {}", error.message)));
    }
    // Built and seeded anew, so that only the inputs differ.
    let comparison = match capture(cell, Phase::CapturingAgain, Inputs::nudged) {
        Ok(second) => compare_captures(&trace, &second),
        Err(error) => Comparison::without_second(&trace, &with_causes(&error)),
    };
    flight::enter(Phase::Validating);
    let status = validate(&trace).against(&trace, &comparison);
    let mut evidence = evidence(&trace, &status);
    evidence.unordered = cell.unordered;
    evidence.notes = [trace.notes(), comparison.notes().to_vec()].concat();
    let shown = shown(&trace);
    let values = match cell.expects_values() {
        true => match output_values(&trace) {
            Ok(values) => values,
            Err(message) => return ended(Ending::Invalid { message }),
        },
        false => Vec::new(),
    };
    if status.state() == State::Passed {
        evidence.mutant = match mutate::one(&mut trace, mutate::choice(&cell.id)) {
            Ok(attempt) => attempt.and_then(mutant_row),
            Err(error) => {
                return ended(Ending::Invalid {
                    message: error.to_string(),
                })
            }
        };
    }
    let reference = reference_of(cell, &trace, &values);
    Observed {
        evidence,
        values,
        reference,
        shown,
    }
}

/// What was recorded before the forward failed, and the call that did.
fn add_partial(cell: &Cell, inputs: &Inputs, evidence: &mut Evidence) {
    // What must not fail twice in one process is left alone.
    if cell.isolate || !matches!(evidence.ending, Ending::Error { .. }) {
        return;
    }
    let Some(trace) = Model::build(cell)
        .ok()
        .and_then(|mut model| model.partial(inputs).ok())
    else {
        return;
    };
    let ops = trace.ops();
    let labels: Vec<String> = ops.iter().map(Op::label).collect();
    evidence.ops = ops.iter().map(|op| plain_row(&trace, op, &labels)).collect();
    evidence.calls = trace.calls().len() as u64;
    if let Some(failed) = trace.failed_calls().last() {
        let read: Vec<String> = failed
            .operands
            .iter()
            .map(|value| {
                let giver = ops.iter().rev().find(|op| op.results().contains(value));
                giver.map_or_else(|| trace.describe(*value), Op::label)
            })
            .collect();
        let (function, read) = (failed.function, read.join(", "));
        evidence.notes.push(format!(
            "the forward failed in {function}, which was given {read}"
        ));
    }
}

/// The error that MLX holds back for this thread, if it does: what an evaluation left behind that nobody waited for. The
/// next thing that the thread evaluates gets it, here an addition that cannot fail by itself.
fn pending_error() -> Option<String> {
    let one = mlx_rs::Array::from_int(1);
    let error = mlx_rs::ops::add(&one, &one).and_then(|two| two.eval()).err()?;
    Some(
        ModelError::mlx("", &error)
            .to_string()
            .trim_start_matches(": ")
            .to_string(),
    )
}

/// What the outputs must equal, where the case asks for a reference.
fn reference_of(cell: &Cell, trace: &Trace, values: &[Data]) -> Reference {
    if !cell.expect.iter().any(|it| it.item.reference) {
        return Reference::None;
    }
    match reference::expected(cell, &names(), &seen(trace, values)) {
        Err(missing) => Reference::Missing {
            why: missing.to_string(),
        },
        Ok(Expected::Outputs(outputs)) => Reference::Expected(
            outputs
                .into_iter()
                .map(|(tensor, policy)| reference_output(&tensor, policy))
                .collect(),
        ),
        Ok(Expected::Relations(relations)) => Reference::Relations(
            relations
                .into_iter()
                .map(|(relation, policy)| ReferenceRelation {
                    what: relation.what,
                    found: relation.found.data(),
                    wanted: reference_output(&relation.wanted, policy),
                })
                .collect(),
        ),
    }
}

/// What the tables give names to.
pub(super) fn names() -> Names {
    Names {
        layers: layers::signatures(),
        functions: functions::signatures(),
        capabilities: CAPABILITIES,
        ..Names::default()
    }
}

/// What a reference may need of a trace: the outputs' elements and the parameters'.
fn seen(trace: &Trace, values: &[Data]) -> Seen {
    let spec = |value: ValueId, data: Data| {
        let value = trace.value(value);
        Some(ArraySpec {
            dtype: DType::named(dtype_name(value.dtype()))?,
            shape: value.shape().to_vec(),
            view: View::Plain,
            source: Source::Values(data),
            given_as: GivenAs::default(),
        })
    };
    let outputs = trace.outputs().iter().zip(values);
    let parameters = trace.parameters().iter().filter_map(|(address, value)| {
        let data = data_of(trace.value(*value).payload()?).ok()?;
        Some((address.to_string(), spec(*value, data)?))
    });
    Seen {
        outputs: outputs
            .filter_map(|(output, data)| spec(output.value(), data.clone()))
            .collect(),
        parameters: parameters.collect(),
    }
}

fn reference_output(tensor: &Tensor, policy: Policy) -> ReferenceOutput {
    ReferenceOutput {
        shape: tensor.shape().iter().map(|extent| *extent as i32).collect(),
        dtype: tensor.dtype,
        data: tensor.data(),
        policy,
    }
}

fn capture(
    cell: &Cell,
    phase: Phase,
    inputs: impl FnOnce(&IndexMap<String, Input>) -> Result<Inputs, ModelError>,
) -> Result<Trace, TraceError<ModelError>> {
    flight::enter(Phase::Building);
    let inputs = inputs(&cell.inputs).map_err(TraceError::Model)?;
    let mut model = Model::build(cell).map_err(TraceError::Model)?;
    flight::enter(phase);
    let trace = model.capture(&inputs)?;
    match cell.session.reload {
        true => reloaded(&trace).map_err(TraceError::Model),
        false => Ok(trace),
    }
}

/// The trace as it comes back from where it was saved.
fn reloaded(trace: &Trace) -> Result<Trace, ModelError> {
    let told = |doing: &str, message: String| ModelError::Mlx {
        doing: doing.to_string(),
        message,
    };
    let folder = tempfile::tempdir().map_err(|error| told("saving the trace", error.to_string()))?;
    let path = folder.path().join("trace");
    trace
        .save(&path)
        .map_err(|error| told("saving the trace", error.to_string()))?;
    Trace::load(&path).map_err(|error| told("loading the trace", error.to_string()))
}

/// The trace of a cell, captured in this process.
///
/// # Errors
///
/// What a person should know of why there is none.
pub fn trace_of(cell: &Cell) -> Result<Trace, String> {
    if cell.isolate {
        return Err("it may end the process that runs it".to_string());
    }
    let captured = catch_unwind(AssertUnwindSafe(|| capture(cell, Phase::Capturing, Inputs::new)));
    match captured {
        Ok(captured) => captured.map_err(|error| with_causes(&error)),
        Err(panic) => Err(panic_message(panic.as_ref())),
    }
}

fn ending(error: TraceError<ModelError>) -> Ending {
    match error {
        TraceError::Capture(CaptureError::Unsupported(refusal))
        | TraceError::Model(ModelError::Refused(refusal)) => Ending::Refused {
            code: refusal.code,
            capability: refusal.capability.to_string(),
            message: refusal.message,
            remedy: refusal.remedy.to_string(),
        },
        other => Ending::error(with_causes(&other)),
    }
}

/// An error with what caused it.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        message.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    message
}

/// How many elements the reports read of one result: beyond that its shape must do.
const MOST_READ: usize = 1 << 16;

/// The ops' results by label, in words.
fn shown(trace: &Trace) -> BTreeMap<String, String> {
    let ops = trace.ops();
    let each = ops.iter().filter_map(|op| {
        let results: Vec<String> = op
            .results()
            .iter()
            .filter_map(|value| trace.value(*value).payload())
            .filter(|array| array.size() <= MOST_READ)
            .filter_map(|array| Some(elements::summary(&data_of(array).ok()?)))
            .collect();
        (!results.is_empty()).then(|| (op.label(), results.join("; ")))
    });
    each.collect()
}

fn output_values(trace: &Trace) -> Result<Vec<Data>, String> {
    trace
        .outputs()
        .iter()
        .map(|output| match trace.value(output.value()).payload() {
            Some(array) => data_of(array).map_err(|error| error.to_string()),
            None => Err("the outputs' payloads were not kept, so their values cannot be judged".to_string()),
        })
        .collect()
}

/// What became of the mutant of a run; an equivalent one is no mutant.
fn mutant_row(attempt: mutate::Attempt) -> Option<MutantRow> {
    Some(MutantRow {
        name: attempt.fault.name().to_string(),
        op: attempt.op,
        fate: match attempt.fate {
            mutate::Fate::Killed(reason) => Fate::Killed(reason),
            mutate::Fate::Misnamed(reason) => Fate::Misnamed(reason),
            mutate::Fate::Survived => Fate::Survived,
            mutate::Fate::Equivalent(_) => return None,
        },
    })
}

/// Seeds every kind of fault in a cell whose trace passes; others have no mutants.
fn seed_all(cell: &Cell, bound: usize) -> Result<Mutated, String> {
    // What ends the process has no trace to seed faults in.
    if cell.isolate {
        return Ok(Mutated::default());
    }
    // Nor has what panics: cells may expect it.
    let captured = catch_unwind(AssertUnwindSafe(|| capture(cell, Phase::Capturing, Inputs::new)));
    let Ok(Ok(mut trace)) = captured else {
        return Ok(Mutated::default());
    };
    if validate(&trace).state() != State::Passed {
        return Ok(Mutated::default());
    }
    let report =
        mutate::all(&mut trace, bound, mutate::choice(&cell.id)).map_err(|error| error.to_string())?;
    Ok(Mutated {
        mutants: report
            .attempts
            .into_iter()
            .map(|attempt| Mutation {
                fault: attempt.fault.name(),
                call: trace
                    .calls()
                    .get(attempt.call.index())
                    .map_or("", |call| call.function().name),
                place: attempt.call.index(),
                op: attempt.op.clone(),
                equivalent: match &attempt.fate {
                    mutate::Fate::Equivalent(proof) => Some(proof.clone()),
                    _ => None,
                },
                row: mutant_row(attempt),
            })
            .collect(),
        left_out: report.left_out.values().sum(),
    })
}
