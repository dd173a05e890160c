//! One fact of many cells in few words: what they share once, and what differs with the cells' names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One fact of all cells of a case. Nothing is lost: see [`Folded::of`] and [`Folded::get`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Folded {
    /// The same for every cell.
    Same(String),
    /// By what it is the cells of which it is so; the value of an empty list is that of all other cells.
    Mixed(BTreeMap<String, Vec<String>>),
}

impl Folded {
    /// Folds the fact of these cells, by name; a cell's fact may be empty. `None` where it is empty for all.
    pub fn of<'a>(facts: impl Iterator<Item = (&'a str, String)>) -> Option<Self> {
        let mut by_fact: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (cell, fact) in facts {
            by_fact.entry(fact).or_default().push(cell.to_owned());
        }
        if by_fact.len() <= 1 {
            let only = by_fact.into_keys().next()?;
            return (!only.is_empty()).then_some(Self::Same(only));
        }
        // The first of those that most cells share, so that the same facts always fold alike.
        let most = by_fact.values().map(Vec::len).max()?;
        if let Some(common) = by_fact.values_mut().find(|cells| cells.len() == most) {
            common.clear();
        }
        Some(Self::Mixed(by_fact))
    }

    /// The fact of a cell, which must be one of those that were folded.
    pub fn get(&self, cell: &str) -> &str {
        match self {
            Self::Same(fact) => fact,
            Self::Mixed(by_fact) => {
                let own = by_fact
                    .iter()
                    .find(|(_, cells)| cells.iter().any(|it| it == cell));
                let rest = || by_fact.iter().find(|(_, cells)| cells.is_empty());
                own.or_else(rest).map_or("", |(fact, _)| fact)
            }
        }
    }

    /// The names of cells in it that are not among `cells`, which a file edited by hand may have.
    pub fn strangers<'a>(&'a self, cells: &[String]) -> Option<&'a str> {
        let Self::Mixed(by_fact) = self else { return None };
        let named = by_fact.values().flatten();
        named
            .map(String::as_str)
            .find(|name| cells.binary_search_by(|cell| cell.as_str().cmp(name)).is_err())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_most_cells_share_is_said_once() {
        let facts = [("a", "pass"), ("b", "fail"), ("c", "pass")];
        let folded = Folded::of(facts.into_iter().map(|(cell, fact)| (cell, fact.to_owned())));
        let text = serde_json::to_string(&folded).expect("spelled");
        assert_eq!(text, r#"{"fail":["b"],"pass":[]}"#);
    }

    proptest! {
        #[test]
        fn folding_loses_nothing(facts in proptest::collection::vec("[xyz]?", 0..12)) {
            let named: Vec<(String, String)> = facts.into_iter().enumerate().map(|(at, fact)| (at.to_string(), fact)).collect();
            let folded = Folded::of(named.iter().map(|(cell, fact)| (cell.as_str(), fact.clone())));
            let text = serde_json::to_string(&folded).expect("spelled");
            let read: Option<Folded> = serde_json::from_str(&text).expect("read");
            for (cell, fact) in &named {
                prop_assert_eq!(read.as_ref().map_or("", |it| it.get(cell)), fact);
            }
        }
    }
}
