//! mlx-assay.
