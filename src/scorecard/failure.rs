//! The failures that are known and written down, as the scorecard lists them.

use super::outcome::Checked;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One entry of a case's `expected_fail:`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailureRow {
    /// The case.
    pub case: String,
    /// Which verdict fails.
    pub check: Checked,
    /// Which of its cells: their number.
    pub cells: u32,
    /// Why it fails.
    pub because: String,
    /// Where it is reported.
    pub issue: String,
    /// When it was entered, as `2026-11-29`.
    pub opened: String,
    /// When somebody must look again, spelled alike.
    pub expires: String,
}
