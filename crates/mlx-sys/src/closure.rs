//! Closures, whose beginning and end an observer sees.
//!
//! A transform runs a closure on arrays of MLX's own making; what the closure is given and what it returns crosses no
//! observed function. So every closure is made with a small frame around it, which tells the observer of the thread that
//! runs it, if there is one.

use std::ffi::{c_int, c_void};

use crate::observe;
use crate::raw::{self, mlx_closure, mlx_vector_array};

type Call = unsafe extern "C" fn(*mut mlx_vector_array, mlx_vector_array, *mut c_void) -> c_int;
type Destroy = unsafe extern "C" fn(*mut c_void);

/// The program's closure.
struct Framed {
    call: Call,
    payload: *mut c_void,
    destroy: Option<Destroy>,
}

/// As in mlx-c; observers of the thread that runs the closure see it begin and end.
///
/// # Safety
///
/// As for the C function: `payload` lives until `dtor` is called with it.
pub unsafe extern "C" fn mlx_closure_new_func_payload(
    fun: Option<Call>,
    payload: *mut c_void,
    dtor: Option<Destroy>,
) -> mlx_closure {
    let Some(call) = fun else {
        // SAFETY: the caller's promise.
        return unsafe { raw::mlx_closure_new_func_payload(fun, payload, dtor) };
    };
    let framed = Box::new(Framed {
        call,
        payload,
        destroy: dtor,
    });
    // SAFETY: the box lives until `destroy` takes it back, which MLX calls once.
    unsafe { raw::mlx_closure_new_func_payload(Some(run), Box::into_raw(framed).cast(), Some(destroy)) }
}

unsafe extern "C" fn run(res: *mut mlx_vector_array, inputs: mlx_vector_array, framed: *mut c_void) -> c_int {
    // SAFETY: the box that was made above. Only shared, since a closure may run inside itself.
    let framed = unsafe { &*framed.cast::<Framed>() };
    let is_observed = observe::enter_closure(inputs);
    // SAFETY: what the program gave to be called so.
    let status = unsafe { (framed.call)(res, inputs, framed.payload) };
    if is_observed {
        // SAFETY: a closure that succeeded has put its results there.
        observe::leave_closure((status == 0).then(|| unsafe { *res }));
    }
    status
}

unsafe extern "C" fn destroy(framed: *mut c_void) {
    // SAFETY: called once, with the box that was made above.
    let framed = unsafe { Box::from_raw(framed.cast::<Framed>()) };
    if let Some(destroy) = framed.destroy {
        // SAFETY: the program gave `destroy` for its payload.
        unsafe { destroy(framed.payload) };
    }
}
