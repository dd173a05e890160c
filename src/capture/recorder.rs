//! The observer that records: what a session knows while its forward runs.

use std::cell::{RefCell, RefMut};
use std::ffi::c_int;

use mlx_rs::Array;
use mlx_sys::function::{Argument, CallView, Class, Output};
use mlx_sys::observe::{self, Decision, Inlining, Observer};
use mlx_sys::raw::{self, mlx_array};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use thin_vec::ThinVec;

use super::argument::{Recorded, StreamKey};
use super::call::{Call, CallId};
use super::evaluation::{Evaluation, EvaluationKind};
use super::inputs::join;
use super::intervention::{Interventions, Replacement, Row};
use super::op::snake_case;
use super::policy::PayloadPolicy;
use super::scope::{Scope, ScopeId, ScopeKind};
use super::stack::Stacks;
use super::tables::Tables;
use super::trace::{number, Closure, Unwrapped};
use super::value::{Origin, Value, ValueId};
use crate::graph::{self, ArrayId, GraphError, Page};

/// What a session knows while its forward runs.
pub(crate) struct Recorder {
    state: RefCell<State>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) tables: Tables,
    pub(super) scopes: Vec<Scope>,
    pub(super) evaluations: Vec<Evaluation>,
    pub(super) closures: Vec<Closure>,
    pub(super) unwrapped: Vec<Unwrapped>,
    pub(super) interventions: Interventions,
    pub(super) replacements: Vec<Replacement>,
    pub(super) payloads: PayloadPolicy,
    /// Whether scopes that are entered name nothing.
    pub(super) ignore_scopes: bool,
    /// The stack of each call, where they are taken down, and that of each evaluation.
    pub(super) stacks: Option<(Stacks, Stacks)>,
    /// Functions that are not recorded: a seam for tests.
    pub(super) hidden: Vec<String>,
    /// What stands behind each constant that was not computed yet when first used.
    pub(super) lazy: FxHashMap<ValueId, Page>,
    /// The first failure to read MLX's graph; the capture then ends with it.
    pub(super) failure: Option<GraphError>,
    /// The scopes that are open, with the length of the address before each.
    open: Vec<(ScopeId, usize)>,
    /// The scopes that modules or containers lie in.
    around: FxHashSet<ScopeId>,
    address: String,
    module_calls: FxHashMap<String, u32>,
    /// How many applications of a transform's closure are under way: calls inside are the transform's own.
    depth: usize,
    /// The handles of compiled closures that run as their operations.
    inlined: Vec<usize>,
    /// The arrays of the latest explicit evaluation of one array, to tell `item` from `eval`.
    last_evaluated: Option<ArrayId>,
}

impl Recorder {
    pub(super) fn new(payloads: PayloadPolicy, hidden: Vec<String>, interventions: Interventions) -> Self {
        Self {
            state: RefCell::new(State {
                payloads,
                hidden,
                interventions,
                ..State::default()
            }),
        }
    }

    /// The state; borrowed only between calls, never across one.
    pub(super) fn state(&self) -> RefMut<'_, State> {
        self.state.borrow_mut()
    }

    pub(super) fn into_state(self) -> State {
        self.state.into_inner()
    }

    pub(super) fn enter(&self, kind: ScopeKind, step: Option<&str>) {
        let mut state = self.state();
        let length = state.address.len();
        if let Some(step) = step {
            state.address = join(&state.address, step);
        }
        let address = state.address.clone();
        let call = match kind {
            ScopeKind::Function(_) => 1,
            ScopeKind::Module(_) | ScopeKind::Container(_) => {
                let calls = state.module_calls.entry(address.clone()).or_default();
                *calls += 1;
                *calls
            }
        };
        let id = ScopeId(state.scopes.len() as u32);
        let parent = state.open.last().map(|(id, _)| *id);
        let first_call = state.tables.calls.len();
        state.scopes.push(Scope {
            parent,
            kind,
            address,
            call,
            returned: Vec::new(),
            first_call,
            anonymous: false,
        });
        if let (Some(parent), ScopeKind::Module(_) | ScopeKind::Container(_)) =
            (parent, &state.scopes[id.index()].kind)
        {
            state.around.insert(parent);
        }
        state.open.push((id, length));
    }

    pub(super) fn leave(&self) {
        let mut state = self.state();
        if let Some((scope, length)) = state.open.pop() {
            state.address.truncate(length);
            // A row that gave nothing back is counted all the same.
            if !state.interventions.is_empty() {
                state.row_of(scope);
            }
        }
    }

    /// Notes that the innermost scope returned an array, which an intervention may replace in place.
    pub(super) fn returned(&self, array: &Array) {
        self.intervene(&[array.as_ptr()], State::leaving);
        let mut state = self.state();
        if let (Some(value), Some(&(scope, _))) = (state.known(array.as_ptr()), state.open.last()) {
            // What a function gave back is what others read of it.
            if let ScopeKind::Module(_) = state.scopes[scope.index()].kind {
                state.scopes[scope.index()].returned.push(value);
            }
        }
    }
}

impl Recorder {
    /// Replaces the arrays behind some handles, in place, by what the interventions of the row that `row` names make of
    /// them.
    fn intervene(&self, handles: &[mlx_array], row: fn(&mut State) -> Vec<usize>) {
        let mut state = self.state();
        if state.interventions.is_empty() {
            return;
        }
        let places = row(&mut state);
        if places.is_empty() {
            return;
        }
        // An edit may be a function of the user's, which may enter scopes.
        let mut interventions = std::mem::take(&mut state.interventions);
        drop(state);
        for &handle in handles {
            if handle.ctx.is_null() {
                continue;
            }
            // SAFETY: a valid handle that is not empty, and outlives the loop's turn.
            let result = unsafe { graph::borrowed(handle) };
            let edited = observe::unobserved(|| interventions.edited(&places, &result));
            let Some(edited) = edited else {
                continue;
            };
            let mut state = self.state();
            let Some(original) = state.known(handle) else {
                continue;
            };
            let mut owned = handle;
            // SAFETY: two valid handles; the owner of the first finds the other array behind it.
            unsafe { raw::mlx_array_set(&mut owned, edited.as_ptr()) };
            let replacement = state
                .known(handle)
                .unwrap_or_else(|| state.see(handle, Origin::Intervention));
            state.replacements.push(Replacement {
                original,
                replacement,
            });
        }
        self.state().interventions = interventions;
    }
}

impl Observer for Recorder {
    fn before(&self, call: &CallView<'_>) -> Decision {
        match call.function.class {
            Class::Evaluation | Class::Reading => self.state().evaluating(call),
            Class::Application => self.state().applying(call),
            Class::Operation | Class::Constructor | Class::Loading | Class::Other => {}
        }
        Decision::Proceed
    }

    fn after(&self, call: &CallView<'_>, results: &mut [Output], status: c_int) {
        let mut state = self.state();
        match call.function.class {
            Class::Evaluation | Class::Reading => return,
            Class::Application => {
                if state.is_inlined(call) {
                    return;
                }
                state.depth -= 1;
            }
            Class::Operation | Class::Constructor | Class::Loading | Class::Other => {}
        }
        // A call that failed made nothing; the calls inside a transform are the transform's own.
        if status == 0 && state.depth == 0 && !state.hides(call.function.name) {
            state.record(call, results);
            if !state.interventions.is_empty() && call.function.class == Class::Operation {
                drop(state);
                let handles = graph::results(results);
                self.intervene(&handles, State::computed);
            }
        }
    }

    fn inline_compiled(&self, closure: raw::mlx_closure) -> Inlining {
        let mut state = self.state();
        state.inlined.push(closure.ctx as usize);
        let calls_before = state.tables.calls.len();
        state.closures.push(Closure { calls_before });
        Inlining::Yes
    }
}

impl State {
    /// A value that the session declares: an input or a parameter. The first declaration of an array stands.
    /// `None` for an array whose handle is empty.
    pub(super) fn declare(&mut self, array: Array, origin: Origin) -> Option<ValueId> {
        let handle = array.as_ptr();
        if handle.ctx.is_null() {
            return None;
        }
        if let Some(known) = self.known(handle) {
            return Some(known);
        }
        let kept = self.payloads == PayloadPolicy::All;
        Some(self.add(handle, origin, false, || kept.then_some(array)))
    }

    /// The value behind a handle, if the array is recorded.
    pub(super) fn known(&self, array: mlx_array) -> Option<ValueId> {
        self.tables.book.number(array).map(ValueId)
    }

    /// The value of an array that the forward gave back, which may be one that nobody recorded.
    pub(super) fn output(&mut self, array: &Array) -> Option<ValueId> {
        self.operand(array.as_ptr(), &|| "an output of the forward".to_string())
    }

    /// Ends the watch on identities: no array is looked up any more.
    pub(super) fn forget_identities(&mut self) {
        self.tables.book.forget();
    }

    /// Records an array that is not recorded yet, behind a handle that is not empty.
    fn see(&mut self, array: mlx_array, origin: Origin) -> ValueId {
        self.add(array, origin, self.payloads == PayloadPolicy::All, || None)
    }

    /// As [`see`](Self::see), with a payload that is there already or is shared.
    fn add(
        &mut self,
        array: mlx_array,
        origin: Origin,
        share: bool,
        payload: impl FnOnce() -> Option<Array>,
    ) -> ValueId {
        let value = number(self.tables.values.len());
        let known = self.tables.book.know(array, value.0, share);
        self.tables.values.push(Value {
            origin,
            shape: known.shape,
            dtype: known.dtype,
            payload: known.shared.or_else(payload),
            had_producer: known.has_producer,
        });
        value
    }

    /// The value behind an operand; an array that nobody declared is a constant, or the work of an unseen operation.
    fn operand(&mut self, array: mlx_array, place: &dyn Fn() -> String) -> Option<ValueId> {
        if array.ctx.is_null() {
            return None;
        }
        if let Some(known) = self.known(array) {
            return Some(known);
        }
        self.find_unwrapped(array, place);
        // An unseen operation's result is recorded by now.
        Some(self.known(array).unwrap_or_else(|| self.constant(array)))
    }

    /// A constant; one that is not computed yet comes with its own little program, so that a value whose making was
    /// lost can be told from one that the forward found ready.
    fn constant(&mut self, array: mlx_array) -> ValueId {
        if graph::has_producer(array) && self.payloads == PayloadPolicy::All {
            match self.tables.book.read(&[array]) {
                Ok(page) => {
                    self.lazy.insert(number(self.tables.values.len()), page);
                }
                Err(error) => {
                    self.failure.get_or_insert(error);
                }
            }
        }
        self.see(array, Origin::Constant)
    }

    /// If an undeclared array descends from a recorded value, an operation was missed: every array that it left
    /// unrecorded is noted, so that none passes for a constant later.
    fn find_unwrapped(&mut self, array: mlx_array, place: &dyn Fn() -> String) {
        if !graph::has_producer(array) {
            return;
        }
        let mut between = Vec::new();
        // SAFETY: the handles shown are valid during the visit; a shared one is kept.
        let ancestors = self
            .tables
            .book
            .ancestors(array, &mut |array| between.push(unsafe { graph::share(array) }));
        if ancestors.known.is_empty() {
            return;
        }
        for array in &between {
            self.see(array.as_ptr(), Origin::Unwrapped);
        }
        self.unwrapped.push(Unwrapped {
            arrays: between.len(),
            first_use: place(),
            ancestors: ancestors.known.into_iter().map(ValueId).collect(),
        });
    }

    /// The interventions in what the innermost scope gives back.
    fn leaving(&mut self) -> Vec<usize> {
        match self.open.last() {
            Some(&(scope, _)) => self.row_of(scope),
            None => Vec::new(),
        }
    }

    /// Counts the row that a scope is, if it is one, and gives the interventions in it.
    fn row_of(&mut self, id: ScopeId) -> Vec<usize> {
        let scope = &self.scopes[id.index()];
        let row = match &scope.kind {
            // A module with others inside is no row of its own.
            ScopeKind::Module(class) if !self.around.contains(&id) => Row {
                name: &snake_case(class),
                module: Some((&scope.address, scope.call)),
                scope: Some(id),
            },
            ScopeKind::Function(name)
                if self.is_outside(scope.parent) && self.tables.calls.len() > scope.first_call =>
            {
                Row {
                    name,
                    module: None,
                    scope: Some(id),
                }
            }
            _ => return Vec::new(),
        };
        self.interventions.arrive(&row)
    }

    /// Whether what happens in a scope is no part of a row that the scope is.
    fn is_outside(&self, scope: Option<ScopeId>) -> bool {
        match scope.map(|scope| (scope, &self.scopes[scope.index()].kind)) {
            None | Some((_, ScopeKind::Container(_))) => true,
            Some((scope, ScopeKind::Module(_))) => self.around.contains(&scope),
            Some((_, ScopeKind::Function(_))) => false,
        }
    }

    /// The interventions in the results of the latest call, if it is a row of its own.
    fn computed(&mut self) -> Vec<usize> {
        let Some(call) = self.tables.calls.last() else {
            return Vec::new();
        };
        if !self.is_outside(call.scope) || call.is_producer_leaf() {
            return Vec::new();
        }
        self.interventions.arrive(&Row {
            name: call.name(),
            module: None,
            scope: None,
        })
    }

    fn hides(&self, function: &str) -> bool {
        self.hidden.iter().any(|hidden| hidden == function)
    }

    fn is_inlined(&self, call: &CallView<'_>) -> bool {
        call.function.name == "mlx_closure_apply" && self.depth == 0 && !self.inlined.is_empty()
    }

    /// Before a closure is applied: what it calls from here on is the transform's own.
    fn applying(&mut self, call: &CallView<'_>) {
        if !self.is_inlined(call) {
            self.depth += 1;
        }
    }

    /// Before arrays are evaluated, which takes their graph away: unseen operations are found now or never.
    fn evaluating(&mut self, call: &CallView<'_>) {
        let mut values = Vec::new();
        let mut only = None;
        let mut count = 0;
        let name = call.function.name;
        for argument in call.arguments {
            let arrays: SmallVec<[mlx_array; 4]> = match *argument {
                Argument::Array(array) => SmallVec::from_slice(&[array]),
                Argument::Arrays(list) => graph::list(list).collect(),
                _ => continue,
            };
            for array in arrays {
                let Some(id) = ArrayId::of_raw(array) else {
                    continue;
                };
                only = Some(id);
                count += 1;
                // Inside a transform every array is the transform's own.
                if self.depth == 0 && self.known(array).is_none() {
                    self.find_unwrapped(array, &|| format!("what {name} evaluates"));
                }
                values.extend(self.known(array));
            }
        }
        let only = only.filter(|_| count == 1);
        let reads = call.function.class == Class::Reading || name.starts_with("mlx_array_item_");
        let inside = self.depth > 0;
        let after = self
            .tables
            .calls
            .len()
            .checked_sub(1)
            .map(|index| CallId(index as u32));
        if reads {
            // mlx-rs evaluates, then reads: the evaluation just listed was this reading's.
            if only.is_some() && self.last_evaluated == only {
                if let Some(last) = self.evaluations.last_mut() {
                    last.function = name;
                    last.kind = EvaluationKind::Implicit;
                }
                self.last_evaluated = None;
                return;
            }
            // Handing out data of an array that is evaluated already evaluates nothing.
            if call.function.class == Class::Reading {
                return;
            }
        }
        let kind = match name {
            "mlx_array_eval" | "mlx_eval" | "mlx_async_eval" => EvaluationKind::Explicit,
            _ => EvaluationKind::Implicit,
        };
        self.last_evaluated = only.filter(|_| name == "mlx_array_eval");
        if let Some((_, stacks)) = &mut self.stacks {
            stacks.push();
        }
        self.evaluations.push(Evaluation {
            source: None,
            function: name,
            kind,
            values,
            after,
            inside,
        });
    }

    fn record(&mut self, call: &CallView<'_>, results: &[Output]) {
        let id = CallId(self.tables.calls.len() as u32);
        let mut arguments = SmallVec::with_capacity(call.arguments.len());
        for (parameter, argument) in call.function.parameters.iter().zip(call.arguments) {
            let place = || {
                format!(
                    "argument {} of {} (call {})",
                    parameter.name,
                    call.function.name,
                    id.0 + 1
                )
            };
            let recorded = match *argument {
                Argument::Array(array) => Recorded::Array(self.operand(array, &place)),
                Argument::Arrays(list) => Recorded::Arrays(
                    graph::list(list)
                        .filter_map(|array| self.operand(array, &place))
                        .collect(),
                ),
                Argument::Stream(stream) => Recorded::Stream(StreamKey::of(stream)),
                // The other arguments hold no arrays.
                ref other => Recorded::plain(other).unwrap_or(Recorded::Opaque),
            };
            arguments.push(recorded);
        }
        let handles = graph::results(results);
        let page = match self.tables.book.read(&handles) {
            Ok(page) => Some(page),
            Err(error) => {
                self.failure.get_or_insert(error);
                None
            }
        };
        let mut ids = SmallVec::with_capacity(handles.len());
        for (index, &handle) in handles.iter().enumerate() {
            if handle.ctx.is_null() {
                continue;
            }
            // A call may give back an array that exists already: an alias.
            let value = self.known(handle).unwrap_or_else(|| {
                let index = index as u32;
                self.see(handle, Origin::Result { call: id, index })
            });
            ids.push(value);
        }
        let captured = match call.function.class {
            Class::Application => self.read_inside(&arguments, page),
            _ => ThinVec::new(),
        };
        if let Some((stacks, _)) = &mut self.stacks {
            stacks.push();
        }
        let scope = self.open.last().map(|(scope, _)| *scope);
        self.tables.calls.push(Call {
            function: call.function,
            arguments,
            results: ids,
            scope,
            page,
            captured,
        });
        self.last_evaluated = None;
    }

    /// The outer values that a closure read beside its arguments.
    fn read_inside(&self, arguments: &[Recorded], page: Option<Page>) -> ThinVec<ValueId> {
        let declared: Vec<ValueId> = arguments.iter().flat_map(Recorded::operands).copied().collect();
        let boundary = page
            .map(|page| self.tables.book.open(page).boundary())
            .unwrap_or_default();
        boundary
            .into_iter()
            .map(ValueId)
            .filter(|value| !declared.contains(value))
            .collect()
    }
}
