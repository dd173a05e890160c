//! Names and source lines for code that nobody touched, from the call stack of each observed call.
//!
//! Three steps, one file each: the addresses are taken down while the forward runs, here, which is all that it costs;
//! after it each address is looked up once ([`place`]); and the functions that were under way become scopes ([`scopes`]).

mod place;
mod scopes;

pub use place::SourceLine;
pub(crate) use scopes::Named;
pub(super) use scopes::{lines, name};

/// More frames than any model has between the forward and a call; what lies further out is not taken down.
const DEEPEST: usize = 512;

/// The stacks of calls, each from the innermost frame to that of the forward.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stacks {
    /// Return addresses, one stack after another.
    addresses: Vec<usize>,
    /// Where each stack ends.
    ends: Vec<u32>,
    /// Where the stack of the forward begins: frames beyond are the caller's. Stacks grow downwards on all that MLX
    /// runs on.
    base: usize,
    /// The stack on which a closure began, whose calls these are: what lies around it is no part of them.
    around: Vec<usize>,
}

impl Stacks {
    /// Stacks of what is called by a function of which `local` is a variable.
    pub(crate) fn below<T>(local: &T) -> Self {
        Self {
            base: std::ptr::from_ref(local) as usize,
            ..Self::default()
        }
    }

    /// Stacks of what a closure calls that is about to begin, while the forward that these are stacks of is under way.
    pub(crate) fn inside(&self) -> Self {
        let mut inside = Self {
            base: self.base,
            ..Self::default()
        };
        inside.push();
        inside.ends.clear();
        inside.around = std::mem::take(&mut inside.addresses);
        inside
    }

    /// Takes down the stack as it is.
    pub(crate) fn push(&mut self) {
        let (base, addresses) = (self.base, &mut self.addresses);
        let begin = addresses.len();
        backtrace::trace(|frame| {
            if frame.sp() as usize > base || addresses.len() - begin == DEEPEST {
                return false;
            }
            addresses.push(frame.ip() as usize);
            true
        });
        self.ends.push(self.addresses.len() as u32);
    }

    /// A stack by its number, the innermost frame first.
    pub(super) fn get(&self, number: usize) -> &[usize] {
        let begin = match number.checked_sub(1) {
            Some(before) => self.ends[before] as usize,
            None => 0,
        };
        let stack = &self.addresses[begin..self.ends[number] as usize];
        // The frame that runs the closure is in both stacks, at another place of its code in each: it stays, and says
        // nothing.
        let outwards = stack.iter().rev().zip(self.around.iter().rev());
        let shared = outwards.take_while(|(inner, outer)| inner == outer).count();
        &stack[..stack.len() - shared]
    }
}
