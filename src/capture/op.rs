//! The trace at op level.
//!
//! The calls of one leaf layer, or of one named function, are one op; without scopes every call is its own. Literals
//! and constants that only one layer or function uses are folded into it.

use std::collections::HashMap;

use super::call::CallId;
use super::scope::{Scope, ScopeId, ScopeKind};
use super::stack::SourceLine;
use super::trace::Trace;
use super::value::{Origin, ValueId};

/// One row of a trace at op level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Op {
    name: String,
    ordinal: u32,
    call: u32,
    kind: OpKind,
    calls: Vec<CallId>,
    parents: Vec<usize>,
    results: Vec<ValueId>,
    module: Option<String>,
    scope: Option<String>,
    source: Option<SourceLine>,
}

/// What a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpKind {
    /// An input of the forward.
    Input,
    /// A constant.
    Constant,
    /// What an unseen operation computed.
    Unwrapped,
    /// Made from no array: a literal, `zeros`, `arange`.
    Literal,
    /// Anything else.
    Op,
}

impl Op {
    /// The function it stands for: `linear`, `matmul`, `input`.
    pub fn func_name(&self) -> &str {
        &self.name
    }

    /// `{name}_{n}:{call}`: the n-th of that name, and which call of its module.
    pub fn label(&self) -> String {
        format!("{}_{}:{}", self.name, self.ordinal, self.call)
    }

    /// What it is.
    pub fn kind(&self) -> OpKind {
        self.kind
    }

    /// Its calls, in order.
    pub fn calls(&self) -> &[CallId] {
        &self.calls
    }

    /// The rows that it reads, as places in [`Trace::ops`], each once, in the order of its operands.
    pub fn parents(&self) -> &[usize] {
        &self.parents
    }

    /// The values that others, or the outputs, see of it; the last one it made, where nobody does.
    pub fn results(&self) -> &[ValueId] {
        &self.results
    }

    /// The address of the module it belongs to.
    pub fn module(&self) -> Option<&str> {
        self.module.as_deref()
    }

    /// The line of the model that its first call comes from; see [`Trace::source`].
    pub fn source(&self) -> Option<&SourceLine> {
        self.source.as_ref()
    }

    /// The named function it stands for, where a scope names one.
    pub fn scope(&self) -> Option<&str> {
        self.scope.as_deref()
    }
}

/// What calls are one op: a scope, or the call itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Group {
    Scope(ScopeId),
    Call(CallId),
}

pub(super) fn derive(trace: &Trace) -> Vec<Op> {
    Rows::new(trace).build()
}

struct Rows<'a> {
    trace: &'a Trace,
    /// For each scope, whether modules or containers lie inside it.
    has_inner: Vec<bool>,
    /// For each value that no call made, the only scope that uses it, if there is only one.
    folded: HashMap<ValueId, bool>,
    rows: Vec<Op>,
    /// The latest row that gave a value.
    giver: HashMap<ValueId, usize>,
    ordinals: HashMap<String, u32>,
    modules: HashMap<(String, String), u32>,
}

impl<'a> Rows<'a> {
    fn new(trace: &'a Trace) -> Self {
        let mut has_inner = vec![false; trace.scopes.len()];
        for scope in &trace.scopes {
            if let (Some(parent), ScopeKind::Module(_) | ScopeKind::Container(_)) =
                (scope.parent, &scope.kind)
            {
                has_inner[parent.index()] = true;
            }
        }
        Self {
            trace,
            has_inner,
            folded: HashMap::new(),
            rows: Vec::new(),
            giver: HashMap::new(),
            ordinals: HashMap::new(),
            modules: HashMap::new(),
        }
    }

    fn build(mut self) -> Vec<Op> {
        for &input in &self.trace.inputs {
            // The same array given twice is one value, and one row.
            if !self.giver.contains_key(&input) {
                self.leaf("input", OpKind::Input, input);
            }
        }
        let groups = self.groups();
        self.find_folded(&groups);
        let folded_literals = self.folded_literals(&groups);
        for (group, calls) in &groups {
            if let [only] = calls[..] {
                if folded_literals.contains(&only) {
                    continue;
                }
            }
            self.add(*group, calls, &folded_literals, &groups);
        }
        // An output that nobody computed is a row all the same.
        for output in &self.trace.outputs {
            self.source(output.value);
        }
        self.rows
    }

    /// The groups in the order of their first call or entry.
    fn groups(&self) -> Vec<(Group, Vec<CallId>)> {
        let mut order: Vec<(Group, Vec<CallId>)> = Vec::new();
        let mut places: HashMap<Group, usize> = HashMap::new();
        let mut entered = 0;
        for (index, call) in self.trace.tables.calls.iter().enumerate() {
            let id = CallId(index as u32);
            // A layer that made no call (dropout in evaluation) stands where it was entered.
            while let Some(scope) = self.trace.scopes.get(entered) {
                if scope.first_call > index {
                    break;
                }
                self.note_silent(entered, &mut order, &mut places);
                entered += 1;
            }
            let group = call
                .scope
                .and_then(|scope| self.group_of(scope))
                .unwrap_or(Group::Call(id));
            let place = *places.entry(group).or_insert_with(|| {
                order.push((group, Vec::new()));
                order.len() - 1
            });
            order[place].1.push(id);
        }
        for scope in entered..self.trace.scopes.len() {
            self.note_silent(scope, &mut order, &mut places);
        }
        order
    }

    fn note_silent(
        &self,
        scope: usize,
        order: &mut Vec<(Group, Vec<CallId>)>,
        places: &mut HashMap<Group, usize>,
    ) {
        let id = ScopeId(scope as u32);
        if self.is_leaf_module(id) && !self.trace.scopes[scope].returned.is_empty() {
            let group = Group::Scope(id);
            places.entry(group).or_insert_with(|| {
                order.push((group, Vec::new()));
                order.len() - 1
            });
        }
    }

    fn is_leaf_module(&self, scope: ScopeId) -> bool {
        matches!(self.trace.scopes[scope.index()].kind, ScopeKind::Module(_))
            && !self.has_inner[scope.index()]
    }

    /// The scope that makes a call part of an op: its leaf module, else the outermost function below all modules.
    fn group_of(&self, scope: ScopeId) -> Option<Group> {
        let mut function = None;
        let mut at = Some(scope);
        while let Some(id) = at {
            if self.is_leaf_module(id) {
                return Some(Group::Scope(id));
            }
            let scope = &self.trace.scopes[id.index()];
            match scope.kind {
                ScopeKind::Function(_) => function = Some(id),
                ScopeKind::Module(_) | ScopeKind::Container(_) => break,
            }
            at = scope.parent;
        }
        function.map(Group::Scope)
    }

    /// Which constants only one layer or function uses.
    fn find_folded(&mut self, groups: &[(Group, Vec<CallId>)]) {
        let mut users: HashMap<ValueId, Vec<Group>> = HashMap::new();
        for (group, calls) in groups {
            for call in calls {
                for operand in self.trace.call(*call).operands() {
                    let users = users.entry(operand).or_default();
                    if !users.contains(group) {
                        users.push(*group);
                    }
                }
            }
        }
        let is_output = |value: ValueId| self.trace.outputs.iter().any(|output| output.value == value);
        self.folded = users
            .into_iter()
            .map(|(value, users)| (value, matches!(users[..], [Group::Scope(_)]) && !is_output(value)))
            .collect();
    }

    /// Literals outside any scope that only one layer or function uses: no rows of their own.
    fn folded_literals(&self, groups: &[(Group, Vec<CallId>)]) -> Vec<CallId> {
        groups
            .iter()
            .filter_map(|(group, _)| match group {
                Group::Call(call) => Some(*call),
                Group::Scope(_) => None,
            })
            .filter(|call| {
                let call = self.trace.call(*call);
                call.is_producer_leaf()
                    && call
                        .results
                        .iter()
                        .all(|result| self.folded.get(result).copied().unwrap_or(false))
            })
            .collect()
    }

    fn leaf(&mut self, name: &str, kind: OpKind, value: ValueId) -> usize {
        let ordinal = self.next(name);
        self.push(Op {
            name: name.to_string(),
            ordinal,
            call: 1,
            kind,
            calls: Vec::new(),
            parents: Vec::new(),
            results: vec![value],
            module: None,
            scope: None,
            source: None,
        })
    }

    fn push(&mut self, op: Op) -> usize {
        let place = self.rows.len();
        for &result in &op.results {
            self.giver.insert(result, place);
        }
        self.rows.push(op);
        place
    }

    fn next(&mut self, name: &str) -> u32 {
        let ordinal = self.ordinals.entry(name.to_string()).or_default();
        *ordinal += 1;
        *ordinal
    }

    /// The row that gives a value to the op being built; `None` for a parameter and for what is folded.
    fn source(&mut self, value: ValueId) -> Option<usize> {
        if let Some(&place) = self.giver.get(&value) {
            return Some(place);
        }
        match self.trace.value(value).origin {
            Origin::Constant if self.folded.get(&value).copied().unwrap_or(false) => None,
            Origin::Constant => Some(self.leaf("constant", OpKind::Constant, value)),
            Origin::Unwrapped => Some(self.leaf("unwrapped", OpKind::Unwrapped, value)),
            _ => None,
        }
    }

    fn add(
        &mut self,
        group: Group,
        calls: &[CallId],
        folded_literals: &[CallId],
        groups: &[(Group, Vec<CallId>)],
    ) {
        let trace = self.trace;
        let mut made: Vec<ValueId> = Vec::new();
        let mut parents: Vec<usize> = Vec::new();
        let mut take = |rows: &mut Self, operand: ValueId, made: &[ValueId]| {
            let inner = made.contains(&operand)
                || matches!(trace.value(operand).origin, Origin::Result { call, .. } if folded_literals.contains(&call));
            if inner {
                return;
            }
            if let Some(parent) = rows.source(operand) {
                if !parents.contains(&parent) {
                    parents.push(parent);
                }
            }
        };
        for &call in calls {
            let call = trace.call(call);
            for operand in call.operands() {
                take(self, operand, &made);
            }
            made.extend(call.results.iter().copied());
        }
        let returned: &[ValueId] = match group {
            Group::Scope(scope) => &trace.scope(scope).returned,
            Group::Call(_) => &[],
        };
        if calls.is_empty() {
            for &value in returned {
                take(self, value, &made);
            }
        }
        let mut results = self.visible(group, &made, returned, groups);
        // Who reads a replacement reads the row whose result it replaced.
        for replaced in &trace.replacements {
            if results.contains(&replaced.original) && !results.contains(&replaced.replacement) {
                results.push(replaced.replacement);
            }
        }
        let (name, module, scope, number, call) = self.named(group, calls);
        let kind = match calls {
            [only] if trace.call(*only).is_producer_leaf() => OpKind::Literal,
            _ => OpKind::Op,
        };
        self.push(Op {
            source: calls.first().and_then(|call| trace.source(*call)).cloned(),
            name,
            ordinal: number,
            call,
            kind,
            calls: calls.to_vec(),
            parents,
            results,
            module,
            scope,
        });
    }

    /// What others see of a group: all results of a lone call, what a layer returned, else what is used outside.
    fn visible(
        &self,
        group: Group,
        made: &[ValueId],
        returned: &[ValueId],
        groups: &[(Group, Vec<CallId>)],
    ) -> Vec<ValueId> {
        if let Group::Call(_) = group {
            return made.to_vec();
        }
        if !returned.is_empty() {
            return returned.to_vec();
        }
        let used_outside = |value: &ValueId| {
            self.trace.outputs.iter().any(|output| output.value == *value)
                || groups
                    .iter()
                    .filter(|(other, _)| *other != group)
                    .flat_map(|(_, calls)| calls)
                    .any(|call| self.trace.call(*call).operands().any(|operand| operand == *value))
        };
        let mut seen: Vec<ValueId> = made.iter().copied().filter(|value| used_outside(value)).collect();
        if seen.is_empty() {
            seen.extend(made.last());
        }
        seen
    }

    /// Name, module address, function scope, ordinal and call number of a group.
    fn named(
        &mut self,
        group: Group,
        calls: &[CallId],
    ) -> (String, Option<String>, Option<String>, u32, u32) {
        match group {
            Group::Call(call) => {
                let call = self.trace.call(call);
                let name = call.name();
                let address = call.scope.map(|scope| self.trace.scope(scope).address.clone());
                (name.to_string(), address, None, self.next(name), 1)
            }
            Group::Scope(id) => {
                let scope = self.trace.scope(id);
                match &scope.kind {
                    ScopeKind::Function(name) => (
                        name.clone(),
                        around(scope),
                        Some(name.clone()),
                        self.next(&name.clone()),
                        1,
                    ),
                    ScopeKind::Module(class) | ScopeKind::Container(class) => {
                        let _ = calls;
                        let name = snake_case(class);
                        if scope.anonymous {
                            let ordinal = self.next(&name);
                            return (name, around(scope), None, ordinal, 1);
                        }
                        let key = (name.clone(), scope.address.clone());
                        let ordinal = match self.modules.get(&key) {
                            Some(&ordinal) => ordinal,
                            None => {
                                let ordinal = self.next(&name);
                                self.modules.insert(key, ordinal);
                                ordinal
                            }
                        };
                        (name, Some(scope.address.clone()), None, ordinal, scope.call)
                    }
                }
            }
        }
    }
}

/// The module that a scope without an address of its own lies in, if that is not the model itself.
fn around(scope: &Scope) -> Option<String> {
    Some(scope.address.clone()).filter(|address| !address.is_empty())
}

/// `LayerNorm` as `layer_norm`, `Conv1d` as `conv1d`.
pub(super) fn snake_case(class: &str) -> String {
    let mut name = String::with_capacity(class.len() + 4);
    let mut previous_lower = false;
    for letter in class.chars() {
        if letter.is_uppercase() && previous_lower {
            name.push('_');
        }
        previous_lower = letter.is_lowercase() || letter.is_ascii_digit();
        name.extend(letter.to_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::snake_case;

    #[test]
    fn classes_read_as_functions() {
        let names = ["Linear", "LayerNorm", "Conv1d", "MultiHeadAttention", "list"].map(snake_case);
        assert_eq!(
            names,
            ["linear", "layer_norm", "conv1d", "multi_head_attention", "list"]
        );
    }
}
