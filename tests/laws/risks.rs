//! What random programs must not do: end the process, never end, or read foreign memory. MLX does each of these where
//! a caller breaks a rule that it does not check; `cases/faults/` and `docs/differences.md` have the cases.

use std::collections::{BTreeMap, HashMap};

use mlx_assay::case::names::{stands_for, Parameter, Signature};
use mlx_assay::case::value::Value;
use mlx_assay::model::functions::family;
use mlx_rs::Array;

use crate::program::named;

/// Functions that no program calls, and why.
const LEFT_OUT: &[(&str, &str)] = &[
    (
        "segmented_mm",
        "ends the process that gives it a segment which no matrix has",
    ),
    (
        "masked_scatter",
        "reads foreign memory where the mask has more ones than there are sources",
    ),
    (
        "random_state.new",
        "drawn from the time: each capture draws anew, as its case says",
    ),
    (
        "array.deep_clone",
        "copies through the host: it depends on the input unseen, as its case says",
    ),
    (
        "optimizer.clip_grad_norm",
        "reads a value in the middle: it depends on the input unseen, as its case says",
    ),
    ("all_close", READ),
    ("array_eq", READ),
    ("array.all_close", READ),
    ("array.eq_exact", READ),
    ("array.eq_values", READ),
    (
        "random.multivariate_normal",
        "decomposes a covariance that must be regular",
    ),
];

/// What a function hands out that is no array any more when a model gets it.
const READ: &str = "reads its answer: what is made of it depends on the input unseen";

/// The input that an operand must be, where not any will do.
pub fn bound(signature: &Signature, parameter: &Parameter) -> Option<&'static str> {
    match (signature.name, parameter.name) {
        // Places out of range read foreign memory.
        (_, "indices" | "rows" | "columns" | "lhs_indices" | "rhs_indices") => Some("places"),
        ("loss.cross_entropy" | "loss.nll", "targets") => Some("places"),
        (_, "key") => Some("drawn"),
        // A singular matrix fails on MLX's own thread, and with a NaN the decomposition never ends.
        ("linalg.norm" | "linalg.norm_l2" | "linalg.cross", _) => None,
        (name, _) if name.starts_with("linalg.") => Some("regular"),
        _ => None,
    }
}

/// Whether a call with these arguments is harmless.
pub fn none(
    signature: &Signature,
    arguments: &BTreeMap<&'static str, Value>,
    values: &HashMap<String, Array>,
) -> bool {
    if LEFT_OUT.iter().any(|(name, _)| *name == signature.name) {
        return false;
    }
    let arrays: Vec<(&str, &Array)> = arguments
        .iter()
        .flat_map(|(parameter, argument)| named(argument).into_iter().map(move |name| (*parameter, name)))
        .filter_map(|(parameter, name)| Some((parameter, values.get(name)?)))
        .collect();
    let all = |holds: &dyn Fn(&Array) -> bool| arrays.iter().all(|(_, array)| holds(array));
    let floats = |it: &Array| it.dtype().is_float();
    match stands_for(signature.name) {
        // An integer divided by 0 ends the process, and to a negative power it never ends.
        "floor_divide" | "remainder" | "divmod" | "power" if !all(&floats) => return false,
        // No bounds are checked.
        "as_strided" if !all(&|it| it.size() >= 12) => return false,
        // Of two pairs MLX makes triples, and reads the third element from foreign memory.
        "linalg.cross" if !all(&|it| it.shape().last() == Some(&3)) => return false,
        // Where the length has no Hadamard matrix, MLX writes past the end: not all lengths without are refused.
        "hadamard_transform"
            if !all(&|it| it.shape().last().is_some_and(|length| length.count_ones() == 1)) =>
        {
            return false
        }
        // An empty diagonal is never summed up.
        "trace" if !all(&|it| it.shape().iter().all(|extent| *extent >= 2)) => return false,
        // A slice that begins at a place within may end outside.
        "scatter_single"
        | "scatter_add_single"
        | "scatter_max_single"
        | "scatter_min_single"
        | "scatter_prod_single" => {
            let updates = arrays.iter().find(|(parameter, _)| *parameter == "updates");
            let one = updates.is_some_and(|(_, it)| it.ndim() > 1 && it.dim(1) == 1);
            let x = arrays.iter().find(|(parameter, _)| *parameter == "x");
            return one && x.is_some_and(|(_, it)| it.ndim() > 0 && it.dim(0) >= 2);
        }
        "gather_single" => {
            let x = arrays.iter().find(|(parameter, _)| *parameter == "x");
            return x.is_some_and(|(_, it)| it.ndim() > 0 && it.dim(0) >= 3);
        }
        _ => {}
    }
    // Of a part that MLX splits off a reversed array it takes one element for all, and reads the others from foreign
    // memory. Some functions split by themselves.
    let backwards = !all(&|it| it.strides().iter().all(|stride| *stride as isize >= 0));
    let splits = signature.name.contains("split") || signature.name.contains("unstack");
    let plain = matches!(
        family(signature.name),
        Some("elementwise" | "operators" | "reduce" | "shape")
    );
    if backwards && (splits || !plain) {
        return false;
    }
    let indexed = arguments.keys().any(|it| {
        matches!(
            *it,
            "indices" | "lhs_indices" | "rhs_indices" | "rows" | "columns"
        ) || *it == "targets"
    });
    if indexed && !all(&|it| it.shape().iter().all(|extent| *extent >= 2)) {
        return false;
    }
    // Much ends the process, or never ends, along an empty axis; what works element by element does not.
    let empty = !all(&|it| it.size() > 0);
    !empty
        || matches!(family(signature.name), Some("elementwise" | "operators"))
        || matches!(
            signature.name,
            "reshape"
                | "transpose"
                | "expand_dims"
                | "matmul"
                | "concatenate"
                | "stack"
                | "zeros_like"
                | "ones_like"
                | "flatten"
                | "as_dtype"
                | "sum"
                | "prod"
                | "all"
                | "any"
                | "nn.relu"
                | "nn.gelu"
                | "nn.silu"
        )
}
