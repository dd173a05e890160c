//! mlx-assay: a conformance suite, and the harness that runs it, for a capture backend over MLX.
//!
//! Nothing is green unless it ran, was replayed, was shown to depend on what it claims to depend on, and was shown
//! to be a check that can fail.
//!
//! The rooms, and the direction in which they know of each other: `cli -> harness -> {case, scorecard, report}`.
//! [`case`] and [`scorecard`] know nothing of MLX: names are checked against lists, verdicts are data.

pub mod backends;
pub mod capability;
pub mod capture;
pub mod case;
pub mod cli;
pub mod coverage;
pub mod generate;
pub mod graph;
pub mod harness;
pub mod model;
pub mod reference;
pub mod report;
pub mod scorecard;
pub mod store;
pub mod under_test;
pub mod validate;
pub mod vocabulary;

pub use capture::{trace, unwrapped_policy, Session, Trace, UnwrappedPolicy};
