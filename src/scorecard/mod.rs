//! What the cells yielded, and what follows from it: verdicts, the scorecard, its differences, exit statuses.
//!
//! Everything here is data and pure functions over it, but for [`store`], [`side`] and [`git`], which read and keep
//! files; nothing here knows cases or MLX.

pub mod about;
pub mod book;
pub mod card;
pub mod cells;
pub mod changes;
pub mod decision;
pub mod diff;
mod differing;
pub mod environment;
pub mod exit;
pub mod failure;
mod fold;
pub mod functions;
pub mod gate;
pub mod git;
pub mod label;
pub mod lines;
pub mod merge;
pub mod otherwise;
pub mod outcome;
pub mod outcomes;
pub mod retired;
mod same;
pub mod schema;
pub mod seal;
pub mod settle;
pub mod side;
pub mod store;
pub mod surface;
mod text_file;
pub mod totals;
pub mod verdict;
