//! MLX's own graph: identity, subgraphs, replay, comparison, memory.

mod support;

use std::ffi::{c_void, CStr};

use mlx_sys::raw;

use support::{add, floats, graph_error, ints, made, stream, Array, List};

/// Handles that a walk stops at; an array's number is its place.
struct Known<'a>(&'a [&'a Array]);

unsafe extern "C" fn number(context: *mut c_void, id: usize) -> i64 {
    let known = unsafe { &*context.cast::<Known<'_>>() };
    known
        .0
        .iter()
        .position(|array| array.id() == id)
        .map_or(-1, |index| index as i64)
}

struct Graph(raw::mlx_subgraph);

impl Drop for Graph {
    fn drop(&mut self) {
        unsafe { raw::mlx_graph_subgraph_free(self.0) };
    }
}

impl Graph {
    fn read(results: &[&Array], known: &[&Array]) -> Self {
        let handles: Vec<raw::mlx_array> = results.iter().map(|array| array.0).collect();
        let mut known = Known(known);
        let mut graph = raw::mlx_subgraph {
            ctx: std::ptr::null_mut(),
            index: 0,
        };
        let status = unsafe {
            raw::mlx_graph_subgraph(
                &mut graph,
                handles.as_ptr(),
                handles.len(),
                Some(number),
                (&raw mut known).cast(),
            )
        };
        assert_eq!(status, 0, "{}", graph_error());
        Self(graph)
    }

    fn boundary(&self) -> Vec<i64> {
        unsafe {
            (0..raw::mlx_graph_boundary_size(self.0))
                .map(|index| raw::mlx_graph_boundary_item(self.0, index))
                .collect()
        }
    }

    fn leaves(&self) -> usize {
        unsafe { raw::mlx_graph_leaves_size(self.0) }
    }

    /// Name, slots read, and number of outputs of each step.
    fn steps(&self) -> Vec<(String, Vec<u32>, usize)> {
        unsafe {
            (0..raw::mlx_graph_steps_size(self.0))
                .map(|step| {
                    let name = CStr::from_ptr(raw::mlx_graph_step_name(self.0, step));
                    let mut slots = std::ptr::null();
                    let count = raw::mlx_graph_step_inputs(self.0, step, &mut slots);
                    let slots = std::slice::from_raw_parts(slots, count).to_vec();
                    let outputs = raw::mlx_graph_step_outputs(self.0, step);
                    (name.to_string_lossy().into_owned(), slots, outputs)
                })
                .collect()
        }
    }

    fn results(&self) -> Vec<u32> {
        unsafe {
            let mut slots = std::ptr::null();
            let count = raw::mlx_graph_results(self.0, &mut slots);
            std::slice::from_raw_parts(slots, count).to_vec()
        }
    }

    fn replay(&self, boundary: &[&Array]) -> Result<List, String> {
        let handles: Vec<raw::mlx_array> = boundary.iter().map(|array| array.0).collect();
        let mut list = List::empty();
        match unsafe { raw::mlx_graph_replay(&mut list.0, self.0, handles.as_ptr(), handles.len()) } {
            0 => Ok(list),
            _ => Err(graph_error()),
        }
    }
}

/// Kind, count and first place of the difference.
fn compare(a: &Array, b: &Array) -> Result<(i32, usize, usize), String> {
    let mut difference = raw::mlx_graph_difference {
        kind: -1,
        count: 0,
        first: 0,
    };
    match unsafe { raw::mlx_graph_compare(&mut difference, a.0, b.0) } {
        0 => Ok((difference.kind, difference.count, difference.first)),
        _ => Err(graph_error()),
    }
}

fn cast(a: &Array, dtype: raw::mlx_dtype) -> Array {
    made(|res| unsafe { raw::mlx_astype(res, a.0, dtype, stream()) }).evaluated()
}

/// Every `step`th element of a vector from `start` on, before `stop`, as a view.
fn strided(a: &Array, start: i32, stop: i32, step: i32) -> Array {
    made(|res| unsafe {
        raw::mlx_slice(
            res,
            a.0,
            [start].as_ptr(),
            1,
            [stop].as_ptr(),
            1,
            [step].as_ptr(),
            1,
            stream(),
        )
    })
    .evaluated()
}

fn transposed(a: &Array) -> Array {
    made(|res| unsafe { raw::mlx_transpose(res, a.0, stream()) }).evaluated()
}

fn broadcast(a: &Array, shape: &[i32]) -> Array {
    made(|res| unsafe { raw::mlx_broadcast_to(res, a.0, shape.as_ptr(), shape.len(), stream()) }).evaluated()
}

fn strides(a: &Array) -> Vec<usize> {
    unsafe { std::slice::from_raw_parts(raw::mlx_array_strides(a.0), a.shape().len()).to_vec() }
}

mod identity {
    use super::*;

    #[test]
    fn handles_of_one_array_share_it_and_equal_arrays_do_not() {
        let a = floats(&[1.], &[1]);
        let mut other = Array::empty();
        assert_eq!(other.id(), 0, "an empty handle has none");
        unsafe { raw::mlx_array_set(&mut other.0, a.0) };
        assert_ne!(a.0.ctx, other.0.ctx);
        assert_eq!(a.id(), other.id());
        assert_ne!(a.id(), floats(&[1.], &[1]).id());
        let list = List::of(&[&a]);
        assert_eq!(list.get(0).id(), a.id());
        assert_eq!(
            unsafe { raw::mlx_graph_id(raw::mlx_graph_list_item(list.0, 0)) },
            a.id()
        );
        assert_eq!(
            unsafe {
                raw::mlx_graph_list_size(raw::mlx_vector_array {
                    ctx: std::ptr::null_mut(),
                })
            },
            0
        );
    }

    #[test]
    fn an_operation_without_effect_gives_its_operand() {
        let a = floats(&[1.], &[1]);
        let same = made(|res| unsafe { raw::mlx_astype(res, a.0, raw::mlx_dtype__MLX_FLOAT32, stream()) });
        assert_eq!(a.id(), same.id());
    }

    #[test]
    fn evaluation_takes_the_producer_and_leaves_the_identity() {
        let a = floats(&[1.], &[1]);
        let sum = add(&a, &a);
        let id = sum.id();
        unsafe {
            assert!(!raw::mlx_graph_has_primitive(a.0));
            assert!(raw::mlx_graph_is_available(a.0));
            assert!(raw::mlx_graph_has_primitive(sum.0));
            assert!(!raw::mlx_graph_is_available(sum.0));
            let sum = sum.evaluated();
            assert!(!raw::mlx_graph_has_primitive(sum.0));
            assert!(raw::mlx_graph_is_available(sum.0));
            assert_eq!(sum.id(), id);
        }
    }

    #[test]
    fn a_token_keeps_an_id_from_being_given_to_another_array() {
        const ROUNDS: usize = 2000;
        let taken = |hold: bool| {
            let a = floats(&[1.], &[1]);
            let id = a.id();
            let mut token = raw::mlx_graph_token { words: [0; 2] };
            unsafe {
                raw::mlx_graph_token_new(&mut token, a.0);
                assert!(raw::mlx_graph_token_alive(&token));
                drop(a);
                assert!(!raw::mlx_graph_token_alive(&token), "the array itself is gone");
                if !hold {
                    raw::mlx_graph_token_free(&mut token);
                }
                let mut kept = Vec::new();
                let mut again = false;
                for _ in 0..ROUNDS {
                    let other = floats(&[2.], &[1]);
                    again |= other.id() == id;
                    kept.push(other);
                }
                if hold {
                    raw::mlx_graph_token_free(&mut token);
                }
                again
            }
        };
        assert!(!taken(true));
        // Without a token the allocator gives the address away at once, so the above does test something. An
        // allocator need not, hence some tries.
        assert!((0..20).any(|_| taken(false)));
    }

    #[test]
    fn a_stream_tells_its_device() {
        let mut device = raw::mlx_device_type__MLX_GPU;
        let mut index = -1;
        unsafe { raw::mlx_graph_stream(stream(), &mut device, &mut index) };
        assert_eq!(device, raw::mlx_device_type__MLX_CPU);
        assert!(index >= 0);
    }
}

mod subgraph {
    use super::*;

    #[test]
    fn it_ends_at_known_arrays() {
        let (a, b) = (floats(&[1.], &[1]), floats(&[2.], &[1]));
        let sum = add(&a, &b);
        let twice = add(&sum, &b);

        let graph = Graph::read(&[&twice], &[&a, &b, &sum]);
        assert_eq!(graph.boundary(), [2, 1]);
        assert_eq!(graph.leaves(), 0);
        assert_eq!(graph.steps(), [("Add".to_string(), vec![0, 1], 1)]);
        assert_eq!(graph.results(), [2]);

        // With the sum unknown the walk goes on behind it.
        let graph = Graph::read(&[&twice], &[&a, &b]);
        assert_eq!(graph.boundary(), [0, 1]);
        assert_eq!(
            graph.steps(),
            [
                ("Add".to_string(), vec![0, 1], 1),
                ("Add".to_string(), vec![2, 1], 1)
            ]
        );
        assert_eq!(graph.results(), [3]);
    }

    #[test]
    fn what_nobody_knows_and_nothing_produced_is_a_leaf() {
        let (a, b) = (floats(&[1.], &[1]), floats(&[2.], &[1]));
        let sum = add(&a, &b);
        let graph = Graph::read(&[&sum], &[&b]);
        assert_eq!(graph.boundary(), [0]);
        assert_eq!(graph.leaves(), 1);
        // Boundary before leaves, whatever the order met.
        assert_eq!(graph.steps()[0].1, [1, 0]);
    }

    #[test]
    fn a_result_that_is_known_needs_no_step() {
        let a = floats(&[1.], &[1]);
        let graph = Graph::read(&[&a], &[&a]);
        assert!(graph.steps().is_empty());
        assert_eq!(graph.boundary(), [0]);
        assert_eq!(graph.results(), [0]);
    }

    #[test]
    fn several_results_of_one_primitive_are_one_step() {
        let (a, b) = (ints(&[7]), ints(&[2]));
        let mut list = List::empty();
        unsafe { raw::mlx_divmod(&mut list.0, a.0, b.0, stream()) };
        let (quotient, remainder) = (list.get(0), list.get(1));
        let graph = Graph::read(&[&quotient, &remainder], &[&a, &b]);
        assert_eq!(graph.steps(), [("DivMod".to_string(), vec![0, 1], 2)]);
        assert_eq!(graph.results(), [2, 3]);
        // Also by the second alone.
        let graph = Graph::read(&[&remainder], &[&a, &b]);
        assert_eq!(graph.steps(), [("DivMod".to_string(), vec![0, 1], 2)]);
        assert_eq!(graph.results(), [3]);
        // What reads a result that is known reads the boundary, not its sibling's step.
        let both = add(&quotient, &remainder);
        let graph = Graph::read(&[&both], &[&a, &b, &quotient]);
        assert_eq!(graph.boundary(), [2, 0, 1]);
        let add = graph.steps().pop().unwrap();
        assert_eq!(add.0, "Add");
        assert_eq!(add.1[0], 0);
    }

    #[test]
    fn a_graph_deeper_than_a_stack_is_walked() {
        let a = floats(&[1.], &[1]);
        let mut sum = add(&a, &a);
        for _ in 0..20_000 {
            sum = add(&sum, &a);
        }
        let graph = Graph::read(&[&sum], &[&a]);
        assert_eq!(graph.steps().len(), 20_001);
        assert_eq!(graph.boundary(), [0]);
        // Before the array itself goes: MLX frees a graph that was never evaluated one by one.
        sum.evaluated();
    }

    #[test]
    fn an_empty_handle_is_an_error() {
        let empty = Array::empty();
        let mut graph = raw::mlx_subgraph {
            ctx: std::ptr::null_mut(),
            index: 0,
        };
        let mut known = Known(&[]);
        let context = (&raw mut known).cast();
        let status = unsafe { raw::mlx_graph_subgraph(&mut graph, &empty.0, 1, Some(number), context) };
        assert_ne!(status, 0);
        assert!(!graph_error().is_empty());
        assert!(graph.ctx.is_null());
    }

    #[test]
    fn ancestors_are_known_arrays_behind_unknown_ones() {
        unsafe extern "C" fn number_only(context: *mut c_void, id: usize) -> i64 {
            unsafe { number((*context.cast::<Walk<'_>>()).known.cast_mut().cast(), id) }
        }
        unsafe extern "C" fn visit(context: *mut c_void, array: raw::mlx_array) {
            unsafe { (*context.cast::<Walk<'_>>()).met.push(raw::mlx_graph_id(array)) };
        }
        struct Walk<'a> {
            known: *const Known<'a>,
            met: Vec<usize>,
        }
        let (a, b, c) = (floats(&[1.], &[1]), floats(&[2.], &[1]), floats(&[3.], &[1]));
        let inner = add(&b, &c);
        let outer = add(&inner, &a);
        let arrays = [&a, &b];
        let known = Known(&arrays);
        let mut walk = Walk {
            known: &known,
            met: Vec::new(),
        };
        let mut found = [-1i64; 4];
        let count = unsafe {
            raw::mlx_graph_ancestors(
                outer.0,
                Some(number_only),
                Some(visit),
                (&raw mut walk).cast(),
                found.as_mut_ptr(),
                found.len(),
            )
        };
        assert_eq!(count, 2);
        assert_eq!(found, [0, 1, -1, -1]);
        assert_eq!(walk.met, [outer.id(), inner.id()]);
    }
}

mod replay {
    use super::*;

    #[test]
    fn the_same_and_other_inputs() {
        let (a, b) = (floats(&[1., 2.], &[2]), floats(&[3., 4.], &[2]));
        let sum = add(&add(&a, &b), &b);
        let graph = Graph::read(&[&sum], &[&a, &b]);
        let same = graph.replay(&[&a, &b]).unwrap();
        assert_eq!(same.len(), 1);
        assert_ne!(same.get(0).id(), sum.id());
        let other = graph.replay(&[&floats(&[10., 20.], &[2]), &b]).unwrap();
        // Many in one evaluation.
        let all = List::of(&[&same.get(0), &other.get(0)]);
        assert_eq!(unsafe { raw::mlx_graph_evaluate(all.0) }, 0);
        assert!(unsafe { raw::mlx_graph_is_available(other.get(0).0) });
        assert_eq!(same.get(0).values::<f32>(), [7., 10.]);
        assert_eq!(other.get(0).values::<f32>(), [16., 28.]);
        assert_eq!(sum.values::<f32>(), [7., 10.]);
    }

    #[test]
    fn it_outlives_the_evaluation_of_what_it_was_read_from() {
        let a = floats(&[1., 4.], &[2]);
        let root = made(|res| unsafe { raw::mlx_sqrt(res, a.0, stream()) });
        let graph = Graph::read(&[&root], &[&a]);
        drop(root.evaluated());
        drop(a);
        let again = graph.replay(&[&floats(&[9., 16.], &[2])]).unwrap();
        assert_eq!(again.get(0).values::<f32>(), [3., 4.]);
    }

    #[test]
    fn several_results_and_leaves() {
        let (a, b) = (ints(&[7, 9]), ints(&[2, 4]));
        let mut list = List::empty();
        unsafe { raw::mlx_divmod(&mut list.0, a.0, b.0, stream()) };
        // `b` is not known: it is a leaf, which the program owns.
        let graph = Graph::read(&[&list.get(0), &list.get(1)], &[&a]);
        drop(b);
        let again = graph.replay(&[&ints(&[11, 11])]).unwrap();
        assert_eq!(again.len(), 2);
        assert_eq!(again.get(0).values::<i32>(), [5, 2]);
        assert_eq!(again.get(1).values::<i32>(), [1, 3]);
    }

    #[test]
    fn another_number_of_inputs_is_an_error() {
        let a = floats(&[1.], &[1]);
        let graph = Graph::read(&[&add(&a, &a)], &[&a]);
        let error = graph.replay(&[]).err().unwrap();
        assert!(error.contains("as many boundary arrays"), "{error}");
        assert!(graph.replay(&[&a, &a]).is_err());
    }

    #[test]
    fn an_error_of_the_evaluation_is_an_error() {
        // Streams belong to their threads: a lazy array cannot be evaluated on another one.
        let handle = std::thread::spawn(|| {
            let a = floats(&[1.], &[1]);
            let sum = add(&a, &a);
            let handle = sum.0.ctx as usize;
            std::mem::forget(sum);
            handle
        });
        let sum = Array(raw::mlx_array {
            ctx: handle.join().unwrap() as *mut c_void,
        });
        let list = List::of(&[&sum]);
        assert_ne!(unsafe { raw::mlx_graph_evaluate(list.0) }, 0);
        assert!(graph_error().contains("Stream"), "{}", graph_error());
    }
}

mod comparison {
    use super::*;

    const SAME: (i32, usize, usize) = (0, 0, 0);

    fn bits(values: &[u32]) -> Array {
        let values: Vec<f32> = values.iter().map(|bits| f32::from_bits(*bits)).collect();
        floats(&values, &[values.len() as i32])
    }

    #[test]
    fn values_shape_and_dtype() {
        let a = floats(&[1., 2., 3., 4.], &[4]);
        assert_eq!(compare(&a, &floats(&[1., 2., 3., 4.], &[4])), Ok(SAME));
        assert_eq!(compare(&a, &floats(&[1., 0., 3., 0.], &[4])), Ok((3, 2, 1)));
        assert_eq!(compare(&a, &floats(&[1., 2., 3., 4.], &[2, 2])).unwrap().0, 1);
        assert_eq!(compare(&ints(&[1]), &floats(&[1.], &[1])).unwrap().0, 2);
        assert_eq!(compare(&floats(&[], &[0]), &floats(&[], &[0])), Ok(SAME));
        assert_eq!(compare(&floats(&[], &[0, 3]), &floats(&[], &[0])).unwrap().0, 1);
        // By bits: one unit in the last place counts.
        assert_eq!(
            compare(&bits(&[0x3f80_0000]), &bits(&[0x3f80_0001])),
            Ok((3, 1, 0))
        );
    }

    #[test]
    fn all_nan_are_equal_and_zeros_keep_their_sign() {
        let nan = bits(&[0x7fc0_0000, 0xffc0_0001, 0x7f80_0001]);
        let others = bits(&[0x7fff_ffff, 0x7fc0_0000, 0xff80_0001]);
        assert_eq!(compare(&nan, &others), Ok(SAME));
        assert_eq!(
            compare(&bits(&[0x7fc0_0000]), &bits(&[0x7f80_0000])),
            Ok((3, 1, 0)),
            "infinity is not NaN"
        );
        assert_eq!(
            compare(&floats(&[0., 0.], &[2]), &floats(&[0., -0.], &[2])),
            Ok((3, 1, 1))
        );

        for dtype in [
            raw::mlx_dtype__MLX_FLOAT16,
            raw::mlx_dtype__MLX_BFLOAT16,
            raw::mlx_dtype__MLX_COMPLEX64,
        ] {
            let narrow = |array: &Array| cast(array, dtype);
            assert_eq!(compare(&narrow(&nan), &narrow(&others)), Ok(SAME), "{dtype}");
            let (zero, negative) = (floats(&[0.], &[1]), floats(&[-0.], &[1]));
            assert_eq!(
                compare(&narrow(&zero), &narrow(&negative)),
                Ok((3, 1, 0)),
                "{dtype}"
            );
            assert_eq!(compare(&narrow(&zero), &narrow(&nan)).unwrap().0, 1);
            let infinity = bits(&[0x7f80_0000, 0x7f80_0000, 0x7f80_0000]);
            assert_eq!(
                compare(&narrow(&infinity), &narrow(&nan)),
                Ok((3, 3, 0)),
                "{dtype}"
            );
        }
        // Integers have no NaN: the same bits in an integer array differ.
        let whole = |bits: u32| ints(&[bits as i32]);
        assert_eq!(compare(&whole(0x7fc0_0000), &whole(0x7fc0_0001)), Ok((3, 1, 0)));
    }

    #[test]
    fn views_are_compared_by_their_elements() {
        let a = floats(&[1., 2., 3., 4., 5., 6.], &[2, 3]);
        let view = transposed(&a);
        let plain = floats(&[1., 4., 2., 5., 3., 6.], &[3, 2]);
        assert_eq!(compare(&view, &plain), Ok(SAME));
        assert_eq!(compare(&plain, &view), Ok(SAME));
        assert_eq!(compare(&view, &view), Ok(SAME));
        let wrong = floats(&[1., 4., 2., 5., 0., 6.], &[3, 2]);
        assert_eq!(
            compare(&view, &wrong),
            Ok((3, 1, 4)),
            "the place is in row-major order"
        );
        assert_eq!(compare(&wrong, &view), Ok((3, 1, 4)));

        let line = floats(&[1., 2., 3., 4., 5., 6.], &[6]);
        let reversed = strided(&line, 5, -7, -2);
        assert_eq!(strides(&reversed)[0] as isize, -2);
        assert_eq!(compare(&reversed, &floats(&[6., 4., 2.], &[3])), Ok(SAME));
        let spread = broadcast(&floats(&[7.], &[1]), &[2, 2]);
        assert_eq!(compare(&spread, &floats(&[7., 7., 7., 7.], &[2, 2])), Ok(SAME));
        assert_eq!(
            compare(&spread, &floats(&[7., 7., 7., 8.], &[2, 2])),
            Ok((3, 1, 3))
        );
    }

    #[test]
    fn an_array_that_is_not_evaluated_is_an_error() {
        let a = floats(&[1.], &[1]);
        let error = compare(&add(&a, &a), &a).unwrap_err();
        assert!(error.contains("not evaluated"), "{error}");
    }
}

mod memory {
    use super::*;

    fn span(a: &Array) -> Vec<u8> {
        unsafe {
            let mut bytes = 0;
            assert_eq!(
                raw::mlx_graph_span(std::ptr::null_mut(), &mut bytes, a.0),
                0,
                "{}",
                graph_error()
            );
            let mut data = vec![0; bytes];
            assert_eq!(raw::mlx_graph_span(data.as_mut_ptr().cast(), &mut bytes, a.0), 0);
            data
        }
    }

    fn respan(a: &Array, data: &[u8]) -> Result<Array, String> {
        let mut made = Array::empty();
        match unsafe { raw::mlx_graph_respan(&mut made.0, a.0, data.as_ptr().cast(), data.len()) } {
            0 => Ok(made),
            _ => Err(graph_error()),
        }
    }

    fn numbers(data: &[u8]) -> Vec<f32> {
        data.chunks_exact(4)
            .map(|bytes| f32::from_ne_bytes(bytes.try_into().unwrap()))
            .collect()
    }

    /// The span of a view, and the view laid out anew over the span with 100 added to each number.
    fn round_trip(view: &Array, expected_span: &[f32]) {
        let data = span(view);
        assert_eq!(numbers(&data), expected_span);
        let same = respan(view, &data).unwrap();
        assert_ne!(same.id(), view.id());
        assert_eq!(compare(&same, view), Ok((0, 0, 0)));
        assert_eq!(strides(&same), strides(view));
        let shifted: Vec<u8> = numbers(&data)
            .iter()
            .flat_map(|x| (x + 100.).to_ne_bytes())
            .collect();
        let shifted = respan(view, &shifted).unwrap();
        let expected: Vec<f32> = view.values::<f32>().iter().map(|x| x + 100.).collect();
        assert_eq!(shifted.values::<f32>(), expected);
        // Kernels take it for what it is: MLX computes with it.
        let difference = made(|res| unsafe { raw::mlx_subtract(res, shifted.0, view.0, stream()) });
        assert!(difference.values::<f32>().iter().all(|x| *x == 100.));
        assert!(respan(view, &data[..data.len() - 1]).is_err(), "another size");
    }

    #[test]
    fn a_plain_array() {
        round_trip(&floats(&[1., 2., 3., 4.], &[2, 2]), &[1., 2., 3., 4.]);
        round_trip(&floats(&[5.], &[]), &[5.]);
    }

    #[test]
    fn a_transposed_view() {
        let a = floats(&[1., 2., 3., 4., 5., 6.], &[2, 3]);
        round_trip(&transposed(&a), &[1., 2., 3., 4., 5., 6.]);
    }

    #[test]
    fn negative_strides_reach_back() {
        let line = floats(&[1., 2., 3., 4., 5., 6.], &[6]);
        round_trip(&strided(&line, 5, -7, -1), &[1., 2., 3., 4., 5., 6.]);
        round_trip(&strided(&line, 5, -7, -2), &[2., 3., 4., 5., 6.]);
    }

    #[test]
    fn an_offset_view_begins_where_it_begins() {
        let line = floats(&[1., 2., 3., 4., 5., 6.], &[6]);
        let view = strided(&line, 2, 5, 1);
        assert_eq!(view.values::<f32>(), [3., 4., 5.]);
        round_trip(&view, &[3., 4., 5.]);
        round_trip(&strided(&line, 1, 6, 3), &[2., 3., 4., 5.]);
    }

    #[test]
    fn a_broadcast_view_is_shorter_than_the_array() {
        round_trip(&broadcast(&floats(&[7.], &[1]), &[3, 2]), &[7.]);
        round_trip(&broadcast(&floats(&[1., 2.], &[2]), &[3, 2]), &[1., 2.]);
    }

    #[test]
    fn an_empty_array_has_no_memory() {
        let empty = floats(&[], &[0, 3]);
        assert!(span(&empty).is_empty());
        assert_eq!(respan(&empty, &[]).unwrap().shape(), [0, 3]);
    }

    #[test]
    fn reading_takes_the_arrays_own_size_and_evaluated_data_only() {
        let a = floats(&[1., 2.], &[2]);
        let mut data = [0u8; 8];
        unsafe {
            assert_eq!(raw::mlx_graph_read(data.as_mut_ptr().cast(), 8, a.0), 0);
            assert_eq!(numbers(&data), [1., 2.]);
            assert_ne!(raw::mlx_graph_read(data.as_mut_ptr().cast(), 7, a.0), 0);
            let lazy = add(&a, &a);
            assert_ne!(raw::mlx_graph_read(data.as_mut_ptr().cast(), 8, lazy.0), 0);
            assert!(graph_error().contains("not evaluated"));
        }
    }
}
