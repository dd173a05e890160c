//! Which processor each worker keeps to.
//!
//! MLX computes on a thread of its own, and the thread that asks waits for it: about a hundred times a cell. Two such pairs
//! that wander over two processors wait for each other's turns: *measured*, two workers ran 1,200 cells a second where each
//! may go anywhere, and 3,400 where each keeps to one.

use std::sync::{Arc, Mutex, PoisonError};

/// The processors, by how many workers each has.
#[derive(Clone, Debug)]
pub struct Places(Arc<Mutex<Vec<usize>>>);

/// A worker's processor; free again when dropped.
#[derive(Debug)]
pub struct Place {
    /// Its number, from 0.
    pub number: usize,
    places: Places,
}

impl Default for Places {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self(Arc::new(Mutex::new(vec![0; processors])))
    }
}

impl Places {
    /// The processor with the fewest workers.
    pub fn take(&self) -> Place {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = (0..counts.len()).min_by_key(|place| counts[*place]).unwrap_or(0);
        counts[number] += 1;
        Place {
            number,
            places: self.clone(),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Each count is changed in one step, so a panic elsewhere leaves them right.
        let mut counts = self.places.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts[self.number] -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_spread_and_a_new_one_takes_the_place_of_the_one_that_went() {
        let places = Places(Arc::new(Mutex::new(vec![0; 2])));
        let (first, second) = (places.take(), places.take());
        assert_eq!((first.number, second.number), (0, 1));
        drop(second);
        assert_eq!(places.take().number, 1);
        drop(first);
    }
}
