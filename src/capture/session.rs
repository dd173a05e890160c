//! Sessions: one capture on one thread.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use mlx_rs::module::{Module, ModuleParamRef, ModuleParameters};
use mlx_rs::nested::NestedValue;
use mlx_rs::Array;
use mlx_sys::observe;
use smallvec::SmallVec;

use super::beside::with_bystander;
use super::error::{BackendUnsupportedError, CaptureError, TraceError};
use super::inputs::{CaptureInputs, CaptureOutputs};
use super::intervention::{Edit, Interventions, Selector};
use super::module::class_name;
use super::policy::{default_unwrapped_policy, PayloadPolicy, UnwrappedPolicy};
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
    /// selector that matches nothing with one of code `selector_without_match`.
    pub fn intervene(mut self, at: Selector, edit: Edit) -> Self {
        self.interventions.plan(at, edit);
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

    /// Runs `forward` and records it. `inputs` names the arrays that count as inputs.
    ///
    /// An error or panic of the forward reaches the caller unchanged, and leaves nothing behind.
    ///
    /// # Errors
    ///
    /// [`TraceError::Model`] is the forward's own error. [`TraceError::Capture`]: a capture is under way on this
    /// thread already (`nested_capture`), an operation was not seen under [`UnwrappedPolicy::Refuse`]
    /// (`unwrapped_op_in_capture`), or MLX's graph could not be read.
    pub fn run<T, E>(
        self,
        inputs: &(impl CaptureInputs + ?Sized),
        forward: impl FnOnce() -> Result<T, E>,
    ) -> Result<(Trace, T), TraceError<E>>
    where
        T: CaptureOutputs,
    {
        let recorder = Rc::new(Recorder::new(self.payloads, self.hidden, self.interventions));
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
        let result = {
            let _watch = Watch::start(&recorder)?;
            forward().map_err(TraceError::Model)?
        };
        let mut outputs = Vec::new();
        result.visit_outputs("", &mut |path, array| {
            outputs.extend(recorder.state().output(array).map(|value| Output { path, value }));
        });
        // Only the watch held another handle, and it is gone.
        let state = match Rc::try_unwrap(recorder) {
            Ok(recorder) => recorder.into_state(),
            Err(shared) => std::mem::take(&mut *shared.state()),
        };
        let policy = self.unwrapped.unwrap_or_else(default_unwrapped_policy);
        let trace = finish(state, policy, input_values, parameters, outputs, self.declared)?;
        Ok((trace, result))
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
    let session = Session::new().module(model);
    // The inputs go into the forward by value, so their arrays are shared first: the session needs to name them.
    let mut shared = Vec::new();
    inputs.visit_inputs("", &mut |path, array| shared.push((path, array.clone())));
    let (trace, _output) = session.run(&Named(shared), || model.forward(inputs))?;
    Ok(trace)
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

fn finish(
    mut state: State,
    policy: UnwrappedPolicy,
    inputs: Vec<ValueId>,
    parameters: Vec<(Arc<str>, ValueId)>,
    outputs: Vec<Output>,
    declared: Vec<(String, String)>,
) -> Result<Trace, CaptureError> {
    state.forget_identities();
    if let Some(error) = state.failure.take() {
        return Err(error.into());
    }
    if let Some(refusal) = state.interventions.refusal() {
        return Err(refusal.into());
    }
    let model = declared.iter().find(|(address, _)| address.is_empty());
    let named = match &state.stacks {
        Some((calls, evaluations)) => {
            let lines = stack::lines(evaluations, state.evaluations.len());
            for (evaluation, line) in state.evaluations.iter_mut().zip(lines) {
                evaluation.source = line;
            }
            let Tables {
                values,
                calls: recorded,
                ..
            } = &mut state.tables;
            let class = model.map(|(_, class)| class.as_str());
            stack::name(calls, recorded, values, &mut state.scopes, class)
        }
        None => stack::Named::default(),
    };
    let trace = Trace {
        named,
        tables: state.tables,
        scopes: state.scopes,
        parameters,
        declared,
        modules: OnceCell::new(),
        inputs,
        outputs,
        evaluations: state.evaluations,
        closures: state.closures,
        unwrapped: state.unwrapped,
        replacements: state.replacements,
        payloads: state.payloads,
        thread: std::thread::current().id(),
        lazy: state.lazy,
    };
    for warning in trace.warnings() {
        if policy == UnwrappedPolicy::Refuse {
            return Err(BackendUnsupportedError::new(RefusalCode::UnwrappedOpInCapture, warning).into());
        }
        log::warn!("{warning}");
    }
    Ok(trace)
}
