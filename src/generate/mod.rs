//! Case files from the dispatch tables themselves.
//!
//! For each function and layer: what it is asked, from [`recipe`]; what came of asking, which is done by running it,
//! never by looking it up ([`probe`]); and the file that says so ([`text`]). A file is an ordinary case from then on.
//! Where MLX differs from the reference the reference stays the expectation, and the difference is an expected
//! failure; what cannot be decided by asking is marked `# decide:` for a person, until it stands in [`decided`].

pub mod cover;
mod decided;
pub mod plan;
pub mod probe;
pub mod recipe;
mod recipes;
pub mod text;
