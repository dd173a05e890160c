//! Whether the label holds: whether nothing got worse or weaker since it was decided on.

use super::changes::{Direction, Kind, Version};
use super::decision::{Decision, Label};
use super::diff::{diff, Side, Terms};
use super::gate::missing;
use serde::Serialize;

/// The label, and whether it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// What was decided.
    pub label: Label,
    /// Why it does not hold; empty where it does.
    pub broken: Vec<String>,
}

/// How many reasons are named.
const MOST_REASONS: usize = 10;

impl Standing {
    /// Whether it holds.
    pub fn holds(&self) -> bool {
        self.broken.is_empty()
    }

    /// One line: `preview`, `stable, held`, `stable, broken`.
    pub fn phrase(&self) -> String {
        match (self.label, self.holds()) {
            // It promises nothing, so that nothing breaks it.
            (Label::Preview, _) => "preview".to_owned(),
            (label, true) => format!("{}, held", label.name()),
            (label, false) => format!("{}, broken", label.name()),
        }
    }
}

/// Whether what was decided holds for the scorecard as it is now. `decided` is the scorecard of the decision's revision,
/// or why it cannot be had.
pub fn standing(
    decision: Option<&Decision>,
    decided: impl FnOnce(&Decision) -> Result<Version, String>,
    now: &Version,
    terms: &Terms<'_>,
) -> Standing {
    let Some(decision) = decision.filter(|it| it.label != Label::Preview) else {
        return Standing::default();
    };
    let broken = match decided(decision) {
        Err(why) => vec![format!("the scorecard that was decided on cannot be had: {why}")],
        Ok(version) => reasons(decision, version, now, terms),
    };
    Standing {
        label: decision.label,
        broken,
    }
}

fn reasons(decision: &Decision, decided: Version, now: &Version, terms: &Terms<'_>) -> Vec<String> {
    if decided.card.digest != decision.digest {
        return vec![format!(
            "the decision is on the scorecard {}, but revision {} has {}",
            decision.digest, decision.revision, decided.card.digest
        )];
    }
    // Failures that expire later do not make the decision wrong; the gate says so of the scorecard of today.
    let terms_then = Terms {
        today: &decision.when,
        ..terms.clone()
    };
    let lacking = missing(terms_then.gate, &decided, terms_then.today);
    if let Some(first) = lacking.first() {
        return vec![format!(
            "it was decided on without evidence: {}: {}{}",
            first.what,
            first.lacks,
            more(lacking.len() - 1)
        )];
    }
    let side = |name: &str, version: Version| Side {
        name: name.to_owned(),
        version,
        ..Side::default()
    };
    let found = diff(&side("decided", decided), &side("now", now.clone()), terms);
    let worse: Vec<String> = found
        .going(Direction::Regression)
        // What is new upstream was not decided on.
        .filter(|change| change.kind != Kind::New)
        .map(|change| {
            let device = change.device.map(|device| format!(" [{device}]"));
            format!("{}{}: {}", change.what, device.unwrap_or_default(), change.detail)
        })
        .collect();
    let left = worse.len().saturating_sub(MOST_REASONS);
    let mut reasons: Vec<String> = worse.into_iter().take(MOST_REASONS).collect();
    if left > 0 {
        reasons.push(format!("and {left} more"));
    }
    reasons
}

fn more(count: usize) -> String {
    match count {
        0 => String::new(),
        count => format!(", and {count} more"),
    }
}
