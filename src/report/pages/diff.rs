//! What changed since the committed scorecard.

use super::links;
use crate::report::diff::kind;
use crate::report::site::Report;
use crate::scorecard::changes::{Change, Direction, Level};
use serde::Serialize;

/// The page.
#[derive(Clone, Debug, Serialize)]
pub struct View {
    root: &'static str,
    title: &'static str,
    update: String,
    groups: Vec<Group>,
}

#[derive(Clone, Debug, Serialize)]
struct Group {
    word: &'static str,
    tone: &'static str,
    count: usize,
    left: usize,
    rows: Vec<Row>,
}

#[derive(Clone, Debug, Serialize)]
struct Row {
    what: String,
    link: Option<String>,
    device: &'static str,
    kind: &'static str,
    detail: String,
}

/// How many changes of a kind are listed: after the first run everything is new.
const MOST_ROWS: usize = 500;

/// What it shows.
pub fn view(report: &Report<'_>) -> View {
    let groups = [
        (Direction::Regression, "Worse", "bad"),
        (Direction::Improvement, "Better", "good"),
        (Direction::Addition, "New", "calm"),
        (Direction::Other, "Else", "soft"),
    ];
    let groups = groups.into_iter().filter_map(|(direction, word, tone)| {
        let changes: Vec<&Change> = report
            .changes
            .iter()
            .filter(|it| it.direction == direction)
            .collect();
        (!changes.is_empty()).then(|| Group {
            word,
            tone,
            count: changes.len(),
            left: changes.len().saturating_sub(MOST_ROWS),
            rows: changes.iter().take(MOST_ROWS).map(|it| row(report, it)).collect(),
        })
    });
    View {
        root: "",
        title: "Changes",
        update: report.update.to_owned(),
        groups: groups.collect(),
    }
}

fn row(report: &Report<'_>, change: &Change) -> Row {
    let ran = || report.outcomes.iter().find(|it| it.cell == change.what);
    let link = match change.level {
        Level::Cell => ran().map(|outcome| links::cell(&outcome.case(), &change.what)),
        Level::Capability => report
            .version
            .card
            .capability(&change.what)
            .map(|row| links::capability(&row.id)),
        _ => None,
    };
    Row {
        what: change.what.clone(),
        link,
        device: change.device.map_or("", |device| device.name()),
        kind: kind(change.kind),
        detail: change.detail.clone(),
    }
}
