//! mlx-sys from prebuilt MLX, with calls one can watch.
//!
//! A drop-in for mlx-sys 0.7.0: the same functions, types and constants, over an MLX that comes prebuilt. On top,
//! every function of mlx-c that computes, makes, evaluates or reads arrays is *observable*: a thread may install an
//! [`observe::Observer`], which then sees each such call before and after it runs. With none installed a call costs
//! one thread-local load and a branch more than the plain one.
//!
//! - [`function`]: the table of observed functions and the borrowed view of a call.
//! - [`observe`]: installing an observer.
//! - [`invoke`](mod@invoke): calling a function again from recorded arguments.
//! - [`raw`]: the plain functions, which nobody observes; among them `mlx_graph_*` (see `native/graph.h`), which read
//!   MLX's own graph behind the arrays.
//!
//! With the feature `witness` every thread has an observer by itself, which holds each call against that graph: for
//! running a test suite that knows nothing of observers.

#![allow(non_upper_case_globals, non_camel_case_types, non_snake_case)]
// What each generated function asks of its caller stands in mlx-c's headers.
#![allow(clippy::missing_safety_doc)]

/// The functions of mlx-c as they are: calls through here are never observed.
#[allow(clippy::all, missing_docs, rustdoc::all, dead_code, unsafe_op_in_unsafe_fn)]
pub mod raw {
    /// A 16-bit float by its bits, since Rust's stable `f16` does not exist everywhere that MLX runs.
    #[repr(C)]
    #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
    pub struct float16_t(pub u16);

    include!(concat!(env!("OUT_DIR"), "/bindings.rs"));
}

pub use raw::*;

// The observing functions: each shadows the one of the same name that the glob above brings in.
include!(concat!(env!("OUT_DIR"), "/observed.rs"));

mod abroad;
mod closure;
mod compile;
mod error;
pub mod function;
pub mod invoke;
pub mod observe;
mod stream;
#[cfg(feature = "witness")]
pub mod witness;

pub use closure::mlx_closure_new_func_payload;
pub use compile::{mlx_compile, mlx_detail_compile};
pub use error::mlx_set_error_handler;
pub use stream::{mlx_default_gpu_stream_new, mlx_stream_new_device};
