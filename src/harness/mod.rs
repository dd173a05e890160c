//! From cells to verdicts: the seam behind which a cell runs, what is expected of it, and the trials.

pub mod compare;
pub mod expect;
pub mod seam;
