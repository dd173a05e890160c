//! `assay run`: runs cells, settles the scorecard, writes the page.

use super::command::Format;
use super::context::{matching, print_problems, CliError, Context};
use super::output::say;
use super::progress::Progress;
use crate::harness::block::block;
use crate::harness::suite::{self, Ended, Recorder, Scope};
use crate::report::text;
use crate::scorecard::changes::Change;
use crate::scorecard::exit::Exit;
use crate::scorecard::outcome::{Finding, Verdict};
use crate::scorecard::settle::Mode;
use crate::scorecard::totals::Totals;
use clap::Args;
use rayon::prelude::*;
use serde::Serialize;
use std::sync::Arc;

/// What to run.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Parts of cell ids; a cell runs if its id contains any of them
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What a program reads.
#[derive(Serialize)]
struct Answer<'a> {
    exit: u8,
    totals: Totals,
    scorecard: String,
    report: &'a str,
    changes: &'a [Change],
    over_claims: Vec<OverClaim<'a>>,
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

/// Runs.
pub fn run(context: &Context<'_>, arguments: &Arguments) -> Result<Exit, CliError> {
    let store = context.store()?;
    let loaded = context.suite(&store)?;
    let cells = matching(&loaded, &arguments.filters)?;
    let committed = store.committed()?;
    let backend = context.backend;
    let workers = Arc::new(context.workers()?);
    let recorder = Recorder::new(workers, committed.cells.clone(), backend);
    let progress = Progress::new(cells.len());
    cells.par_iter().for_each(|cell| {
        progress.begin(&cell.id);
        let Some(outcome) = recorder.run(cell) else {
            return;
        };
        progress.end(&outcome);
        if outcome.is_red() && arguments.format == Format::Text {
            progress.aside(|| say(format_args!("{}\n\n", block(cell, &outcome))));
        }
    });
    progress.finish();
    let scope = Scope {
        store: &store,
        committed: &committed,
        capabilities: backend.names.capabilities,
        device: backend.device,
        cells: loaded.cells.len(),
        problems: loaded.problems.len(),
        mode: Mode::from_environment(),
    };
    let ended = suite::end(&scope, recorder.outcomes())?;
    print_problems(&loaded);
    match arguments.format {
        Format::Text => say(text::summary(&ended.totals, &ended.settled, ended.page)),
        Format::Json => {
            let problems = loaded
                .problems
                .iter()
                .map(|problem| format!("{}: {problem}", problem.place()));
            say(format_args!(
                "{}\n",
                serde_json::to_string_pretty(&answer(&ended, problems.collect()))?
            ));
        }
    }
    Ok(ended.settled.exit)
}

fn answer(ended: &Ended, problems: Vec<String>) -> Answer<'_> {
    let over_claims = ended.settled.over_claims.iter();
    Answer {
        exit: ended.settled.exit.code(),
        totals: ended.totals,
        scorecard: text::update_line(&ended.settled.update),
        report: ended.page,
        changes: &ended.settled.changes,
        over_claims: over_claims
            .map(|(capability, missing)| OverClaim { capability, missing })
            .collect(),
        cells: ended
            .outcomes
            .iter()
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
