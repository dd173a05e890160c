//! The pool: cells run in worker processes, and whatever a cell does costs that cell and nothing else.
//!
//! Whoever runs a cell leases an idle worker or starts one, and gives it back. So there are as many workers as threads
//! that run cells, whether those are a rayon pool's or libtest-mimic's, and no second pool beside theirs.

use super::child::{Bounds, Child, Exchange};
use super::expect::conclude;
use super::flight::Pace;
use super::places::Places;
use super::protocol::{Answer, Request};
use super::seam::{Cell, Mutated, Observed, Runner};
use crate::scorecard::outcome::{Ending, Evidence, Outcome};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a cell may take where its case says nothing: hundreds of times what the slowest one takes.
pub const SECONDS: u64 = 60;

/// How much resident memory a cell's process may take where its case says nothing, in MB.
pub const MEMORY_MB: u64 = 4096;

/// Runs cells in worker processes.
pub struct Workers {
    program: PathBuf,
    seeds: Arc<dyn Runner>,
    idle: Mutex<Vec<Child>>,
    places: Places,
    stop: Arc<AtomicBool>,
    keeps_output: bool,
}

/// A cell's try that did not end with an answer.
struct Ruin {
    ending: Ending,
    output: String,
}

impl Workers {
    /// Workers that are children of `program`, which must be `assay`. Mutants are left to `seeds`.
    pub fn new(program: impl Into<PathBuf>, seeds: Arc<dyn Runner>) -> Self {
        Self {
            program: program.into(),
            seeds,
            idle: Mutex::new(Vec::new()),
            places: Places::default(),
            stop: Arc::new(AtomicBool::new(false)),
            keeps_output: false,
        }
    }

    /// Ends every cell under way, and those to come, once the flag is set.
    pub fn stopped_by(mut self, stop: &Arc<AtomicBool>) -> Self {
        self.stop = Arc::clone(stop);
        self
    }

    /// Keeps what every cell prints, not only what a red one does.
    pub fn keeping_output(mut self) -> Self {
        self.keeps_output = true;
        self
    }

    /// A worker for a first try, or a fresh one for a second, which no other cell has been in.
    fn lease(&self, pace: Pace) -> Result<Child, String> {
        let idle = match pace {
            Pace::Lazy => self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop(),
            Pace::Eager => None,
        };
        let start = || Child::start(&self.program, self.places.take()).map_err(|error| error.to_string());
        idle.map_or_else(start, Ok)
    }

    /// A worker that is as good as new goes back.
    fn give_back(&self, child: Option<Child>) {
        // A panic elsewhere leaves the list as it was: it is only ever pushed to and popped from.
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.extend(child);
    }

    /// Runs `cell` in the worker that is held, which is then still held if it is as good as new, and has already been
    /// asked about `next`.
    fn attempt(
        &self,
        cell: &Cell,
        pace: Pace,
        held: &mut Option<Child>,
        next: Option<&Cell>,
    ) -> Result<Outcome, Ruin> {
        let invalid = |message: String| Ruin {
            ending: Ending::Invalid { message },
            output: String::new(),
        };
        let mut child = match held.take() {
            Some(child) => child,
            None => self.lease(pace).map_err(invalid)?,
        };
        for asked in [Some(cell).filter(|cell| !child.was_asked(&cell.id)), next]
            .into_iter()
            .flatten()
        {
            let request = request(asked, pace, &child);
            child.ask(&request).map_err(|error| invalid(error.to_string()))?;
        }
        let (seconds, megabytes) = limits(cell);
        let bounds = Bounds {
            time: Duration::from_secs(seconds),
            memory: megabytes << 20,
        };
        let exchange = child.wait(bounds, &|| self.stop.load(Ordering::Relaxed));
        let output = || child.output();
        let at = || child.spot().map(|spot| spot.to_string());
        let crashed = |message: String| Ending::Crashed { at: at(), message };
        let suspect = match &exchange {
            Exchange::Answered(Answer::Ran { outcome, .. }) => outcome.is_red(),
            Exchange::Interrupted => false,
            _ => true,
        };
        if suspect && child.is_out_of_room() {
            let folder = std::env::temp_dir();
            return Err(invalid(format!(
                "the disk that holds {} is full, which changes what cells come to; make room, or name another by TMPDIR",
                folder.display()
            )));
        }
        let ending = match exchange {
            Exchange::Answered(Answer::Ran { mut outcome, fit, .. }) if outcome.cell == cell.id => {
                if outcome.is_red() || self.keeps_output {
                    outcome.output = output();
                }
                if fit && !child.is_worn() {
                    *held = Some(child);
                }
                return Ok(*outcome);
            }
            Exchange::Answered(Answer::Ran { outcome, .. }) => {
                crashed(format!("the worker answered for {} instead", outcome.cell))
            }
            Exchange::Answered(Answer::Failed { message }) => return Err(invalid(message)),
            Exchange::Ended(status) => crashed(manner(status, &output())),
            Exchange::TooLate => Ending::TimedOut { at: at(), seconds },
            Exchange::TooLarge => Ending::OutOfMemory { at: at(), megabytes },
            Exchange::TooLoud => crashed("endless output".to_owned()),
            Exchange::Nonsense(error) => {
                let ending = crashed("nonsense on the worker's own socket".to_owned());
                let output = format!("{}the worker sent {error}\n", output());
                return Err(Ruin { ending, output });
            }
            Exchange::Interrupted => return Err(invalid("the run was interrupted".to_owned())),
        };
        let output = output();
        Err(Ruin { ending, output })
    }

    /// Runs a cell to its end, whatever that is.
    fn run_held(&self, cell: &Cell, held: &mut Option<Child>, next: Option<&Cell>) -> Outcome {
        let start = Instant::now();
        let first = match self.attempt(cell, Pace::Lazy, held, next) {
            Ok(outcome) => return outcome,
            Err(ruin) => ruin,
        };
        let ending = match first.ending {
            Ending::Invalid { .. } => first.ending,
            // MLX computes late, so where the process ended says little: once more, call by call.
            ending => match self.attempt(cell, Pace::Eager, &mut None, None) {
                Err(second) => placed(ending, &second.ending),
                Ok(_) => unplaced(ending),
            },
        };
        let observed = Observed {
            evidence: Evidence::ended(ending),
            ..Observed::default()
        };
        let mut outcome = conclude(cell, observed, start.elapsed());
        if outcome.is_red() || self.keeps_output {
            outcome.output = first.output;
        }
        outcome
    }
}

/// What a worker is asked.
fn request(cell: &Cell, pace: Pace, child: &Child) -> Request {
    Request {
        cell: cell.id.clone(),
        file: cell.case.file.clone(),
        text: (!child.knows(&cell.case.file)).then(|| cell.case.text.to_string()),
        pace,
    }
}

impl Runner for Workers {
    fn run(&self, cell: &Cell) -> Outcome {
        let mut held = None;
        let outcome = self.run_held(cell, &mut held, None);
        self.give_back(held);
        outcome
    }

    fn run_all(&self, cells: &[&Cell], each: &dyn Fn(&Cell, Outcome)) {
        let mut held = None;
        for (place, cell) in cells.iter().enumerate() {
            if self.interrupted() {
                break;
            }
            // What is expected to ruin the worker would take the next cell with it.
            let next = cells.get(place + 1).filter(|next| !cell.isolate && !next.isolate);
            let outcome = self.run_held(cell, &mut held, next.copied());
            each(cell, outcome);
        }
        self.give_back(held);
    }

    fn mutate(&self, cell: &Cell, bound: usize) -> Result<Mutated, String> {
        self.seeds.mutate(cell, bound)
    }

    fn interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Seconds and MB that a cell may take.
fn limits(cell: &Cell) -> (u64, u64) {
    (
        cell.limits.seconds.unwrap_or(SECONDS),
        cell.limits.memory_mb.unwrap_or(MEMORY_MB),
    )
}

/// The first ending, at the place that the second try names, if both ended alike.
fn placed(mut first: Ending, second: &Ending) -> Ending {
    match (&mut first, second) {
        (
            Ending::Crashed { at, message },
            Ending::Crashed {
                at: place,
                message: again,
            },
        ) if message == again => {
            at.clone_from(place);
            first
        }
        (Ending::TimedOut { at, .. }, Ending::TimedOut { at: place, .. })
        | (Ending::OutOfMemory { at, .. }, Ending::OutOfMemory { at: place, .. }) => {
            at.clone_from(place);
            first
        }
        _ => unplaced(first),
    }
}

/// An ending that does not come again when evaluated call by call: its place is where MLX was asked last.
fn unplaced(mut ending: Ending) -> Ending {
    if let Ending::Crashed { at, .. } | Ending::TimedOut { at, .. } | Ending::OutOfMemory { at, .. } =
        &mut ending
    {
        let place = at.take().unwrap_or_else(|| "at a place unknown".to_owned());
        *at = Some(format!("{place}; not when evaluated call by call"));
    }
    ending
}

/// How a process ended, in a word.
fn manner(status: ExitStatus, output: &str) -> String {
    // Rust's handler of the guard page says so, and aborts.
    if output.contains("has overflowed its stack") {
        return "stack overflow".to_owned();
    }
    match (status.signal(), status.code()) {
        (Some(signal), _) => signal_name(signal),
        (None, Some(code)) => format!("exit status {code}"),
        (None, None) => status.to_string(),
    }
}

fn signal_name(number: i32) -> String {
    use rustix::process::Signal;
    let named = [
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::HUP, "SIGHUP"),
        (Signal::ILL, "SIGILL"),
        (Signal::INT, "SIGINT"),
        (Signal::KILL, "SIGKILL"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::SYS, "SIGSYS"),
        (Signal::TERM, "SIGTERM"),
        (Signal::TRAP, "SIGTRAP"),
    ];
    let name = named.iter().find(|(signal, _)| signal.as_raw() == number);
    name.map_or_else(|| format!("signal {number}"), |(_, name)| (*name).to_owned())
}
