//! Values that only look constant: two captures of one program, over slightly different inputs.
//!
//! An operation that nobody saw leaves a trace in MLX's graph, unless its result was evaluated and handed on through
//! the host, or made on another thread. What is left then is that its value changes with the inputs. Both captures
//! start from the same random state, so that only the inputs differ.

use std::collections::HashSet;
use std::fmt;

use mlx_rs::Array;

use crate::capture::{Call, CallId, Origin, PayloadPolicy, Trace, ValueId};
use crate::graph::{self, Difference};
use crate::vocabulary::{Decision, Reason};

use super::contrast::Contrast;
use super::decision::Detail;
use super::roll_up::settle;
use super::status::Status;

/// A constant or literal that was not the same in the second capture.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// The value, by its number in the first trace.
    pub value: ValueId,
    /// Its bits in the first capture against those in the second.
    pub contrast: Contrast,
}

/// What two captures have in common.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Comparison {
    changed: Vec<Changed>,
    compared: usize,
    not_compared: Vec<ValueId>,
    notes: Vec<String>,
    /// The same of the insides of calls that ran a closure, in the order of the trace's.
    insides: Vec<Comparison>,
}

impl Comparison {
    /// A comparison with a second capture that could not be made: nothing was compared.
    pub fn without_second(first: &Trace, why: &str) -> Self {
        let mut comparison = Self {
            not_compared: sources(first),
            ..Self::default()
        };
        comparison.note_rest(&format!("the second capture could not be made ({why})"));
        comparison
    }

    /// The constants and literals that changed.
    pub fn changed(&self) -> &[Changed] {
        &self.changed
    }

    /// How many constants and literals were compared.
    pub fn compared(&self) -> usize {
        self.compared
    }

    /// The constants and literals of the first trace that have no counterpart in the second.
    pub fn not_compared(&self) -> &[ValueId] {
        &self.not_compared
    }

    /// What a reader should know: where the captures part, and what was not compared.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    fn note_rest(&mut self, why: &str) {
        if self.not_compared.is_empty() {
            return;
        }
        let listed: Vec<String> = self
            .not_compared
            .iter()
            .map(|value| value.0.to_string())
            .collect();
        let (noun, verb) = match listed.len() {
            1 => ("value", "was"),
            _ => ("values", "were"),
        };
        self.notes.push(format!(
            "{why}: constant {noun} {} {verb} not compared between two captures",
            listed.join(", ")
        ));
    }
}

/// The constants and literals of a trace, in order.
fn sources(trace: &Trace) -> Vec<ValueId> {
    let literal = |call: CallId| {
        trace
            .calls()
            .get(call.index())
            .is_some_and(Call::is_producer_leaf)
    };
    (0..trace.values().len())
        .map(|index| ValueId(index as u32))
        .filter(|value| match trace.value(*value).origin() {
            Origin::Constant => true,
            Origin::Result { call, .. } => literal(*call),
            _ => false,
        })
        .collect()
}

/// Compares the constants and literals of two captures of one program.
///
/// Calls are aligned by position and function, as long as both agree; the captures may part where the program
/// branches on values, and what comes after is listed as not compared.
pub fn compare_captures(first: &Trace, second: &Trace) -> Comparison {
    compare_apart_from(first, second, &HashSet::new())
}

/// The same, but for some values of the first trace.
fn compare_apart_from(first: &Trace, second: &Trace, apart: &HashSet<ValueId>) -> Comparison {
    let mut walk = Walk {
        first,
        second,
        apart,
        met: HashSet::new(),
        comparison: Comparison::default(),
    };
    let parted = walk.calls();
    if parted.is_none() && first.outputs().len() == second.outputs().len() {
        for (one, other) in first.outputs().iter().zip(second.outputs()) {
            walk.values(one.value(), other.value());
        }
    }
    let met = walk.met;
    let mut comparison = walk.comparison;
    comparison.not_compared = sources(first)
        .into_iter()
        .filter(|value| !met.contains(value) && !apart.contains(value))
        .collect();
    comparison.note_rest(&parted.unwrap_or_else(|| "the captures use them differently".to_string()));
    for (one, other) in first.transforms().iter().zip(second.transforms()) {
        // What a closure reads of the forward around it may change: it is judged there.
        let outside: HashSet<ValueId> = one.from_outside().map(|captured| captured.inside).collect();
        let inside = compare_apart_from(one.forward(), other.forward(), &outside);
        let name = first.call(one.call()).name();
        // Of a compiled function nothing was kept that could be compared.
        if *one.forward().payload_policy() == PayloadPolicy::All {
            comparison
                .notes
                .extend(inside.notes.iter().map(|note| format!("inside {name}: {note}")));
        }
        comparison.insides.push(inside);
    }
    comparison
}

struct Walk<'a> {
    first: &'a Trace,
    second: &'a Trace,
    /// Values of the first trace that are not to be compared.
    apart: &'a HashSet<ValueId>,
    /// The values of the first trace that were compared.
    met: HashSet<ValueId>,
    comparison: Comparison,
}

impl Walk<'_> {
    /// Walks both captures; where they part, why.
    fn calls(&mut self) -> Option<String> {
        let (first, second) = (self.first, self.second);
        for (index, (one, other)) in first.calls().iter().zip(second.calls()).enumerate() {
            if one.function().name != other.function().name || one.results().len() != other.results().len() {
                return Some(format!(
                    "the two captures part at call {}, {} and {}",
                    index + 1,
                    one.function().name,
                    other.function().name
                ));
            }
            self.call(index, one, other);
        }
        let (one, other) = (first.calls().len(), second.calls().len());
        (one != other).then(|| format!("the two captures make {one} and {other} calls"))
    }

    fn call(&mut self, index: usize, one: &Call, other: &Call) {
        let parameters = one.function().parameters;
        for ((argument, counterpart), parameter) in
            one.arguments().iter().zip(other.arguments()).zip(parameters)
        {
            for (value, counterpart) in argument.operands().iter().zip(counterpart.operands()) {
                self.values(*value, *counterpart);
            }
            if argument.is_plain() && argument != counterpart {
                self.comparison.notes.push(format!(
                    "argument {} of call {} {} changed with the inputs",
                    parameter.name,
                    index + 1,
                    one.function().name
                ));
            }
        }
        for (value, counterpart) in one.captured.iter().zip(&other.captured) {
            self.values(*value, *counterpart);
        }
        if one.is_producer_leaf() && other.is_producer_leaf() {
            for (value, counterpart) in one.results().iter().zip(other.results()) {
                self.literal(*value, *counterpart);
            }
        }
    }

    /// Compares two operands that stand at the same place, if both are constants.
    fn values(&mut self, one: ValueId, other: ValueId) {
        let constant = |trace: &Trace, value| *trace.value(value).origin() == Origin::Constant;
        if constant(self.first, one) && constant(self.second, other) {
            self.literal(one, other);
        }
    }

    fn literal(&mut self, one: ValueId, other: ValueId) {
        let payloads = (
            self.first.value(one).payload(),
            self.second.value(other).payload(),
        );
        let (Some(before), Some(after)) = payloads else {
            return;
        };
        if self.apart.contains(&one) || !self.met.insert(one) {
            return;
        }
        let Some(difference) = difference(before, after) else {
            self.met.remove(&one);
            return;
        };
        self.comparison.compared += 1;
        if !difference.is_none() {
            self.comparison.changed.push(Changed {
                value: one,
                contrast: Contrast::of(before, after, difference),
            });
        }
    }
}

/// How two arrays differ; `None` where they cannot be computed.
fn difference(before: &Array, after: &Array) -> Option<Difference> {
    let pending: Vec<&Array> = [before, after]
        .into_iter()
        .filter(|array| !graph::is_available(array))
        .collect();
    if !pending.is_empty() {
        graph::evaluate(pending).ok()?;
    }
    graph::compare(before, after).ok()
}

impl Status {
    /// The status with what a second capture shows: each constant or literal that changed fails its op and the
    /// trace.
    pub fn against(mut self, trace: &Trace, comparison: &Comparison) -> Self {
        for ((inside, transform), comparison) in self
            .insides
            .iter_mut()
            .zip(trace.transforms())
            .zip(&comparison.insides)
        {
            inside.forward = inside.forward.clone().against(transform.forward(), comparison);
        }
        if comparison.changed.is_empty() {
            // Without insides nothing is new.
            if !self.insides.is_empty() {
                settle(trace, &mut self);
            }
            return self;
        }
        let rows = trace.ops();
        for changed in &comparison.changed {
            let detail = Detail::Changed {
                value: changed.value,
                contrast: changed.contrast.clone(),
            };
            // A literal's own call; else the first call that reads the constant.
            let own = match *trace.value(changed.value).origin() {
                Origin::Result { call, .. } => Some(call),
                _ => None,
            };
            let reader = || {
                let place = trace
                    .calls()
                    .iter()
                    .position(|call| call.operands().any(|operand| operand == changed.value))?;
                Some(CallId(place as u32))
            };
            let call = own.or_else(reader);
            if let Some(decision) = call.and_then(|call| self.calls.get_mut(call.index())) {
                // A failure of its own says more about the call.
                if decision.decision != Decision::Failed {
                    decision.decision = Decision::Failed;
                    decision.reason = Some(Reason::ConstantDependsOnInput);
                    decision.detail = detail;
                }
            }
            for (row, op) in rows.iter().zip(&mut self.ops) {
                let touched = row.results().contains(&changed.value)
                    || call.is_some_and(|call| row.calls().contains(&call));
                if touched && op.decision != Decision::Failed {
                    op.decision = Decision::Failed;
                    op.reason = Some(Reason::ConstantDependsOnInput);
                    op.call = call;
                }
            }
        }
        settle(trace, &mut self);
        self
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} constants compared, {} changed, {} not compared",
            self.compared,
            self.changed.len(),
            self.not_compared.len()
        )?;
        for note in &self.notes {
            write!(f, "\n{note}")?;
        }
        Ok(())
    }
}
