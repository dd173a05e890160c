//! MLX's own graph, safely.
//!
//! MLX arrays are lazy: until evaluated, each holds its primitive and its inputs. This module reads that graph
//! through the one C++ file of `crates/mlx-sys`: which array is which ([`ArrayId`]), what stands between
//! a call's results and the arrays known before it ([`Subgraph`]), and the same computation over other inputs
//! ([`Subgraph::replay`]). It knows nothing of sessions or traces.

mod array;
mod compare;
mod error;
mod identity;
mod layout;
mod memory;
pub mod raw_calls;
mod subgraph;

pub use array::{
    active_tasks, begin, borrowed, endless, evaluate, evaluate_raw, has_producer, is_available, list,
    results, shape_and_dtype, share,
};
pub use compare::{compare, differ, Difference};
pub use error::GraphError;
pub use identity::ArrayId;
pub use layout::{distinct_elements, lay_out, Layout};
pub use memory::{changed, elements, from_bytes, numbers, read, respan, span};
pub use subgraph::{Ancestors, Book, Known, Page, Step, Subgraph};
