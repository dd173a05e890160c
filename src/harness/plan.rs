//! Which cells of a suite run, and in which order.

use crate::case::cell::Cell;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use thiserror::Error;

/// One of several equal parts of a suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which, from 1.
    pub number: usize,
    /// Of how many.
    pub of: usize,
}

/// Text that names no shard.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` names no shard; write its number and how many there are, as in 2/3")]
pub struct ShardError(String);

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let parts = text.split_once('/');
        let numbers = parts.and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((number, of)) if number >= 1 && number <= of => Ok(Self { number, of }),
            _ => Err(ShardError(text.to_owned())),
        }
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// The cells of one shard: every n-th by id, so that the parts are equal and the same on every machine.
pub fn shard<'a>(cells: &[&'a Cell], shard: Shard) -> Vec<&'a Cell> {
    let mut cells = cells.to_vec();
    cells.sort_by(|a, b| a.id.cmp(&b.id));
    cells
        .into_iter()
        .skip(shard.number - 1)
        .step_by(shard.of)
        .collect()
}

/// The cells in an order that follows from the seed and the round.
pub fn shuffled<'a>(cells: &[&'a Cell], seed: u64, round: u64) -> Vec<&'a Cell> {
    let mut cells = cells.to_vec();
    cells.sort_by(|a, b| a.id.cmp(&b.id));
    fastrand::Rng::with_seed(seed.wrapping_add(round)).shuffle(&mut cells);
    cells
}

/// The most cells that one thread takes at a time.
const MOST_AT_ONCE: usize = 24;

/// Cells in pieces, for threads that each take the next one: long ones first, short ones at the end, so that all threads
/// end together.
pub struct Chunks<'a, 'c> {
    cells: &'a [&'c Cell],
    threads: usize,
    next: Mutex<usize>,
}

impl<'a, 'c> Chunks<'a, 'c> {
    /// Pieces for so many threads.
    pub fn new(cells: &'a [&'c Cell], threads: usize) -> Self {
        Self {
            cells,
            threads,
            next: Mutex::new(0),
        }
    }

    /// The next piece; `None` where all are taken.
    pub fn next(&self) -> Option<&'a [&'c Cell]> {
        // The place is changed in one step, so a panic elsewhere leaves it right.
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let left = self.cells.len() - *next;
        let length = (left / (4 * self.threads)).clamp(1, MOST_AT_ONCE).min(left);
        let piece = &self.cells[*next..*next + length];
        *next += length;
        (!piece.is_empty()).then_some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_a_number_of_how_many() {
        assert_eq!("2/3".parse(), Ok(Shard { number: 2, of: 3 }));
        for wrong in ["", "2", "0/3", "4/3", "1/0", "a/b", "1/2/3", "-1/2"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
