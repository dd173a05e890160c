//! Feature `witness`: an observer that every thread has by itself, and that holds each call against MLX's own graph.
//!
//! It is for running a test suite that knows nothing of observers, such as mlx-rs's own: each of its threads is
//! watched from its first call on, unless it installs an observer of its own. What a recorder relies on is checked at
//! every call:
//!
//! - each array that a call reads was seen before on its thread, or was made inside a transform's closure, or has no
//!   producer;
//! - the walk from a call's results through MLX's graph ends at arrays that the call reads, or at leaves;
//! - what a call returns is new and has a producer, or is what it was given, or is data of the host;
//! - the places that results are written to are empty.
//!
//! Compiled functions stay compiled ([`Inlining::No`](crate::observe::Inlining::No)): a suite that tests compilation
//! is to find the real one, and a witness changes nothing. The calls that MLX makes while it traces a function for
//! compilation happen on tracers and are treated as those inside a transform's closure: counted, but not held against
//! the graph, which is read behind the whole application instead.
//!
//! Each violation goes to standard error as it happens, past libtest's capture, and the process is aborted when it
//! ends. One line of counts is appended to the file that the environment variable [`REPORT`] names, or else written to
//! standard error.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::{c_int, c_void, CStr};
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, Once, PoisonError};

use crate::function::{Argument, CallView, Class, Output};
use crate::observe::{Decision, Observer};
use crate::raw::{self, mlx_array};

/// The environment variable that names the file to which each process appends its line of counts.
pub const REPORT: &str = "MLX_SYS_WITNESS";

/// The observer of every thread that has no other.
pub(crate) struct Witness;

impl Observer for Witness {
    fn before(&self, call: &CallView<'_>) -> Decision {
        with_state(|state| state.before(call));
        Decision::Proceed
    }

    fn after(&self, call: &CallView<'_>, results: &mut [Output], status: c_int) {
        with_state(|state| state.after(call, results, status));
    }
}

/// Looks at the places for results before the call runs: nothing but `mlx_array_set_*` is meant to be given an array
/// to write over, and whoever records results by their handles relies on it.
pub(crate) fn places(call: &CallView<'_>, results: &[Output]) {
    if call.function.name.starts_with("mlx_array_set_") {
        return;
    }
    for result in results {
        // SAFETY: the caller's places for results, which the call is about to write to.
        let held = unsafe {
            match *result {
                Output::Array(place) => !(*place).ctx.is_null(),
                Output::Arrays(place) => raw::mlx_graph_list_size(*place) > 0,
                Output::ArrayMap(_) => false,
            }
        };
        if held {
            violation(
                call,
                "is given a place for its result that already holds an array",
            );
        }
    }
}

/// This thread makes calls that the witness does not see: from here on it may meet arrays that nobody showed it.
pub(crate) fn gap() {
    with_state(|state| {
        state.gap = true;
        state.depth = 0;
    });
}

thread_local! {
    static STATE: RefCell<State> = RefCell::new(State::default());
}

/// Nothing happens on a thread whose locals are gone: a destructor may still free or read arrays then.
fn with_state(f: impl FnOnce(&mut State)) {
    let _ = STATE.try_with(|state| f(&mut state.borrow_mut()));
}

/// What the witness knows of one thread.
#[derive(Default)]
struct State {
    /// The arrays seen, each with its number.
    seen: HashMap<usize, i64>,
    /// The arrays made inside a closure that MLX was applying; they may leave it by a side door.
    inside: HashSet<usize>,
    /// Keep the identities above from being given to other arrays.
    tokens: Vec<Token>,
    /// How many applications are under way.
    depth: usize,
    /// Whether the thread made calls that the witness did not see.
    gap: bool,
}

impl State {
    fn before(&mut self, call: &CallView<'_>) {
        start();
        for array in operands(call) {
            match self.depth {
                0 => self.meet(call, array),
                // A closure's arguments are arrays that MLX made. mlx-rs puts them into the model, and leaves them
                // there: an optimizer then reads them after the transform.
                _ => self.hold_inside(array),
            }
        }
        if call.function.class == Class::Application {
            self.depth += 1;
        }
    }

    fn after(&mut self, call: &CallView<'_>, results: &[Output], status: c_int) {
        COUNTS.called[call.function.index].fetch_add(1, Ordering::Relaxed);
        if call.function.class == Class::Application {
            self.depth = self.depth.saturating_sub(1);
        }
        if status != 0 || matches!(call.function.class, Class::Evaluation | Class::Reading) {
            return;
        }
        let results = Results::of(results);
        if self.depth > 0 {
            COUNTS.inside.fetch_add(1, Ordering::Relaxed);
            for &array in &results.arrays {
                self.hold_inside(array);
            }
            return;
        }
        self.walk(call, &results.arrays);
        for &array in &results.arrays {
            self.result(call, array);
        }
    }

    /// An array met while MLX was applying a closure.
    fn hold_inside(&mut self, array: mlx_array) {
        let id = id(array);
        if id != 0 && !self.seen.contains_key(&id) && self.inside.insert(id) {
            self.tokens.push(Token::of(array));
        }
    }

    /// An array that a call is about to read.
    fn meet(&mut self, call: &CallView<'_>, array: mlx_array) {
        let id = id(array);
        if self.seen.contains_key(&id) {
            return;
        }
        // SAFETY: a valid handle.
        let made = unsafe { raw::mlx_graph_has_primitive(array) };
        if self.inside.contains(&id) {
            COUNTS.escaped.fetch_add(1, Ordering::Relaxed);
        } else if made && !self.gap {
            violation(
                call,
                "reads an array that no observed call of this thread returned",
            );
        } else {
            COUNTS.foreign.fetch_add(1, Ordering::Relaxed);
        }
        self.see(array);
    }

    /// Reads MLX's graph behind the results, down to arrays that were seen before.
    fn walk(&mut self, call: &CallView<'_>, results: &[mlx_array]) {
        if results.iter().any(|array| array.ctx.is_null()) {
            violation(call, "succeeded and left a result empty");
            return;
        }
        let mut graph = raw::mlx_subgraph {
            ctx: std::ptr::null_mut(),
            index: 0,
        };
        // SAFETY: valid handles; the callback takes the map back as what it is, and it outlives the call.
        let status = unsafe {
            raw::mlx_graph_subgraph(
                &mut graph,
                results.as_ptr(),
                results.len(),
                Some(number),
                (&raw const self.seen).cast_mut().cast(),
            )
        };
        if status != 0 {
            violation(call, "returned arrays whose graph cannot be read");
            return;
        }
        // SAFETY: a valid program, freed once and not used afterwards.
        unsafe {
            count_primitives(graph);
            let operands: HashSet<i64> = operands(call)
                .filter_map(|array| self.seen.get(&id(array)).copied())
                .collect();
            for index in 0..raw::mlx_graph_boundary_size(graph) {
                let reached = raw::mlx_graph_boundary_item(graph, index);
                if operands.contains(&reached) {
                    continue;
                }
                match call.function.class {
                    // What its closure read beside its arguments.
                    Class::Application => {
                        COUNTS.captured.fetch_add(1, Ordering::Relaxed);
                    }
                    // What was put into a container for files.
                    Class::Loading => {}
                    _ => violation(call, "depends on an array that is not among its operands"),
                }
            }
            raw::mlx_graph_subgraph_free(graph);
        }
    }

    /// An array that a call returned.
    fn result(&mut self, call: &CallView<'_>, array: mlx_array) {
        let id = id(array);
        let class = call.function.class;
        if self.seen.contains_key(&id) {
            let given = operands(call).any(|operand| self::id(operand) == id);
            // A closure may return what it closes over, and a container for files what was put into it.
            if given || matches!(class, Class::Application | Class::Loading) {
                COUNTS.aliases.fetch_add(1, Ordering::Relaxed);
            } else {
                violation(
                    call,
                    "returned an array that was seen before and is not an operand",
                );
            }
            return;
        }
        // SAFETY: a valid handle.
        let made = unsafe { raw::mlx_graph_has_primitive(array) };
        if !made {
            COUNTS.leaves.fetch_add(1, Ordering::Relaxed);
            // A closure may return data of the host, and MLX the 1 that a gradient starts from.
            let literal = matches!(class, Class::Constructor | Class::Loading | Class::Application)
                || call.function.name == "mlx_random_key";
            if !literal {
                violation(call, "returned an array that nothing produced");
            }
        }
        self.see(array);
    }

    fn see(&mut self, array: mlx_array) {
        self.tokens.push(Token::of(array));
        let number = self.seen.len() as i64;
        self.seen.insert(id(array), number);
    }
}

/// The arrays among a call's arguments, a list's in place.
fn operands<'a>(call: &'a CallView<'_>) -> impl Iterator<Item = mlx_array> + 'a {
    call.arguments.iter().flat_map(|argument| match *argument {
        Argument::Array(array) if !array.ctx.is_null() => vec![array],
        Argument::Arrays(arrays) => list(arrays),
        _ => Vec::new(),
    })
}

fn list(arrays: raw::mlx_vector_array) -> Vec<mlx_array> {
    // SAFETY: a valid or empty list, and indexes in range; the handles borrow from the list, which outlives the call.
    unsafe {
        (0..raw::mlx_graph_list_size(arrays))
            .map(|index| raw::mlx_graph_list_item(arrays, index))
            .collect()
    }
}

/// The arrays that a call returned. A map's entries come as handles of their own, which are freed in the end.
#[derive(Default)]
struct Results {
    arrays: Vec<mlx_array>,
    owned: Vec<mlx_array>,
}

impl Results {
    fn of(results: &[Output]) -> Self {
        let mut found = Self::default();
        for result in results {
            // SAFETY: the call succeeded, so the places hold what it returned.
            match *result {
                Output::Array(place) => found.arrays.push(unsafe { *place }),
                Output::Arrays(place) => found.arrays.extend(list(unsafe { *place })),
                Output::ArrayMap(place) => found.entries(unsafe { *place }),
            }
        }
        found
    }

    fn entries(&mut self, map: raw::mlx_map_string_to_array) {
        // SAFETY: a valid map; the iterator is freed, and each entry's handle with `self`.
        unsafe {
            let entries = raw::mlx_map_string_to_array_iterator_new(map);
            loop {
                let mut key = std::ptr::null();
                let mut entry = raw::mlx_array_new();
                if raw::mlx_map_string_to_array_iterator_next(&mut key, &mut entry, entries) != 0 {
                    raw::mlx_array_free(entry);
                    break;
                }
                self.arrays.push(entry);
                self.owned.push(entry);
            }
            raw::mlx_map_string_to_array_iterator_free(entries);
        }
    }
}

impl Drop for Results {
    fn drop(&mut self) {
        for &array in &self.owned {
            // SAFETY: made by `entries` and given to nobody.
            unsafe { raw::mlx_array_free(array) };
        }
    }
}

fn id(array: mlx_array) -> usize {
    // SAFETY: a valid or empty handle.
    unsafe { raw::mlx_graph_id(array) }
}

unsafe extern "C" fn number(seen: *mut c_void, id: usize) -> i64 {
    // SAFETY: `walk` passes its map, which nothing else uses meanwhile.
    let seen = unsafe { &*seen.cast::<HashMap<usize, i64>>() };
    seen.get(&id).copied().unwrap_or(-1)
}

struct Token(raw::mlx_graph_token);

impl Token {
    /// For the array behind a handle that is not empty.
    fn of(array: mlx_array) -> Self {
        let mut token = raw::mlx_graph_token { words: [0; 2] };
        // SAFETY: a valid handle; the token may be moved, and is freed by `drop` alone.
        unsafe { raw::mlx_graph_token_new(&mut token, array) };
        Self(token)
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        // SAFETY: freed once.
        unsafe { raw::mlx_graph_token_free(&mut self.0) };
    }
}

/// What the process has seen so far, on all threads.
struct Counts {
    /// Calls, by function.
    called: [AtomicU64; crate::FUNCTIONS.len()],
    primitives: Mutex<BTreeSet<String>>,
    inside: AtomicU64,
    aliases: AtomicU64,
    captured: AtomicU64,
    escaped: AtomicU64,
    foreign: AtomicU64,
    leaves: AtomicU64,
    violations: AtomicU64,
}

static COUNTS: Counts = Counts {
    called: [const { AtomicU64::new(0) }; crate::FUNCTIONS.len()],
    primitives: Mutex::new(BTreeSet::new()),
    inside: AtomicU64::new(0),
    aliases: AtomicU64::new(0),
    captured: AtomicU64::new(0),
    escaped: AtomicU64::new(0),
    foreign: AtomicU64::new(0),
    leaves: AtomicU64::new(0),
    violations: AtomicU64::new(0),
};

/// Notes the primitives of a walk.
///
/// # Safety
///
/// A valid program.
unsafe fn count_primitives(graph: raw::mlx_subgraph) {
    let mut primitives = COUNTS.primitives.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: steps in range; the names live as long as the program, and are copied.
    unsafe {
        for step in 0..raw::mlx_graph_steps_size(graph) {
            let name = CStr::from_ptr(raw::mlx_graph_step_name(graph, step)).to_string_lossy();
            if !primitives.contains(name.as_ref()) {
                primitives.insert(name.into_owned());
            }
        }
    }
}

fn violation(call: &CallView<'_>, what: &str) {
    COUNTS.violations.fetch_add(1, Ordering::Relaxed);
    let thread = std::thread::current();
    let thread = thread.name().unwrap_or("an unnamed thread");
    say(&format!("witness: {thread}: {} {what}\n", call.function.name));
}

/// Writes past libtest, which would keep what the print macros write and lose it with the process.
fn say(text: &str) {
    // With standard error closed the count of violations still tells.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

extern "C" {
    fn atexit(callback: Option<unsafe extern "C" fn()>) -> c_int;
}

/// Has the counts reported when the process ends.
fn start() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        // SAFETY: the callback uses statics alone.
        if unsafe { atexit(Some(report)) } != 0 {
            say("witness: cannot report at the end of the process\n");
            std::process::abort();
        }
    });
}

unsafe extern "C" fn report() {
    static REPORTED: AtomicBool = AtomicBool::new(false);
    if REPORTED.swap(true, Ordering::Relaxed) {
        return;
    }
    let get = |count: &AtomicU64| count.load(Ordering::Relaxed);
    let called = || {
        let functions = crate::FUNCTIONS.iter().zip(&COUNTS.called);
        functions
            .map(|(function, count)| (function.class == Class::Operation, get(count)))
            .filter(|(_, count)| *count > 0)
    };
    let operations = || called().filter(|(operation, _)| *operation);
    let violations = get(&COUNTS.violations);
    let line = format!(
        "calls={} functions={} operation_calls={} operations={} primitives={} inside={} aliases={} captured={} escaped={} foreign={} leaves={} violations={}\n",
        called().map(|(_, count)| count).sum::<u64>(),
        called().count(),
        operations().map(|(_, count)| count).sum::<u64>(),
        operations().count(),
        COUNTS.primitives.lock().unwrap_or_else(PoisonError::into_inner).len(),
        get(&COUNTS.inside),
        get(&COUNTS.aliases),
        get(&COUNTS.captured),
        get(&COUNTS.escaped),
        get(&COUNTS.foreign),
        get(&COUNTS.leaves),
        violations,
    );
    let written = match std::env::var_os(REPORT) {
        Some(file) => std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(file)
            .and_then(|mut file| file.write_all(line.as_bytes())),
        None => {
            say(&format!("witness: {line}"));
            Ok(())
        }
    };
    if let Err(error) = written {
        say(&format!("witness: cannot report: {error}\n"));
        std::process::abort();
    }
    if violations > 0 {
        std::process::abort();
    }
}
