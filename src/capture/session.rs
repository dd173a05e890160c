//! Sessions: one capture on one thread.

use std::any::Any;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::rc::Rc;
use std::sync::Arc;

use mlx_rs::module::{Module, ModuleParamRef, ModuleParameters};
use mlx_rs::nested::NestedValue;
use mlx_rs::{with_stream, Array, Stream};
use mlx_sys::observe;
use smallvec::SmallVec;

use super::beside::with_bystander;
use super::error::{BackendUnsupportedError, CaptureError, TraceError};
use super::inputs::{CaptureInputs, CaptureOutputs};
use super::intervention::{Edit, Interventions, Selector};
use super::kept;
use super::module::class_name;
use super::policy::{default_unwrapped_policy, CompilePolicy, PayloadPolicy, UnwrappedPolicy};
use super::recorder::{Recorder, State};
use super::stack::{self, Stacks};
use super::tables::Tables;
use super::trace::{Output, Trace};
use super::value::{Origin, ValueId};
use crate::capability::RefusalCode;

thread_local! {
    static ACTIVE: RefCell<Option<Rc<Recorder>>> = const { RefCell::new(None) };
}

/// Runs `f` with this thread's recorder, if a session is under way.
pub(crate) fn with_active<T>(f: impl FnOnce(&Recorder) -> T) -> Option<T> {
    let recorder = ACTIVE.with_borrow(Clone::clone)?;
    Some(f(&recorder))
}

/// One capture to come: what to do about unseen operations, what to keep, which parameters to name.
///
/// ```
/// use mlx_assay::Session;
/// use mlx_rs::{ops, Array};
///
/// let x = Array::from_slice(&[1.0_f32, 2.0, 3.0], &[3]);
/// let (trace, y) = Session::new().run(&x, || ops::exp(&x))?;
/// let names: Vec<_> = trace.ops().iter().map(|op| op.func_name().to_string()).collect();
/// assert_eq!(names, ["input", "exp"]);
/// assert_eq!(y.shape(), [3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Session {
    unwrapped: Option<UnwrappedPolicy>,
    payloads: PayloadPolicy,
    hidden: Vec<String>,
    parameters: Vec<(Arc<str>, Array)>,
    declared: Vec<(String, String)>,
    interventions: Interventions,
    without_stacks: bool,
    ignore_scopes: bool,
    compile: CompilePolicy,
    stream: Option<Stream>,
}

/// What became of a forward that was recorded, whether it came to its end or not.
#[derive(Debug)]
pub struct Attempt<T, E> {
    /// The record, up to where the forward ended; its last [failed call](Trace::failed_calls) is the op that failed. An
    /// error where the capture was refused.
    pub trace: Result<Trace, CaptureError>,
    /// How the forward ended.
    pub end: End<T, E>,
}

/// How a forward ended.
pub enum End<T, E> {
    /// With a result.
    Returned(T),
    /// With its own error.
    Failed(E),
    /// With a panic, whose payload this is.
    Panicked(Box<dyn Any + Send>),
}

impl<T, E: fmt::Debug> fmt::Debug for End<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Returned(_) => f.write_str("Returned(..)"),
            Self::Failed(error) => f.debug_tuple("Failed").field(error).finish(),
            Self::Panicked(_) => f.write_str("Panicked(..)"),
        }
    }
}

impl Session {
    /// A session with the thread's policies.
    pub fn new() -> Self {
        Self::default()
    }

    /// With a policy for unseen operations of its own.
    pub fn unwrapped(mut self, policy: UnwrappedPolicy) -> Self {
        self.unwrapped = Some(policy);
        self
    }

    /// With a payload policy.
    pub fn payloads(mut self, policy: PayloadPolicy) -> Self {
        self.payloads = policy;
        self
    }

    /// With mlx-c functions that are not recorded. A seam for tests: what an incomplete surface does to a trace.
    pub fn hide(mut self, functions: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.hidden.extend(functions.into_iter().map(Into::into));
        self
    }

    /// With the results of some ops replaced while the forward runs; what follows reads the replacement. The record keeps
    /// both: see [`Trace::replacements`].
    ///
    /// An edit that does not fit ends the capture with a [`BackendUnsupportedError`] of code `intervention_mismatch`, a
    /// selector that matches nothing with one of code `selector_without_match`, and one that means an op inside a transform's
    /// closure with one of code `intervention_inside_transform`.
    pub fn intervene(mut self, at: Selector, edit: Edit) -> Self {
        self.interventions.plan(at, Some(edit));
        self
    }

    /// With compiled functions run as this says; as their operations, if nothing is said.
    pub fn compile(mut self, policy: CompilePolicy) -> Self {
        self.compile = policy;
        self
    }

    /// With the forward's operations on this stream, where they name none themselves.
    ///
    /// A stream that could not be made, such as one of a GPU on a build for the CPU, ends the capture before it begins, with
    /// the code `gpu_unavailable`.
    pub fn stream(mut self, stream: Stream) -> Self {
        self.stream = Some(stream);
        self
    }

    /// Whether the call stack of each call is taken down, which names ops and gives them source lines where nothing else
    /// does, and costs a few microseconds a call; it is if nothing is said.
    pub fn call_stacks(mut self, taken: bool) -> Self {
        self.without_stacks = !taken;
        self
    }

    /// Without regard to scopes that the forward enters: ops get their names from call stacks alone, as in code that
    /// nobody touched.
    pub fn ignore_scopes(mut self) -> Self {
        self.ignore_scopes = true;
        self
    }

    /// With a module's parameters, by mlx-rs's addresses, and its class as the model's own.
    pub fn module<M: ModuleParameters + ?Sized>(self, module: &M) -> Self {
        self.parameters_at("", module.parameters())
            .declare_module("", class_name::<M>())
    }

    /// With the parameters of one more module, under an address.
    pub fn module_at<M: ModuleParameters + ?Sized>(self, address: &str, module: &M) -> Self {
        self.parameters_at(address, module.parameters())
    }

    /// With parameters under an address: what [`ModuleParameters::parameters`] gives.
    pub fn parameters_at(mut self, address: &str, parameters: ModuleParamRef<'_>) -> Self {
        flatten(
            &mut address.to_string(),
            &parameters.entries,
            &mut self.parameters,
        );
        self
    }

    /// With the class of the module at an address, so that it has a record even if it is never called; the empty
    /// address is the model itself.
    pub fn declare_module(mut self, address: impl Into<String>, class: impl Into<String>) -> Self {
        self.declared.push((address.into(), class.into()));
        self
    }

    /// Records the forward of a module, with its parameters and class: [`trace`] with this session's policies.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn trace<M, I>(self, model: &mut M, inputs: I) -> Result<Trace, TraceError<M::Error>>
    where
        M: Module<I>,
        I: CaptureInputs,
        M::Output: CaptureOutputs,
    {
        let session = self.module(model);
        // The inputs go into the forward by value, so their arrays are shared first: the session needs to name them.
        let mut shared = Vec::new();
        inputs.visit_inputs("", &mut |path, array| shared.push((path, array.clone())));
        let (trace, _output) = session.run(&Named(shared), || model.forward(inputs))?;
        Ok(trace)
    }

    /// Runs `forward` and records it. `inputs` names the arrays that count as inputs.
    ///
    /// An error or panic of the forward reaches the caller unchanged, and leaves nothing behind.
    ///
    /// # Errors
    ///
    /// [`TraceError::Model`] is the forward's own error. [`TraceError::Capture`]: the capture was refused, with a code
    /// ([`RefusalCode`] lists them), or MLX's graph could not be read.
    pub fn run<T, E>(
        self,
        inputs: &(impl CaptureInputs + ?Sized),
        forward: impl FnOnce() -> Result<T, E>,
    ) -> Result<(Trace, T), TraceError<E>>
    where
        T: CaptureOutputs,
    {
        let Attempt { trace, end } = self.attempt(inputs, forward)?;
        match (end, trace) {
            (End::Returned(result), trace) => Ok((trace?, result)),
            // The forward met an error because one of its calls was refused.
            (_, Err(CaptureError::Unsupported(refusal))) => Err(CaptureError::Unsupported(refusal).into()),
            (End::Failed(error), _) => Err(TraceError::Model(error)),
            (End::Panicked(payload), _) => resume_unwind(payload),
        }
    }

    /// Runs `forward` until an op is over, and records it: no operation after that runs. The outputs are what the op
    /// made.
    ///
    /// The forward meets an error at its next call, or a panic where an operator makes one of it; neither reaches the
    /// caller.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run); an op that never comes is refused with the code `selector_without_match`.
    pub fn run_until<T, E>(
        mut self,
        after: Selector,
        inputs: &(impl CaptureInputs + ?Sized),
        forward: impl FnOnce() -> Result<T, E>,
    ) -> Result<Trace, TraceError<E>>
    where
        T: CaptureOutputs,
    {
        self.interventions.plan(after, None);
        let Attempt { trace, end } = self.attempt(inputs, forward)?;
        match (trace, end) {
            (Ok(trace), _) if trace.is_halted() => Ok(trace),
            (trace, End::Returned(_)) => Ok(trace?),
            (Err(CaptureError::Unsupported(refusal)), _) => Err(CaptureError::Unsupported(refusal).into()),
            (_, End::Failed(error)) => Err(TraceError::Model(error)),
            (_, End::Panicked(payload)) => resume_unwind(payload),
        }
    }

    /// Runs `forward` and records it as far as it goes: what an error or a panic leaves is there to be looked at.
    ///
    /// # Errors
    ///
    /// The capture could not begin.
    pub fn attempt<T, E>(
        self,
        inputs: &(impl CaptureInputs + ?Sized),
        forward: impl FnOnce() -> Result<T, E>,
    ) -> Result<Attempt<T, E>, CaptureError>
    where
        T: CaptureOutputs,
    {
        if self
            .stream
            .as_ref()
            .is_some_and(|stream| stream.as_ptr().ctx.is_null())
        {
            let message = "the stream to capture on is one that this build of MLX cannot make";
            return Err(BackendUnsupportedError::new(RefusalCode::GpuUnavailable, message).into());
        }
        let recorder = Rc::new(Recorder::new(State {
            // Which ops are chosen is known when all of them are.
            payloads: match &self.payloads {
                PayloadPolicy::Ops(_) => PayloadPolicy::All,
                other => other.clone(),
            },
            hidden: self.hidden,
            interventions: self.interventions,
            compile: self.compile,
            ..State::default()
        }));
        let mut input_values = Vec::new();
        inputs.visit_inputs("", &mut |path, array| {
            input_values.extend(recorder.state().declare(array.clone(), Origin::Input { path }));
        });
        let mut parameters = Vec::with_capacity(self.parameters.len());
        for (address, array) in self.parameters {
            let origin = Origin::Parameter {
                address: address.clone(),
            };
            if let Some(value) = recorder.state().declare(array, origin) {
                parameters.push((address, value));
            }
        }
        recorder.state().ignore_scopes = self.ignore_scopes;
        let here = std::hint::black_box(0_u8);
        if !self.without_stacks {
            recorder.state().stacks = Some((Stacks::below(&here), Stacks::below(&here)));
        }
        let end = {
            let _watch = Watch::start(&recorder)?;
            // Nothing that the forward leaves half done is used here but the record, which is whole after each call.
            catch_unwind(AssertUnwindSafe(|| match &self.stream {
                Some(stream) => with_stream(stream, forward),
                None => forward(),
            }))
        };
        let end = match end {
            Ok(Ok(result)) => End::Returned(result),
            Ok(Err(error)) => End::Failed(error),
            Err(payload) => End::Panicked(payload),
        };
        let mut outputs = Vec::new();
        if let End::Returned(result) = &end {
            result.visit_outputs("", &mut |path, array| {
                outputs.extend(recorder.state().output(array).map(|value| Output { path, value }));
            });
        }
        // Only the watch held another handle, and it is gone.
        let state = match Rc::try_unwrap(recorder) {
            Ok(recorder) => recorder.into_state(),
            Err(shared) => std::mem::take(&mut *shared.state()),
        };
        let asked = Asked {
            policy: self.unwrapped.unwrap_or_else(default_unwrapped_policy),
            has_returned: matches!(end, End::Returned(_)),
            kept: match self.payloads {
                PayloadPolicy::Ops(chosen) => Some(chosen),
                PayloadPolicy::All | PayloadPolicy::None => None,
            },
        };
        let trace = finish(state, asked, input_values, parameters, outputs, self.declared);
        Ok(Attempt { trace, end })
    }
}

/// mlx-rs's own flattening formats a text at every level; on a small model that is most of what a capture costs.
///
/// Each level in the order of its names: mlx-rs keeps parameters in hash maps, whose order differs from run to run.
fn flatten(
    path: &mut String,
    entries: &HashMap<Rc<str>, NestedValue<Rc<str>, &Array>>,
    found: &mut Vec<(Arc<str>, Array)>,
) {
    let mut sorted: SmallVec<[_; 8]> = entries.iter().collect();
    sorted.sort_unstable_by_key(|(name, _)| *name);
    let length = path.len();
    for (name, value) in sorted {
        if length > 0 {
            path.push('.');
        }
        path.push_str(name);
        match value {
            NestedValue::Value(array) => found.push((path.as_str().into(), (*array).clone())),
            NestedValue::Map(entries) => flatten(path, entries, found),
        }
        path.truncate(length);
    }
}

/// Records the forward of a module.
///
/// # Errors
///
/// As [`Session::run`].
pub fn trace<M, I>(model: &mut M, inputs: I) -> Result<Trace, TraceError<M::Error>>
where
    M: Module<I>,
    I: CaptureInputs,
    M::Output: CaptureOutputs,
{
    Session::new().trace(model, inputs)
}

/// Arrays whose paths are known.
pub(crate) struct Named(pub(crate) Vec<(String, Array)>);

impl CaptureInputs for Named {
    fn visit_inputs(&self, _path: &str, found: &mut dyn FnMut(String, &Array)) {
        for (path, array) in &self.0 {
            found(path.clone(), array);
        }
    }
}

impl CaptureOutputs for Named {
    fn visit_outputs(&self, _path: &str, found: &mut dyn FnMut(String, &Array)) {
        for (path, array) in &self.0 {
            found(path.clone(), array);
        }
    }
}

/// Keeps a recorder installed; dropping it, also by a panic, leaves the thread as it was.
struct Watch {
    _guard: observe::Guard,
}

impl Watch {
    fn start(recorder: &Rc<Recorder>) -> Result<Self, CaptureError> {
        let observer = with_bystander(recorder.clone());
        let guard = observe::install(observer).map_err(|_| {
            let message = "a capture is under way on this thread already";
            BackendUnsupportedError::new(RefusalCode::NestedCapture, message)
        })?;
        ACTIVE.set(Some(recorder.clone()));
        Ok(Self { _guard: guard })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        ACTIVE.set(None);
    }
}

/// What decides whether a record is handed out.
struct Asked {
    policy: UnwrappedPolicy,
    /// Whether the forward came to its end; what it did not come to cannot be missed.
    has_returned: bool,
    /// The ops whose payloads are kept, where they are chosen.
    kept: Option<Vec<Selector>>,
}

fn finish(
    mut state: State,
    asked: Asked,
    inputs: Vec<ValueId>,
    parameters: Vec<(Arc<str>, ValueId)>,
    mut outputs: Vec<Output>,
    declared: Vec<(String, String)>,
) -> Result<Trace, CaptureError> {
    state.forget_identities();
    if let Some(refusal) = state.refusal.take() {
        return Err(refusal.into());
    }
    if let Some(error) = state.failure.take() {
        return Err(error.into());
    }
    let halted = state.interventions.is_halted();
    if let Some(refusal) = state.interventions.inside(&state.transforms) {
        return Err(refusal.into());
    }
    if let Some(refusal) = state.interventions.refusal(asked.has_returned) {
        return Err(refusal.into());
    }
    if halted {
        outputs = numbered(&state.halted_with);
    }
    let mut trace = Trace {
        halted,
        ..state.into_trace(inputs, parameters, outputs, declared)
    };
    for warning in trace.warnings() {
        // A forward that failed has an error of its own to tell.
        if asked.policy == UnwrappedPolicy::Refuse && (asked.has_returned || halted) {
            return Err(BackendUnsupportedError::new(RefusalCode::UnwrappedOpInCapture, warning).into());
        }
        log::warn!("{warning}");
    }
    if let Some(chosen) = asked.kept {
        // What a forward that failed did not come to cannot be missed.
        let ended = asked.has_returned || halted;
        if let Some(refusal) = kept::refusal(&trace, &chosen).filter(|_| ended) {
            return Err(refusal.into());
        }
        kept::keep(&mut trace, chosen);
    }
    Ok(trace)
}

/// Outputs without a structure: the only one has no path, several have their places.
fn numbered(values: &[ValueId]) -> Vec<Output> {
    let path = |place: usize| match values.len() {
        1 => String::new(),
        _ => place.to_string(),
    };
    let output = |(place, value): (usize, &ValueId)| Output {
        path: path(place),
        value: *value,
    };
    values.iter().enumerate().map(output).collect()
}

impl State {
    /// The record that a state holds; its arrays are not looked up any more.
    pub(super) fn into_trace(
        mut self,
        inputs: Vec<ValueId>,
        parameters: Vec<(Arc<str>, ValueId)>,
        outputs: Vec<Output>,
        declared: Vec<(String, String)>,
    ) -> Trace {
        let model = declared.iter().find(|(address, _)| address.is_empty());
        let named = match &self.stacks {
            Some((calls, evaluations)) => {
                let lines = stack::lines(evaluations, self.evaluations.len());
                for (evaluation, line) in self.evaluations.iter_mut().zip(lines) {
                    evaluation.source = line;
                }
                let Tables {
                    values,
                    calls: recorded,
                    ..
                } = &mut self.tables;
                let class = model.map(|(_, class)| class.as_str());
                stack::name(calls, recorded, values, &mut self.scopes, class)
            }
            None => stack::Named::default(),
        };
        Trace {
            named,
            tables: self.tables,
            scopes: self.scopes,
            parameters,
            declared,
            modules: OnceCell::new(),
            inputs,
            outputs,
            evaluations: self.evaluations,
            closures: self.closures,
            compile: self.compile,
            transforms: self.transforms,
            failed: self.failed,
            halted: false,
            unwrapped: self.unwrapped,
            replacements: self.replacements,
            payloads: self.payloads,
            thread: std::thread::current().id(),
            lazy: self.lazy.into_keys().collect(),
            loaded: false,
        }
    }
}
