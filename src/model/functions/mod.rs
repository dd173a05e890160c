//! The functions that a case may call: one line each, one file for each family.
//!
//! `name(required; optional) => call`. Required parameters are bound to their Rust type, optional ones to an
//! `Option` of it; the right side is the call as mlx-rs wants it, which yields one array, several, or a list. A line
//! is the only place that says any of this: signatures, the schema, the generated suite and the coverage of mlx-rs
//! are read from it.

mod array;
mod conv;
mod elementwise;
mod factory;
mod fast;
mod fft;
mod indexing;
mod linalg;
mod losses;
mod nn;
mod operators;
mod optimizers;
mod order;
mod product;
mod quantize;
mod random;
mod reduce;
mod shape;
mod table;
#[cfg(test)]
mod wrong;

pub use table::{call, family, function, signatures, Function, FAMILIES};
