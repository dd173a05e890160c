//! The list of what differs, while a cell is judged.

use super::about::place;
use super::seam::Cell;
use crate::case::error::nearest;
use crate::case::position::Path;
use crate::case::schema::Tolerance;
use crate::scorecard::about::Distance;
use crate::scorecard::outcome::{Checked, Finding, FindingKind};

/// Collects findings of one cell.
pub(super) struct Findings<'a> {
    /// The cell that is judged.
    pub cell: &'a Cell,
    /// What differs so far.
    pub list: Vec<Finding>,
    /// How near the values came that were compared so far.
    pub distances: Vec<Distance>,
}

impl Findings<'_> {
    /// Adds what differs at `path`.
    pub fn add(&mut self, check: Checked, kind: FindingKind, path: &Path, message: String) {
        self.add_with_hint(check, kind, path, message, None);
    }

    /// Adds how near values came to what the expectation at `path` says.
    pub fn distance(&mut self, what: &str, path: &Path, tolerance: Tolerance, ratio: Option<f64>) {
        self.distances.push(Distance {
            what: what.to_owned(),
            at: place(path),
            absolute: tolerance.absolute,
            relative: tolerance.relative,
            ratio,
        });
    }

    /// Adds something about the record as a whole.
    pub fn whole(&mut self, kind: FindingKind, message: String) {
        self.add(Checked::Record, kind, &Path::root().key("expect"), message);
    }

    /// The same, with a way on.
    pub fn add_with_hint(
        &mut self,
        check: Checked,
        kind: FindingKind,
        path: &Path,
        message: String,
        hint: Option<String>,
    ) {
        let line = self.cell.case.index.key_position(path).line.max(1);
        self.list.push(Finding {
            check,
            at: path.to_string(),
            line,
            kind,
            message,
            hint,
        });
    }

    /// Adds that the case names something that the trace does not have, with what it has.
    pub fn no_such(&mut self, what: &str, name: &str, known: &[&str], path: &Path) {
        let near = nearest(name, known.iter().copied());
        let list = |names: &[&str]| names.join(", ");
        let hint = match (near.is_empty(), known.is_empty()) {
            (_, true) => format!("the trace has no {what}"),
            (false, _) => format!("did you mean {}? there are {}", list(&near), list(known)),
            (true, _) => format!("there are {}", list(known)),
        };
        let message = format!("no {what} `{name}`");
        self.add_with_hint(
            Checked::Record,
            FindingKind::NoSuchName,
            path,
            message,
            Some(hint),
        );
    }
}
