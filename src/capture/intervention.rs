//! Interventions: results that are replaced while the forward runs.

use std::collections::HashMap;
use std::fmt;

use mlx_rs::error::Exception;
use mlx_rs::{ops, Array};
use serde::{Deserialize, Serialize};

use super::error::BackendUnsupportedError;
use super::op::{Op, OpKind};
use super::scope::ScopeId;
use super::trace::Trace;
use super::transform::Transform;
use super::value::ValueId;
use crate::capability::RefusalCode;

/// Which ops: rows of the trace at op level that compute something. A lone call inside a module counts as that module's
/// unless a module inside it ran before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selector {
    /// One row, by its label: `gelu_1`, `cell_1:2`.
    Label(String),
    /// Each row of this name: `linear`, `matmul`.
    Name(String),
    /// What the module at this address gives back, each time that it runs: `layers.1`.
    Module(String),
}

impl Selector {
    /// Whether it means this row of a trace; a module means what lies in it too.
    pub(super) fn means(&self, op: &Op) -> bool {
        match self {
            Self::Label(wanted) => is_label(wanted, &op.label()),
            Self::Name(wanted) => wanted == op.func_name(),
            Self::Module(wanted) => op.module().is_some_and(|address| {
                let rest = address.strip_prefix(wanted.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            }),
        }
    }
}

/// Whether a label is the wanted one, which may leave out `:1`.
fn is_label(wanted: &str, label: &str) -> bool {
    label == wanted || label.strip_suffix(":1") == Some(wanted)
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Label(label) => write!(f, "op {label}"),
            Self::Name(name) => write!(f, "an op named {name}"),
            Self::Module(address) => write!(f, "module {address}"),
        }
    }
}

/// A function from a result to what takes its place.
pub type EditFunction = dyn Fn(&Array) -> Result<Array, Exception>;

/// What takes a result's place.
pub enum Edit {
    /// Zeros.
    Zero,
    /// The result times a number.
    Scale(f32),
    /// The result plus a number.
    Add(f32),
    /// An array of the result's shape and element type.
    Replace(Array),
    /// What a function makes of it, of the same shape and element type.
    With(Box<EditFunction>),
}

impl fmt::Debug for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero => f.write_str("Zero"),
            Self::Scale(by) => write!(f, "Scale({by})"),
            Self::Add(what) => write!(f, "Add({what})"),
            Self::Replace(with) => write!(f, "Replace({:?} {:?})", with.dtype(), with.shape()),
            Self::With(_) => f.write_str("With(..)"),
        }
    }
}

impl Edit {
    /// What takes `result`'s place, not evaluated, and of the same shape and element type.
    fn apply(&self, result: &Array) -> Result<Array, String> {
        let number = |number: f32| Array::from_f32(number).as_dtype(result.dtype());
        let made = match self {
            Self::Zero => ops::zeros_like(result),
            Self::Scale(by) => number(*by).and_then(|by| ops::multiply(result, by)),
            Self::Add(what) => number(*what).and_then(|what| ops::add(result, what)),
            Self::Replace(with) => Ok(with.clone()),
            Self::With(f) => f(result),
        };
        let made = made.map_err(|error| error.what().to_string())?;
        let kind = |array: &Array| format!("{:?} {:?}", array.dtype(), array.shape());
        if kind(&made) == kind(result) {
            Ok(made)
        } else {
            Err(format!(
                "it is {}, and the result is {}",
                kind(&made),
                kind(result)
            ))
        }
    }
}

/// A result and what took its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replacement {
    /// What was computed.
    pub original: ValueId,
    /// What the rest of the forward read.
    pub replacement: ValueId,
}

/// The interventions of a session, and what it must know of the rows so far to find their places.
#[derive(Debug, Default)]
pub(super) struct Interventions {
    planned: Vec<Planned>,
    /// How many rows of each name there were.
    ordinals: HashMap<String, u32>,
    /// The ordinal of each module, by name and address.
    modules: HashMap<(String, String), u32>,
    /// The ordinals of the scopes that are rows: each is asked for once for each array that it gives back.
    scopes: HashMap<ScopeId, u32>,
    refusal: Option<BackendUnsupportedError>,
    halted: bool,
}

#[derive(Debug)]
struct Planned {
    selector: Selector,
    /// What is done to the results; `None` halts the forward.
    edit: Option<Edit>,
    found: bool,
}

/// A row that has just come to its end.
pub(super) struct Row<'a> {
    pub(super) name: &'a str,
    /// The address, and which of its module's calls, where a module makes the row.
    pub(super) module: Option<(&'a str, u32)>,
    /// The scope that makes the row, if one does.
    pub(super) scope: Option<ScopeId>,
}

impl Interventions {
    pub(super) fn is_halted(&self) -> bool {
        self.halted
    }

    /// Plans an edit, or a halt where there is none.
    pub(super) fn plan(&mut self, selector: Selector, edit: Option<Edit>) {
        self.planned.push(Planned {
            selector,
            edit,
            found: false,
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.planned.is_empty()
    }

    /// Counts a row, and gives the places in the plan of what is to be done to its results.
    pub(super) fn arrive(&mut self, row: &Row<'_>) -> Vec<usize> {
        let call = row.module.map_or(1, |(_, call)| call);
        let counted = row.scope.and_then(|scope| self.scopes.get(&scope).copied());
        let ordinal = counted.unwrap_or_else(|| {
            let mut next = || {
                let ordinal = self.ordinals.entry(row.name.to_string()).or_default();
                *ordinal += 1;
                *ordinal
            };
            match row.module {
                None => next(),
                Some((address, _)) => {
                    let key = (row.name.to_string(), address.to_string());
                    *self.modules.entry(key).or_insert_with(next)
                }
            }
        });
        self.scopes.extend(row.scope.map(|scope| (scope, ordinal)));
        let label = format!("{}_{ordinal}:{call}", row.name);
        let mut places = Vec::new();
        for (place, planned) in self.planned.iter_mut().enumerate() {
            let fits = match &planned.selector {
                Selector::Label(wanted) => is_label(wanted, &label),
                Selector::Name(wanted) => wanted == row.name,
                Selector::Module(wanted) => row.module.is_some_and(|(address, _)| address == wanted),
            };
            if fits {
                planned.found = true;
                match planned.edit {
                    Some(_) => places.push(place),
                    None => self.halted = true,
                }
            }
        }
        places
    }

    /// What the edits at these places make of a result, one after the other; `None` where one cannot, which is noted.
    pub(super) fn edited(&mut self, places: &[usize], result: &Array) -> Option<Array> {
        let mut current = result.clone();
        for &place in places {
            let planned = &self.planned[place];
            let Some(edit) = &planned.edit else {
                continue;
            };
            match edit.apply(&current) {
                Ok(made) => current = made,
                Err(why) => {
                    let message = format!("{} cannot be given {edit:?}: {why}", planned.selector);
                    let refusal = BackendUnsupportedError::new(RefusalCode::InterventionMismatch, message);
                    self.refusal.get_or_insert(refusal);
                    return None;
                }
            }
        }
        Some(current)
    }

    /// Why the capture is refused where something is planned for what ran inside a transform: nothing reaches that. A label
    /// that the forward itself has means the op there.
    pub(super) fn inside(&self, transforms: &[Transform]) -> Option<BackendUnsupportedError> {
        if self.is_empty() {
            return None;
        }
        let planned = self.planned.iter();
        let open: Vec<&Selector> = planned
            .filter(|it| !(it.found && matches!(it.selector, Selector::Label(_))))
            .map(|it| &it.selector)
            .collect();
        let (selector, label) = transforms
            .iter()
            .find_map(|transform| meant(&open, transform.forward()))?;
        let message = format!(
            "{selector} is {label} inside a transform's closure, where nothing is replaced or halted"
        );
        Some(BackendUnsupportedError::new(
            RefusalCode::InterventionInsideTransform,
            message,
        ))
    }

    /// Why the capture is refused: an edit that did not fit, or a place that never came in a forward that came to its
    /// end, or to its halt.
    pub(super) fn refusal(&mut self, has_returned: bool) -> Option<BackendUnsupportedError> {
        let missed = self.planned.iter().find(|planned| !planned.found);
        let missed = missed.filter(|_| has_returned || self.halted);
        let missed = missed.map(|planned| {
            let message = format!("the forward has no {}", planned.selector);
            BackendUnsupportedError::new(RefusalCode::SelectorWithoutMatch, message)
        });
        self.refusal.take().or(missed)
    }
}

/// The first op of a closure's forward, or of one inside it, that a selector means.
fn meant<'a>(selectors: &[&'a Selector], forward: &Trace) -> Option<(&'a Selector, String)> {
    let ops = forward.ops();
    let computed = ops.iter().filter(|op| op.kind() == OpKind::Op);
    let own = computed.flat_map(|op| selectors.iter().map(move |selector| (*selector, op)));
    let found = own
        .filter(|(selector, op)| selector.means(op))
        .map(|(selector, op)| (selector, op.label()))
        .next();
    found.or_else(|| {
        let inner = forward.transforms().iter();
        inner
            .map(Transform::forward)
            .find_map(|inner| meant(selectors, inner))
    })
}
