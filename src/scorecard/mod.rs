//! What the cells yielded, and what follows from it: verdicts, the scorecard, its differences, exit statuses.
//!
//! Everything here is data and pure functions over it, but for [`store`], which keeps the files; nothing here knows
//! YAML or MLX.

pub mod card;
pub mod cells;
pub mod changes;
pub mod exit;
pub mod lines;
pub mod merge;
pub mod outcome;
pub mod outcomes;
pub mod settle;
pub mod store;
pub mod totals;
pub mod verdict;
