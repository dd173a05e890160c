//! The seam: a cell in, an outcome out.
//!
//! Everything on this side is plain data, so that a cell can run in this process or in another one. Whoever stands
//! behind the seam traces the cell, says what was [`Observed`], and lets [`conclude`](super::expect::conclude) judge.

pub use crate::case::cell::Cell;
use crate::case::data::Data;
use crate::reference::Policy;
use crate::scorecard::outcome::{Evidence, MutantRow, Outcome};
use crate::vocabulary::DType;
use std::collections::BTreeMap;

/// Runs cells.
pub trait Runner: Send + Sync {
    /// Runs one cell to its end, whatever the end is: errors and panics of the model are outcomes.
    fn run(&self, cell: &Cell) -> Outcome;

    /// Runs cells one after another, and hands over what each yielded.
    fn run_all(&self, cells: &[&Cell], each: &dyn Fn(&Cell, Outcome)) {
        for cell in cells {
            if self.interrupted() {
                break;
            }
            each(cell, self.run(cell));
        }
    }

    /// Whether whatever ran `cell` is fit for another one, now that it came to `outcome`.
    fn is_fit_after(&self, _cell: &Cell, outcome: &Outcome) -> bool {
        outcome.evidence.ending.leaves_nothing_behind()
    }

    /// Whether cells come back without having run to their end, since the run is to stop.
    fn interrupted(&self) -> bool {
        false
    }

    /// Seeds every kind of fault in a cell's trace, each at no more than `bound` places.
    ///
    /// # Errors
    ///
    /// Why it cannot be done: a runner need not be able to.
    fn mutate(&self, _cell: &Cell, _bound: usize) -> Result<Mutated, String> {
        Err("this runner seeds no faults".to_string())
    }
}

/// The mutants of one cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mutated {
    /// Each of them, by kind and place; none where the cell's trace does not pass.
    pub mutants: Vec<Mutation>,
    /// How many places were left out.
    pub left_out: usize,
}

/// One seeded fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutation {
    /// What fault, such as `parent_dropped`.
    pub fault: &'static str,
    /// The function of the call that it was seeded at.
    pub call: &'static str,
    /// The call's place in the trace.
    pub place: usize,
    /// The label of the call's op.
    pub op: String,
    /// How it is proven to be no fault, if it is.
    pub equivalent: Option<String>,
    /// What became of it; `None` for what is no fault.
    pub row: Option<MutantRow>,
}

/// What was seen of a cell, before anything is expected of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    /// What goes into the outcome.
    pub evidence: Evidence,
    /// The outputs' elements in row-major order, as many as `evidence.outputs`; only needed where
    /// [`Cell::expects_values`] says so.
    pub values: Vec<Data>,
    /// What the outputs must equal, computed without MLX.
    pub reference: Reference,
    /// The ops' results by label, in words, for the reports.
    pub shown: BTreeMap<String, String>,
}

/// What the outputs must equal.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Reference {
    /// None was asked for.
    #[default]
    None,
    /// There is none for this program.
    Missing {
        /// Why.
        why: String,
    },
    /// The expected outputs, in order.
    Expected(Vec<ReferenceOutput>),
    /// What must hold of the outputs, whatever they are.
    Relations(Vec<ReferenceRelation>),
}

/// Two arrays that must agree, both computed from the outputs without MLX.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceRelation {
    /// What is compared: `q @ r`.
    pub what: String,
    /// The elements that follow from the outputs, of as many axes as the wanted ones.
    pub found: Data,
    /// What they must be.
    pub wanted: ReferenceOutput,
}

/// One output of a reference.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceOutput {
    /// Extents, outermost first.
    pub shape: Vec<i32>,
    /// Element type.
    pub dtype: DType,
    /// Elements, in row-major order.
    pub data: Data,
    /// How found elements are compared with them.
    pub policy: Policy,
}
