//! From the functions that were under way at each call to scopes.
//!
//! A stack tells which functions were under way, not since when: the same layer run twice in a row shows the same
//! functions. Such runs are told apart by their start: when a call comes whose way from a layer's forward down is that of
//! the forward's first call, the forward started over. A layer with others inside must have gone on in between, since a
//! loop over its layers comes back to one line for each.
//!
//! Where a layer lies in the model is what the parameters read inside have in common. A layer without parameters has no
//! address of its own.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::place::{place, Place, Role};
use super::{SourceLine, Stacks};
use crate::capture::call::Call;
use crate::capture::scope::{Scope, ScopeId, ScopeKind};
use crate::capture::value::{Origin, Value};

/// What stacks told of a forward.
#[derive(Debug, Clone, Default)]
pub(crate) struct Named {
    /// The line that each call comes from, as far as it is known.
    pub(crate) lines: Vec<Option<SourceLine>>,
    /// What could not be told, and why.
    pub(crate) lacking: Option<String>,
}

/// The line that each stack comes from, as far as it is known.
pub(crate) fn lines(stacks: &Stacks, count: usize) -> Vec<Option<SourceLine>> {
    let line = |number| {
        let (_, places) = places(stacks, number);
        places.iter().find_map(|place| place.source.clone())
    };
    (0..count).map(line).collect()
}

/// A stack from the call on, without what watched it, and what lies at each address.
fn places(stacks: &Stacks, number: usize) -> (&[usize], Vec<Rc<Place>>) {
    let addresses = stacks.get(number);
    let mut places: Vec<Rc<Place>> = addresses.iter().map(|address| place(*address)).collect();
    let watching = places.iter().take_while(|place| place.watches).count();
    places.drain(..watching);
    (&addresses[watching..], places)
}

/// A function of a stack that is a scope.
struct Frame {
    kind: ScopeKind,
    /// Its place in the stack, from the innermost.
    depth: usize,
}

/// A scope that is under way.
struct Open {
    scope: ScopeId,
    kind: ScopeKind,
    /// The return addresses further out: who called it.
    outer: Vec<usize>,
    /// Those from here to the first call inside.
    first: Vec<usize>,
    /// Whether another line of it was reached since.
    went_on: bool,
}

/// Gives scopes to the calls that have none but containers around them, and finds each call's line.
pub(crate) fn name(
    stacks: &Stacks,
    calls: &mut [Call],
    values: &[Value],
    scopes: &mut Vec<Scope>,
    model: Option<&str>,
) -> Named {
    let mut named = Named::default();
    let mut open: Vec<Open> = Vec::new();
    let mut made: Vec<ScopeId> = Vec::new();
    let (mut without_lines, mut outside) = (0, 0);
    for (index, call) in calls.iter_mut().enumerate() {
        let (addresses, places) = places(stacks, index);
        let line = places.iter().find_map(|place| place.source.clone());
        outside += usize::from(
            places
                .iter()
                .any(|place| place.is_outside || place.source.is_some()),
        );
        without_lines += usize::from(line.is_none());
        named.lines.push(line);
        // What a scope that was entered names goes by that name.
        let around = call.scope;
        if around.is_some_and(|scope| !matches!(scopes[scope.index()].kind, ScopeKind::Container(_))) {
            open.clear();
            continue;
        }
        let frames = frames(&places);
        let same = still_open(&mut open, &frames, addresses);
        open.truncate(same);
        for frame in &frames[same..] {
            let id = ScopeId(scopes.len() as u32);
            scopes.push(Scope {
                parent: open.last().map(|it| it.scope).or(around),
                kind: frame.kind.clone(),
                address: String::new(),
                call: 1,
                returned: Vec::new(),
                first_call: index,
                anonymous: true,
            });
            made.push(id);
            open.push(Open {
                scope: id,
                kind: frame.kind.clone(),
                outer: addresses[frame.depth + 1..].to_vec(),
                first: addresses[..=frame.depth].to_vec(),
                went_on: false,
            });
        }
        if let Some(innermost) = open.last() {
            call.scope = Some(innermost.scope);
        }
    }
    addresses(&made, calls, values, scopes, model);
    if without_lines > 0 {
        named.lacking = Some(match outside {
            0 => format!("{without_lines} of {} calls have no source line: the program has no symbols", calls.len()),
            _ => format!(
                "{without_lines} of {} calls have no source line: the program was built without debug information \
                 (`debug = \"line-tables-only\"` is enough)",
                calls.len()
            ),
        });
    }
    named
}

/// The modules of a stack, the outermost first, then the outermost function inside the innermost of them.
fn frames(places: &[Rc<Place>]) -> Vec<Frame> {
    let mut frames: Vec<Frame> = Vec::new();
    let mut function: Option<Frame> = None;
    let mut held = false;
    for (depth, place) in places.iter().enumerate().rev() {
        let name = match &place.role {
            Role::None => continue,
            Role::Module(class) | Role::Holder(class) => {
                function = None;
                let holds = matches!(place.role, Role::Holder(_));
                // What holds a module is called at the same address, and would pass for one around it. It stands for the
                // module only where the compiler left no other trace of that.
                if std::mem::replace(&mut held, holds) && !holds {
                    frames.pop();
                }
                frames.push(Frame {
                    kind: ScopeKind::Module(class.clone()),
                    depth,
                });
                continue;
            }
            Role::Function(name) => (*name).to_string(),
            Role::Named(name) => name.clone(),
        };
        function.get_or_insert(Frame {
            kind: ScopeKind::Function(name),
            depth,
        });
    }
    frames.extend(function);
    frames
}

/// How many of the open scopes a stack is still in.
fn still_open(open: &mut [Open], frames: &[Frame], addresses: &[usize]) -> usize {
    let innermost = frames.len();
    for (place, (scope, frame)) in open.iter_mut().zip(frames).enumerate() {
        let same = scope.kind == frame.kind && scope.outer == addresses[frame.depth + 1..];
        if !same {
            return place;
        }
        let starts = scope.first == addresses[..=frame.depth];
        let inside = place + 1 < innermost && matches!(frames[place + 1].kind, ScopeKind::Module(_));
        if starts && (scope.went_on || !inside) {
            return place;
        }
        scope.went_on |= scope.first.last() != Some(&addresses[frame.depth]);
    }
    open.len().min(frames.len())
}

/// Finds where modules lie, and counts their calls.
fn addresses(made: &[ScopeId], calls: &[Call], values: &[Value], scopes: &mut [Scope], model: Option<&str>) {
    let mut read: HashMap<ScopeId, Vec<String>> = HashMap::new();
    for call in calls {
        for operand in call.operands() {
            let Origin::Parameter { address } = &values[operand.index()].origin else {
                continue;
            };
            let module = owner(address);
            let mut at = call.scope;
            while let Some(scope) = at {
                let common = read.entry(scope).or_insert_with(|| module.clone());
                let length = common.iter().zip(&module).take_while(|(a, b)| a == b).count();
                common.truncate(length);
                at = scopes[scope.index()].parent;
            }
        }
    }
    lift_containers(made, scopes, &mut read);
    let mut runs: HashMap<String, u32> = HashMap::new();
    for &id in made {
        let (around, kind) = {
            let scope = &scopes[id.index()];
            (
                scope.parent.map(|it| scopes[it.index()].clone()),
                scope.kind.clone(),
            )
        };
        let ScopeKind::Module(class) = &kind else {
            scopes[id.index()].address = around.map(|it| it.address).unwrap_or_default();
            continue;
        };
        let whole = around.is_none() && model == Some(class.as_str());
        let own = match (whole, read.get(&id)) {
            (true, _) => Some(Vec::new()),
            (false, Some(common)) => Some(common.clone()),
            (false, None) => None,
        };
        let scope = &mut scopes[id.index()];
        match own {
            Some(steps) => {
                scope.address = steps.join(".");
                scope.anonymous = false;
                let count = runs.entry(scope.address.clone()).or_default();
                *count += 1;
                scope.call = *count;
            }
            None => scope.address = around.map(|it| it.address).unwrap_or_default(),
        }
    }
}

/// What the parameters of several layers have in common leads to the list that they lie in; the module is what owns the
/// list. And where only one layer inside has parameters, it leads to that one.
fn lift_containers(made: &[ScopeId], scopes: &[Scope], read: &mut HashMap<ScopeId, Vec<String>>) {
    for &inner in made.iter().rev() {
        let (Some(outer), Some(child)) = (scopes[inner.index()].parent, read.get(&inner).cloned()) else {
            continue;
        };
        let Some(own) = read
            .get_mut(&outer)
            .filter(|_| matches!(scopes[inner.index()].kind, ScopeKind::Module(_)))
        else {
            continue;
        };
        let is_list = |own: &Vec<String>| {
            child
                .get(own.len())
                .is_some_and(|step| step.parse::<u32>().is_ok())
        };
        while !own.is_empty() && (own.len() >= child.len() || is_list(own)) {
            own.pop();
        }
    }
}

/// The steps to the module that owns a parameter.
fn owner(address: &Arc<str>) -> Vec<String> {
    let mut steps: Vec<String> = address.split('.').map(str::to_string).collect();
    steps.pop();
    steps
}
