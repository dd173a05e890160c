//! Transforms: what happened inside a call that ran a closure on arrays of MLX's own making.
//!
//! To the forward around it `grad`, `value_and_grad`, `vjp` and `jvp` are one call. Inside, the closure's own forward is a
//! trace like any other, and what MLX added to it for the derivative is read from MLX's graph once the call is over.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::call::CallId;
use super::trace::Trace;
use super::value::ValueId;
use crate::graph::{Page, Subgraph};

/// One primitive of a derivative.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Primitive {
    /// Its place among the steps of [`Transform::derivative`].
    pub step: usize,
    /// MLX's name of it: `Multiply`.
    pub name: String,
    /// Which of that name it is, from 1.
    pub ordinal: u32,
    /// What it reads, in order.
    pub parents: Vec<Source>,
    /// The slots of what it yields.
    pub slots: Vec<u32>,
}

/// What a primitive of a derivative reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A value of the closure's forward.
    Forward(ValueId),
    /// An array that MLX made on the way, such as the 1 that a gradient begins with.
    Made,
    /// What an earlier primitive yields, by that primitive's place in the list.
    Primitive(usize),
}

impl Primitive {
    /// `Multiply_1`.
    pub fn label(&self) -> String {
        format!("{}_{}", self.name, self.ordinal)
    }
}

/// The inside of one call that ran a closure.
#[derive(Debug)]
pub struct Transform {
    pub(crate) call: CallId,
    pub(crate) forward: Trace,
    pub(crate) captured: Vec<Captured>,
    pub(crate) given: Vec<Captured>,
    pub(crate) arguments: Vec<Option<ValueId>>,
    pub(crate) derivative: Option<Page>,
}

/// An array of the forward around it that a closure used beside its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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

    /// For each argument of the closure, the value outside that MLX made it from, as its graph said; `None` for arrays
    /// without data, on which MLX traces what it compiles.
    pub fn arguments(&self) -> &[Option<ValueId>] {
        &self.arguments
    }

    /// What the closure read of the forward around it beside its arguments.
    pub fn captured(&self) -> &[Captured] {
        &self.captured
    }

    /// All values inside that come from outside: what the closure captured, and what the call was given for the derivative
    /// (cotangents, tangents).
    pub fn from_outside(&self) -> impl Iterator<Item = Captured> + '_ {
        self.captured.iter().chain(&self.given).copied()
    }

    /// The primitives of the derivative, over the values of [`forward`](Self::forward): the program that leads from them
    /// to the call's results. `None` for a compiled function.
    pub fn derivative(&self) -> Option<Subgraph<'_>> {
        self.derivative.map(|page| self.forward.tables.book.open(page))
    }

    /// The derivative's primitives as ops of their own level, each after what it reads.
    pub fn primitives(&self) -> Vec<Primitive> {
        let Some(graph) = self.derivative() else {
            return Vec::new();
        };
        let boundary = graph.boundary();
        let known = boundary.len() + graph.leaves();
        let mut ordinals: HashMap<String, u32> = HashMap::new();
        // For each slot behind the boundary and the leaves, whose it is.
        let mut owners: Vec<usize> = Vec::new();
        let mut primitives = Vec::new();
        for (step, found) in graph.steps().into_iter().enumerate() {
            let ordinal = ordinals.entry(found.primitive.clone()).or_default();
            *ordinal += 1;
            let source = |slot: &u32| match *slot as usize {
                slot if slot < boundary.len() => Source::Forward(ValueId(boundary[slot])),
                slot if slot < known => Source::Made,
                slot => Source::Primitive(owners[slot - known]),
            };
            let parents = found.inputs.iter().map(source).collect();
            let first = known + owners.len();
            owners.extend(std::iter::repeat_n(step, found.outputs));
            primitives.push(Primitive {
                step,
                name: found.primitive,
                ordinal: *ordinal,
                parents,
                slots: (first..first + found.outputs).map(|slot| slot as u32).collect(),
            });
        }
        primitives
    }
}
