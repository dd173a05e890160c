//! From a case's program to mlx-rs: tables of layers and functions, building, running.
//!
//! [`functions`] and [`layers`] read like lists; widening what a case may say is adding lines to them. A name in a
//! case is one of theirs, since `case` checks names against their signatures.

pub(crate) mod arguments;
mod array;
mod compiled;
mod error;
mod faults;
mod field;
mod forward;
pub mod functions;
mod gradients;
mod host;
mod index;
pub mod layers;
mod llama;
mod module;
mod programs;
mod routines;
mod structured;
mod tied;
mod training;
mod unsupported;

pub use array::{data_of, dtype_name, to_array};
pub use error::ModelError;
pub use faults::{allow_faults, faults_allowed};
pub use forward::{Inputs, Model};
