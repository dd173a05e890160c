//! Printing an answer.

use std::io::Write;

/// Prints to standard output. A reader that leaves early (`assay list | head`) is no fault of ours, so whatever
/// cannot be printed is not.
pub fn say(text: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    let _ = write!(out, "{text}").and_then(|()| out.flush());
}
