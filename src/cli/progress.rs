//! How far a run is: a bar on a terminal, a line now and then elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Runs shorter than this show nothing: a bar that only flashes is noise.
const SILENT: Duration = Duration::from_secs(2);

/// How long a run is silent between two lines, where there is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// How far a run is. It speaks to standard error only, so that answers stay readable for programs.
pub struct Progress {
    bar: Option<ProgressBar>,
    cells: usize,
    done: usize,
    start: Instant,
    last_line: Instant,
}

impl Progress {
    /// Of a run over so many cells.
    pub fn new(cells: usize) -> Self {
        let now = Instant::now();
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(cells as u64), ProgressDrawTarget::hidden());
            // The template is a constant, and right.
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len} cells  {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Self {
            bar,
            cells,
            done: 0,
            start: now,
            last_line: now,
        }
    }

    /// Says which cell begins.
    pub fn begin(&mut self, cell: &str) {
        match &self.bar {
            Some(bar) => {
                if bar.is_hidden() && self.start.elapsed() >= SILENT {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                }
                bar.set_message(cell.to_owned());
            }
            None if self.last_line.elapsed() >= BETWEEN_LINES => {
                eprintln!("{} of {} cells, at {cell}", self.done, self.cells);
                self.last_line = Instant::now();
            }
            None => {}
        }
    }

    /// Counts one more cell.
    pub fn end(&mut self) {
        self.done += 1;
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }

    /// Prints something else without tearing the bar.
    pub fn aside(&self, print: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Takes the bar away.
    pub fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
