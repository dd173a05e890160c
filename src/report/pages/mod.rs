//! What each page shows, as data for its template.

pub mod capability;
pub mod case;
pub mod cases;
pub mod diff;
pub mod function;
pub mod index;
pub(in crate::report) mod links;
