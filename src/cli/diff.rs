//! `assay diff`: what changed between two scorecards, or where two traces part.

use super::context::{CliError, Context};
use super::output::say;
use super::saved;
use crate::case::date::Date;
use crate::report::diff::{markdown, text};
use crate::scorecard::diff::{diff as compare, Terms};
use crate::scorecard::exit::Exit;
use crate::scorecard::side::side;
use crate::scorecard::store::CARD;
use clap::{Args, ValueEnum};

/// What to compare.
#[derive(Debug, Args)]
pub struct Arguments {
    /// A scorecard's file, a file of outcomes, a git revision, or a saved trace
    #[arg(value_name = "BASE")]
    base: String,
    /// The same; the scorecard as it lies here if left out
    #[arg(value_name = "HEAD")]
    head: Option<String>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: DiffFormat,
    /// How far ops of two traces may lie apart, in units of an op's largest magnitude
    #[arg(long, value_name = "NUMBER", default_value_t = 0.0)]
    tolerance: f64,
}

/// How to print a difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DiffFormat {
    /// For people.
    #[default]
    Text,
    /// For a pull request.
    Markdown,
    /// For programs.
    Json,
}

/// Compares; ends with a regression where anything got worse or weaker.
pub fn diff(context: &Context<'_>, arguments: &Arguments) -> Result<Exit, CliError> {
    if saved::are_traces(&arguments.base, arguments.head.as_deref())? {
        let head = arguments.head.as_deref().unwrap_or_default();
        return saved::diff(&arguments.base, head, arguments.tolerance, arguments.format);
    }
    let store = context.store()?;
    let here = store.path(CARD).display().to_string();
    let base = side(store.root(), &arguments.base)?;
    let mut head = side(store.root(), arguments.head.as_deref().unwrap_or(&here))?;
    if arguments.head.is_none() {
        CARD.clone_into(&mut head.name);
    }
    let terms = Terms {
        retired: &store.retired()?,
        gate: &store.gate()?,
        today: &Date::today().to_string(),
    };
    let found = compare(&base, &head, &terms);
    match arguments.format {
        DiffFormat::Text => {
            let cards = (base.version.card.write()?, head.version.card.write()?);
            // Outcomes are no scorecard: what they cannot know would stand there as changed.
            let of_outcomes = base.origin.is_some() || head.origin.is_some();
            say(text(&found, (!of_outcomes).then_some((&cards.0, &cards.1))));
        }
        DiffFormat::Markdown => say(markdown(&found)),
        DiffFormat::Json => say(format_args!("{}\n", serde_json::to_string_pretty(&found)?)),
    }
    Ok(if found.is_worse() {
        Exit::Regression
    } else {
        Exit::Clean
    })
}
