//! `assay generate`: writes what follows from the grammar.

use super::context::{CliError, Context};
use super::output::say;
use crate::case::json_schema;
use crate::scorecard::exit::Exit;
use crate::scorecard::store::Written;

/// Writes `cases/schema.json`, by which editors complete and check cases.
pub fn generate(context: &Context<'_>) -> Result<Exit, CliError> {
    let store = context.store()?;
    let text = json_schema::text(&context.backend.names)?;
    let word = match store.write(json_schema::FILE, text.as_bytes())? {
        Written::Changed => "written",
        Written::Unchanged => "unchanged",
    };
    say(format_args!("{word}: {}\n", json_schema::FILE));
    Ok(Exit::Clean)
}
