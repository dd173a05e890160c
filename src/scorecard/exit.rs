//! How a command's process ends.

/// A process's exit status. Trials of the libtest harness end 0 or 101 instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Nothing to say.
    Clean = 0,
    /// Something is worse than recorded, or a claim has no evidence.
    Regression = 1,
    /// The command was not understood.
    Usage = 2,
    /// The suite itself is at fault: a broken case, an invalid cell, a file that cannot be written.
    Suite = 3,
    /// Evidence is missing or expired (gate).
    Evidence = 4,
    /// Something is better than recorded: accept it.
    Improvement = 5,
    /// Ended by Ctrl-C, with what was known until then; what shells make of SIGINT.
    Interrupted = 130,
}

impl Exit {
    /// The status as a number.
    pub const fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
