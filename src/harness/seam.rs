//! The seam: a cell in, an outcome out.
//!
//! Everything on this side is plain data, so that a cell can run in this process or in another one. Whoever stands
//! behind the seam traces the cell, says what was [`Observed`], and lets [`conclude`](super::expect::conclude) judge.

pub use crate::case::cell::Cell;
use crate::case::data::Data;
use crate::reference::Policy;
use crate::scorecard::outcome::{Evidence, Outcome};
use crate::vocabulary::DType;

/// Runs cells.
pub trait Runner: Send + Sync {
    /// Runs one cell to its end, whatever the end is: errors and panics of the model are outcomes.
    fn run(&self, cell: &Cell) -> Outcome;
}

/// What was seen of a cell, before anything is expected of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    /// What goes into the outcome.
    pub evidence: Evidence,
    /// The outputs' elements in row-major order, as many as `evidence.outputs`; only needed where
    /// [`wants_values`] says so.
    pub values: Vec<Data>,
    /// What the outputs must equal, computed without MLX.
    pub reference: Reference,
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

/// Whether judging the cell needs the outputs' elements.
pub fn wants_values(cell: &Cell) -> bool {
    cell.expect.iter().any(|it| {
        it.item.reference
            || it
                .item
                .outputs
                .iter()
                .flatten()
                .any(|output| output.values.is_some())
    })
}
