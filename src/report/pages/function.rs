//! One function or layer: what is shown of it, by element type, and how near its values come to what is allowed.

use super::links;
use crate::report::site::Report;
use crate::scorecard::outcome::{Outcome, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;

/// The page.
#[derive(Clone, Debug, Serialize)]
pub struct View {
    root: &'static str,
    title: String,
    name: String,
    device: &'static str,
    dtypes: Vec<DTypeView>,
}

#[derive(Clone, Debug, Serialize)]
struct DTypeView {
    dtype: String,
    anchor: String,
    cells: usize,
    records: usize,
    claims: usize,
    values: usize,
    worst: Option<Worst>,
    millis: u64,
    rows: Vec<CellView>,
}

/// How near the values came to what they may be off by, at worst.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Worst {
    /// In words: `0.25 of the tolerance`.
    pub words: String,
    /// The share of the bar.
    pub percent: u32,
    /// The CSS class.
    pub tone: &'static str,
}

#[derive(Clone, Debug, Serialize)]
struct CellView {
    id: String,
    link: String,
    tone: &'static str,
    word: String,
    error: String,
}

impl View {
    /// Where it lies.
    pub fn path(&self) -> String {
        links::function(&self.name)
    }
}

/// The outcomes of each function, by element type.
pub(super) fn by_function<'a>(report: &Report<'a>) -> BTreeMap<&'a str, BTreeMap<&'a str, Vec<&'a Outcome>>> {
    let mut found: BTreeMap<&str, BTreeMap<&str, Vec<&Outcome>>> = BTreeMap::new();
    for outcome in report.outcomes {
        let Some(function) = &outcome.about.function else {
            continue;
        };
        let dtype = outcome.about.dtype.as_deref().unwrap_or("none");
        let of_function = found.entry(function).or_default();
        of_function.entry(dtype).or_default().push(outcome);
    }
    found
}

/// The largest share of the tolerance that any comparison of these outcomes used; `None` where nothing was compared.
pub(super) fn worst<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> Option<Worst> {
    let ratios = outcomes.flat_map(|it| it.distances.iter().map(|distance| distance.ratio));
    // Where the comparison has no number, the error is beyond any.
    let worst = ratios.map(|it| it.unwrap_or(f64::INFINITY)).reduce(f64::max)?;
    let words = match worst {
        0.0 => "equal".to_owned(),
        worst if worst.is_infinite() => "off, and may not be".to_owned(),
        worst => format!("{worst:.3} of the tolerance"),
    };
    Some(Worst {
        words,
        percent: (worst.min(1.0) * 100.0).round() as u32,
        tone: if worst > 1.0 { "bad" } else { "good" },
    })
}

/// What they show.
pub fn views(report: &Report<'_>) -> Vec<View> {
    let functions = by_function(report).into_iter();
    functions
        .map(|(name, by_dtype)| View {
            root: "../",
            title: name.to_owned(),
            name: name.to_owned(),
            device: report.device.name(),
            dtypes: by_dtype
                .into_iter()
                .map(|(dtype, outcomes)| of_dtype(dtype, &outcomes))
                .collect(),
        })
        .collect()
}

fn of_dtype(dtype: &str, outcomes: &[&Outcome]) -> DTypeView {
    let count = |wanted: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|it| wanted(it)).count();
    DTypeView {
        dtype: dtype.to_owned(),
        anchor: links::anchor(dtype),
        cells: outcomes.len(),
        records: count(&|it| it.record == Verdict::Pass),
        claims: count(&|it| it.value.is_some()),
        values: count(&|it| it.value == Some(Verdict::Pass)),
        worst: worst(outcomes.iter().copied()),
        millis: outcomes.iter().map(|it| it.millis).sum(),
        rows: outcomes
            .iter()
            .map(|outcome| CellView {
                id: outcome.cell.clone(),
                link: links::cell(&outcome.case(), &outcome.cell),
                tone: links::tone(outcome),
                word: links::verdicts(outcome),
                error: worst(std::iter::once(*outcome))
                    .map(|it| it.words)
                    .unwrap_or_default(),
            })
            .collect(),
    }
}
