//! A second observer beside a session's recorder: it sees the same calls, and decides nothing.
//!
//! A thread has one observer (see [`mlx_sys::observe`]), and during a capture that is the session's. Whoever wants to
//! know what the thread is doing while a capture is under way, such as the flight recorder of a worker process, stands
//! beside it.

use std::cell::RefCell;
use std::ffi::c_int;
use std::rc::Rc;

use mlx_sys::function::{CallView, Output};
use mlx_sys::observe::{Decision, Inlining, Observer};
use mlx_sys::raw::{mlx_closure, mlx_vector_array};

/// Sees the calls of a thread's captures.
pub trait Bystander {
    /// Before the call runs; its refusal, if any, comes later.
    fn before(&self, call: &CallView<'_>);

    /// After the call ran and the session recorded it; `status` is 0 for success.
    fn after(&self, call: &CallView<'_>, results: &[Output], status: c_int);
}

thread_local! {
    static BYSTANDER: RefCell<Option<Rc<dyn Bystander>>> = const { RefCell::new(None) };
}

/// Has `bystander` see the calls of every capture of this thread from here on, instead of the one before it.
pub fn stand_beside(bystander: Option<Rc<dyn Bystander>>) {
    BYSTANDER.set(bystander);
}

/// The observer to install for `recorder`: itself, or with the thread's bystander beside it.
pub(super) fn with_bystander(recorder: Rc<dyn Observer>) -> Rc<dyn Observer> {
    match BYSTANDER.with_borrow(Clone::clone) {
        Some(bystander) => Rc::new(Pair { bystander, recorder }),
        None => recorder,
    }
}

struct Pair {
    bystander: Rc<dyn Bystander>,
    recorder: Rc<dyn Observer>,
}

impl Observer for Pair {
    fn before(&self, call: &CallView<'_>) -> Decision {
        self.bystander.before(call);
        self.recorder.before(call)
    }

    fn after(&self, call: &CallView<'_>, results: &mut [Output], status: c_int) {
        self.recorder.after(call, results, status);
        self.bystander.after(call, results, status);
    }

    fn enter_closure(&self, inputs: mlx_vector_array) {
        self.recorder.enter_closure(inputs);
    }

    fn leave_closure(&self, results: Option<mlx_vector_array>) {
        self.recorder.leave_closure(results);
    }

    fn missing_stream(&self) {
        self.recorder.missing_stream();
    }

    fn inline_compiled(&self, closure: mlx_closure) -> Inlining {
        self.recorder.inline_compiled(closure)
    }
}
