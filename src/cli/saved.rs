//! Saved traces on the command line: shown, drawn, and laid side by side.

use super::command::Format;
use super::context::CliError;
use super::diff::DiffFormat;
use super::output::say;
use crate::capture::Trace;
use crate::harness::rows::evidence;
use crate::report::site::picture;
use crate::report::{parting, text};
use crate::scorecard::exit::Exit;
use crate::scorecard::outcome::Evidence;
use crate::store::is_saved_trace;
use crate::validate::validate;
use crate::vocabulary::State;
use std::path::Path;

/// Loads a trace, validates it as far as a loaded one can be, and prints what was found.
pub fn show(path: &Path, format: Format, drawing: Option<&Path>) -> Result<Exit, CliError> {
    let trace = Trace::load(path)?;
    let status = validate(&trace);
    let mut found = evidence(&trace, &status);
    found.notes = trace.notes();
    if let Some(op) = trace.first_non_finite()? {
        let line = op.source().map(|line| format!(" at {line}")).unwrap_or_default();
        found.notes.push(format!(
            "the first value that is no finite number comes from {}{line}",
            op.label()
        ));
    }
    match format {
        Format::Text => say(format_args!("{}\n{}", path.display(), text::shown(&found))),
        Format::Json => say(format_args!("{}\n", serde_json::to_string_pretty(&found)?)),
    }
    if let Some(drawing) = drawing {
        draw(&found, drawing)?;
    }
    Ok(match status.state() {
        State::Failed => Exit::Regression,
        _ => Exit::Clean,
    })
}

/// Draws a trace's ops as a picture of its own.
pub fn draw(found: &Evidence, path: &Path) -> Result<(), CliError> {
    let Some(picture) = picture(&found.ops, &found.modules)? else {
        return Err(CliError::NothingToDraw { ops: found.ops.len() });
    };
    std::fs::write(path, picture).map_err(|source| CliError::Drawing {
        path: path.to_path_buf(),
        source,
    })
}

/// Whether both operands are saved traces; an error where only one is.
pub fn are_traces(base: &str, head: Option<&str>) -> Result<bool, CliError> {
    match (
        is_saved_trace(Path::new(base)),
        head.map(|head| is_saved_trace(Path::new(head))),
    ) {
        (false, None | Some(false)) => Ok(false),
        (true, Some(true)) => Ok(true),
        (true, _) => Err(CliError::OneTrace {
            trace: base.to_owned(),
        }),
        (false, Some(true)) => Err(CliError::OneTrace {
            trace: head.unwrap_or_default().to_owned(),
        }),
    }
}

/// Lays two traces side by side; ends with a regression where an op is further apart than `tolerance`.
pub fn diff(base: &str, head: &str, tolerance: f64, format: DiffFormat) -> Result<Exit, CliError> {
    let (one, other) = (Trace::load(base)?, Trace::load(head)?);
    let rows = one.beside(&other)?;
    let text = parting::text((base, head), &one, &rows, tolerance);
    match format {
        DiffFormat::Text => say(text),
        DiffFormat::Markdown => say(format_args!("```\n{text}```\n")),
        DiffFormat::Json => say(format_args!("{}\n", serde_json::to_string_pretty(&rows)?)),
    }
    Ok(match rows.iter().any(|row| row.exceeds(tolerance)) {
        true => Exit::Regression,
        false => Exit::Clean,
    })
}
