//! What threads make while another one is observed.
//!
//! Work that a program sends to another thread crosses no observer, and what comes back looks like an array that was always
//! there. So, while a thread is observed, the others note what their calls make.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::function::Output;
use crate::raw::{self, mlx_array};

/// How many threads have an observer.
static OBSERVED_THREADS: AtomicUsize = AtomicUsize::new(0);

/// The arrays that were made, by identity, while at least one thread was observed.
static MADE: Mutex<Option<Made>> = Mutex::new(None);

/// More than these are not remembered: those that are gone are forgotten first, then all.
const MOST: usize = 1 << 16;

thread_local! {
    /// The number of the first array that concerns this thread's observer.
    static SINCE: Cell<u64> = const { Cell::new(0) };
    /// Its address tells this thread from the others.
    static PLACE: u8 = const { 0 };
}

#[derive(Default)]
struct Made {
    arrays: HashMap<usize, Entry>,
    next: u64,
}

struct Entry {
    token: Token,
    number: u64,
    thread: usize,
}

/// Keeps an array's identity from being given to another one.
struct Token(raw::mlx_graph_token);

// SAFETY: a weak pointer with an atomic count.
unsafe impl Send for Token {}

impl Drop for Token {
    fn drop(&mut self) {
        // SAFETY: freed once.
        unsafe { raw::mlx_graph_token_free(&mut self.0) };
    }
}

fn this_thread() -> usize {
    PLACE.with(|place| std::ptr::from_ref(place) as usize)
}

/// Whether some thread is observed, so that the others are to note what they make.
#[inline]
pub(crate) fn is_watched() -> bool {
    OBSERVED_THREADS.load(Ordering::Relaxed) != 0
}

/// Whether a thread other than this one is observed; `here` says whether this one is.
#[inline]
pub(crate) fn is_watched_elsewhere(here: bool) -> bool {
    OBSERVED_THREADS.load(Ordering::Relaxed) > usize::from(here)
}

/// This thread is observed from here on.
pub(crate) fn begin() {
    OBSERVED_THREADS.fetch_add(1, Ordering::Relaxed);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    SINCE.set(made.get_or_insert_default().next);
}

/// This thread is not observed any more.
pub(crate) fn end() {
    if OBSERVED_THREADS.fetch_sub(1, Ordering::Relaxed) == 1 {
        *MADE.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Notes what a call of this thread made. What it only gave back, evaluated already, was not made by it.
pub(crate) fn note(results: &[Output], makes_data: bool) {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(made) = made.as_mut() else {
        return;
    };
    let mut note = |array: mlx_array| {
        // SAFETY: the handle of a result of a call that succeeded, or an empty one.
        let is_new = !array.ctx.is_null() && (makes_data || unsafe { raw::mlx_graph_has_primitive(array) });
        if is_new {
            made.add(array);
        }
    };
    for result in results {
        // SAFETY: the call succeeded, so the places hold its results; a list's handles borrow from it.
        unsafe {
            match *result {
                Output::Array(array) => note(*array),
                Output::Arrays(list) => {
                    (0..raw::mlx_graph_list_size(*list))
                        .for_each(|index| note(raw::mlx_graph_list_item(*list, index)));
                }
                Output::ArrayMap(_) => {}
            }
        }
    }
}

impl Made {
    fn add(&mut self, array: mlx_array) {
        if self.arrays.len() >= MOST {
            // SAFETY: valid tokens.
            self.arrays
                .retain(|_, entry| unsafe { raw::mlx_graph_token_alive(&entry.token.0) });
        }
        if self.arrays.len() >= MOST {
            self.arrays.clear();
        }
        let mut token = raw::mlx_graph_token { words: [0; 2] };
        // SAFETY: a handle that is not empty, and room for the token, which is freed on drop.
        let id = unsafe {
            raw::mlx_graph_token_new(&mut token, array);
            raw::mlx_graph_id(array)
        };
        let entry = Entry {
            token: Token(token),
            number: self.next,
            thread: this_thread(),
        };
        self.next += 1;
        self.arrays.insert(id, entry);
    }
}

/// Whether a call of another thread made this array since this thread is observed. Calls that go around this crate, and
/// more than some ten thousand arrays, are not remembered.
pub fn made_elsewhere(array: mlx_array) -> bool {
    // SAFETY: a valid or empty handle.
    let id = unsafe { raw::mlx_graph_id(array) };
    let made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let entry = made.as_ref().and_then(|made| made.arrays.get(&id));
    entry.is_some_and(|entry| entry.number >= SINCE.get() && entry.thread != this_thread())
}
