//! From cells to verdicts: the seam behind which a cell runs, what is expected of it, the trials, and the whole run.

pub mod backend;
pub mod block;
pub mod compare;
pub mod conformance;
pub mod expect;
mod findings;
pub mod in_process;
mod judge_outputs;
mod judge_trace;
pub mod seam;
pub mod suite;
pub mod trials;
