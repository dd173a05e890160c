//! Tests of what the suite promises to people: the case language, its messages, the scorecard's life, the page.
//!
//! One binary, since linking is most of what a test binary costs.

mod binary;
mod block;
mod cases;
mod commands;
mod diff;
mod fuzz;
mod gate;
mod generate;
mod grammar;
mod known;
mod messages;
mod names;
mod page;
mod reference;
mod requires;
mod runs;
mod scorecard;
mod sides;
mod stand_in;
mod traces;
mod verdicts;
