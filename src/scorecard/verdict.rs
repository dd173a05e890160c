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
    /// The flag is true, every covering cell's record passes, at least one killed a mutant, and where a code belongs to
    /// the claim at least one pins it.
    Supported,
    /// The flag is false, and every covering cell pins the refusal with the named code.
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
    let pinned = code.is_none() || found.refusing > 0;
    found.verdict = match flag {
        true if all_pass && found.killed > 0 && pinned => Standing::Supported,
        false if found.refusing > 0 && found.refusing == found.cells => Standing::Unsupported,
        _ => Standing::NotYetProven,
    };
    found.missing = (found.verdict == Standing::NotYetProven).then(|| shortfall(flag, code, &found));
    found
}

/// What the table says of a capability and the cells of one device do not show: a claim without evidence, a refusal that
/// is promised and does not come, a code that no cell pins. `None` where all is shown, and where every covering cell was
/// skipped, since then this device cannot decide.
pub fn unkept<'a>(
    capability: &Capability,
    outcomes: impl Iterator<Item = &'a Outcome> + Clone,
) -> Option<String> {
    let found = evidence(capability, outcomes.clone());
    if matches!(found.verdict, Standing::Supported | Standing::Unsupported) {
        return None;
    }
    let mut covering = outcomes.filter(|outcome| outcome.covers.iter().any(|id| id == capability.id));
    if found.cells == 0 && covering.next().is_some() {
        return None;
    }
    let word = if capability.flag { "claimed" } else { "refused" };
    Some(format!("{word}, but {}", found.missing.unwrap_or_default()))
}

/// Why a claim is not proven, for whoever has to prove it.
fn shortfall(flag: bool, code: Option<RefusalCode>, evidence: &Evidence) -> String {
    let Evidence {
        cells,
        passing,
        killed,
        refusing,
        ..
    } = *evidence;
    let code = code.map_or("", RefusalCode::name);
    match flag {
        _ if cells == 0 => "no cell that covers it ran".to_owned(),
        _ if passing < cells => format!("{} of {cells} covering cells do not pass", cells - passing),
        true if killed == 0 => "no covering cell killed a mutant".to_owned(),
        _ if refusing == 0 => format!("no cell pins the code {code}"),
        _ => format!(
            "{} of {cells} covering cells end without the refusal {code}",
            cells - refusing
        ),
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
            otherwise: vec![],
            rerun: None,
            evidence: Seen {
                ending,
                mutant,
                ..Seen::default()
            },
            about: Default::default(),
            distances: vec![],
            values: Default::default(),
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
            (true, vec![killed(), refusing()], Supported),
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
            (false, vec![refusing(), killed()], NotYetProven),
            (false, vec![refusing(), failing()], NotYetProven),
        ];
        for (place, (flag, outcomes, wanted)) in table.into_iter().enumerate() {
            let found = evidence(&claim(flag), outcomes.iter());
            assert_eq!(found.verdict, wanted, "row {place}: {found:?}");
            let only_skipped = !outcomes.is_empty() && found.cells == 0;
            assert_eq!(
                unkept(&claim(flag), outcomes.iter()).is_some(),
                wanted == NotYetProven && !only_skipped,
                "row {place}"
            );
        }
    }

    #[test]
    fn what_is_not_kept_says_what_is_missing() {
        let killed = || outcome(Verdict::Pass, Some(Fate::Killed(Reason::ReplayMismatch)), None);
        let said = |capability: Capability, outcomes: Vec<Outcome>| unkept(&capability, outcomes.iter());
        let with_code = Capability {
            refusal: Some(CODE),
            ..claim(true)
        };
        assert_eq!(
            [
                said(claim(true), vec![]),
                said(claim(false), vec![]),
                said(
                    claim(false),
                    vec![killed(), outcome(Verdict::Pass, None, Some(CODE))]
                ),
                said(with_code, vec![killed()]),
                said(
                    with_code,
                    vec![killed(), outcome(Verdict::Pass, None, Some(CODE))]
                ),
                said(claim(true), vec![outcome(Verdict::Skipped, None, None)]),
            ],
            [
                Some("claimed, but no cell that covers it ran".to_owned()),
                Some("refused, but no cell that covers it ran".to_owned()),
                Some("refused, but 1 of 2 covering cells end without the refusal nested_capture".to_owned()),
                Some("claimed, but no cell pins the code nested_capture".to_owned()),
                None,
                None,
            ]
        );
    }
}
