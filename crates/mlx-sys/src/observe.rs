//! Installing an observer, and how a wrapper calls it.
//!
//! ```
//! use std::cell::Cell;
//! use std::rc::Rc;
//!
//! use mlx_sys::function::{CallView, Output};
//! use mlx_sys::observe::{self, Observer};
//!
//! #[derive(Default)]
//! struct Count(Cell<usize>);
//!
//! impl Observer for Count {
//!     fn after(&self, call: &CallView<'_>, _results: &mut [Output], _status: i32) {
//!         println!("{}", call.function.name);
//!         self.0.set(self.0.get() + 1);
//!     }
//! }
//!
//! let count = Rc::new(Count::default());
//! let guard = observe::install(count.clone()).expect("nobody observes this thread yet");
//! unsafe {
//!     let one = mlx_sys::mlx_array_new_int(1);
//!     mlx_sys::mlx_array_free(one); // moves a handle about: not observed
//! }
//! drop(guard);
//! assert_eq!(count.0.get(), 1);
//! ```

use std::cell::Cell;
use std::ffi::{c_char, c_int, CStr, CString};
use std::marker::PhantomData;
use std::rc::Rc;

pub use crate::abroad::made_elsewhere;

use crate::abroad;
use crate::function::{Argument, CallView, Class, Function, Output};
use crate::raw;

/// Watches the calls of the thread that it is installed on.
///
/// Both methods run on that thread, between the caller and MLX. Inside them calls of this crate are not observed,
/// so an observer may call anything; a panic that leaves them ends the process, since it would unwind through C.
pub trait Observer {
    /// Before the call runs. Refusing keeps it from running: the caller gets a status of failure, with the message.
    fn before(&self, call: &CallView<'_>) -> Decision {
        let _ = call;
        Decision::Proceed
    }

    /// After the call ran with `status` (0 for success). The handles in `results` are the caller's: an observer
    /// may put other arrays into them.
    fn after(&self, call: &CallView<'_>, results: &mut [Output], status: c_int);

    /// A closure begins: MLX, or whoever applies it, gives it these arrays, which borrow from the list.
    fn enter_closure(&self, inputs: raw::mlx_vector_array) {
        let _ = inputs;
    }

    /// The closure that began last ends, with these results, or without any where it failed.
    fn leave_closure(&self, results: Option<raw::mlx_vector_array>) {
        let _ = results;
    }

    /// A stream was asked for that this build of MLX cannot make.
    fn missing_stream(&self) {}

    /// Whether functions compiled on this thread run as their operations from here on: `mlx_detail_compile` then
    /// hands back the closure itself. `closure` is the handle that it hands back.
    fn inline_compiled(&self, closure: raw::mlx_closure) -> Inlining {
        let _ = closure;
        Inlining::No
    }
}

/// What an observer says before a call.
#[derive(Debug)]
pub enum Decision {
    /// Let it run.
    Proceed,
    /// Do not run it; the message reaches the caller as MLX's error.
    Refuse(CString),
}

/// Whether a compiled function runs as its operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inlining {
    /// Yes: the closure is handed back as it is.
    Yes,
    /// No: MLX compiles it.
    No,
}

/// Whether a thread is observed without having installed anything.
const BY_ITSELF: bool = cfg!(feature = "witness");

thread_local! {
    /// What a wrapper reads: whether there is an observer and nothing silences it. See `refresh`.
    static OBSERVED: Cell<bool> = const { Cell::new(BY_ITSELF) };
    static OBSERVER: Cell<Option<*const dyn Observer>> = const { Cell::new(None) };
    /// How many `silently` are under way.
    static SILENCED: Cell<usize> = const { Cell::new(0) };
}

fn refresh() {
    OBSERVED.set(SILENCED.get() == 0 && (BY_ITSELF || OBSERVER.get().is_some()));
}

/// The thread already has an observer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlreadyObserved;

impl std::fmt::Display for AlreadyObserved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("this thread already has an observer of MLX calls; drop its guard first")
    }
}

impl std::error::Error for AlreadyObserved {}

/// Keeps an observer installed; dropping it takes the observer off its thread.
pub struct Guard {
    /// Keeps alive what `OBSERVER` points to.
    _observer: Rc<dyn Observer>,
    // Belongs to the thread that it was made on.
    _not_send: PhantomData<*const ()>,
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard").finish_non_exhaustive()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        OBSERVER.set(None);
        refresh();
        abroad::end();
    }
}

/// Has `observer` see the calls of this thread until the guard is dropped.
///
/// # Errors
///
/// A thread has at most one observer.
pub fn install(observer: Rc<dyn Observer>) -> Result<Guard, AlreadyObserved> {
    if OBSERVER.get().is_some() {
        return Err(AlreadyObserved);
    }
    #[cfg(feature = "witness")]
    crate::witness::gap();
    OBSERVER.set(Some(Rc::as_ptr(&observer)));
    refresh();
    abroad::begin();
    Ok(Guard {
        _observer: observer,
        _not_send: PhantomData,
    })
}

/// Runs `f` with this thread's calls unobserved.
pub fn unobserved<T>(f: impl FnOnce() -> T) -> T {
    #[cfg(feature = "witness")]
    crate::witness::gap();
    silently(f)
}

fn silently<T>(f: impl FnOnce() -> T) -> T {
    struct Restore;
    impl Drop for Restore {
        fn drop(&mut self) {
            SILENCED.set(SILENCED.get() - 1);
            refresh();
        }
    }
    SILENCED.set(SILENCED.get() + 1);
    OBSERVED.set(false);
    let _restore = Restore;
    f()
}

/// Whether a call on this thread is to be shown to an observer, or noted for another thread's.
#[inline]
pub(crate) fn is_observed() -> bool {
    OBSERVED.get() || (abroad::is_watched() && SILENCED.get() == 0)
}

/// Runs a callback of the thread's observer, with observation off inside; `None` where there is none.
fn with_observer<T>(f: impl FnOnce(&dyn Observer) -> T) -> Option<T> {
    let Some(observer) = OBSERVER.get() else {
        return by_itself(f);
    };
    // A callback may drop the guard, and with it the last other owner.
    // SAFETY: the pointer is that of an `Rc`, whose guard owns it and clears the pointer first.
    let observer = unsafe {
        Rc::increment_strong_count(observer);
        Rc::from_raw(observer)
    };
    Some(silently(|| f(&*observer)))
}

/// As `with_observer`, of a thread that installed none.
#[cfg(feature = "witness")]
fn by_itself<T>(f: impl FnOnce(&dyn Observer) -> T) -> Option<T> {
    Some(silently(|| f(&crate::witness::Witness)))
}

#[cfg(not(feature = "witness"))]
fn by_itself<T>(_: impl FnOnce(&dyn Observer) -> T) -> Option<T> {
    None
}

/// One observed call: before, the call itself, after.
pub(crate) fn call(
    function: &'static Function,
    arguments: &[Argument<'_>],
    results: &mut [Output],
    run: &mut dyn FnMut() -> c_int,
) -> c_int {
    let view = CallView { function, arguments };
    #[cfg(feature = "witness")]
    if OBSERVER.get().is_none() {
        crate::witness::places(&view, results);
    }
    if let Some(Decision::Refuse(message)) = with_observer(|observer| observer.before(&view)) {
        crate::error::report(&message);
        return 1;
    }
    let status = run();
    if status == 0 && abroad::is_watched_elsewhere(OBSERVER.get().is_some()) {
        abroad::note(
            results,
            matches!(function.class, Class::Constructor | Class::Loading),
        );
    }
    with_observer(|observer| observer.after(&view, results, status));
    status
}

/// Tells the thread's observer that a closure begins; whether there is one, which is then to be told of the end.
pub(crate) fn enter_closure(inputs: raw::mlx_vector_array) -> bool {
    OBSERVED.get() && with_observer(|observer| observer.enter_closure(inputs)).is_some()
}

/// Tells the thread's observer that a stream could not be made.
pub(crate) fn missing_stream() {
    if OBSERVED.get() {
        with_observer(|observer| observer.missing_stream());
    }
}

/// Tells the thread's observer that a closure ends.
pub(crate) fn leave_closure(results: Option<raw::mlx_vector_array>) {
    with_observer(|observer| observer.leave_closure(results));
}

/// Asks the thread's observer whether a compiled function is to be inlined.
pub(crate) fn inlining(closure: raw::mlx_closure) -> Inlining {
    if !is_observed() {
        return Inlining::No;
    }
    with_observer(|observer| observer.inline_compiled(closure)).unwrap_or(Inlining::No)
}

/// A slice from a C pointer and a length. A null pointer is not an empty list: for a norm it means all axes.
///
/// # Safety
///
/// `data` is null or points to `length` elements that outlive the call which is being observed.
#[inline]
pub(crate) unsafe fn slice<'a, T>(data: *const T, length: usize) -> Option<&'a [T]> {
    match (data.is_null(), length) {
        (true, _) => None,
        (false, 0) => Some(&[]),
        // SAFETY: as above; this is what the C function itself requires of its caller.
        (false, _) => Some(unsafe { std::slice::from_raw_parts(data, length) }),
    }
}

/// A C string, which may be absent.
///
/// # Safety
///
/// `data` is null or a string that outlives the call which is being observed.
#[inline]
pub(crate) unsafe fn text<'a>(data: *const c_char) -> Option<&'a CStr> {
    if data.is_null() {
        return None;
    }
    // SAFETY: as above.
    Some(unsafe { CStr::from_ptr(data) })
}
