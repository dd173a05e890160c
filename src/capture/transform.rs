//! Transforms: what happened inside a call that ran a closure on arrays of MLX's own making.
//!
//! To the forward around it `grad`, `value_and_grad`, `vjp` and `jvp` are one call. Inside, the closure's own forward is a
//! trace like any other, and what MLX added to it for the derivative is read from MLX's graph once the call is over.

use super::call::CallId;
use super::trace::Trace;
use super::value::ValueId;
use crate::graph::{Page, Subgraph};

/// The inside of one call that ran a closure.
#[derive(Debug)]
pub struct Transform {
    pub(super) call: CallId,
    pub(super) forward: Trace,
    pub(super) captured: Vec<Captured>,
    pub(super) derivative: Option<Page>,
}

/// An array of the forward around it that a closure used beside its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Captured {
    /// The value inside, a constant there.
    pub inside: ValueId,
    /// The value outside.
    pub outside: ValueId,
}

impl Transform {
    /// The call, in the trace around.
    pub fn call(&self) -> CallId {
        self.call
    }

    /// The closure's own forward. Its inputs are what MLX gave the closure, named after what the call was given.
    pub fn forward(&self) -> &Trace {
        &self.forward
    }

    /// What the closure used beside its arguments.
    pub fn captured(&self) -> &[Captured] {
        &self.captured
    }

    /// The primitives of the derivative, over the values of [`forward`](Self::forward): the program that leads from them
    /// to the call's results. `None` for a compiled function.
    pub fn derivative(&self) -> Option<Subgraph<'_>> {
        self.derivative.map(|page| self.forward.tables.book.open(page))
    }
}
