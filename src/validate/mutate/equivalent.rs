//! Proof that a mutant is no fault: it computes what the original computes, for the original inputs and for every
//! perturbation of them, and MLX's graph has nothing against it.
//!
//! The mutant has passed validation before it comes here, so the graph reaches nothing that it does not declare. An
//! operand's place is no more than what the function makes of it: a record that says `b + a` of `a + b` is held to be
//! true, if both agree bit for bit under all candidates, one at a time and together.

use mlx_rs::Array;

use crate::capture::{Call, Origin, Trace, Value, ValueId};
use crate::graph::{self, ArrayId};
use crate::validate::bound::bound;
use crate::validate::candidate::Candidate;
use crate::validate::perturbed::{candidates, operands, strictest};
use crate::validate::replay::{by_function, has_function_route, Streams, Substitution};

use super::saved::Saved;
use super::Touched;

/// How often all operands are perturbed together, each time otherwise.
const TOGETHER: usize = 4;

/// Why a mutant is equivalent; `None` where that is not proven.
pub(super) fn proof(saved: &Saved, mutant: &Trace, touched: &Touched) -> Option<String> {
    if let Some(removed) = touched.removed {
        return nothing_removed(&saved.calls[removed.index()], mutant);
    }
    let same_values = saved.values.len() == mutant.values().len()
        && saved
            .values
            .iter()
            .zip(mutant.values())
            .all(|(a, b)| same_value(a, b));
    if !same_values || saved.calls.len() != mutant.calls().len() {
        return None;
    }
    let mut tried = 0;
    for (original, changed) in saved.calls.iter().zip(mutant.calls()) {
        let same = original.function.index == changed.function.index
            && original.arguments == changed.arguments
            && original.results == changed.results
            && original.page == changed.page
            && original.captured == changed.captured;
        if same {
            continue;
        }
        // Another scope is a label.
        let comparable = original.results == changed.results
            && original.page == changed.page
            && original.captured == changed.captured;
        if !comparable {
            return None;
        }
        tried += same_function(mutant, original, changed)?;
    }
    Some(match tried {
        0 => "nothing that computes is changed: the same values, bit for bit".to_string(),
        _ => format!("the function gives the same bits for the recorded operands and {tried} perturbations"),
    })
}

/// A call that only handed back its operands computes nothing, and nothing is lost with it.
fn nothing_removed(call: &Call, mutant: &Trace) -> Option<String> {
    let graph = mutant.subgraph(call)?;
    let handed_back = call
        .results()
        .iter()
        .all(|result| call.operands().any(|operand| operand == *result));
    (graph.is_empty() && graph.leaves() == 0 && handed_back)
        .then(|| "the call computes nothing: MLX's graph hands back its operand".to_string())
}

fn same_value(one: &Value, other: &Value) -> bool {
    // Whether an input was computed before the forward is no part of the forward.
    let outer = matches!(one.origin, Origin::Input { .. } | Origin::Parameter { .. });
    one.origin == other.origin
        && one.shape == other.shape
        && one.dtype == other.dtype
        && (outer || one.had_producer == other.had_producer)
        && match (&one.payload, &other.payload) {
            (None, None) => true,
            (Some(a), Some(b)) => {
                ArrayId::of(a) == ArrayId::of(b) || graph::compare(a, b).is_ok_and(|it| it.is_none())
            }
            _ => false,
        }
}

/// Over how many perturbations two calls gave the same; `None` where they do not, or cannot be called again.
fn same_function(trace: &Trace, original: &Call, changed: &Call) -> Option<usize> {
    if !has_function_route(original) || !has_function_route(changed) {
        return None;
    }
    let both = [original, changed].into_iter().flat_map(operands);
    let read = strictest(both.map(|(_, value, role, _)| (value, role)));
    let made = |value: ValueId, role, candidate: Candidate, salt| -> Option<(ValueId, Array)> {
        let payload = trace.value(value).payload()?;
        let array = candidate
            .salted(salt, role, bound(trace, original, role), payload)
            .ok()??;
        Some((value, array))
    };
    let mut inputs: Vec<Vec<(ValueId, Array)>> = vec![Vec::new()];
    for &(value, role) in &read {
        for candidate in candidates(original, role, trace.value(value).dtype()) {
            inputs.extend(made(value, role, candidate, 0).map(|one| vec![one]));
        }
    }
    for round in 0..TOGETHER {
        let all = read.iter().enumerate().filter_map(|(place, &(value, role))| {
            let candidate = candidates(original, role, trace.value(value).dtype()).next()?;
            made(value, role, candidate, 1 + place + round * read.len())
        });
        inputs.push(all.collect());
    }
    let mut streams = Streams::new();
    for input in &inputs {
        let mut run = |call: &Call| -> Result<Vec<Array>, String> {
            let results = by_function(
                trace.values(),
                call,
                &mut streams,
                Substitution::Everywhere(input),
            )?;
            graph::evaluate(&results).map_err(|error| error.message)?;
            Ok(results)
        };
        let same = match (run(original), run(changed)) {
            (Ok(one), Ok(other)) => {
                let pairs = one.iter().zip(&other);
                one.len() == other.len()
                    && pairs
                        .map(|(a, b)| graph::compare(a, b))
                        .all(|it| it.is_ok_and(|it| it.is_none()))
            }
            // On the recorded operands both must run; on others both may fail.
            (Err(_), Err(_)) => !input.is_empty(),
            _ => false,
        };
        if !same {
            return None;
        }
    }
    Some(inputs.len() - 1)
}
