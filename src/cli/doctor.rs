//! `assay doctor`: what this build runs on, and what is not as it should be.

use super::command::Format;
use super::context::{CliError, Context};
use super::output::say;
use crate::harness::backend::Fact;
use crate::report::doctor::{scorecard, summary, KEY};
use crate::report::table::Table;
use crate::scorecard::exit::Exit;
use clap::Args;

/// How to say it.
#[derive(Debug, Args)]
pub struct Arguments {
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Reports.
pub fn doctor(context: &Context<'_>, arguments: &Arguments) -> Result<Exit, CliError> {
    let facts = facts(context);
    match arguments.format {
        Format::Text => {
            let mut table = Table::new(&["what", "found"]);
            facts
                .iter()
                .for_each(|fact| table.row([fact.name.clone(), fact.value.clone()]));
            say(&table);
            for fact in &facts {
                if let Some(remedy) = &fact.remedy {
                    say(format_args!("\n{}: {remedy}\n", fact.name));
                }
            }
        }
        Format::Json => say(format_args!("{}\n", serde_json::to_string_pretty(&facts)?)),
    }
    let well = facts.iter().all(|fact| fact.remedy.is_none());
    Ok(if well { Exit::Clean } else { Exit::Suite })
}

/// The backend's facts, then those about the cases.
fn facts(context: &Context<'_>) -> Vec<Fact> {
    let mut facts = context.backend.facts.clone();
    facts.push(Fact::new("column", context.backend.device));
    facts.push(match scorecard() {
        Ok(card) => Fact::new(KEY, summary(&card)),
        Err(error) => Fact::wrong(KEY, "unreadable", error.to_string()),
    });
    let suite = context.store().and_then(|store| context.suite(&store));
    facts.push(match suite {
        Ok(suite) if suite.problems.is_empty() => Fact::new(
            "cases",
            format!("{} files, {} cells", suite.files, suite.cells.len()),
        ),
        Ok(suite) => {
            let value = format!("{} files, {} problems", suite.files, suite.problems.len());
            Fact::wrong("cases", value, "run `assay check`")
        }
        Err(error) => Fact::wrong("cases", "none", error.to_string()),
    });
    facts
}
