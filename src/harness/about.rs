//! What a cell is about, for whoever groups cells: its function, its element type, and what is expected of it.

use super::judge_outputs::own_dtype;
use crate::case::cell::{Cell, Program};
use crate::case::position::Path;
use crate::case::schema::{Expectation, OutputExpectation};
use crate::case::spec::Children;
use crate::scorecard::about::About;
use std::collections::BTreeSet;

/// What the cell is about.
pub fn about(cell: &Cell) -> About {
    let expects: BTreeSet<String> = cell.expect.iter().flat_map(|it| places(&it.item)).collect();
    About {
        function: function(cell),
        dtype: own_dtype(cell).map(|dtype| dtype.name().to_owned()),
        expects: expects.into_iter().collect(),
    }
}

/// The one function or layer that the cell calls.
fn function(cell: &Cell) -> Option<String> {
    match &cell.program {
        Program::Model(spec) => {
            matches!(spec.children, Children::None).then(|| format!("layer.{}", spec.name))
        }
        Program::Forward { layers, steps, .. } => match steps.as_slice() {
            [step] => Some(match layers.get(&step.callee) {
                Some(spec) => format!("layer.{}", spec.name),
                None => step.callee.clone(),
            }),
            _ => None,
        },
    }
}

/// An expectation's place without the number it has in a list of several: `outputs[0].values`.
pub(super) fn place(path: &Path) -> String {
    let whole = path.to_string();
    match whole.split_once('.') {
        Some((first, rest)) if first.starts_with("expect") => rest.to_owned(),
        _ => whole,
    }
}

/// Where an expectation says something.
fn places(it: &Expectation) -> Vec<String> {
    let mut places = Vec::new();
    let mut add = |said: bool, place: &str| places.extend(said.then(|| place.to_owned()));
    add(it.state.is_some(), "state");
    add(it.ops.is_some(), "ops");
    add(it.reference, "reference");
    add(it.dtype.is_some(), "dtype");
    it.endings().for_each(|(key, _)| add(true, key));
    it.parents
        .keys()
        .for_each(|op| add(true, &format!("parents.{op}")));
    it.decisions
        .keys()
        .for_each(|op| add(true, &format!("decisions.{op}")));
    for (address, module) in &it.modules {
        add(module.class.is_some(), &format!("modules.{address}.class"));
        add(module.calls.is_some(), &format!("modules.{address}.calls"));
        add(
            module.parameters.is_some(),
            &format!("modules.{address}.parameters"),
        );
    }
    add(it.outputs.is_some(), "outputs");
    for (number, output) in it.outputs.iter().flatten().enumerate() {
        let OutputExpectation {
            shape, dtype, values, ..
        } = output;
        add(shape.is_some(), &format!("outputs[{number}].shape"));
        add(dtype.is_some(), &format!("outputs[{number}].dtype"));
        add(values.is_some(), &format!("outputs[{number}].values"));
    }
    places
}
