//! `assay generate`: writes what follows from the grammar and the tables.

use super::context::{CliError, Context};
use super::output::say;
use crate::case::error::nearest;
use crate::case::json_schema;
use crate::generate::plan::{Subject, LAYERS};
use crate::generate::text;
use crate::model::{functions, layers};
use crate::scorecard::exit::Exit;
use crate::scorecard::schema;
use crate::scorecard::store::{Store, Written};
use clap::Args;

/// What to write.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Families to write files for, such as `reduce` or `layers`; all if left out
    #[arg(value_name = "FAMILY")]
    families: Vec<String>,
    /// Ask only for what has no file yet
    #[arg(long)]
    missing: bool,
    /// Overwrite files, edited ones too
    #[arg(long, conflicts_with = "missing")]
    force: bool,
}

/// Writes `cases/schema.json`, by which editors complete and check cases, and a file for each function and layer.
pub fn generate(context: &Context<'_>, arguments: &Arguments) -> Result<Exit, CliError> {
    let store = context.store()?;
    let schema = json_schema::text(&context.backend.names)?;
    report(
        store.write(json_schema::FILE, schema.as_bytes())?,
        json_schema::FILE,
    );
    for (file, text) in schema::texts()? {
        report(store.write(file, text.as_bytes())?, file);
    }
    let subjects = wanted(&arguments.families)?;
    let mut unchanged = 0;
    for subject in &subjects {
        let (file, skip) = (subject.file(), subject.recipe().skip);
        if !skip.is_empty() {
            say(format_args!("left out: {file} ({skip})\n"));
            continue;
        }
        let there = store.path(&file).exists();
        if there && arguments.missing {
            unchanged += 1;
            continue;
        }
        let text = text::file(subject, context.backend)?;
        if there && !arguments.force && differs(&store, &file, &text) {
            say(format_args!(
                "kept: {file} (it is not what would be written; --force overwrites it)\n"
            ));
            continue;
        }
        match store.write(&file, text.as_bytes())? {
            Written::Changed => report(Written::Changed, &file),
            Written::Unchanged => unchanged += 1,
        }
    }
    say(format_args!(
        "{unchanged} of {} files unchanged\n",
        subjects.len()
    ));
    Ok(Exit::Clean)
}

fn report(written: Written, file: &str) {
    let word = match written {
        Written::Changed => "written",
        Written::Unchanged => "unchanged",
    };
    say(format_args!("{word}: {file}\n"));
}

fn differs(store: &Store, file: &str, text: &str) -> bool {
    std::fs::read_to_string(store.path(file)).is_ok_and(|old| old != text)
}

/// Every function and layer of the families named. Named Rust models have cases of their own.
fn wanted(families: &[String]) -> Result<Vec<Subject>, CliError> {
    let functions = functions::FAMILIES.iter().flat_map(|(family, functions)| {
        functions.iter().map(|function| Subject::Function {
            family,
            signature: function.signature,
        })
    });
    let layers = layers::FAMILIES
        .iter()
        .filter(|(family, _)| *family != "programs")
        .flat_map(|(_, layers)| {
            layers.iter().map(|layer| Subject::Layer {
                signature: layer.signature,
            })
        });
    let all: Vec<Subject> = functions.chain(layers).collect();
    let known: Vec<&str> = functions::FAMILIES
        .iter()
        .map(|(family, _)| *family)
        .chain([LAYERS])
        .collect();
    if let Some(unknown) = families.iter().find(|it| !known.contains(&it.as_str())) {
        return Err(CliError::NoSuchFamily {
            family: unknown.clone(),
            near: nearest(unknown, known.iter().copied())
                .into_iter()
                .map(str::to_owned)
                .collect(),
            known: known.join(", "),
        });
    }
    let of = |subject: &Subject| families.is_empty() || families.iter().any(|it| it == subject.family());
    Ok(all.into_iter().filter(of).collect())
}
