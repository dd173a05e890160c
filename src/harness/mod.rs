//! From cells to verdicts: the seam behind which a cell runs, what is expected of it, the trials, and the whole run.

mod about;
pub mod backend;
pub mod block;
mod child;
pub mod compare;
pub mod conformance;
pub mod expect;
mod findings;
pub mod flakes;
pub mod flight;
pub mod in_process;
mod judge_outputs;
mod judge_trace;
pub mod known;
pub mod leave;
mod places;
pub mod plan;
pub mod pool;
mod probe;
pub mod protocol;
pub mod publish;
pub mod requires;
pub mod seam;
pub mod stream;
pub mod suite;
pub mod trials;
pub mod worker;
