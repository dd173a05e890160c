//! How far a run is: a bar on a terminal, a line now and then elsewhere.

use crate::report::text::counted;
use crate::scorecard::outcome::{Outcome, Verdict};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Runs shorter than this show nothing: a bar that only flashes is noise.
const SILENT: Duration = Duration::from_secs(2);

/// How long a run is silent between two lines, where there is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// How far a run is, told by any number of threads. It speaks to standard error only, so that answers stay readable for
/// programs.
pub struct Progress {
    bar: Option<ProgressBar>,
    cells: usize,
    start: Instant,
    state: Mutex<State>,
}

struct State {
    done: usize,
    verdicts: BTreeMap<Verdict, usize>,
    last_line: Instant,
}

impl Progress {
    /// Of a run over so many cells.
    pub fn new(cells: usize) -> Self {
        let now = Instant::now();
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(cells as u64), ProgressDrawTarget::hidden());
            // The template is a constant, and right.
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len} cells  {prefix}  {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Self {
            bar,
            cells,
            start: now,
            state: Mutex::new(State {
                done: 0,
                verdicts: BTreeMap::new(),
                last_line: now,
            }),
        }
    }

    /// Counts one more cell.
    pub fn end(&self, cell: &str, outcome: &Outcome) {
        let mut state = self.state();
        state.done += 1;
        *state.verdicts.entry(worse(outcome)).or_default() += 1;
        match &self.bar {
            Some(bar) => {
                if bar.is_hidden() && self.start.elapsed() >= SILENT {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                }
                if !bar.is_hidden() {
                    bar.set_prefix(state.counts());
                    bar.set_message(cell.to_owned());
                }
                bar.inc(1);
            }
            None if state.last_line.elapsed() >= BETWEEN_LINES => {
                state.last_line = Instant::now();
                let (done, verdicts) = (state.done, state.counts());
                eprintln!("{done} of {} ({verdicts}), {cell}", counted(self.cells, "cell"));
            }
            None => {}
        }
    }

    /// Prints something else without tearing the bar, or another thread's lines.
    pub fn aside(&self, print: impl FnOnce()) {
        let _one_at_a_time = self.state();
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Whatever a panic leaves here are counts that are one off.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// `12 pass, 1 crash`.
    fn counts(&self) -> String {
        let counts: Vec<String> = self
            .verdicts
            .iter()
            .map(|(verdict, count)| format!("{count} {verdict}"))
            .collect();
        counts.join(", ")
    }
}

/// The verdict that a cell is counted under: the record's, or the value's where only that says more than pass.
fn worse(outcome: &Outcome) -> Verdict {
    match (outcome.record, outcome.value) {
        (Verdict::Pass, Some(value)) => value,
        (record, _) => record,
    }
}
