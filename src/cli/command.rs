//! The command line: parsed here, done in the subcommands' own files.

use super::context::{CliError, Context};
use super::{
    accept, check, collect, coverage, diff, doctor, gate, generate, list, merge, mutate, new, report, run,
    show, worker,
};
use crate::harness::backend::Backend;
use crate::scorecard::exit::Exit;
use clap::{Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Evidence, op by op, for a capture backend over MLX.
#[derive(Debug, Parser)]
#[command(name = "assay", version, about, disable_help_subcommand = true)]
struct Command {
    /// The folder that holds `cases/`; the nearest one upwards if left out
    #[arg(long, global = true, value_name = "FOLDER")]
    root: Option<PathBuf>,
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Run cells, then settle the scorecard and write the page
    Run(run::Arguments),
    /// List cells
    List(list::Arguments),
    /// Run one cell and show its trace
    Show(show::Arguments),
    /// Begin a new case
    New(new::Arguments),
    /// Seed every kind of fault in the cells' traces and say which are caught
    Mutate(mutate::Arguments),
    /// Read every case and say everything that is wrong
    Check,
    /// Take the scorecard that waits, and write into cases how known failures have changed
    Accept,
    /// Join outcomes of shards and devices into one scorecard
    Merge(merge::Arguments),
    /// Assemble what the tests of the latest cargo-nextest run left
    Collect,
    /// Write what follows from the grammar and the tables: the schema, and a case for each function and layer
    Generate(generate::Arguments),
    /// Say how much of mlx-c and mlx-rs the last run showed
    Coverage(coverage::Arguments),
    /// Say what changed between two scorecards: files, outcomes or git revisions
    Diff(diff::Arguments),
    /// Say which evidence is missing for a label
    Gate(gate::Arguments),
    /// Write the pages anew, from what the latest run left
    Report,
    /// Say what this build runs on
    Doctor(doctor::Arguments),
    /// Run cells for another `assay`
    #[command(hide = true)]
    Worker(worker::Arguments),
}

/// How to print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// Does what the command line says; the process's exit status.
pub fn main(backend: &Backend) -> ExitCode {
    let command = match Command::try_parse_from(with_seeds_joined(std::env::args_os())) {
        Ok(command) => command,
        Err(error) => {
            // Printing fails only where nobody reads.
            let _ = error.print();
            // Help and version are not misuse.
            return if error.use_stderr() {
                Exit::Usage.into()
            } else {
                Exit::Clean.into()
            };
        }
    };
    let context = Context {
        backend,
        root: command.root,
    };
    match dispatch(&context, command.what) {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprintln!("error: {error}");
            error.exit().into()
        }
    }
}

/// The command line, a seed that follows `--shuffle` as a word of its own joined to it: clap would take that, or any
/// filter there, for the seed, or else none.
fn with_seeds_joined(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    for argument in arguments {
        let is_seed = argument.to_str().is_some_and(|it| it.parse::<u64>().is_ok());
        match joined.last_mut() {
            Some(last) if is_seed && last == "--shuffle" => {
                last.push("=");
                last.push(argument);
            }
            _ => joined.push(argument),
        }
    }
    joined
}

fn dispatch(context: &Context<'_>, what: What) -> Result<Exit, CliError> {
    match what {
        What::Run(arguments) => run::run(context, &arguments),
        What::List(arguments) => list::list(context, &arguments),
        What::Show(arguments) => show::show(context, &arguments),
        What::New(arguments) => new::new(context, &arguments),
        What::Mutate(arguments) => mutate::mutate(context, &arguments),
        What::Check => check::check(context),
        What::Accept => accept::accept(context),
        What::Merge(arguments) => merge::merge(context, &arguments),
        What::Collect => collect::collect(context),
        What::Generate(arguments) => generate::generate(context, &arguments),
        What::Coverage(arguments) => coverage::coverage(context, &arguments),
        What::Diff(arguments) => diff::diff(context, &arguments),
        What::Gate(arguments) => gate::gate(context, &arguments),
        What::Report => report::report(context),
        What::Doctor(arguments) => doctor::doctor(context, &arguments),
        What::Worker(arguments) => worker::worker(context, &arguments),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn a_seed_is_no_filter() {
        let joined = |line: &str| {
            let words = with_seeds_joined(line.split(' ').map(OsString::from));
            words.join(&OsString::from(" ")).into_string().expect("UTF-8")
        };
        for (line, wanted) in [
            ("assay run --shuffle 7", "assay run --shuffle=7"),
            ("assay run --shuffle sum 7", "assay run --shuffle sum 7"),
            ("assay run --shuffle=3 7", "assay run --shuffle=3 7"),
            ("assay run 7 --shuffle", "assay run 7 --shuffle"),
        ] {
            assert_eq!(joined(line), wanted);
        }
    }

    #[test]
    fn the_command_line_is_well_formed() {
        Command::command().debug_assert();
    }
}
