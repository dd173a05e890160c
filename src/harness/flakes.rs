//! Which cells do not come out alike when they run again.

use crate::scorecard::outcome::Outcome;

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

/// What came out otherwise than the first time; both sorted by cell.
pub fn flakes(first: &[Outcome], later: &[Outcome], round: usize) -> Vec<Flake> {
    let pairs = first.iter().zip(later);
    pairs
        .filter(|(first, later)| !first.same_as(later))
        .map(|(first, later)| Flake {
            first: first.clone(),
            later: later.clone(),
            round,
        })
        .collect()
}

impl std::fmt::Display for Flake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { first, later, round } = self;
        let value = |outcome: &Outcome| {
            outcome
                .value
                .map(|value| format!(", value {value}"))
                .unwrap_or_default()
        };
        write!(
            f,
            "FLAKE {}   first record {}{}, in round {round} record {}{}",
            first.cell,
            first.record,
            value(first),
            later.record,
            value(later)
        )?;
        match (
            first.evidence.ending == later.evidence.ending,
            first.findings == later.findings,
        ) {
            (false, _) => write!(f, "\n  {}\n  {}", first.evidence.ending, later.evidence.ending),
            (true, false) => {
                let texts = |outcome: &Outcome| {
                    outcome
                        .findings
                        .iter()
                        .map(|it| it.message.clone())
                        .collect::<Vec<_>>()
                        .join("; ")
                };
                write!(f, "\n  {}\n  {}", texts(first), texts(later))
            }
            (true, true) => {
                let what = first.differing_evidence(later);
                write!(f, "\n  evidence: {}", what.as_deref().unwrap_or("differs"))
            }
        }
    }
}
