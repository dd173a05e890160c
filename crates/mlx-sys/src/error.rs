//! MLX's errors: one process-wide handler in mlx-c, given back to whoever asked.
//!
//! mlx-c reports an error by calling a process-wide handler before it returns a status; its own first handler ends
//! the process. To replay calls without disturbing the program's handler, this crate puts a handler of its own in
//! front: while a thread collects errors they stay on that thread, else they go where they would have gone.

use std::cell::RefCell;
use std::ffi::{c_char, c_void, CStr};
use std::sync::{Arc, Mutex, Once, PoisonError};

use crate::raw;

/// The handler that the program set, with its data.
struct Handler {
    call: unsafe extern "C" fn(*const c_char, *mut c_void),
    data: *mut c_void,
    destroy: Option<unsafe extern "C" fn(*mut c_void)>,
}

// SAFETY: mlx-c itself calls the handler with its data from any thread; this only keeps both.
unsafe impl Send for Handler {}
// SAFETY: as above.
unsafe impl Sync for Handler {}

impl Drop for Handler {
    fn drop(&mut self) {
        if let Some(destroy) = self.destroy {
            // SAFETY: the program gave `destroy` for `data`; it is called once, as mlx-c would when replaced.
            unsafe { destroy(self.data) };
        }
    }
}

/// Shared with the calls under way, which another thread's new handler must not pull the data from under.
static PROGRAM: Mutex<Option<Arc<Handler>>> = Mutex::new(None);
static INSTALLED: Once = Once::new();

thread_local! {
    /// Some while this thread collects its errors; the latest message.
    static COLLECTED: RefCell<Option<Option<String>>> = const { RefCell::new(None) };
}

/// As in mlx-c: sets the process-wide handler of errors.
///
/// # Safety
///
/// As for the C function: `data` lives until `dtor` is called with it.
pub unsafe extern "C" fn mlx_set_error_handler(
    handler: raw::mlx_error_handler_func,
    data: *mut c_void,
    dtor: Option<unsafe extern "C" fn(*mut c_void)>,
) {
    install();
    let handler = handler.map(|call| {
        Arc::new(Handler {
            call,
            data,
            destroy: dtor,
        })
    });
    let replaced = {
        let mut program = PROGRAM.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *program, handler)
    };
    // Not under the lock: what destroys its data may set another handler, or report an error.
    drop(replaced);
}

/// Runs `f` and gives the message of the last error that MLX reported on this thread meanwhile.
pub(crate) fn collect<T>(f: impl FnOnce() -> T) -> (T, Option<String>) {
    install();
    let outer = COLLECTED.replace(Some(None));
    let value = f();
    let message = COLLECTED.replace(outer).flatten();
    (value, message)
}

/// Reports an error as MLX would.
pub(crate) fn report(message: &CStr) {
    // SAFETY: a format that takes one string, and that string; the file's name is a C string too.
    unsafe { raw::_mlx_error(c"observer".as_ptr(), 0, c"%s".as_ptr(), message.as_ptr()) };
}

fn install() {
    // SAFETY: the handler has no data, and may be called from any thread.
    INSTALLED.call_once(|| unsafe { raw::mlx_set_error_handler(Some(dispatch), std::ptr::null_mut(), None) });
}

unsafe extern "C" fn dispatch(message: *const c_char, _data: *mut c_void) {
    // SAFETY: mlx-c passes a string that lives during the call.
    let text = unsafe { CStr::from_ptr(message) };
    let collected = COLLECTED.with_borrow_mut(|collected| match collected {
        Some(latest) => {
            *latest = Some(text.to_string_lossy().into_owned());
            true
        }
        None => false,
    });
    if collected {
        return;
    }
    // Not under the lock: a handler may set another one.
    let program = PROGRAM.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match program {
        // SAFETY: what the program gave to `mlx_set_error_handler`; the data lives as long as `handler`.
        Some(handler) => unsafe { (handler.call)(message, handler.data) },
        None => {
            // What mlx-c does on its own: whoever sets no handler relies on not going on.
            println!("MLX error: {}", text.to_string_lossy());
            std::process::exit(-1);
        }
    }
}
