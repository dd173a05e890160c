//! Which cells of a suite run, and in which order.

use crate::case::cell::Cell;
use std::str::FromStr;
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
