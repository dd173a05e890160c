//! How arrays lie in memory, and arrays made to lie so again.
//!
//! The same elements in another layout sum to other bits, since kernels choose their way by it: whoever keeps an array's
//! elements and wants the array back keeps its layout too.

use mlx_rs::{Array, Dtype};
use mlx_sys::raw;

use super::error::{check, GraphError};
use super::memory::span;

/// How an array lies in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The step along each axis, in elements.
    pub strides: Vec<i64>,
    /// How many elements of memory MLX counts as the array's.
    pub data_size: u64,
    /// Whether its elements fill their memory without gaps, in whatever order.
    pub contiguous: bool,
    /// Whether they lie in rows.
    pub row_contiguous: bool,
    /// Whether they lie in columns.
    pub col_contiguous: bool,
}

/// Where a layout's elements begin within its stretch of memory, and how long that is, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stretch {
    first: usize,
    elements: usize,
}

impl Layout {
    /// The layout of an evaluated array.
    ///
    /// # Errors
    ///
    /// An array that is not evaluated.
    pub fn of(array: &Array) -> Result<Self, GraphError> {
        let mut strides = vec![0_i64; array.ndim()];
        let mut found = raw::mlx_graph_layout {
            data_size: 0,
            contiguous: false,
            row_contiguous: false,
            col_contiguous: false,
        };
        // SAFETY: there is room for one stride for each axis.
        let status = unsafe { raw::mlx_graph_layout_of(&mut found, strides.as_mut_ptr(), array.as_ptr()) };
        check(status, "reading how an array lies in memory")?;
        Ok(Self {
            strides,
            data_size: found.data_size as u64,
            contiguous: found.contiguous,
            row_contiguous: found.row_contiguous,
            col_contiguous: found.col_contiguous,
        })
    }

    /// The extents of the elements that differ in place: an axis along which nothing moves has one.
    pub fn distinct(&self, shape: &[i32]) -> Vec<usize> {
        let each = shape.iter().zip(&self.strides);
        each.map(|(extent, stride)| match stride {
            // An axis without elements leaves none, whatever its step.
            0 if *extent > 0 => 1,
            _ => usize::try_from(*extent).unwrap_or(0),
        })
        .collect()
    }

    /// Whether an array of this shape can lie so: whether MLX, which believes what a layout says, stays within the
    /// array's memory.
    pub fn fits(&self, shape: &[i32]) -> bool {
        let size = shape.iter().try_fold(1_usize, |size, extent| {
            size.checked_mul(usize::try_from(*extent).ok()?)
        });
        let (Some(size), true) = (size, self.strides.len() == shape.len()) else {
            return false;
        };
        if size == 0 {
            return self.data_size == 0;
        }
        let axes = shape.iter().zip(&self.strides);
        let (rows, columns) = (in_steps(axes.clone().rev()), in_steps(axes));
        let claims = (!self.row_contiguous || rows) && (!self.col_contiguous || columns);
        // Kernels that take an array for contiguous begin at its first element, and so must its memory.
        let begins = !self.contiguous || self.strides.iter().all(|stride| *stride >= 0);
        claims && begins && self.data_size > 0 && self.stretch(shape).is_some()
    }

    /// `None` where it does not fit into any memory.
    fn stretch(&self, shape: &[i32]) -> Option<Stretch> {
        if shape.contains(&0) {
            return Some(Stretch {
                first: 0,
                elements: 0,
            });
        }
        let (mut low, mut high) = (0_i64, 0_i64);
        for (extent, stride) in shape.iter().zip(&self.strides) {
            let way = stride.checked_mul(i64::from(*extent) - 1)?;
            let end = if way < 0 { &mut low } else { &mut high };
            *end = end.checked_add(way)?;
        }
        if self.contiguous {
            let last = i64::try_from(self.data_size).ok()?.checked_sub(1)?;
            high = high.max(last.checked_add(low)?);
        }
        let elements = high.checked_sub(low)?.checked_add(1)?;
        // The widest element has 8 bytes.
        elements.checked_mul(8)?;
        Some(Stretch {
            first: usize::try_from(low.checked_neg()?).ok()?,
            elements: usize::try_from(elements).ok()?,
        })
    }

    /// The place in the stretch of each element that differs in place, in row-major order.
    fn places(&self, shape: &[i32], stretch: Stretch) -> Vec<usize> {
        let mut places = vec![stretch.first as i64];
        for (extent, stride) in self.distinct(shape).into_iter().zip(&self.strides) {
            let steps = |place: i64| (0..extent as i64).map(move |step| place + step * stride);
            places = places.into_iter().flat_map(steps).collect();
        }
        // The stretch holds them all, so none is negative.
        places.into_iter().map(|place| place as usize).collect()
    }
}

/// Whether each axis steps over what the axes before it fill.
fn in_steps<'a>(mut axes: impl Iterator<Item = (&'a i32, &'a i64)>) -> bool {
    let mut step = 1_i64;
    axes.all(|(extent, stride)| {
        let fits = *extent == 1 || *stride == step;
        step = step.saturating_mul(i64::from(*extent));
        fits
    })
}

/// The elements of an evaluated array that differ in place, in row-major order: as many as [`Layout::distinct`] says.
///
/// # Errors
///
/// An array that is not evaluated.
pub fn distinct_elements(array: &Array, layout: &Layout) -> Result<Vec<u8>, GraphError> {
    let memory = span(array)?;
    let shape = array.shape();
    let Some(stretch) = layout.stretch(shape) else {
        return Err(misfit("reading an array", shape));
    };
    if stretch.elements == 0 {
        return Ok(Vec::new());
    }
    let width = memory.len() / stretch.elements;
    let places = layout.places(shape, stretch);
    let mut data = Vec::with_capacity(places.len() * width);
    for place in places {
        data.extend_from_slice(&memory[place * width..][..width]);
    }
    Ok(data)
}

/// An array of these elements, as [`distinct_elements`] gives them, that lies as said.
///
/// # Errors
///
/// A layout or a number of elements that does not [fit](Layout::fits), or no memory.
pub fn lay_out(shape: &[i32], dtype: Dtype, layout: &Layout, elements: &[u8]) -> Result<Array, GraphError> {
    const DOING: &str = "laying out an array";
    let stretch = match layout.fits(shape) {
        true => layout.stretch(shape),
        false => None,
    };
    let stretch = stretch.ok_or_else(|| misfit(DOING, shape))?;
    let wanted = layout.distinct(shape).into_iter().product::<usize>();
    // SAFETY: a plain look-up by a valid dtype.
    let width = unsafe { raw::mlx_dtype_size(dtype.into()) };
    if elements.len() != wanted * width {
        return Err(misfit(DOING, shape));
    }
    let mut memory: Vec<u8> = Vec::new();
    let bytes = stretch.elements * width;
    memory.try_reserve_exact(bytes).map_err(|error| GraphError {
        doing: DOING,
        message: error.to_string(),
    })?;
    // Kernels that run over gaps compute with what is there, and throw it away: an element of the array harms none.
    while memory.len() < bytes {
        memory.extend_from_slice(&elements[..width]);
    }
    for (place, element) in layout
        .places(shape, stretch)
        .into_iter()
        .zip(elements.chunks_exact(width))
    {
        memory[place * width..][..width].copy_from_slice(element);
    }
    let raw_layout = raw::mlx_graph_layout {
        data_size: layout.data_size as usize,
        contiguous: layout.contiguous,
        row_contiguous: layout.row_contiguous,
        col_contiguous: layout.col_contiguous,
    };
    // SAFETY: extents and strides are as many as said, and reach as far as the memory, which is copied. The fresh handle is
    // owned by the array returned, or freed with it on error.
    unsafe {
        let mut handle = raw::mlx_array_new();
        let status = raw::mlx_graph_lay_out(
            &mut handle,
            shape.as_ptr(),
            layout.strides.as_ptr(),
            shape.len(),
            dtype.into(),
            &raw_layout,
            memory.as_ptr().cast(),
            memory.len(),
        );
        let made = Array::from_ptr(handle);
        check(status, DOING)?;
        Ok(made)
    }
}

fn misfit(doing: &'static str, shape: &[i32]) -> GraphError {
    GraphError {
        doing,
        message: format!("an array of shape {shape:?} does not lie so, or has other elements"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{compare, evaluate, read};
    use mlx_rs::ops;
    use mlx_rs::ops::indexing::IndexOp;

    fn rebuilt(array: &Array) -> (Layout, Array) {
        evaluate([array]).unwrap();
        let layout = Layout::of(array).unwrap();
        assert!(layout.fits(array.shape()), "{layout:?}");
        let elements = distinct_elements(array, &layout).unwrap();
        let made = lay_out(array.shape(), array.dtype(), &layout, &elements).unwrap();
        assert_eq!(Layout::of(&made).unwrap(), layout);
        assert_eq!(read(&made).unwrap(), read(array).unwrap());
        assert!(compare(&made, array).unwrap().is_none());
        (layout, made)
    }

    fn plain() -> Array {
        let numbers: Vec<f32> = (0..60).map(|it| (it as f32 * 0.7).sin()).collect();
        Array::from_slice(&numbers, &[5, 12])
    }

    #[test]
    fn views_of_every_kind_lie_again_as_they_lay() {
        let x = plain();
        rebuilt(&x);
        rebuilt(&x.transpose().unwrap());
        rebuilt(&x.index((.., 3)));
        rebuilt(&x.as_strided(&[3, 2][..], &[-12, -2][..], 50).unwrap());
        rebuilt(&ops::zeros::<f32>(&[0, 3]).unwrap());
        rebuilt(&Array::from_bool(true));
        let (layout, _) = rebuilt(&ops::broadcast_to(x.index(0), &[1000, 12]).unwrap());
        assert_eq!(layout.distinct(&[1000, 12]), [1, 12]);
    }

    #[test]
    fn a_sum_over_what_lies_so_again_has_the_same_bits() {
        let sum = |array: &Array| {
            let sum = array.sum(false).unwrap();
            evaluate([&sum]).unwrap();
            read(&sum).unwrap()
        };
        let numbers: Vec<f32> = (0..4000).map(|it| (it as f32).sin() * 1e3).collect();
        let lying = Array::from_slice(&numbers, &[40, 100]).transpose().unwrap();
        let (_, made) = rebuilt(&lying);
        assert_eq!(sum(&made), sum(&lying));
        let rows = crate::graph::from_bytes(&read(&lying).unwrap(), &[100, 40], Dtype::Float32).unwrap();
        assert_ne!(sum(&rows), sum(&lying), "else the test shows nothing");
    }

    #[test]
    fn what_would_reach_out_of_its_memory_does_not_fit() {
        let array = plain();
        evaluate([&array]).unwrap();
        let layout = Layout::of(&array).unwrap();
        let with = |change: &dyn Fn(&mut Layout)| {
            let mut changed = layout.clone();
            change(&mut changed);
            changed
        };
        assert!(!with(&|it| it.strides[0] = 13).fits(&[5, 12]), "not in rows");
        assert!(!with(&|it| it.strides.truncate(1)).fits(&[5, 12]));
        assert!(!with(&|it| it.strides[0] = i64::MAX).fits(&[5, 12]));
        assert!(!with(&|it| it.col_contiguous = true).fits(&[5, 12]));
        assert!(!with(&|it| it.data_size = 0).fits(&[5, 12]));
        assert!(!with(&|it| it.data_size = u64::MAX).fits(&[5, 12]));
        assert!(!layout.fits(&[5, -12]));
        assert!(!layout.fits(&[i32::MAX; 2]));
        let elements = distinct_elements(&array, &layout).unwrap();
        assert!(lay_out(&[5, 12], Dtype::Float32, &layout, &elements[4..]).is_err());
        assert!(lay_out(&[12, 5], Dtype::Float32, &layout, &elements).is_err());
    }
}
