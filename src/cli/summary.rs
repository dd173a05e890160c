//! How a run's end is told, to people and to programs.

use super::output::say;
use crate::harness::suite::Ended;
use crate::report::text;
use crate::scorecard::changes::Change;
use crate::scorecard::label::Standing;
use crate::scorecard::outcome::{Finding, Outcome, Verdict};
use crate::scorecard::totals::Totals;
use serde::Serialize;
use std::time::Duration;

/// How many of the slowest cells are named.
const SLOWEST: usize = 3;

/// Cells quicker than this are not named as slow, in milliseconds.
const QUICK: u64 = 100;

/// What a program reads.
#[derive(Serialize)]
pub struct Answer<'a> {
    exit: u8,
    totals: Totals,
    scorecard: String,
    label: &'a Standing,
    report: &'a str,
    changes: &'a [Change],
    over_claims: Vec<OverClaim<'a>>,
    notices: Vec<String>,
    cells: Vec<CellAnswer<'a>>,
    problems: Vec<String>,
}

#[derive(Serialize)]
struct OverClaim<'a> {
    capability: &'a str,
    missing: &'a str,
}

#[derive(Serialize)]
struct CellAnswer<'a> {
    cell: &'a str,
    record: Verdict,
    value: Option<Verdict>,
    findings: &'a [Finding],
}

/// The end of a run on this device, for programs.
pub fn answer(ended: &Ended, problems: Vec<String>) -> Answer<'_> {
    let outcomes = ended.devices.iter().flat_map(|run| &run.outcomes);
    let over_claims = ended.settled.over_claims.iter();
    Answer {
        exit: ended.settled.exit.code(),
        totals: ended.devices.first().map(|run| run.totals).unwrap_or_default(),
        scorecard: text::update_line(&ended.settled.update),
        label: &ended.label,
        report: ended.page,
        changes: &ended.settled.changes,
        over_claims: over_claims
            .map(|(capability, missing)| OverClaim { capability, missing })
            .collect(),
        notices: ended.notices.iter().map(ToString::to_string).collect(),
        cells: outcomes
            .map(|it| CellAnswer {
                cell: &it.cell,
                record: it.record,
                value: it.value,
                findings: &it.findings,
            })
            .collect(),
        problems,
    }
}

/// Prints a run's end for people.
pub fn print_ended(ended: &Ended) {
    say(text::summary(
        &ended.totals(),
        &ended.settled,
        &ended.label,
        ended.page,
    ));
    ended
        .notices
        .iter()
        .for_each(|notice| say(format_args!("{notice}\n")));
}

/// How fast the cells ran, and which were slow.
pub fn pace(outcomes: &[Outcome], time: Duration, workers: usize) -> String {
    let seconds = time.as_secs_f64();
    let rate = (outcomes.len() as f64 / seconds.max(1e-9)).round();
    let place = match workers {
        0 => "in this process".to_owned(),
        workers => format!("with {}", text::counted(workers, "worker")),
    };
    let cells = text::counted(outcomes.len(), "cell");
    let mut lines = format!("{cells} in {seconds:.2} s, {rate} a second, {place}\n");
    let mut slow: Vec<&Outcome> = outcomes.iter().filter(|it| it.millis >= QUICK).collect();
    slow.sort_by(|a, b| (b.millis, &a.cell).cmp(&(a.millis, &b.cell)));
    for outcome in slow.iter().take(SLOWEST) {
        lines.push_str(&format!("slow  {} {} ms\n", outcome.cell, outcome.millis));
    }
    lines
}
