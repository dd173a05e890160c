//! The commands, one file each.

pub mod accept;
pub mod check;
mod command;
mod context;
pub mod doctor;
pub mod list;
pub mod new;
pub mod run;
pub mod show;

pub use command::main;
