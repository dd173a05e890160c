//! Scopes: where a call happened.

use mlx_rs::module::{Module, ModuleParamMut, ModuleParamRef, ModuleParameters};
use serde::{Deserialize, Serialize};

use super::inputs::CaptureOutputs;
use super::module::class_name;
use super::session::with_active;
use super::value::ValueId;

/// A scope's number in its trace. Each entry is a scope of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ScopeId(pub(crate) u32);

impl ScopeId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// One entry into a module or a named function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    pub(crate) parent: Option<ScopeId>,
    pub(crate) kind: ScopeKind,
    pub(crate) address: String,
    pub(crate) call: u32,
    pub(crate) returned: Vec<ValueId>,
    /// How many calls had been recorded when it was entered.
    pub(crate) first_call: usize,
    /// Whether the address is only that of the module around: where it lies itself is not known.
    pub(crate) anonymous: bool,
}

/// What was entered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScopeKind {
    /// A module, by its class.
    Module(String),
    /// A container of modules, by its class: never an op of its own.
    Container(String),
    /// A named function.
    Function(String),
}

impl Scope {
    /// The scope around it.
    pub fn parent(&self) -> Option<ScopeId> {
        self.parent
    }

    /// What was entered.
    pub fn kind(&self) -> &ScopeKind {
        &self.kind
    }

    /// The address of the module, or of the module around the function.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Which call of that module it is, from 1.
    pub fn call(&self) -> u32 {
        self.call
    }

    /// The recorded values that a module's forward returned.
    pub fn returned(&self) -> &[ValueId] {
        &self.returned
    }
}

/// Leaves a scope when dropped, also by a panic.
pub(crate) struct Entered;

impl Drop for Entered {
    fn drop(&mut self) {
        with_active(|recorder| recorder.leave());
    }
}

/// Enters a scope of this thread's session, if there is one; `step` leads from the address around to this one.
pub(crate) fn enter(kind: ScopeKind, step: Option<&str>) -> Option<Entered> {
    let entered = with_active(|recorder| {
        let heeded = !recorder.state().ignore_scopes;
        heeded.then(|| recorder.enter(kind, step))
    });
    entered.flatten().map(|()| Entered)
}

/// Runs `f` in a scope with a function's name: its calls are one op with that name.
pub fn function_scope<T>(name: &str, f: impl FnOnce() -> T) -> T {
    let _entered = enter(ScopeKind::Function(name.to_string()), None);
    f()
}

/// Runs `f` in a scope of any kind, `step` leading to a module from the one around, and notes what it returns: what a
/// module gave back, and what an intervention may replace.
///
/// # Errors
///
/// Those of `f`.
pub fn module_scope<T: CaptureOutputs, E>(
    kind: ScopeKind,
    step: Option<&str>,
    f: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    let names_an_op = matches!(kind, ScopeKind::Module(_) | ScopeKind::Function(_));
    let _entered = enter(kind, step);
    let output = f()?;
    if names_an_op {
        with_active(|recorder| output.visit_outputs("", &mut |_, array| recorder.returned(array)));
    }
    Ok(output)
}

/// A module that names its calls: they are one op, called after the module's class, unless modules inside it name
/// theirs.
///
/// The class comes from the type's name. The address comes from the containers around it; see [`Scoped::at`] for
/// a module in a structure of one's own.
#[derive(Debug, Clone)]
pub struct Scoped<M> {
    inner: M,
    class: String,
    step: Option<String>,
}

impl<M> Scoped<M> {
    /// Wraps a module.
    pub fn new(inner: M) -> Self {
        Self {
            inner,
            class: class_name::<M>(),
            step: None,
        }
    }

    /// With the step that leads to it from the module around: a field's name.
    pub fn at(mut self, step: impl Into<String>) -> Self {
        self.step = Some(step.into());
        self
    }

    /// The module.
    pub fn inner(&self) -> &M {
        &self.inner
    }

    /// The module.
    pub fn inner_mut(&mut self) -> &mut M {
        &mut self.inner
    }
}

impl<M, I> Module<I> for Scoped<M>
where
    M: Module<I>,
    M::Output: CaptureOutputs,
{
    type Output = M::Output;
    type Error = M::Error;

    fn forward(&mut self, input: I) -> Result<Self::Output, Self::Error> {
        module_scope(
            ScopeKind::Module(self.class.clone()),
            self.step.as_deref(),
            || self.inner.forward(input),
        )
    }

    fn training_mode(&mut self, mode: bool) {
        self.inner.training_mode(mode);
    }
}

/// Implements `ModuleParameters` by what lies inside.
macro_rules! parameters_of {
    ([$($generics:tt)*] $name:ty => $($field:tt).+) => {
        impl<$($generics)*> ModuleParameters for $name {
            fn num_parameters(&self) -> usize {
                self.$($field).+.num_parameters()
            }

            fn parameters(&self) -> ModuleParamRef<'_> {
                self.$($field).+.parameters()
            }

            fn parameters_mut(&mut self) -> ModuleParamMut<'_> {
                self.$($field).+.parameters_mut()
            }

            fn trainable_parameters(&self) -> ModuleParamRef<'_> {
                self.$($field).+.trainable_parameters()
            }

            fn freeze_parameters(&mut self, recursive: bool) {
                self.$($field).+.freeze_parameters(recursive);
            }

            fn unfreeze_parameters(&mut self, recursive: bool) {
                self.$($field).+.unfreeze_parameters(recursive);
            }

            fn all_frozen(&self) -> Option<bool> {
                self.$($field).+.all_frozen()
            }

            fn any_frozen(&self) -> Option<bool> {
                self.$($field).+.any_frozen()
            }
        }
    };
}
parameters_of!([M: ModuleParameters] Scoped<M> => inner);
