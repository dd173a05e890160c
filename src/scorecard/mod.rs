//! What the cells yielded, and what follows from it: verdicts, the scorecard, its differences, exit statuses.
//!
//! Everything here is data and pure functions over it; nothing here knows YAML or MLX.

pub mod outcome;
