//! `assay mutate`: seeds every kind of fault in the cells' traces, and says which are caught.

use super::context::{matching, print_problems, CliError, Context};
use super::output::say;
use crate::harness::seam::{Mutated, Mutation};
use crate::scorecard::exit::Exit;
use crate::scorecard::outcome::Fate;
use clap::Args;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Which cells.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Parts of cell ids; a cell is tried if its id contains any of them
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// How many places of each kind of fault to try in a cell
    #[arg(long, default_value_t = 16, value_name = "COUNT")]
    places: usize,
    /// Also name every mutant and what became of it
    #[arg(long)]
    all: bool,
}

/// How many mutants met which fate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Tally {
    killed: usize,
    survived: usize,
    equivalent: usize,
    /// By the reason given.
    reasons: BTreeMap<String, usize>,
}

impl Tally {
    fn add(&mut self, mutation: &Mutation) {
        let reason = match (&mutation.row, &mutation.equivalent) {
            (Some(row), _) => match row.fate {
                Fate::Killed(reason) => {
                    self.killed += 1;
                    Some(reason.to_string())
                }
                // With a reason that does not fit, the fault is not understood.
                Fate::Misnamed(reason) => {
                    self.survived += 1;
                    Some(format!("{reason}, which does not fit"))
                }
                Fate::Survived => {
                    self.survived += 1;
                    None
                }
            },
            (None, _) => {
                self.equivalent += 1;
                None
            }
        };
        if let Some(reason) = reason {
            *self.reasons.entry(reason).or_default() += 1;
        }
    }

    fn line(&self, name: &str, width: usize) -> String {
        let mut line = format!(
            "  {name:width$}  {:>6} killed {:>4} survived {:>4} equivalent",
            self.killed, self.survived, self.equivalent
        );
        let reasons: Vec<String> = self
            .reasons
            .iter()
            .map(|(reason, count)| format!("{reason} {count}"))
            .collect();
        if !reasons.is_empty() {
            // Writing to a text cannot fail.
            let _ = write!(line, "   {}", reasons.join(", "));
        }
        line.push('\n');
        line
    }
}

/// Seeds.
pub fn mutate(context: &Context<'_>, arguments: &Arguments) -> Result<Exit, CliError> {
    let store = context.store()?;
    let loaded = context.suite(&store)?;
    let cells = matching(&loaded, &arguments.filters)?;
    let width = cells.iter().map(|cell| cell.id.len()).max().unwrap_or(0).max(17);
    let mut total = Tally::default();
    let mut kinds: BTreeMap<&str, Tally> = BTreeMap::new();
    let (mut left_out, mut without, mut broken) = (0, 0, 0);
    say("by cell\n");
    for cell in cells {
        let mutated = match context.backend.runner.mutate(cell, arguments.places) {
            Ok(mutated) => mutated,
            Err(message) => {
                broken += 1;
                say(format_args!("  {}  could not be tried: {message}\n", cell.id));
                continue;
            }
        };
        if mutated.mutants.is_empty() {
            without += 1;
            continue;
        }
        left_out += mutated.left_out;
        let mut own = Tally::default();
        for mutation in &mutated.mutants {
            own.add(mutation);
            total.add(mutation);
            kinds.entry(mutation.fault).or_default().add(mutation);
        }
        say(own.line(&cell.id, width));
        if own.killed == 0 {
            say(format_args!("  {:width$}  vacuous: no mutant was killed\n", ""));
        }
        say(named(&mutated, arguments.all));
    }
    say("by kind\n");
    for (kind, tally) in &kinds {
        say(tally.line(kind, width));
    }
    total.reasons.clear();
    say(total.line("all", width));
    if left_out > 0 {
        say(format_args!(
            "{left_out} places were left out: {} of each kind are tried in a cell (--places)\n",
            arguments.places
        ));
    }
    if without > 0 {
        say(format_args!(
            "{without} cells have no mutants: their traces do not pass, or nothing fits\n"
        ));
    }
    print_problems(&loaded);
    Ok(match (broken + loaded.problems.len(), total.survived) {
        (1.., _) => Exit::Suite,
        (0, 1..) => Exit::Regression,
        (0, 0) => Exit::Clean,
    })
}

/// The survivors, or all, one line each.
fn named(mutated: &Mutated, all: bool) -> String {
    let mut text = String::new();
    for mutation in &mutated.mutants {
        let fate = match (&mutation.row, &mutation.equivalent) {
            (Some(row), _) => match row.fate {
                Fate::Killed(reason) if all => format!("killed, {reason}"),
                Fate::Killed(_) => continue,
                Fate::Misnamed(reason) => format!("survived: flagged as {reason}, which does not fit"),
                Fate::Survived => "survived".to_owned(),
            },
            (None, proof) if all => format!("equivalent: {}", proof.as_deref().unwrap_or("no proof")),
            (None, _) => continue,
        };
        text.push_str(&format!(
            "    {} in {} (call {} {}): {fate}\n",
            mutation.fault,
            mutation.op,
            mutation.place + 1,
            mutation.call
        ));
    }
    text
}
