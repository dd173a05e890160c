//! What a function or a layer is asked, as fragments of YAML.

use super::recipes::{FUNCTIONS, LAYERS};
use crate::case::names::{stands_for, Signature, Takes};

/// What a function or a layer is asked. Of each list the first item is the usual one; the others are asked with
/// everything else at its usual.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recipe {
    /// Shapes, one for all operands or a list of one for each.
    pub shapes: &'static [&'static str],
    /// Arguments, or for a layer its settings.
    pub args: &'static [&'static str],
    /// What operands are filled with.
    pub fills: &'static [&'static str],
    /// The operands, where fills do not suit them; may use `$dtype`, `$shape` and `$view`.
    pub inputs: &'static str,
    /// Element types other than all, the first of them the usual one.
    pub dtypes: &'static [&'static str],
    /// Whether other layouts in memory are asked too.
    pub views: Views,
    /// What a person must know, or why something is left out.
    pub note: &'static str,
    /// Why its calls come in another order each time, if they do.
    pub unordered: &'static str,
    /// Why it is not asked at all, if it is not.
    pub skip: &'static str,
}

/// Which layouts in memory are asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Views {
    /// All of them.
    #[default]
    All,
    /// Plain ones only.
    Plain,
}

/// One operand: a matrix first, then a scalar, nothing, one element, odd sizes, three axes, and many.
const ONE: &[&str] = &["[3, 4]", "[]", "[0, 3]", "[1]", "[5, 7]", "[2, 3, 4]", "[4096]"];

/// Two operands: alike, and in the ways they broadcast.
const TWO: &[&str] = &[
    "[[3, 4], [3, 4]]",
    "[[], [3]]",
    "[[0, 3], [1, 3]]",
    "[[1], [1]]",
    "[[5, 1], [1, 7]]",
    "[[2, 3, 4], [4]]",
    "[[4096], [4096]]",
];

const THREE: &[&str] = &[
    "[[3, 4], [3, 4], [3, 4]]",
    "[[4], [3, 4], []]",
    "[[0], [0], [0]]",
    "[[4096], [4096], [4096]]",
];

/// What a function is asked: by its own recipe, or by the recipe of the function that it is a form of, or by the arrays
/// that it takes.
pub fn function(signature: &Signature) -> Recipe {
    let base = stands_for(signature.name);
    let named = |wanted: &str| FUNCTIONS.iter().find(|(names, _)| names.contains(&wanted));
    let found = named(signature.name).or_else(|| named(base));
    filled(found.map(|(_, recipe)| *recipe).unwrap_or_default(), signature)
}

/// What a layer is asked.
pub fn layer(signature: &Signature) -> Recipe {
    let found = LAYERS.iter().find(|(names, _)| names.contains(&signature.name));
    let recipe = found.map(|(_, recipe)| *recipe).unwrap_or_default();
    match recipe.shapes {
        [] if recipe.inputs.is_empty() => Recipe {
            shapes: &["[2, 4]", "[1, 4]", "[0, 4]", "[2, 3, 4]", "[64, 64]"],
            ..recipe
        },
        _ => recipe,
    }
}

/// The recipe with shapes by the number of arrays, where it names none.
fn filled(recipe: Recipe, signature: &Signature) -> Recipe {
    if !recipe.shapes.is_empty() || !recipe.inputs.is_empty() {
        return recipe;
    }
    let arrays = signature.parameters.iter().filter(|it| it.is_required());
    let shapes = match arrays.filter(|it| it.takes == Takes::Array).count() {
        1 => ONE,
        2 => TWO,
        3 => THREE,
        _ => &[],
    };
    Recipe { shapes, ..recipe }
}
