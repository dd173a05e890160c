//! Faults of arguments that are no arrays.

use mlx_sys::raw;

use crate::capture::{CallId, Recorded, Trace};

use super::Touched;

/// MLX checks the scalars of these too little: with others they read foreign memory, or end the process.
const UNCHECKED: &[&str] = &[
    "as_strided",
    "gather",
    "pad",
    "put_along_axis",
    "scatter",
    "slice",
    "rope",
    "split",
    "_take",
];

/// Another scalar may rightly give these the same result: any order within the parts, a round number, what is close either way.
const INDIFFERENT: &[&str] = &["partition", "round", "close"];

/// Changes one argument; which, goes by the call's number.
pub(super) fn change(trace: &mut Trace, at: CallId) -> Option<Touched> {
    let call = &mut trace.tables.calls[at.index()];
    let name = call.function.name;
    if UNCHECKED
        .iter()
        .chain(INDIFFERENT)
        .any(|part| name.contains(part))
    {
        return None;
    }
    let changed: Vec<(usize, Recorded)> = call
        .arguments
        .iter()
        .enumerate()
        .filter_map(|(place, argument)| Some((place, other(argument)?)))
        .collect();
    let (place, argument) = changed.get(at.index() % changed.len().max(1))?.clone();
    call.arguments[place] = argument;
    Some(Touched::call(at))
}

/// Another value of the same kind.
fn other(argument: &Recorded) -> Option<Recorded> {
    Some(match argument {
        Recorded::Bool(it) => Recorded::Bool(!it),
        Recorded::Int(it) => Recorded::Int(it.wrapping_add(1)),
        Recorded::Uint64(it) => Recorded::Uint64(it ^ 1),
        Recorded::Size(it) => Recorded::Size(it ^ 1),
        Recorded::Float(it) => Recorded::Float(it * 1.5 + 0.5),
        Recorded::Double(it) => Recorded::Double(it * 1.5 + 0.5),
        Recorded::Dtype(it) => Recorded::Dtype(other_dtype(*it)),
        Recorded::Ints(it) => {
            let mut it = it.clone();
            *it.as_mut()?.last_mut()? += 1;
            Recorded::Ints(it)
        }
        Recorded::OptionalInt(Some(it)) => Recorded::OptionalInt(Some(it.wrapping_add(1))),
        Recorded::OptionalFloat(Some(it)) => Recorded::OptionalFloat(Some(it * 1.5 + 0.5)),
        Recorded::OptionalDtype(Some(it)) => Recorded::OptionalDtype(Some(other_dtype(*it))),
        _ => return None,
    })
}

fn other_dtype(dtype: raw::mlx_dtype) -> raw::mlx_dtype {
    match dtype {
        raw::mlx_dtype__MLX_FLOAT32 => raw::mlx_dtype__MLX_FLOAT16,
        _ => raw::mlx_dtype__MLX_FLOAT32,
    }
}
