//! How much of mlx-c and of mlx-rs the suite's cells have shown, counted against what these offer.
//!
//! Neither list is ours: the operations stand in mlx-sys's generated table, and mlx-rs's items are read by the build
//! from the source that it compiles ([`surface`]). What a cell uses is read from the dispatch tables' own text
//! ([`uses`]), what it showed from the outcomes of the last run ([`count`]).

pub mod count;
pub mod excluded;
pub mod shown;
pub mod surface;
pub mod text;
pub mod uses;
