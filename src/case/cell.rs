//! A cell: one point of a case's matrix, complete and checked. What a runner gets.

use super::arguments::Arguments;
use super::data::Input;
use super::position::{Path, Position};
use super::schema::{Expectation, ExpectedFail, Limits, Requires, Session};
use super::spec::Spec;
use super::value::Value;
use super::yaml::Index;
use indexmap::IndexMap;
use std::sync::Arc;

/// One point of a case's matrix.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Unique in the suite: the case's id and the names of the cell's axis values, joined by `::`.
    pub id: String,
    /// The case it belongs to.
    pub case: Arc<CaseInfo>,
    /// The cell's point: axis name and value, in the order of `matrix:`.
    pub axes: Vec<(String, Value)>,
    /// What the layers' parameters are drawn from.
    pub seed: u64,
    /// What goes in, in order.
    pub inputs: IndexMap<String, Input>,
    /// What is computed.
    pub program: Program,
    /// How it is captured.
    pub session: Session,
    /// What it needs to run.
    pub requires: Requires,
    /// What it may take; the suite's own where nothing is said.
    pub limits: Limits,
    /// Whether it only ever runs in a process of its own.
    pub isolate: bool,
    /// Whether its calls come in another order each time.
    pub unordered: bool,
    /// What must come out: the expectations whose `where:` the cell meets.
    pub expect: Vec<Located<Expectation>>,
    /// The known failure, if the cell meets the `where:` of one; at most one for each verdict.
    pub expected_fail: Vec<Located<ExpectedFail>>,
}

impl Cell {
    /// Whether the outputs' elements are expected to be something.
    pub fn expects_values(&self) -> bool {
        self.expect.iter().any(|it| {
            let mut outputs = it.item.outputs.iter().flatten();
            it.item.reference || outputs.any(|output| output.values.is_some())
        })
    }
}

/// What all cells of a case share.
#[derive(Clone, Debug)]
pub struct CaseInfo {
    /// The case's id: its path under `cases/`, without extension, joined by `::`.
    pub id: String,
    /// The file, relative to the root, with `/` between folders.
    pub file: String,
    /// Ids of the capabilities the case gives evidence for.
    pub covers: Vec<String>,
    /// Where everything in the file stands.
    pub index: Index,
    /// The file's text.
    pub text: Arc<str>,
}

/// Something of the case, and the way to it.
#[derive(Clone, Debug)]
pub struct Located<T> {
    /// The way from the file's root.
    pub path: Path,
    /// What stands there.
    pub item: T,
}

/// What a cell computes.
#[derive(Clone, Debug, PartialEq)]
pub enum Program {
    /// One layer, called once with all inputs.
    Model(Spec),
    /// Layers and steps. A case's `op:` is one step.
    Forward {
        /// The declared layers, by name, in the order written.
        layers: IndexMap<String, Spec>,
        /// The steps, in order.
        steps: Vec<Step>,
        /// The values that come out, in order; `name` or `name.0`.
        outputs: Vec<String>,
    },
}

/// One step: a layer or a function is called, and its result gets a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The result's name. The results of a function that has several are `name.0`, `name.1`, ...
    pub name: String,
    /// A declared layer's name, or else a function's.
    pub callee: String,
    /// With what it is called.
    pub arguments: Arguments,
    /// Where the step stands.
    pub position: Position,
}

impl Cell {
    /// The line of the case that a failure of the whole cell points at: the expectation, or else the file's start.
    pub fn line(&self) -> u32 {
        let whole = self.case.index.key_position(&Path::root().key("expect"));
        whole.line.max(1)
    }

    /// The command that shows this cell's trace.
    pub fn show_command(&self) -> String {
        format!("assay show {}", self.id)
    }
}
