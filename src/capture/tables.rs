//! The tables that a capture fills, and their memory, which one capture leaves to the next.
//!
//! A record is mostly writing, and memory fresh from the system costs more than what is written there: on a small model
//! a third of what a capture costs.

use std::cell::Cell;

use super::call::Call;
use super::value::Value;
use crate::graph::Book;

/// What grows with every call.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) values: Vec<Value>,
    pub(crate) calls: Vec<Call>,
    pub(crate) book: Book,
}

/// Empty tables with the room that an earlier capture needed.
struct Spare {
    values: Vec<Value>,
    calls: Vec<Call>,
    book: Book,
}

/// Tables of more calls leave their memory to the system.
const MOST_CALLS: usize = 4096;

thread_local! {
    static SPARE: Cell<Option<Spare>> = const { Cell::new(None) };
}

impl Default for Tables {
    fn default() -> Self {
        // A thread that is ending has no spare any more.
        match SPARE.try_with(Cell::take).ok().flatten() {
            Some(Spare { values, calls, book }) => Self { values, calls, book },
            // Room for a small model: growing step by step copies what is there each time.
            None => Self {
                values: Vec::with_capacity(512),
                calls: Vec::with_capacity(256),
                book: Book::new(),
            },
        }
    }
}

impl Drop for Tables {
    fn drop(&mut self) {
        if self.calls.capacity() > MOST_CALLS {
            return;
        }
        self.values.clear();
        self.calls.clear();
        self.book.clear();
        let spare = Spare {
            values: std::mem::take(&mut self.values),
            calls: std::mem::take(&mut self.calls),
            book: self.book.take(),
        };
        // Where the thread is ending, the memory goes with it.
        let _ = SPARE.try_with(|place| place.set(Some(spare)));
    }
}

#[cfg(test)]
mod tests {
    use mlx_rs::{ops, Array};

    use crate::Session;

    /// Memory is left over, and nothing that was written there.
    #[test]
    fn a_capture_after_another_sees_nothing_of_it() {
        let input = || Array::from_slice(&[1.0_f32, 2.0], &[2]);
        let small = move || {
            let x = input();
            Session::new().run(&x, || ops::exp(&x)).unwrap().0
        };
        let fresh = std::thread::spawn(move || format!("{:?}", small().ops()));
        let fresh = fresh.join().unwrap();
        let x = input();
        let large = Session::new().run(&x, || (0..200).try_fold(x.clone(), |y, _| ops::add(&y, &x)));
        let (kept, dropped) = (small(), large.unwrap().0);
        assert_eq!(dropped.calls().len(), 200);
        drop(dropped);
        let after = small();
        assert_eq!(format!("{:?}", after.ops()), fresh);
        assert_eq!(format!("{:?}", kept.ops()), fresh);
        assert_eq!(after.values().len(), 2);
        let pages = after.calls().iter().filter_map(|call| after.subgraph(call));
        assert_eq!(pages.map(|page| page.boundary()).collect::<Vec<_>>(), [[0]]);
    }
}
