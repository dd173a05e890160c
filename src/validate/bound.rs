//! What indices may point to: MLX checks no bounds, so that a perturbed index must stay where a true one may be.

use mlx_sys::function::Role;

use crate::capture::{Call, Recorded, Trace};

/// What an operand's elements stay below when they are changed to others than those present, in any of the axes that the
/// call's indices point along; 0 for roles without such a bound.
pub(super) fn bound(trace: &Trace, call: &Call, role: Role) -> i64 {
    match role {
        Role::Index => below(trace, call).unwrap_or(0),
        _ => 0,
    }
}

/// The smallest extent that an index points along, less what is read or written from there on.
fn below(trace: &Trace, call: &Call) -> Option<i64> {
    let source = trace.value(call.operands().next()?).shape();
    let slices = slices(trace, call, source.len());
    let room = |axis: usize| {
        let slice = slices.as_ref().and_then(|it| it.get(axis)).copied().unwrap_or(1);
        Some(i64::from(*source.get(axis)?) - i64::from(slice) + 1)
    };
    match axes(call) {
        // A negative axis counts from the end.
        Some(axes) => {
            let place = |axis: i32| {
                usize::try_from(if axis < 0 {
                    axis + source.len() as i32
                } else {
                    axis
                })
                .ok()
            };
            axes.into_iter().map(|axis| place(axis).and_then(room)).min()?
        }
        None => (0..source.len()).map(room).min()?,
    }
}

/// The axes that a call's indices point along, where it names them.
fn axes(call: &Call) -> Option<Vec<i32>> {
    match named(call, |name| name == "axes" || name == "axis")? {
        Recorded::Ints(axes) => axes.as_ref().map(|axes| axes.to_vec()),
        Recorded::Int(axis) => Some(vec![*axis]),
        _ => None,
    }
}

/// The extents of what is read from, or written to, each place that is pointed to, along each axis of the source.
fn slices(trace: &Trace, call: &Call, axes: usize) -> Option<Vec<i32>> {
    if let Some(Recorded::Ints(Some(sizes))) = named(call, |name| name == "slice_sizes") {
        return Some(sizes.to_vec());
    }
    // Updates have the extents of the indices first, then those of a slice.
    let Recorded::Array(Some(updates)) = named(call, |name| name == "updates")? else {
        return None;
    };
    let shape = trace.value(*updates).shape();
    Some(shape[shape.len().saturating_sub(axes)..].to_vec())
}

fn named(call: &Call, is: impl Fn(&str) -> bool) -> Option<&Recorded> {
    let mut both = call.function().parameters.iter().zip(call.arguments());
    both.find(|(parameter, _)| is(parameter.name))
        .map(|(_, argument)| argument)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Session;
    use mlx_rs::ops::indexing::{gather_single, scatter_single, take_axis};
    use mlx_rs::{error::Exception, Array};

    /// The bound of the last call's indices.
    fn of(forward: impl Fn(&Array, &Array) -> Result<Array, Exception>) -> i64 {
        let x = Array::from_slice(&[0_f32; 12], &[4, 3]);
        let places = Array::from_slice(&[1_i32, 0], &[2]);
        let (trace, _) = Session::new()
            .run(&[x.clone(), places.clone()], || forward(&x, &places))
            .unwrap();
        let indexed = |call: &&Call| call.function().parameters.iter().any(|it| it.role == Role::Index);
        bound(&trace, trace.calls().iter().rfind(indexed).unwrap(), Role::Index)
    }

    #[test]
    fn an_index_stays_where_the_slice_that_begins_there_fits() {
        assert_eq!(of(|x, places| gather_single(x, places, 0, &[1, 3])), 4);
        assert_eq!(of(|x, places| gather_single(x, places, 0, &[3, 2])), 2);
        assert_eq!(of(|x, places| gather_single(x, places, 1, &[1, 2])), 2);
        assert_eq!(of(|x, places| take_axis(x, places, 0)), 4);
        assert_eq!(of(|x, places| take_axis(x, places, -1)), 3);
        let updates = |rows: i32| Array::from_slice(&vec![1_f32; 6 * rows as usize], &[2, rows, 3]);
        assert_eq!(of(|x, places| scatter_single(x, places, updates(1), 0)), 4);
        assert_eq!(of(|x, places| scatter_single(x, places, updates(3), 0)), 2);
    }
}
