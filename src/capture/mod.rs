//! Recording what an MLX program computes.
//!
//! A [`Session`] watches one thread while a forward runs, through the observer of `mlx-sys`, and gives a [`Trace`]:
//! values, calls, scopes, modules, parameters, constants and evaluations, in single-assignment form. [`trace`] does
//! it for any [`Module`](mlx_rs::module::Module). Nothing here knows of cases or verdicts.

mod argument;
mod beside;
mod call;
pub mod containers;
mod error;
mod evaluation;
pub mod given;
mod inputs;
mod inside;
mod intervention;
mod kept;
mod module;
mod op;
mod parting;
mod policy;
mod recorder;
mod scope;
mod session;
mod stack;
mod tables;
mod trace;
mod transform;
mod value;

pub use argument::{Recorded, StreamKey};
pub use beside::{stand_beside, Bystander};
pub use call::{Call, CallId};
pub use error::{BackendUnsupportedError, CaptureError, TraceError};
pub use evaluation::{Evaluation, EvaluationKind};
pub use given::Given;
pub use inputs::{CaptureInputs, CaptureOutputs};
pub use intervention::{Edit, EditFunction, Replacement, Selector};
pub use module::{class_name, ModuleRecord};
pub use op::{Op, OpKind};
pub use parting::{Apart, Difference};
pub use policy::{unwrapped_policy, CompilePolicy, PayloadPolicy, UnwrappedPolicy};
pub use scope::{function_scope, module_scope, Scope, ScopeId, ScopeKind, Scoped};
pub(crate) use session::Named;
pub use session::{trace, Attempt, End, Session};
pub(crate) use stack::Named as StackNames;
pub use stack::SourceLine;
pub(crate) use tables::Tables;
pub use trace::{Closure, FailedCall, Output, Trace, Unwrapped};
pub use transform::{Captured, Primitive, Source, Transform};
pub use value::{Origin, Shape, Value, ValueId};
