//! mlx-assay.
pub mod graph;
