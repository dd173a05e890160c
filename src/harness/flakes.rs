//! Which cells do not come out alike when they run again.

use crate::scorecard::outcome::{Checked, Finding, FindingKind, Outcome, Verdict};

/// A cell that came out otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Flake {
    /// What came first.
    pub first: Outcome,
    /// What came later.
    pub later: Outcome,
    /// In which round, from 1.
    pub round: usize,
}

/// What came out otherwise than the first time, of the cells that ran both times; both sorted by cell.
pub fn flakes(first: &[Outcome], later: &[Outcome], round: usize) -> Vec<Flake> {
    let pairs = later.iter().filter_map(|later| {
        let place = first.binary_search_by(|first| first.cell.cmp(&later.cell)).ok()?;
        Some((&first[place], later))
    });
    pairs
        .filter(|(first, later)| !first.same_as(later))
        .map(|(first, later)| Flake {
            first: first.clone(),
            later: later.clone(),
            round,
        })
        .collect()
}

/// The outcomes, those of flaky cells red: what does not come out alike is no evidence, whatever came first.
pub fn marked(mut outcomes: Vec<Outcome>, flakes: &[Flake]) -> Vec<Outcome> {
    for outcome in &mut outcomes {
        let Some(flake) = flakes.iter().find(|flake| flake.first.cell == outcome.cell) else {
            continue;
        };
        if !outcome.record.is_red() {
            outcome.record = Verdict::Fail;
        }
        let difference = [vec![flake.verdicts()], flake.details()].concat().join("; ");
        let finding = Finding {
            check: Checked::Record,
            at: "expect".to_owned(),
            line: outcome.line,
            kind: FindingKind::Flaky,
            message: format!("it did not come out alike: {difference}"),
            hint: Some(format!(
                "find out how often: assay run --repeat 20 {}",
                outcome.cell
            )),
        };
        outcome.findings.insert(0, finding);
        outcome.rerun = Some(outcome.rerun_command());
    }
    outcomes
}

impl Flake {
    /// What differs, both times.
    fn details(&self) -> Vec<String> {
        let Self { first, later, .. } = self;
        if first.evidence.ending != later.evidence.ending {
            return [first, later].map(|it| it.evidence.ending.to_string()).into();
        }
        if first.findings != later.findings {
            let messages = |outcome: &Outcome| -> Vec<String> {
                let findings = outcome.findings.iter();
                findings.map(|it| it.message.clone()).collect()
            };
            return [first, later].map(|it| messages(it).join("; ")).into();
        }
        let what = first.differing_evidence(later);
        vec![format!("evidence: {}", what.as_deref().unwrap_or("differs"))]
    }

    /// `first record pass, value pass, in round 3 record fail`.
    fn verdicts(&self) -> String {
        let Self { first, later, round } = self;
        let value = |outcome: &Outcome| {
            outcome
                .value
                .map(|value| format!(", value {value}"))
                .unwrap_or_default()
        };
        format!(
            "first record {}{}, in round {round} record {}{}",
            first.record,
            value(first),
            later.record,
            value(later)
        )
    }
}

impl std::fmt::Display for Flake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FLAKE {}   {}", self.first.cell, self.verdicts())?;
        self.details().iter().try_for_each(|line| write!(f, "\n  {line}"))
    }
}
