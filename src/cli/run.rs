//! `assay run`: runs cells, settles the scorecard, writes the page.

use super::command::Format;
use super::context::{matching, print_problems, CliError, Context};
use super::output::say;
use super::progress::Progress;
use super::summary::{answer, pace, print_ended};
use crate::case::cell::Cell;
use crate::harness::block::block;
use crate::harness::flakes::{flakes, marked, Flake};
use crate::harness::joined::JoinedPool;
use crate::harness::one_process::OneProcess;
use crate::harness::plan::{shard, shuffled, Chunks, Shard};
use crate::harness::seam::Runner;
use crate::harness::stream::Stream;
use crate::harness::suite::{self, Recorder, Scope};
use crate::scorecard::cells::CellBook;
use crate::scorecard::exit::Exit;
use crate::scorecard::outcome::Outcome;
use clap::Args;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Instant;

/// What to run.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Parts of cell ids; a cell runs if its id contains any of them
    #[arg(value_name = "FILTER")]
    filters: Vec<String>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// How many worker processes; 0 runs everything in this one [default: one a core]
    #[arg(long, value_name = "COUNT")]
    workers: Option<usize>,
    /// Run one of several equal parts: 2/3 is the second of three
    #[arg(long, value_name = "NUMBER/OF")]
    shard: Option<Shard>,
    /// Run everything so many times, and say what does not come out alike
    #[arg(long, value_name = "TIMES", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    repeat: u64,
    /// Run in another order, by a seed that is printed if none is given
    #[arg(long, value_name = "SEED", num_args = 0..=1, require_equals = true)]
    shuffle: Option<Option<u64>>,
}

/// Runs.
pub fn run(context: &Context<'_>, arguments: &Arguments) -> Result<Exit, CliError> {
    let store = context.store()?;
    let loaded = context.suite(&store)?;
    let mut cells = matching(&loaded, &arguments.filters)?;
    if let Some(part) = arguments.shard {
        let of = cells.len();
        cells = shard(&cells, part);
        if cells.is_empty() {
            return Err(CliError::EmptyShard { part, cells: of });
        }
    }
    let origin = suite::origin(context.backend, &cells);
    // Before anything runs: where nothing can be written, everything would be lost.
    let stream = Stream::begin(&store, &origin)?;
    let recorded = store.committed()?.cells;
    let rounds = Rounds::new(context, arguments, recorded)?;

    let start = Instant::now();
    let first = rounds.run(&cells, 0, Some(stream))?;
    let ran = start.elapsed();
    let flakes = rounds.find_flakes(&cells, &first, arguments.repeat)?;
    if arguments.format == Format::Text {
        eprint!("{}", pace(&first, ran, rounds.workers));
    }
    let scope = Scope::of(context.backend, &store, &origin, &loaded);
    print_problems(&loaded);
    let ended = suite::end(&scope, marked(first, &flakes))?;
    match arguments.format {
        Format::Text => print_ended(&ended),
        Format::Json => {
            let problems = loaded.problems.iter();
            let problems = problems.map(|problem| format!("{}: {problem}", problem.place()));
            let answer = answer(&ended, problems.collect());
            say(format_args!("{}\n", serde_json::to_string_pretty(&answer)?));
        }
    }
    Ok(match rounds.interrupted() {
        true => Exit::Interrupted,
        false => ended.settled.exit,
    })
}

/// Says what is no part of an answer for programs.
fn aside(format: Format, text: std::fmt::Arguments<'_>) {
    match format {
        Format::Text => say(text),
        Format::Json => eprint!("{text}"),
    }
}

/// Runs the same cells any number of times.
struct Rounds<'a> {
    context: &'a Context<'a>,
    recorded: CellBook,
    runner: Arc<dyn Runner>,
    pool: JoinedPool,
    workers: usize,
    seed: Option<u64>,
    format: Format,
    stop: Arc<AtomicBool>,
}

impl<'a> Rounds<'a> {
    fn new(context: &'a Context<'a>, arguments: &Arguments, recorded: CellBook) -> Result<Self, CliError> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let workers = arguments.workers.unwrap_or(cores);
        let stop = Arc::new(AtomicBool::new(false));
        let runner: Arc<dyn Runner> = match workers {
            0 => Arc::new(OneProcess::new(Arc::clone(&context.backend.runner))),
            _ => Arc::new(context.workers()?.stopped_by(&stop)),
        };
        let pool = JoinedPool::new(workers.max(1))?;
        let seed = arguments
            .shuffle
            .map(|given| given.unwrap_or_else(|| fastrand::u64(..)));
        if let Some(seed) = seed {
            aside(
                arguments.format,
                format_args!("seed {seed}: --shuffle={seed} runs in the same order\n"),
            );
        }
        let asked = Arc::clone(&stop);
        // A second interrupt does not wait for anything.
        ctrlc::set_handler(move || {
            if asked.swap(true, Ordering::Relaxed) {
                std::process::exit(Exit::Interrupted.code().into());
            }
        })?;
        Ok(Self {
            context,
            recorded,
            runner,
            pool,
            workers,
            seed,
            format: arguments.format,
            stop,
        })
    }

    fn interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Runs the cells again, until they have run `times` times, and says which do not come out as they first did.
    fn find_flakes(&self, cells: &[&Cell], first: &[Outcome], times: u64) -> Result<Vec<Flake>, CliError> {
        let mut flaky = Vec::new();
        for round in 1..times {
            let again = self.run(cells, round, None)?;
            for flake in flakes(first, &again, round as usize + 1) {
                aside(self.format, format_args!("{flake}\n"));
                flaky.push(flake);
            }
            if self.interrupted() {
                return Ok(flaky);
            }
        }
        if flaky.is_empty() && times > 1 {
            aside(self.format, format_args!("{times} rounds, all alike\n"));
        }
        Ok(flaky)
    }

    fn run(&self, cells: &[&Cell], round: u64, stream: Option<Stream>) -> Result<Vec<Outcome>, CliError> {
        let mut recorder = Recorder::new(
            Arc::clone(&self.runner),
            self.recorded.clone(),
            self.context.backend,
        );
        if let Some(stream) = stream {
            recorder = recorder.streaming(stream);
        }
        let cells = match self.seed {
            Some(seed) => shuffled(cells, seed, round),
            None => cells.to_vec(),
        };
        let progress = Progress::new(cells.len());
        let each = |cell: &Cell, outcome: &Outcome| {
            progress.end(&cell.id, outcome);
            if outcome.is_red() && self.format == Format::Text && round == 0 {
                progress.aside(|| say(format_args!("{}\n\n", block(cell, outcome))));
            }
        };
        // Neighbours are of the same file, which a worker then reads once.
        let chunks = Chunks::new(&cells, self.workers.max(1));
        self.pool.broadcast(|| {
            while let Some(chunk) = chunks.next().filter(|_| !self.interrupted()) {
                recorder.run_all(chunk, &each);
            }
        });
        progress.finish();
        Ok(recorder.outcomes())
    }
}
