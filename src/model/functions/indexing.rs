//! Elements by place: taking them, and arrays with others written in.

use mlx_rs::error::Exception;
use mlx_rs::ops::indexing::{self, ArrayIndexOp, TryIndexMutOp, TryIndexOp, TryIndexUpdateOp, UpdateMode};

use super::super::index::operation;
use super::table::{exception, functions};
use crate::case::index::Index;

functions! {
    gather_single(x: Array, indices: Array, axis: Int, slice_sizes: Ints) => indexing::gather_single(&x, &indices, axis, &slice_sizes);
    getitem(x: Array, index: Index) => x.try_index(&parts(&index)[..]);
    getitem_array(x: Array, indices: Array) => x.try_index(&indices);
    getitem_arrays(x: Array, rows: Array, columns: Array) => x.try_index((&rows, &columns));
    index_update(x: Array, index: Index, update: Array; mode: Text) => {
        x.try_index_update(&parts(&index)[..], &update, update_mode(mode.as_deref())?).map_err(exception)
    };
    index_update_array(x: Array, indices: Array, update: Array; mode: Text) => {
        x.try_index_update(&indices, &update, update_mode(mode.as_deref())?).map_err(exception)
    };
    masked_scatter(x: Array, mask: Array, src: Array) => indexing::masked_scatter(&x, &mask, &src);
    put_along_axis(x: Array, indices: Array, values: Array; axis: Int) => indexing::put_along_axis(&x, &indices, &values, axis);
    scatter_add_single(x: Array, indices: Array, updates: Array, axis: Int) => indexing::scatter_add_single(&x, &indices, &updates, axis);
    scatter_max_single(x: Array, indices: Array, updates: Array, axis: Int) => indexing::scatter_max_single(&x, &indices, &updates, axis);
    scatter_min_single(x: Array, indices: Array, updates: Array, axis: Int) => indexing::scatter_min_single(&x, &indices, &updates, axis);
    scatter_prod_single(x: Array, indices: Array, updates: Array, axis: Int) => indexing::scatter_prod_single(&x, &indices, &updates, axis);
    scatter_single(x: Array, indices: Array, updates: Array, axis: Int) => indexing::scatter_single(&x, &indices, &updates, axis);
    setitem(x: Array, index: Index, value: Array) => {
        let mut x = x;
        x.try_index_mut(&parts(&index)[..], &value)?;
        Ok(x)
    };
    setitem_array(x: Array, indices: Array, value: Array) => {
        let mut x = x;
        x.try_index_mut(indices, &value)?;
        Ok(x)
    };
    take(x: Array, indices: Array; axis: Int) => match axis {
        Some(axis) => indexing::take_axis(&x, &indices, axis),
        None => indexing::take(&x, &indices),
    };
    take_along_axis(x: Array, indices: Array; axis: Int) => indexing::take_along_axis(&x, &indices, axis);
}

fn parts(index: &[Index]) -> Vec<ArrayIndexOp<'static>> {
    index.iter().map(operation).collect()
}

fn update_mode(name: Option<&str>) -> Result<UpdateMode, Exception> {
    match name {
        None | Some("replace") => Ok(UpdateMode::Replace),
        Some("add") => Ok(UpdateMode::Add),
        Some("min") => Ok(UpdateMode::Min),
        Some("max") => Ok(UpdateMode::Max),
        Some("product") => Ok(UpdateMode::Product),
        Some(other) => Err(exception(format!(
            "mode is `replace`, `add`, `min`, `max` or `product`, not `{other}`"
        ))),
    }
}
