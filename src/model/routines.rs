//! Named Rust programs over any arrays: transforms, training, and what a capture refuses.
//!
//! A routine takes the case's inputs in order and gives arrays; each call in it is an op of its own, save where it names a
//! scope.

use mlx_rs::error::Exception;
use mlx_rs::module::ModuleParamRef;
use mlx_rs::nested::NestedHashMap;
use mlx_rs::Array;

use super::module::Many;

/// What a routine does with the inputs.
pub(super) type Routine = fn(&[&Array]) -> Result<Vec<Array>, Exception>;

/// A list of routines by name.
pub(super) type Routines = &'static [(&'static str, Routine)];

/// A routine as a layer without parameters.
pub(super) struct Run(Routine);

/// No routine has this name.
#[derive(Debug, thiserror::Error)]
#[error("no routine is called `{name}`; there are {known}")]
pub struct UnknownRoutine {
    name: String,
    known: String,
}

impl Run {
    /// The routine of this name in a list.
    pub(super) fn new(list: Routines, name: &str) -> Result<Self, UnknownRoutine> {
        let found = list.iter().find(|(known, _)| *known == name);
        found
            .map(|(_, routine)| Self(*routine))
            .ok_or_else(|| UnknownRoutine {
                name: name.to_owned(),
                known: list
                    .iter()
                    .map(|(known, _)| *known)
                    .collect::<Vec<_>>()
                    .join(", "),
            })
    }
}

impl Many for Run {
    fn forward(&mut self, operands: &[Option<Array>]) -> Result<Vec<Array>, Exception> {
        (self.0)(&operands.iter().flatten().collect::<Vec<_>>())
    }

    fn parameters(&self) -> ModuleParamRef<'_> {
        NestedHashMap::new()
    }
}

/// The only input.
pub(super) fn only<'a>(inputs: &[&'a Array]) -> Result<&'a Array, Exception> {
    match inputs {
        [x] => Ok(x),
        _ => Err(Exception::custom("the routine takes one array")),
    }
}
