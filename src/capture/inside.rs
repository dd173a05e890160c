//! What the recorder does about closures: those that a transform runs, which have a record of their own, and compiled
//! ones, which run as their operations or are one call.

use std::ffi::CString;

use mlx_sys::function::{Argument, CallView, Class, Output, Role};
use mlx_sys::raw::{self, mlx_array};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::argument::Recorded;
use super::call::CallId;
use super::policy::PayloadPolicy;
use super::recorder::State;
use super::trace::{self, FailedCall};
use super::transform::Transform;
use super::value::{Origin, ValueId};
use crate::capability::RefusalCode;
use crate::graph;

/// An application of a closure under way.
#[derive(Default)]
pub(super) struct Applying {
    /// What the closure's arguments are made from: the call's first list of arrays.
    arguments: Vec<ValueId>,
    /// Whether the closure is compiled: it then runs on arrays without data.
    is_compiled: bool,
    /// The record of each time that the closure ran.
    ran: Vec<State>,
}

/// A compiled function under way, and what descends from its arguments.
#[derive(Debug)]
pub(super) struct Given {
    /// Its place among the closures.
    closure: Option<usize>,
    values: FxHashSet<ValueId>,
    /// How many draws took a key that does not descend from the arguments.
    draws: usize,
}

impl State {
    /// Why a call must not run; noted, so that the capture is refused whatever the forward makes of its error.
    pub(super) fn refuses(&mut self, call: &CallView<'_>) -> Option<CString> {
        let name = call.function.name;
        if self.is_halted() {
            return Some(c"the forward is halted".to_owned());
        }
        let (code, why) = if name.starts_with("mlx_distributed_") {
            (
                RefusalCode::DistributedUnsupported,
                "is an operation of several processes",
            )
        } else if name.ends_with("_kernel_apply") {
            (
                RefusalCode::CustomKernelUnsupported,
                "runs a kernel that only its source describes",
            )
        } else if call.arguments.iter().any(is_nowhere) {
            (
                RefusalCode::GpuUnavailable,
                "was given a stream that this build of MLX cannot make",
            )
        } else {
            return None;
        };
        let message = format!("{name} {why}");
        self.refuse(code, message.clone());
        // The message holds no zero bytes: a C name and a literal.
        Some(CString::new(message).unwrap_or_default())
    }

    fn is_halted(&self) -> bool {
        self.interventions.is_halted() || self.outer.as_deref().is_some_and(Self::is_halted)
    }

    pub(super) fn note_failure(&mut self, call: &CallView<'_>) {
        let mut operands = Vec::new();
        for argument in call.arguments {
            for array in arrays(argument) {
                operands.extend(self.known(array));
            }
        }
        self.failed.push(FailedCall {
            function: call.function.name,
            operands,
            after: self.tables.calls.len(),
        });
    }

    /// Whether a call only runs a compiled function as its operations.
    pub(super) fn is_inlined(&self, call: &CallView<'_>) -> bool {
        call.function.name == "mlx_closure_apply" && self.inlined
    }

    /// Before a closure is applied.
    pub(super) fn applying(&mut self, call: &CallView<'_>) {
        if self.is_inlined(call) {
            return;
        }
        let name = call.function.name;
        let place = || format!("what {name} is given");
        let list = call.arguments.iter().find(|it| matches!(it, Argument::Arrays(_)));
        let arguments = list
            .into_iter()
            .flat_map(arrays)
            .filter_map(|array| self.operand(array, &place))
            .collect();
        self.applying.push(Applying {
            arguments,
            is_compiled: name == "mlx_closure_apply",
            ran: Vec::new(),
        });
    }

    /// A closure begins.
    pub(super) fn enter_closure(&mut self, inputs: raw::mlx_vector_array) {
        let closure = self.closures.len().checked_sub(1);
        let Some(applying) = self.applying.last() else {
            let values = graph::list(inputs)
                .filter_map(|array| self.known(array))
                .collect();
            self.given.push(Given {
                closure,
                values,
                draws: 0,
            });
            return;
        };
        let (arguments, is_compiled) = (applying.arguments.clone(), applying.is_compiled);
        let inside = Self {
            payloads: match is_compiled {
                // MLX traces a function on arrays without data.
                true => PayloadPolicy::None,
                false => self.payloads.clone(),
            },
            hidden: self.hidden.clone(),
            compile: self.compile,
            inlined: self.inlined,
            ignore_scopes: self.ignore_scopes,
            stacks: self
                .stacks
                .as_ref()
                .map(|(calls, evaluations)| (calls.inside(), evaluations.inside())),
            address: self.address.clone(),
            ..Self::default()
        };
        let outer = std::mem::replace(self, inside);
        self.outer = Some(Box::new(outer));
        for (place, array) in graph::list(inputs).enumerate() {
            let outside = arguments.get(place).copied();
            let origin = self.named_after(place, outside);
            let value = self.known(array).unwrap_or_else(|| self.see(array, origin));
            self.inputs.push(value);
            if let (Some(outer), false) = (&mut self.outer, is_compiled) {
                self.arguments.push(outer.made_from(array));
                // A copy of what the call was given, which may leave the closure by a side door: mlx-rs puts it into
                // the model, and leaves it there.
                if let (Some(outside), None) = (outside, outer.known(array)) {
                    outer.tables.book.know(array, outside.0, false);
                }
            }
        }
        if is_compiled {
            self.given.push(Given {
                closure,
                values: self.inputs.iter().copied().collect(),
                draws: 0,
            });
        }
    }

    /// The one value that an array descends from, by MLX's graph.
    fn made_from(&self, array: mlx_array) -> Option<ValueId> {
        match self.tables.book.ancestors(array, &mut |_| {}).known[..] {
            [only] => Some(ValueId(only)),
            _ => None,
        }
    }

    /// A closure's argument is named after the value that it was made from.
    fn named_after(&self, place: usize, outside: Option<ValueId>) -> Origin {
        let outside = outside.zip(self.outer.as_deref());
        match outside.map(|(value, outer)| &outer.tables.values[value.index()].origin) {
            Some(origin @ (Origin::Input { .. } | Origin::Parameter { .. })) => origin.clone(),
            _ => Origin::Input {
                path: place.to_string(),
            },
        }
    }

    /// The closure that began last ends.
    pub(super) fn leave_closure(&mut self, results: Option<raw::mlx_vector_array>) {
        if let Some(given) = self.given.pop() {
            let draws = given.draws;
            // A compiled function that is traced belongs to the closures around it.
            let traced = self.given.is_empty() && self.outer.as_ref().is_some_and(|it| it.is_tracing());
            let closures = match (&mut self.outer, traced) {
                (Some(outer), true) => &mut outer.closures,
                _ => &mut self.closures,
            };
            if let Some(closure) = given.closure.and_then(|place| closures.get_mut(place)) {
                closure.draws += draws;
            }
            if !traced {
                return;
            }
        }
        if self.outer.is_none() {
            return;
        }
        for (place, array) in results.into_iter().flat_map(graph::list).enumerate() {
            let value = self.operand(array, &|| format!("result {place} of a closure"));
            let path = place.to_string();
            self.outputs
                .extend(value.map(|value| trace::Output { path, value }));
        }
        let Some(outer) = self.outer.take() else {
            return;
        };
        let inside = std::mem::replace(self, *outer);
        self.unwrapped.extend(inside.unwrapped.iter().cloned());
        if let Some(refusal) = &inside.refusal {
            self.refusal.get_or_insert(refusal.clone());
        }
        self.failure = self.failure.take().or_else(|| inside.failure.clone());
        self.failed.extend(inside.failed.iter().map(|failed| FailedCall {
            function: failed.function,
            operands: Vec::new(),
            after: self.tables.calls.len(),
        }));
        if let (Some(applying), true) = (self.applying.last_mut(), results.is_some()) {
            applying.ran.push(inside);
        }
    }

    /// Whether a compiled function is being traced by what is under way here.
    fn is_tracing(&self) -> bool {
        self.applying.last().is_some_and(|applying| applying.is_compiled)
    }

    /// After a closure was applied, and the call recorded: its insides become a record of their own.
    pub(super) fn conclude(&mut self, applied: Applying, call: &CallView<'_>, results: &[Output]) {
        let id = CallId(self.tables.calls.len().saturating_sub(1) as u32);
        let handles: SmallVec<[mlx_array; 2]> = graph::results(results);
        for mut inside in applied.ran {
            let captured = std::mem::take(&mut inside.captured);
            let mut derivative = None;
            if !applied.is_compiled {
                // The walk stops at what the call was given beside the closure's arguments: cotangents, tangents.
                for array in call.arguments.iter().flat_map(arrays) {
                    if let (None, Some(outside)) = (inside.known(array), self.known(array)) {
                        inside.capture(array, outside);
                    }
                }
                match inside.tables.book.read(&handles) {
                    Ok(page) => derivative = Some(page),
                    Err(error) => {
                        self.failure.get_or_insert(error);
                    }
                }
            }
            inside.forget_identities();
            let given = std::mem::take(&mut inside.captured);
            let arguments = std::mem::take(&mut inside.arguments);
            let (inputs, outputs) = (
                std::mem::take(&mut inside.inputs),
                std::mem::take(&mut inside.outputs),
            );
            let parameters = inside.parameters_among(&inputs);
            let inputs = inputs
                .into_iter()
                .filter(|value| !parameters.iter().any(|(_, parameter)| parameter == value))
                .collect();
            self.transforms.push(Transform {
                call: id,
                forward: inside.into_trace(inputs, parameters, outputs, Vec::new()),
                captured,
                given,
                arguments,
                derivative,
            });
        }
    }

    /// The values that stand for parameters, by address.
    fn parameters_among(&self, values: &[ValueId]) -> Vec<(std::sync::Arc<str>, ValueId)> {
        values
            .iter()
            .filter_map(|value| match &self.tables.values[value.index()].origin {
                Origin::Parameter { address } => Some((address.clone(), *value)),
                _ => None,
            })
            .collect()
    }

    /// Follows what descends from the arguments of the compiled functions under way, and counts draws whose key does
    /// not.
    pub(super) fn follow(&mut self, call: &CallView<'_>, arguments: &[Recorded], results: &[ValueId]) {
        if self.given.is_empty() {
            return;
        }
        let name = call.function.name;
        let draws = name.starts_with("mlx_random_") && !name.starts_with("mlx_random_split");
        let key = call.function.parameters.iter().zip(arguments);
        let key = key
            .filter(|(parameter, _)| parameter.role == Role::Key)
            .find_map(|(_, argument)| argument.operands().first().copied());
        for given in &mut self.given {
            let mut operands = arguments.iter().flat_map(Recorded::operands);
            if operands.any(|operand| given.values.contains(operand)) {
                given.values.extend(results.iter().copied());
            }
            let keyed = key.is_some_and(|key| given.values.contains(&key));
            given.draws += usize::from(draws && call.function.class == Class::Operation && !keyed);
        }
    }
}

/// The arrays of an argument.
fn arrays(argument: &Argument<'_>) -> SmallVec<[mlx_array; 4]> {
    match *argument {
        Argument::Array(array) => SmallVec::from_slice(&[array]),
        Argument::Arrays(list) => graph::list(list).collect(),
        _ => SmallVec::new(),
    }
}

/// Whether the argument is a stream that could not be made: on a build for the CPU, one of a GPU.
fn is_nowhere(argument: &Argument<'_>) -> bool {
    matches!(argument, Argument::Stream(stream) if stream.ctx.is_null())
}
