//! The process-wide handler of MLX's errors: one test, since there is one handler.

mod support;

use std::ffi::{c_char, c_int, c_void, CStr};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

use mlx_sys::function::{Argument, Function};
use mlx_sys::invoke::{invoke, InvokeError};
use support::{floats, stream, Array};

static MESSAGES: Mutex<Vec<String>> = Mutex::new(Vec::new());
static DESTROYED: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn handle(message: *const c_char, data: *mut c_void) {
    let message = unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned();
    MESSAGES
        .lock()
        .unwrap()
        .push(format!("{}: {message}", data as usize));
}

unsafe extern "C" fn destroy(data: *mut c_void) {
    DESTROYED.fetch_add(data as usize, Ordering::Relaxed);
}

/// Replaces itself, in the middle of its call, and is destroyed after it.
unsafe extern "C" fn handle_once(message: *const c_char, data: *mut c_void) {
    unsafe {
        mlx_sys::mlx_set_error_handler(Some(handle), 30 as *mut c_void, Some(destroy));
        assert_eq!(DESTROYED.load(Ordering::Relaxed), 10, "not while it runs");
        handle(message, data);
    }
}

fn fail() -> c_int {
    let a = floats(&[1., 2.], &[2]);
    let b = floats(&[1., 2., 3.], &[3]);
    let mut res = Array::empty();
    unsafe { mlx_sys::mlx_add(&mut res.0, a.0, b.0, stream()) }
}

fn take() -> Vec<String> {
    std::mem::take(&mut MESSAGES.lock().unwrap())
}

const CHILD: &str = "MLX_SYS_TEST_WITHOUT_HANDLER";

#[test]
fn errors_go_to_the_handler_that_the_program_set() {
    if std::env::var_os(CHILD).is_some() {
        // Makes mlx-sys's own handler take over first.
        let add = Function::by_name("mlx_add").unwrap();
        assert!(unsafe { invoke(add, &[]) }.is_err());
        fail();
        return;
    }
    // With none set, mlx-c ends the process; so does the handler that stands in front.
    let child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "errors_go_to_the_handler_that_the_program_set",
            "--nocapture",
        ])
        .env(CHILD, "1")
        .output()
        .unwrap();
    assert_eq!(child.status.code(), Some(255));
    assert!(
        String::from_utf8_lossy(&child.stdout).contains("MLX error: "),
        "{child:?}"
    );

    unsafe { mlx_sys::mlx_set_error_handler(Some(handle), 10 as *mut c_void, Some(destroy)) };
    assert_eq!(fail(), 1);
    let messages = take();
    assert_eq!(messages.len(), 1);
    assert!(messages[0].starts_with("10: "), "{messages:?}");
    assert!(messages[0].contains("broadcast"), "{messages:?}");

    // A replay's errors are its own.
    let matmul = Function::by_name("mlx_matmul").unwrap();
    let (a, b) = (floats(&[1., 2.], &[1, 2]), floats(&[1., 2., 3.], &[1, 3]));
    let arguments = [
        Argument::Array(a.0),
        Argument::Array(b.0),
        Argument::Stream(stream()),
    ];
    let error = unsafe { invoke(matmul, &arguments) }.unwrap_err();
    assert!(
        matches!(&error, InvokeError::Mlx { function: "mlx_matmul", message } if message.contains("matmul")),
        "{error:?}"
    );
    assert!(take().is_empty());
    fail();
    assert_eq!(
        take().len(),
        1,
        "and afterwards the program's are the program's again"
    );

    assert_eq!(DESTROYED.load(Ordering::Relaxed), 0);
    unsafe { mlx_sys::mlx_set_error_handler(Some(handle_once), 20 as *mut c_void, Some(destroy)) };
    assert_eq!(DESTROYED.load(Ordering::Relaxed), 10);
    fail();
    assert_eq!(DESTROYED.load(Ordering::Relaxed), 30);
    assert!(take()[0].starts_with("20: "));
    fail();
    assert!(take()[0].starts_with("30: "));
}
