//! The commands, one file each.

pub mod accept;
pub mod check;
mod collect;
mod command;
mod context;
pub mod coverage;
pub mod diff;
pub mod doctor;
pub mod gate;
pub mod generate;
pub mod list;
pub mod merge;
pub mod mutate;
pub mod new;
mod output;
pub mod progress;
pub mod report;
pub mod run;
mod saved;
pub mod show;
mod start;
mod summary;
mod worker;

pub use accept::accept_pending;
pub use command::main;
pub use context::CliError;
