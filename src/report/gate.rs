//! What the gate says, as text.

use super::text::counted;
use crate::scorecard::decision::Decision;
use crate::scorecard::gate::Missing;

/// The list of what is missing, the first thing first.
pub fn lacking(missing: &[Missing]) -> String {
    let mut text = format!(
        "not stable yet: {} of evidence missing\n",
        counted(missing.len(), "piece")
    );
    for (place, missing) in missing.iter().enumerate() {
        let device = missing.device.map_or("any device", |device| device.name());
        text.push_str(&format!(
            "{:>3}. {}, {device}: {}\n",
            place + 1,
            missing.what,
            missing.lacks
        ));
        if !missing.cells.is_empty() {
            text.push_str(&format!("     {}\n", missing.cells.join(", ")));
        }
        text.push_str(&format!("     {}\n", missing.run));
    }
    text
}

/// That nothing is missing, and the decision to paste.
pub fn open(decision: &Decision, file: &str) -> String {
    format!(
        "nothing is missing. To decide, put this into {file}, say who and why, and commit it:\n\n{}",
        decision.to_paste()
    )
}
