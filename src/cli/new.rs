//! `assay new`: begins a case that runs as it stands.

use super::context::{CliError, Context};
use super::output::say;
use super::start::Kind;
use crate::case::load::{self, FOLDER};
use crate::scorecard::exit::Exit;
use clap::Args;

/// What to begin.
#[derive(Debug, Args)]
pub struct Arguments {
    /// What the case is about
    #[arg(value_enum)]
    kind: Kind,
    /// Its name: of a function or a layer, to begin with its signature; with `::`, the whole id
    #[arg(value_name = "NAME")]
    name: String,
}

/// Writes the new case.
pub fn new(context: &Context<'_>, arguments: &Arguments) -> Result<Exit, CliError> {
    let store = context.store()?;
    let Arguments { kind, name } = arguments;
    let path = name.replace("::", "/");
    let path = match path.contains('/') {
        true => path,
        false => format!("{}/{path}", kind.folder()),
    };
    let file = format!("{FOLDER}/{path}.yaml");
    let Ok(id) = load::id(&file) else {
        return Err(CliError::BadId { id: name.clone() });
    };
    if store.path(&file).exists() {
        return Err(CliError::Exists { file });
    }
    let depth = file.matches('/').count();
    let schema = format!("{}schema.json", "../".repeat(depth - 1));
    let about = path.rsplit('/').next().unwrap_or(&path);
    let text = format!(
        "# yaml-language-server: $schema={schema}\n{}",
        kind.start(about, &context.backend.names)
    );
    store.write(&file, text.as_bytes())?;
    if let Some(near) = kind.near(about, &context.backend.names) {
        say(format_args!(
            "nothing is called `{about}` here, so that the case begins with another; near it: {}\n",
            near.join(", ")
        ));
    }
    say(format_args!(
        "{file}\ncheck it with  assay check\nrun it with    assay run {id}\n"
    ));
    Ok(Exit::Clean)
}
