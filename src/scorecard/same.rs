//! Whether two runs of a cell yielded the same.

use super::differing::{differing, Differing};
use super::outcome::{ArrayRow, Evidence, Fate, InsideRow, OpRow, Outcome};
use serde_json::Value;
use std::collections::BTreeMap;

impl Outcome {
    /// Whether another run of the cell yielded the same; times, distances, values and printed text may differ.
    ///
    /// Where the case says that its calls come in another order each time, what stands and falls with their order may
    /// differ too: labels, parents, and which op a fault was seeded in.
    pub fn same_as(&self, other: &Outcome) -> bool {
        let plain = |outcome: &Outcome| Outcome {
            millis: 0,
            output: String::new(),
            distances: Vec::new(),
            values: BTreeMap::new(),
            evidence: comparable(&outcome.evidence),
            ..outcome.clone()
        };
        plain(self) == plain(other)
    }

    /// The first thing in which the evidence of another run differs, with its way.
    pub fn differing_evidence(&self, other: &Outcome) -> Option<String> {
        let json = |outcome: &Outcome| serde_json::to_value(comparable(&outcome.evidence)).ok();
        first_difference(&json(self)?, &json(other)?)
    }
}

/// What differs first, in words.
fn first_difference(one: &Value, other: &Value) -> Option<String> {
    let (at, what) = differing(one, other)?;
    Some(match what {
        Differing::Values(one, other) => format!("{at}: {one}, then {other}"),
        Differing::Lengths(one, other) => format!("{at}: {one} of them, then {other}"),
    })
}

/// What of the evidence must be the same each time: all of it, unless the order of calls is not.
fn comparable(evidence: &Evidence) -> Evidence {
    let mut plain = evidence.clone();
    if !evidence.unordered {
        return plain;
    }
    plain.ops = rows(&evidence.ops);
    for output in &mut plain.outputs {
        output.op.clear();
    }
    for inside in &mut plain.insides {
        *inside = InsideRow {
            forward: rows(&inside.forward),
            backward: rows(&inside.backward),
            ..inside.clone()
        };
    }
    // A seeded fault of another op may be seen for another reason; that it is seen must not change.
    plain.mutant = plain.mutant.filter(|it| !matches!(it.fate, Fate::Killed(_)));
    // Of the ops that are alike, which one comes first says nothing, nor does how often one was perturbed before it
    // reacted.
    plain.work.perturbations = 0;
    plain
}

fn array(row: &ArrayRow) -> (Vec<i32>, String) {
    (row.shape.clone(), row.dtype.clone())
}

/// Ops by what they are and what became of them, sorted.
fn rows(rows: &[OpRow]) -> Vec<OpRow> {
    let mut plain: Vec<OpRow> = rows
        .iter()
        .map(|row| {
            let mut row = OpRow {
                label: String::new(),
                parents: Vec::new(),
                ..row.clone()
            };
            row.results.sort_by_key(array);
            row
        })
        .collect();
    let key = |row: &OpRow| {
        let arrays: Vec<_> = row.results.iter().map(array).collect();
        (
            row.name.clone(),
            arrays,
            row.input.clone(),
            row.functions.clone(),
            row.decision.map(|it| it.name()),
        )
    };
    plain.sort_by_key(key);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::Decision;

    fn op(label: &str, name: &str, parents: &[&str], extent: i32) -> OpRow {
        let array = ArrayRow {
            shape: vec![extent],
            dtype: "float32".to_owned(),
        };
        OpRow {
            parents: parents.iter().map(|it| (*it).to_owned()).collect(),
            ..OpRow::new(label, name, array)
        }
    }

    fn seen(unordered: bool, ops: Vec<OpRow>) -> Evidence {
        Evidence {
            unordered,
            ops,
            ..Evidence::default()
        }
    }

    fn alike(one: &Evidence, other: &Evidence) -> bool {
        comparable(one) == comparable(other)
    }

    #[test]
    fn only_a_case_that_says_so_may_come_in_another_order() {
        let one = || {
            vec![
                op("exp_1:1", "exp", &["input_1:1"], 2),
                op("exp_2:1", "exp", &["input_2:1"], 3),
            ]
        };
        let two = || {
            vec![
                op("exp_1:1", "exp", &["input_2:1"], 3),
                op("exp_2:1", "exp", &["input_1:1"], 2),
            ]
        };
        assert!(alike(&seen(false, one()), &seen(false, one())));
        assert!(!alike(&seen(false, one()), &seen(false, two())));
        assert!(alike(&seen(true, one()), &seen(true, two())));
        assert!(!alike(&seen(true, one()), &seen(false, two())));
    }

    #[test]
    fn whatever_the_order_the_ops_and_what_became_of_them_are_the_same() {
        let first = seen(
            true,
            vec![op("exp_1:1", "exp", &[], 2), op("sin_1:1", "sin", &[], 2)],
        );
        let mut fewer = first.clone();
        fewer.ops.pop();
        assert!(!alike(&first, &fewer));
        let mut decided = first.clone();
        decided.ops[1].decision = Some(Decision::Failed);
        assert!(!alike(&first, &decided));
        let mut wider = first.clone();
        wider.ops[0].results[0].shape = vec![3];
        assert!(!alike(&first, &wider));
    }

    #[test]
    fn what_differs_is_named_by_its_way() {
        let one = seen(false, vec![op("exp_1:1", "exp", &["input_1:1"], 2)]);
        let two = seen(false, vec![op("exp_1:1", "exp", &["input_1:1"], 3)]);
        let json = |it: &Evidence| serde_json::to_value(comparable(it)).expect("JSON");
        assert_eq!(
            first_difference(&json(&one), &json(&two)).as_deref(),
            Some("ops[0].results[0].shape[0]: 2, then 3")
        );
        let none = seen(false, Vec::new());
        assert_eq!(
            first_difference(&json(&one), &json(&none)).as_deref(),
            Some("ops: 1 of them, then 0")
        );
        assert_eq!(first_difference(&json(&one), &json(&one)), None);
    }
}
