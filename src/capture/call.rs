//! Calls: observed functions of mlx-c with their arguments and results.

use mlx_sys::function::{Class, Function};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use thin_vec::ThinVec;

use super::argument::Recorded;
use super::scope::ScopeId;
use super::value::ValueId;
use crate::graph::Page;

/// A call's number in its trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub(crate) u32);

impl CallId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// One observed call.
#[derive(Debug, Clone)]
pub struct Call {
    pub(crate) function: &'static Function,
    /// Nearly all functions have at most four, which then lie here and not elsewhere in memory.
    pub(crate) arguments: SmallVec<[Recorded; 4]>,
    /// Results by what they are, flattened: a list's arrays follow one another.
    pub(crate) results: SmallVec<[ValueId; 1]>,
    pub(crate) scope: Option<ScopeId>,
    pub(crate) page: Option<Page>,
    /// Outer values that a closure read, which no argument names.
    pub(crate) captured: ThinVec<ValueId>,
}

impl Call {
    /// The function.
    pub fn function(&self) -> &'static Function {
        self.function
    }

    /// Its arguments, one for each parameter of the function.
    pub fn arguments(&self) -> &[Recorded] {
        &self.arguments
    }

    /// Its results in order; a list's arrays follow one another.
    pub fn results(&self) -> &[ValueId] {
        &self.results
    }

    /// The innermost scope that it happened in.
    pub fn scope(&self) -> Option<ScopeId> {
        self.scope
    }

    /// The values that it declares to depend on: its array operands in order, those of lists in place, then what a
    /// closure read beside them. A value that is passed twice stands twice.
    pub fn operands(&self) -> impl Iterator<Item = ValueId> + '_ {
        self.arguments
            .iter()
            .flat_map(Recorded::operands)
            .copied()
            .chain(self.captured.iter().copied())
    }

    /// Whether it makes its results from no array at all: a literal producer.
    pub fn is_producer_leaf(&self) -> bool {
        self.operands().next().is_none()
    }

    /// The name it goes by at op level: `mlx_sum_axis` is `sum`, a constructor is `array`.
    pub fn name(&self) -> &'static str {
        match self.function.class {
            Class::Constructor => "array",
            _ => base_name(self.function.name),
        }
    }
}

/// The function's name as people know it: without the prefix, and without the suffix of a variant whose plain form
/// exists too.
fn base_name(name: &'static str) -> &'static str {
    const VARIANTS: &[&str] = &[
        "_axis",
        "_axes",
        "_num",
        "_single",
        "_shape",
        "_num_samples",
        "_broadcast",
        "_indices",
    ];
    for suffix in VARIANTS {
        if let Some(base) = name.strip_suffix(suffix) {
            // The plain form must exist, else the suffix is part of the name (`mlx_broadcast_to` has none).
            if Function::by_name(base).is_some() {
                return base.strip_prefix("mlx_").unwrap_or(base);
            }
        }
    }
    match name {
        "mlx_closure_apply" => "compiled",
        "mlx_closure_value_and_grad_apply" => "value_and_grad",
        _ => name.strip_prefix("mlx_").unwrap_or(name),
    }
}

#[cfg(test)]
mod tests {
    use super::{Call, Recorded};

    /// Two cache lines a call, half a one for most functions' arguments each: recording is mostly writing.
    #[test]
    fn a_call_is_small() {
        assert!(size_of::<Recorded>() <= 16);
        assert!(size_of::<Call>() <= 128);
    }
}
