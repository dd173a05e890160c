//! Cases: what a contributor writes in YAML, read, checked and spread into cells.
//!
//! A file under `cases/` is one case; its id is its path (`cases/ops/reduce/sum.yaml` is `ops::reduce::sum`).
//! [`yaml`] reads a file and knows where each key stands, [`schema`] is the grammar, [`load`] finds the files,
//! [`check`] finds what is wrong with all of them at once, [`expand`] spreads a case over its matrix. What comes
//! out is a [`cell::Cell`]: everything a runner needs, as plain data.
//!
//! Nothing here knows MLX. Which layers and functions exist comes in as [`names::Names`].

pub mod arguments;
pub mod cell;
pub mod check;
pub mod data;
pub mod date;
pub mod edit;
pub mod elements;
pub mod error;
pub mod expand;
pub mod fill;
pub mod index;
pub mod intervention;
pub mod json_schema;
pub mod load;
pub mod matrix;
pub mod names;
mod op;
pub mod payloads;
pub mod position;
pub mod program;
mod requires;
pub mod resolve;
pub mod schema;
mod shorthand;
pub mod spec;
pub mod value;
pub mod versions;
pub mod yaml;
