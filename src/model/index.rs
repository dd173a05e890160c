//! A case's index as mlx-rs's.

use mlx_rs::ops::indexing::{ArrayIndex, ArrayIndexOp, Ellipsis, IntoStrideBy, NewAxis};

use crate::case::index::Index;

/// One part of an index, as mlx-rs takes it.
pub(super) fn operation(index: &Index) -> ArrayIndexOp<'static> {
    match *index {
        Index::At(place) => place.index_op(),
        Index::Ellipsis => Ellipsis.index_op(),
        Index::NewAxis => NewAxis.index_op(),
        Index::Range { start, stop, step } => match (start, stop) {
            (Some(start), Some(stop)) => (start..stop).stride_by(step).index_op(),
            (Some(start), None) => (start..).stride_by(step).index_op(),
            (None, Some(stop)) => (..stop).stride_by(step).index_op(),
            (None, None) => (..).stride_by(step).index_op(),
        },
    }
}
