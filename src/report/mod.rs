//! What people read after a run: the page, the tables and the totals. Data in, text out.

pub mod diff;
pub mod doctor;
pub mod gate;
pub mod junit;
pub mod page;
pub mod table;
pub mod text;

pub use doctor::doctor;
pub use page::{render, ReportError};
