//! What stands between a call's results and the arrays known before it.

use std::ffi::{c_void, CStr};
use std::marker::PhantomData;

use mlx_rs::{Array, Dtype};
use mlx_sys::raw::{self, mlx_array};
use smallvec::SmallVec;

use super::array::list;
use super::error::{check, GraphError};

/// The subgraphs of many calls, kept together: one is read for every observed call.
#[derive(Debug)]
pub struct Book(raw::mlx_subgraph_book);

// SAFETY: primitives and leaves are shared pointers with atomic counts; only `read`, which borrows mutably, changes
// anything.
unsafe impl Send for Book {}

/// What an array was when it became known.
#[derive(Debug)]
pub struct Known {
    /// Its extents, outermost first.
    pub shape: SmallVec<[i32; 4]>,
    /// Its element type.
    pub dtype: Dtype,
    /// Whether an unevaluated computation stood behind it.
    pub has_producer: bool,
    /// A handle of its own, if it was asked for.
    pub shared: Option<Array>,
}

/// A subgraph's place in its book.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page(u32);

/// A small program, read from MLX's graph: primitives, how they feed one another, and the known arrays at its
/// boundary. It owns its primitives and the leaves made inside the call; it keeps no computed array alive.
///
/// Primitives hold the streams of the thread that made them: [`replay`](Self::replay) builds arrays anywhere, but
/// only that thread can evaluate them.
#[derive(Debug, Clone, Copy)]
pub struct Subgraph<'a> {
    raw: raw::mlx_subgraph,
    _book: PhantomData<&'a Book>,
}

impl Book {
    /// An empty book.
    pub fn new() -> Self {
        // SAFETY: a fresh book, freed on drop.
        Self(unsafe { raw::mlx_graph_book_new() })
    }

    /// From here on walks stop at `array`, under `number`, and no other array gets its identity until the book
    /// [forgets](Self::forget) its arrays. What is asked of each such array is answered at once; with `share` the answer
    /// has a handle of its own.
    pub fn know(&mut self, array: mlx_array, number: u32, share: bool) -> Known {
        let mut known = std::mem::MaybeUninit::<raw::mlx_graph_known_array>::uninit();
        // SAFETY: a valid handle that is not empty; the answer is written whole, and its shape copied while the array
        // that it borrows from is there. A handle that is not empty is the answer's own.
        unsafe {
            raw::mlx_graph_book_know(known.as_mut_ptr(), self.0, array, i64::from(number), share);
            let known = known.assume_init();
            let shape = match known.dimensions {
                0 => SmallVec::new(),
                _ => SmallVec::from_slice(std::slice::from_raw_parts(known.shape, known.dimensions)),
            };
            Known {
                shape,
                // MLX and mlx-rs number the same 14 dtypes; a new one would not be mistaken for a wrong one by bits.
                dtype: Dtype::try_from(known.dtype).unwrap_or(Dtype::Float32),
                has_producer: known.has_primitive,
                shared: (!known.shared.ctx.is_null()).then(|| Array::from_ptr(known.shared)),
            }
        }
    }

    /// The number under which an array is known; `None` for an unknown one and for an empty handle.
    pub fn number(&self, array: mlx_array) -> Option<u32> {
        // SAFETY: a valid or empty handle. The numbers are those that `know` was given.
        u32::try_from(unsafe { raw::mlx_graph_book_number(self.0, array) }).ok()
    }

    /// No array is known any more; the subgraphs stay.
    pub fn forget(&mut self) {
        // SAFETY: a valid book.
        unsafe { raw::mlx_graph_book_forget(self.0) };
    }

    /// The book itself, for its owner's `drop`: what is left in its place may only be dropped.
    pub(crate) fn take(&mut self) -> Self {
        let gone = raw::mlx_subgraph_book {
            ctx: std::ptr::null_mut(),
        };
        Self(std::mem::replace(&mut self.0, gone))
    }

    /// Nothing is left in the book but its memory.
    pub fn clear(&mut self) {
        // SAFETY: a valid book; subgraphs borrow from it, so that none is open.
        unsafe { raw::mlx_graph_book_clear(self.0) };
    }

    /// Reads the graph behind `results`, down to the arrays that are known.
    ///
    /// # Errors
    ///
    /// An empty handle among the results, or no memory.
    pub fn read(&mut self, results: &[mlx_array]) -> Result<Page, GraphError> {
        let mut graph = raw::mlx_subgraph {
            ctx: std::ptr::null_mut(),
            index: 0,
        };
        // SAFETY: valid handles of the length passed.
        let status = unsafe { raw::mlx_graph_book_add(&mut graph, self.0, results.as_ptr(), results.len()) };
        check(status, "reading the graph behind a call")?;
        // More pages than a `u32` numbers do not fit into memory.
        Ok(Page(graph.index as u32))
    }

    /// Walks from `array` to the known arrays, and shows the unknown ones that have a producer, the array itself
    /// included, to `visit`.
    pub fn ancestors(&self, array: mlx_array, visit: &mut dyn FnMut(mlx_array)) -> Ancestors {
        let mut unknown = 0;
        let mut count = |array: mlx_array| {
            unknown += 1;
            visit(array);
        };
        let mut context = Visit(&mut count);
        let mut found = vec![0_i64; 16];
        // SAFETY: `context` outlives the call; `found` has the length passed. The walk changes nothing, so a second one
        // with more room finds the same; its visits are not counted again.
        let total = unsafe {
            let context: *mut c_void = (&raw mut context).cast();
            let (data, room) = (found.as_mut_ptr(), found.len());
            let total = raw::mlx_graph_book_ancestors(self.0, array, Some(call_visit), context, data, room);
            if total > room {
                found.resize(total, 0);
                raw::mlx_graph_book_ancestors(self.0, array, None, context, found.as_mut_ptr(), total);
            }
            total
        };
        found.truncate(total);
        // The numbers are those that `know` was given.
        Ancestors {
            known: found.into_iter().map(|number| number as u32).collect(),
            unknown,
        }
    }

    /// The subgraph at a place that this book's [`read`](Self::read) gave.
    pub fn open(&self, page: Page) -> Subgraph<'_> {
        Subgraph {
            raw: raw::mlx_subgraph {
                ctx: self.0.ctx,
                index: page.0 as usize,
            },
            _book: PhantomData,
        }
    }
}

impl Default for Book {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Book {
    fn drop(&mut self) {
        // SAFETY: freed once; subgraphs borrow from the book.
        unsafe { raw::mlx_graph_book_free(self.0) };
    }
}

/// One primitive of a [`Subgraph`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// MLX's name of the primitive: `Softmax`.
    pub primitive: String,
    /// Slots it reads: first the boundary, then the leaves, then the outputs of the steps, in order.
    pub inputs: Vec<u32>,
    /// How many arrays it yields.
    pub outputs: usize,
}

impl Subgraph<'_> {
    /// The numbers of the known arrays that the results really depend on, in the order met.
    pub fn boundary(&self) -> Vec<u32> {
        // SAFETY: indexes in range of a valid program. The numbers are those that `know` was given.
        unsafe {
            (0..raw::mlx_graph_boundary_size(self.raw))
                .map(|index| raw::mlx_graph_boundary_item(self.raw, index) as u32)
                .collect()
        }
    }

    /// How many arrays without a producer were made inside the call.
    pub fn leaves(&self) -> usize {
        // SAFETY: a valid program.
        unsafe { raw::mlx_graph_leaves_size(self.raw) }
    }

    /// How many primitives the program has.
    pub fn len(&self) -> usize {
        // SAFETY: a valid program.
        unsafe { raw::mlx_graph_steps_size(self.raw) }
    }

    /// Whether the results are all known arrays or leaves, so that nothing was computed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The primitives in an order in which each follows what it reads.
    pub fn steps(&self) -> Vec<Step> {
        (0..self.len())
            .map(|step| {
                let mut slots = std::ptr::null();
                // SAFETY: the step is in range; name and slots live as long as the program, and are copied.
                unsafe {
                    let count = raw::mlx_graph_step_inputs(self.raw, step, &mut slots);
                    Step {
                        primitive: CStr::from_ptr(raw::mlx_graph_step_name(self.raw, step))
                            .to_string_lossy()
                            .into_owned(),
                        inputs: copied(slots, count),
                        outputs: raw::mlx_graph_step_outputs(self.raw, step),
                    }
                }
            })
            .collect()
    }

    /// The slots of the results.
    pub fn results(&self) -> Vec<u32> {
        let mut slots = std::ptr::null();
        // SAFETY: as in `steps`.
        unsafe {
            let count = raw::mlx_graph_results(self.raw, &mut slots);
            copied(slots, count)
        }
    }

    /// New, unevaluated results: the same primitives over `boundary`, an array for each of [`boundary`](Self::boundary)
    /// with its shape and dtype.
    ///
    /// # Errors
    ///
    /// Another number of arrays.
    pub fn replay(&self, boundary: &[&Array]) -> Result<Vec<Array>, GraphError> {
        built(boundary, "replaying a subgraph", |results, handles, count| {
            // SAFETY: a fresh list, and valid handles of the length passed.
            unsafe { raw::mlx_graph_replay(results, self.raw, handles, count) }
        })
    }

    /// As [`replay`](Self::replay), but what is behind every slot: the boundary, the leaves, the outputs of the steps.
    ///
    /// # Errors
    ///
    /// Another number of arrays.
    pub fn unfold(&self, boundary: &[&Array]) -> Result<Vec<Array>, GraphError> {
        built(boundary, "unfolding a subgraph", |results, handles, count| {
            // SAFETY: as above.
            unsafe { raw::mlx_graph_unfold(results, self.raw, handles, count) }
        })
    }

    /// New, unevaluated outputs of one step, which must be below [`len`](Self::len): the same primitive over an array for
    /// each slot that it reads.
    ///
    /// # Errors
    ///
    /// Another number of arrays.
    pub fn replay_step(&self, step: usize, inputs: &[&Array]) -> Result<Vec<Array>, GraphError> {
        assert!(step < self.len(), "the subgraph has {} steps", self.len());
        built(inputs, "replaying a primitive", |results, handles, count| {
            // SAFETY: as above; the step is in range.
            unsafe { raw::mlx_graph_replay_step(results, self.raw, step, handles, count) }
        })
    }
}

/// The arrays that `build` puts into a list, from the handles of others.
fn built(
    read: &[&Array],
    doing: &'static str,
    build: impl FnOnce(*mut raw::mlx_vector_array, *const mlx_array, usize) -> std::ffi::c_int,
) -> Result<Vec<Array>, GraphError> {
    let handles: Vec<mlx_array> = read.iter().map(|array| array.as_ptr()).collect();
    // SAFETY: the list is fresh, and each array taken from it is another handle of its own.
    unsafe {
        let mut results = raw::mlx_vector_array_new();
        let status = build(&mut results, handles.as_ptr(), handles.len());
        let arrays = list(results).map(|array| super::share(array)).collect();
        raw::mlx_vector_array_free(results);
        check(status, doing)?;
        Ok(arrays)
    }
}

/// What stands behind an array.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ancestors {
    /// The numbers of the known arrays that it descends from, sorted.
    pub known: Vec<u32>,
    /// How many unknown arrays with a producer lie between, the array itself included.
    pub unknown: usize,
}

/// The callback of a walk.
struct Visit<'a>(&'a mut dyn FnMut(mlx_array));

unsafe extern "C" fn call_visit(context: *mut c_void, array: mlx_array) {
    // SAFETY: `context` is the `Visit` that the caller in this file passed, used by nobody else meanwhile.
    let visit = unsafe { &mut *context.cast::<Visit<'_>>() };
    (visit.0)(array);
}

/// A copy of a C array.
///
/// # Safety
///
/// `data` points to `length` elements, or `length` is 0.
unsafe fn copied(data: *const u32, length: usize) -> Vec<u32> {
    if length == 0 {
        return Vec::new();
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(data, length) }.to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{compare, evaluate};
    use mlx_rs::ops;

    fn vector(values: &[f32]) -> Array {
        Array::from_slice(values, &[values.len() as i32])
    }

    #[test]
    fn a_walk_stops_at_known_arrays_and_replays_over_others() {
        let (a, b) = (vector(&[1.0, 2.0]), vector(&[3.0, 5.0]));
        let sum = ops::add(&a, &b).unwrap();
        let result = ops::multiply(&sum, &a).unwrap();
        let mut book = Book::new();
        book.know(a.as_ptr(), 7, false);
        book.know(b.as_ptr(), 9, false);
        let page = book.read(&[result.as_ptr()]).unwrap();
        let graph = book.open(page);
        assert_eq!(graph.boundary(), [7, 9]);
        let names: Vec<_> = graph.steps().into_iter().map(|step| step.primitive).collect();
        assert_eq!(names, ["Add", "Multiply"]);

        let (c, d) = (vector(&[2.0, 0.0]), vector(&[1.0, 1.0]));
        let replayed = graph.replay(&[&c, &d]).unwrap();
        let wanted = vector(&[6.0, 0.0]);
        evaluate(replayed.iter().chain([&wanted])).unwrap();
        assert!(compare(&replayed[0], &wanted).unwrap().is_none());
        assert!(graph.replay(&[&c]).is_err());
    }

    #[test]
    fn each_step_is_behind_a_slot_and_runs_over_others() {
        let (a, b) = (vector(&[1.0, 2.0]), vector(&[3.0, 5.0]));
        let result = ops::multiply(ops::add(&a, &b).unwrap(), &a).unwrap();
        let mut book = Book::new();
        book.know(a.as_ptr(), 0, false);
        book.know(b.as_ptr(), 1, false);
        let page = book.read(&[result.as_ptr()]).unwrap();
        let graph = book.open(page);
        let slots = graph.unfold(&[&a, &b]).unwrap();
        let wanted = [[1.0, 2.0], [3.0, 5.0], [4.0, 7.0], [4.0, 14.0]].map(|values| vector(&values));
        assert_eq!(slots.len(), wanted.len());
        evaluate(slots.iter().chain(&wanted)).unwrap();
        for (slot, wanted) in slots.iter().zip(&wanted) {
            assert!(compare(slot, wanted).unwrap().is_none());
        }
        let product = graph.replay_step(1, &[&b, &b]).unwrap();
        let wanted = vector(&[9.0, 25.0]);
        evaluate(product.iter().chain([&wanted])).unwrap();
        assert!(compare(&product[0], &wanted).unwrap().is_none());
        assert!(graph.replay_step(1, &[&b]).is_err());
        assert!(graph.unfold(&[&a]).is_err());
    }

    #[test]
    fn pages_stay_when_a_book_forgets_its_arrays() {
        let a = vector(&[1.0]);
        let negated = ops::negative(&a).unwrap();
        let mut book = Book::new();
        book.know(a.as_ptr(), 3, false);
        let page = book.read(&[negated.as_ptr()]).unwrap();
        assert_eq!(
            (book.number(a.as_ptr()), book.number(negated.as_ptr())),
            (Some(3), None)
        );
        book.forget();
        assert_eq!(book.number(a.as_ptr()), None);
        assert_eq!(book.open(page).boundary(), [3]);
    }

    #[test]
    fn ancestors_are_the_known_arrays_behind_and_what_lies_between() {
        let (a, b) = (vector(&[1.0]), vector(&[2.0]));
        let hidden = ops::exp(ops::add(&a, &b).unwrap()).unwrap();
        let mut book = Book::new();
        book.know(a.as_ptr(), 1, false);
        let mut seen = 0;
        let found = book.ancestors(hidden.as_ptr(), &mut |_| seen += 1);
        assert_eq!(
            found,
            Ancestors {
                known: vec![1],
                unknown: 2
            }
        );
        assert_eq!(seen, 2);
    }

    #[test]
    fn many_known_arrays_are_each_found() {
        let arrays: Vec<Array> = (0..2000).map(Array::from_int).collect();
        let mut book = Book::new();
        for (number, array) in arrays.iter().enumerate() {
            book.know(array.as_ptr(), number as u32, false);
        }
        let numbers: Vec<_> = arrays
            .iter()
            .filter_map(|array| book.number(array.as_ptr()))
            .collect();
        assert_eq!(numbers, (0..2000).collect::<Vec<u32>>());
    }
}
