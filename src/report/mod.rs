//! What people read after a run: pages, tables and totals. Data in, text out.

pub mod badge;
pub mod diff;
pub mod doctor;
pub mod document;
pub mod gate;
pub mod graph;
pub mod junit;
pub mod pages;
pub mod parting;
pub mod site;
pub mod table;
pub mod text;

pub use doctor::doctor;
pub use site::{pages, ReportError};
