//! The list of all cases.

use super::links;
use crate::report::pages::case::by_case;
use crate::report::site::Report;
use crate::report::text::counted;
use serde::Serialize;

/// The page.
#[derive(Clone, Debug, Serialize)]
pub struct View {
    root: &'static str,
    title: &'static str,
    summary: String,
    rows: Vec<Row>,
}

#[derive(Clone, Debug, Serialize)]
struct Row {
    id: String,
    link: String,
    cells: usize,
    passing: usize,
    tone: &'static str,
    word: String,
}

/// What it shows.
pub fn view(report: &Report<'_>) -> View {
    let rows: Vec<Row> = by_case(report)
        .iter()
        .filter_map(|outcomes| {
            let id = outcomes.first()?.case();
            let tones: Vec<&str> = outcomes.iter().map(|it| links::tone(it)).collect();
            let count = |tone: &str| tones.iter().filter(|it| **it == tone).count();
            let (tone, word) = match (count("bad"), count("open")) {
                (0, 0) => ("good", "pass".to_owned()),
                (0, open) => ("open", format!("{open} as expected, not passing")),
                (bad, _) => ("bad", format!("{bad} red")),
            };
            Some(Row {
                link: links::case(&id),
                id,
                cells: outcomes.len(),
                passing: count("good"),
                tone,
                word,
            })
        })
        .collect();
    View {
        root: "",
        title: "Cases",
        summary: format!(
            "{} with {}",
            counted(rows.len(), "case"),
            counted(report.outcomes.len(), "cell")
        ),
        rows,
    }
}
