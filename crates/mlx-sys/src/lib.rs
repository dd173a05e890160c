//! mlx-sys.
