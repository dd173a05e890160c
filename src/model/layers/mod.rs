//! The layers that a case may build: one entry each, one file for each family.
//!
//! `name(arrays; settings; optional settings) => constructor`. The arrays are what its forward takes; the settings
//! build it, with mlx-rs's defaults where they are left out.

mod activations;
mod build;
mod conv;
mod made;
mod norm;
mod programs;
mod several;
mod table;
mod unary;

pub use build::build;
pub use table::{layer, signatures, LayerEntry, FAMILIES};
