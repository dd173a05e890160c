//! A failure that is expected, but not as it is: what it was to be, and how to go on.

use super::outcome::Checked;
use serde::{Deserialize, Serialize};

/// An expected failure that fails otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Otherwise {
    /// The verdict that fails.
    pub check: Checked,
    /// What was to fail, and how: as the case says, or, where that covers what fails now, as is recorded.
    pub was: Vec<String>,
    /// What fails, and how.
    pub now: Vec<String>,
    /// What to write into the case; `None` where the case covers what fails now.
    pub edit: Option<Edit>,
}

/// The edit that excuses a failure as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The line of the entry of `expected_fail:`.
    pub line: u32,
    /// What its `fails:` must be, as a case spells it.
    pub fails: String,
}

impl Otherwise {
    /// What was to fail: `values expect.reference`.
    pub fn before(&self) -> String {
        match (&self.was[..], &self.edit) {
            ([], Some(_)) => "nothing, since the entry has no `fails:`".to_owned(),
            ([], None) => "nothing".to_owned(),
            (lines, Some(_)) => lines.join(", "),
            (lines, None) => format!("{} (recorded)", lines.join(", ")),
        }
    }

    /// How to go on if the failure is right as it is now; `file` is the case's.
    pub fn remedy(&self, file: &str) -> String {
        match &self.edit {
            Some(Edit { line, fails }) => {
                format!("{file}:{line}  write `fails: {fails}`, or let `assay accept` do it")
            }
            None => {
                "the case covers it; a whole `assay run`, then `assay accept`, takes it into the scorecard"
                    .to_owned()
            }
        }
    }
}
