//! What the cells of one device say about a capability: one pure function.

use super::cells::CellRecord;
use super::outcome::{Outcome, Verdict};
use crate::capability::{Capability, RefusalCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is known of a capability on one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// The flag is true, every covering cell's record passes, and at least one killed a mutant.
    Supported,
    /// The flag is false, and a passing cell pins the refusal with the named code.
    Unsupported,
    /// Everything else.
    NotYetProven,
}

impl Standing {
    /// As people read it.
    pub const fn phrase(self) -> &'static str {
        match self {
            Standing::Supported => "supported",
            Standing::Unsupported => "unsupported",
            Standing::NotYetProven => "not yet proven",
        }
    }
}

/// A standing and what it rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// The standing.
    pub verdict: Standing,
    /// Covering cells that ran; skipped ones are no evidence.
    pub cells: u32,
    /// Those whose record passes.
    pub passing: u32,
    /// Passing ones that a mutant was seeded in.
    pub mutants: u32,
    /// Those that killed it: the kill rate is this over `mutants`.
    pub killed: u32,
    /// Those that pin the refusal.
    pub refusing: u32,
    /// How many cells of each covering case pass.
    pub cases: BTreeMap<String, u32>,
    /// What is missing, where the capability is not yet proven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// What one covering cell has to say about a capability.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// Its case.
    pub case: String,
    /// Is its record true?
    pub record: Verdict,
    /// Whether its mutant was killed; `None` without one.
    pub killed: Option<bool>,
    /// With which code the backend refused.
    pub refused: Option<RefusalCode>,
}

impl Witness {
    /// What an outcome has to say.
    pub fn of(outcome: &Outcome) -> Self {
        Self::recorded(&outcome.case(), &CellRecord::of(outcome))
    }

    /// What a record of the scorecard has to say.
    pub fn recorded(case: &str, record: &CellRecord) -> Self {
        Self {
            case: case.to_owned(),
            record: record.record,
            killed: record.killed(),
            refused: record.refused,
        }
    }
}

/// What the outcomes of one device say about a capability.
pub fn evidence<'a>(capability: &Capability, outcomes: impl Iterator<Item = &'a Outcome>) -> Evidence {
    let covering = outcomes.filter(|outcome| outcome.covers.iter().any(|id| id == capability.id));
    testimony(capability.flag, capability.refusal, covering.map(Witness::of))
}

/// What the covering cells of one device say about a claim: its flag, and the code of its refusal.
pub fn testimony(flag: bool, code: Option<RefusalCode>, covering: impl Iterator<Item = Witness>) -> Evidence {
    let covering: Vec<Witness> = covering.filter(|it| it.record != Verdict::Skipped).collect();
    let passing = || covering.iter().filter(|it| it.record == Verdict::Pass);
    // A suite has far fewer cells than a u32 counts.
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let mut cases: BTreeMap<String, u32> = BTreeMap::new();
    for witness in &covering {
        *cases.entry(witness.case.clone()).or_default() += u32::from(witness.record == Verdict::Pass);
    }
    let mut found = Evidence {
        verdict: Standing::NotYetProven,
        cells: count(covering.len()),
        passing: count(passing().count()),
        mutants: count(passing().filter(|it| it.killed.is_some()).count()),
        killed: count(passing().filter(|it| it.killed == Some(true)).count()),
        refusing: count(
            passing()
                .filter(|it| it.refused.is_some() && it.refused == code)
                .count(),
        ),
        cases,
        missing: None,
    };
    let all_pass = found.cells > 0 && found.passing == found.cells;
    found.verdict = match flag {
        true if all_pass && found.killed > 0 => Standing::Supported,
        false if found.refusing > 0 => Standing::Unsupported,
        _ => Standing::NotYetProven,
    };
    found.missing = (found.verdict == Standing::NotYetProven).then(|| shortfall(flag, code, &found));
    found
}

/// Whether the flag claims what nothing proves.
pub fn is_over_claim(capability: &Capability, evidence: &Evidence) -> bool {
    capability.flag && evidence.verdict != Standing::Supported
}

/// Why a claim is not proven, for whoever has to prove it.
fn shortfall(flag: bool, code: Option<RefusalCode>, evidence: &Evidence) -> String {
    match evidence {
        Evidence { cells: 0, .. } => "no cell covers it".to_owned(),
        Evidence { cells, passing, .. } if passing < cells => {
            format!("{} of {cells} covering cells do not pass", cells - passing)
        }
        _ if flag => "no covering cell killed a mutant".to_owned(),
        _ => {
            let code = code.map_or("a code", RefusalCode::name);
            format!("no covering cell pins the refusal {code}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scorecard::outcome::{Ending, Evidence as Seen, Fate, MutantRow};
    use crate::vocabulary::Reason;

    const CODE: RefusalCode = RefusalCode::NestedCapture;

    fn claim(flag: bool) -> Capability {
        Capability {
            id: "a",
            sentence: "",
            flag,
            refusal: (!flag).then_some(CODE),
            remedy: "",
        }
    }

    fn outcome(record: Verdict, mutant: Option<Fate>, code: Option<RefusalCode>) -> Outcome {
        let ending = match code {
            Some(code) => Ending::Refused {
                code,
                capability: "a".into(),
                message: String::new(),
                remedy: String::new(),
            },
            None => Ending::Traced,
        };
        let mutant = mutant.map(|fate| MutantRow {
            name: "parent_dropped".into(),
            op: "gelu_1:1".into(),
            fate,
        });
        Outcome {
            cell: "c".into(),
            file: "cases/c.yaml".into(),
            line: 1,
            covers: vec!["a".into()],
            record,
            value: None,
            findings: vec![],
            evidence: Seen {
                ending,
                mutant,
                ..Seen::default()
            },
            about: Default::default(),
            distances: vec![],
            values: vec![],
            millis: 0,
            output: String::new(),
        }
    }

    #[test]
    fn the_kill_rate_counts_the_passing_cells_that_have_a_mutant() {
        let outcomes = [
            outcome(Verdict::Pass, Some(Fate::Killed(Reason::ReplayMismatch)), None),
            outcome(Verdict::Pass, Some(Fate::Survived), None),
            outcome(Verdict::Pass, None, None),
            outcome(Verdict::Fail, Some(Fate::Killed(Reason::ReplayMismatch)), None),
        ];
        let found = evidence(&claim(true), outcomes.iter());
        assert_eq!((found.killed, found.mutants), (1, 2));
    }

    #[test]
    fn the_rules_of_the_design_as_a_table() {
        let killed = || outcome(Verdict::Pass, Some(Fate::Killed(Reason::ReplayMismatch)), None);
        let survived = || outcome(Verdict::Pass, Some(Fate::Survived), None);
        let plain = || outcome(Verdict::Pass, None, None);
        let failing = || outcome(Verdict::Fail, None, None);
        let expected = || outcome(Verdict::ExpectedFail, None, None);
        let skipped = || outcome(Verdict::Skipped, None, None);
        let refusing = || outcome(Verdict::Pass, None, Some(CODE));
        let otherwise = || outcome(Verdict::Pass, None, Some(RefusalCode::UnwrappedOpInCapture));
        use Standing::{NotYetProven, Supported, Unsupported};
        let table = [
            (true, vec![], NotYetProven),
            (true, vec![killed()], Supported),
            (true, vec![killed(), plain()], Supported),
            (true, vec![plain()], NotYetProven),
            (true, vec![survived()], NotYetProven),
            (true, vec![killed(), failing()], NotYetProven),
            (true, vec![killed(), expected()], NotYetProven),
            (true, vec![killed(), skipped()], Supported),
            (true, vec![skipped()], NotYetProven),
            (false, vec![], NotYetProven),
            (false, vec![killed()], NotYetProven),
            (false, vec![refusing()], Unsupported),
            (false, vec![otherwise()], NotYetProven),
        ];
        for (place, (flag, outcomes, wanted)) in table.into_iter().enumerate() {
            let found = evidence(&claim(flag), outcomes.iter());
            assert_eq!(found.verdict, wanted, "row {place}: {found:?}");
            assert_eq!(
                is_over_claim(&claim(flag), &found),
                flag && wanted != Supported,
                "row {place}"
            );
        }
    }
}
