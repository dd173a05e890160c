//! What an observer sees, and what it can do.

mod support;

use std::cell::{Cell, RefCell};
use std::ffi::{c_int, CString};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::rc::Rc;

use mlx_sys::function::{Argument, CallView, Class, Output};
use mlx_sys::observe::{self, AlreadyObserved, Decision, Guard, Inlining, Observer};
use mlx_sys::raw::{self, mlx_array, mlx_closure, mlx_vector_array};

use support::{add, errors, floats, handle_errors, made, stream, Array, List};

/// Notes each call as text.
#[derive(Default)]
struct Notes {
    lines: RefCell<Vec<String>>,
    refuse: Cell<Option<&'static str>>,
    inlining: Cell<Option<Inlining>>,
    offered: Cell<Option<mlx_closure>>,
}

impl Notes {
    fn install() -> (Rc<Self>, Guard) {
        let notes = Rc::new(Self::default());
        let guard = observe::install(notes.clone()).unwrap();
        (notes, guard)
    }

    fn take(&self) -> Vec<String> {
        self.lines.take()
    }

    fn note(&self, line: String) {
        self.lines.borrow_mut().push(line);
    }
}

fn shape(array: mlx_array) -> String {
    if array.ctx.is_null() {
        return "absent".to_string();
    }
    let borrowed = std::mem::ManuallyDrop::new(Array(array));
    format!("{:?}", borrowed.shape())
}

impl Observer for Notes {
    fn before(&self, call: &CallView<'_>) -> Decision {
        let arguments: Vec<String> = call
            .function
            .parameters
            .iter()
            .zip(call.arguments)
            .map(|(parameter, argument)| {
                let value = match *argument {
                    Argument::Array(array) => shape(array),
                    Argument::Arrays(list) => {
                        format!("list of {}", unsafe { raw::mlx_graph_list_size(list) })
                    }
                    Argument::Stream(_) => "stream".to_string(),
                    ref other => format!("{other:?}"),
                };
                format!("{}={value}", parameter.name)
            })
            .collect();
        self.note(format!("before {}({})", call.function.name, arguments.join(", ")));
        match self.refuse.get() {
            Some(name) if name == call.function.name => {
                Decision::Refuse(CString::new(format!("100% refused: {name}")).unwrap())
            }
            _ => Decision::Proceed,
        }
    }

    fn after(&self, call: &CallView<'_>, results: &mut [Output], status: c_int) {
        let results: Vec<String> = results
            .iter()
            .map(|result| match *result {
                Output::Array(place) => shape(unsafe { *place }),
                Output::Arrays(place) => {
                    format!("list of {}", unsafe { raw::mlx_graph_list_size(*place) })
                }
                Output::ArrayMap(_) => "map".to_string(),
            })
            .collect();
        self.note(format!(
            "after {} {status} {}",
            call.function.name,
            results.join(", ")
        ));
    }

    fn inline_compiled(&self, closure: mlx_closure) -> Inlining {
        self.offered.set(Some(closure));
        self.inlining.get().unwrap_or(Inlining::No)
    }
}

#[test]
fn a_call_is_seen_before_and_after_with_its_arguments_and_results() {
    let a = floats(&[1., 2., 3., 4., 5., 6.], &[2, 3]);
    let (notes, guard) = Notes::install();
    let sum = made(|res| unsafe { mlx_sys::mlx_sum_axes(res, a.0, [1].as_ptr(), 1, true, stream()) });
    let parts = {
        let mut list = List::empty();
        assert_eq!(unsafe { mlx_sys::mlx_split(&mut list.0, a.0, 3, 1, stream()) }, 0);
        list
    };
    drop(guard);

    assert_eq!(
        notes.take(),
        [
            "before mlx_sum_axes(a=[2, 3], axes=Ints(Some([1])), keepdims=Bool(true), s=stream)",
            "after mlx_sum_axes 0 [2, 1]",
            "before mlx_split(a=[2, 3], num_splits=Int(3), axis=Int(1), s=stream)",
            "after mlx_split 0 list of 3",
        ]
    );
    assert_eq!(sum.values::<f32>(), [6., 15.]);
    assert_eq!(parts.len(), 3);
}

#[test]
fn constructors_evaluations_and_readings_are_seen_too() {
    let (notes, guard) = Notes::install();
    unsafe {
        let array = Array(mlx_sys::mlx_array_new_float(2.5));
        let mut value = 0.0f32;
        assert_eq!(mlx_sys::mlx_array_eval(array.0), 0);
        assert_eq!(*mlx_sys::mlx_array_data_float32(array.0), 2.5);
        assert_eq!(mlx_sys::mlx_array_item_float32(&mut value, array.0), 0);
        assert_eq!(value, 2.5);
    }
    drop(guard);
    let seen = notes.take();
    let names: Vec<&str> = seen
        .iter()
        .filter_map(|line| line.strip_prefix("before "))
        .filter_map(|line| line.split('(').next())
        .collect();
    assert_eq!(
        names,
        [
            "mlx_array_new_float",
            "mlx_array_eval",
            "mlx_array_data_float32",
            "mlx_array_item_float32"
        ]
    );
    assert_eq!(seen[1], "after mlx_array_new_float 0 []");
}

#[test]
fn text_lists_and_absent_operands_are_shown_as_what_they_are() {
    let a = floats(&[1., 2., 3., 4.], &[2, 2]);
    let (notes, guard) = Notes::install();
    let operands = List::of(&[&a, &a]);
    made(|res| unsafe { mlx_sys::mlx_einsum(res, c"ij,jk->ik".as_ptr(), operands.0, stream()) });
    let absent = Array::empty();
    made(|res| unsafe { mlx_sys::mlx_clip(res, a.0, absent.0, a.0, stream()) });
    drop(guard);
    let seen = notes.take();
    assert_eq!(
        seen[0],
        r#"before mlx_einsum(subscripts=Text(Some("ij,jk->ik")), operands=list of 2, s=stream)"#
    );
    assert_eq!(
        seen[2],
        "before mlx_clip(a=[2, 2], a_min=absent, a_max=[2, 2], s=stream)"
    );
}

#[test]
fn refusing_keeps_a_call_from_running_and_reports_as_mlx_would() {
    handle_errors();
    let a = floats(&[1.], &[1]);
    let (notes, guard) = Notes::install();
    notes.refuse.set(Some("mlx_add"));
    let mut res = Array::empty();
    let status = unsafe { mlx_sys::mlx_add(&mut res.0, a.0, a.0, stream()) };
    assert_ne!(status, 0);
    assert!(res.0.ctx.is_null());
    let reported = errors();
    assert_eq!(reported.len(), 1);
    assert!(reported[0].starts_with("100% refused: mlx_add"), "{reported:?}");
    // What did not run has no result to show.
    let seen = notes.take();
    assert_eq!(seen.len(), 1);
    assert!(seen[0].starts_with("before mlx_add("), "{seen:?}");

    notes.refuse.set(None);
    add(&a, &a);
    assert_eq!(notes.take().len(), 2);
    drop(guard);
    assert!(errors().is_empty());
}

#[test]
fn a_refused_constructor_and_a_refused_reading_give_null() {
    handle_errors();
    let a = floats(&[1.], &[1]);
    let (notes, _guard) = Notes::install();
    notes.refuse.set(Some("mlx_array_new_int"));
    assert!(unsafe { mlx_sys::mlx_array_new_int(1) }.ctx.is_null());
    notes.refuse.set(Some("mlx_array_data_float32"));
    assert!(unsafe { mlx_sys::mlx_array_data_float32(a.0) }.is_null());
    assert_eq!(errors().len(), 2);
}

#[test]
fn a_call_that_fails_is_shown_with_its_status() {
    handle_errors();
    let a = floats(&[1., 2.], &[2]);
    let b = floats(&[1., 2., 3.], &[3]);
    let (notes, guard) = Notes::install();
    let mut res = Array::empty();
    assert_eq!(unsafe { mlx_sys::mlx_add(&mut res.0, a.0, b.0, stream()) }, 1);
    drop(guard);
    assert_eq!(notes.take()[1], "after mlx_add 1 absent");
    assert_eq!(errors().len(), 1);
}

#[test]
fn a_result_that_the_observer_replaces_reaches_the_caller() {
    struct Replace(Array);
    impl Observer for Replace {
        fn after(&self, call: &CallView<'_>, results: &mut [Output], _status: c_int) {
            if let ("mlx_add", Some(Output::Array(place))) = (call.function.name, results.first()) {
                unsafe { raw::mlx_array_set(*place, self.0 .0) };
            }
        }
    }
    let a = floats(&[1.], &[1]);
    let guard = observe::install(Rc::new(Replace(floats(&[42.], &[1])))).unwrap();
    let replaced = add(&a, &a);
    let kept = made(|res| unsafe { mlx_sys::mlx_multiply(res, a.0, a.0, stream()) });
    drop(guard);
    assert_eq!(replaced.values::<f32>(), [42.]);
    assert_eq!(kept.values::<f32>(), [1.]);
}

#[test]
fn without_an_observer_on_its_thread_nothing_is_seen() {
    let a = floats(&[1.], &[1]);
    let (notes, guard) = Notes::install();
    drop(guard);
    add(&a, &a);
    assert!(notes.take().is_empty());

    let (notes, _guard) = Notes::install();
    std::thread::spawn(|| {
        let a = floats(&[1.], &[1]);
        add(&a, &a);
    })
    .join()
    .unwrap();
    assert!(notes.take().is_empty());
}

#[test]
fn raw_functions_and_what_runs_unobserved_are_not_seen() {
    let a = floats(&[1.], &[1]);
    let (notes, _guard) = Notes::install();
    made(|res| unsafe { raw::mlx_add(res, a.0, a.0, stream()) });
    observe::unobserved(|| add(&a, &a));
    // Nested, and left by a panic.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        observe::unobserved(|| {
            observe::unobserved(|| ());
            add(&a, &a);
            panic!("on purpose");
        })
    }));
    assert!(notes.take().is_empty());
    add(&a, &a);
    assert_eq!(notes.take().len(), 2);
}

#[test]
fn an_observer_installed_where_nothing_is_observed_sees_what_follows() {
    let a = floats(&[1.], &[1]);
    let (notes, _guard) = observe::unobserved(|| {
        let installed = Notes::install();
        add(&a, &a);
        installed
    });
    assert!(notes.take().is_empty());
    add(&a, &a);
    assert_eq!(notes.take().len(), 2);
}

#[test]
fn an_observers_own_calls_are_not_observed() {
    #[derive(Default)]
    struct Busy {
        calls: Cell<usize>,
    }
    impl Busy {
        fn work(&self) {
            self.calls.set(self.calls.get() + 1);
            let a = floats(&[1.], &[1]);
            add(&a, &a).evaluated();
        }
    }
    impl Observer for Busy {
        fn before(&self, _call: &CallView<'_>) -> Decision {
            self.work();
            Decision::Proceed
        }
        fn after(&self, _call: &CallView<'_>, _results: &mut [Output], _status: c_int) {
            self.work();
        }
    }
    let a = floats(&[1.], &[1]);
    let busy = Rc::new(Busy::default());
    let _guard = observe::install(busy.clone()).unwrap();
    add(&a, &a);
    assert_eq!(busy.calls.get(), 2);
}

#[test]
fn a_second_observer_is_refused_until_the_first_is_gone() {
    let a = floats(&[1.], &[1]);
    let (first, guard) = Notes::install();
    let second = Rc::new(Notes::default());
    assert_eq!(observe::install(second.clone()).err(), Some(AlreadyObserved));
    assert!(AlreadyObserved.to_string().contains("already has an observer"));
    // The refusal leaves the first one at work.
    add(&a, &a);
    assert_eq!(first.take().len(), 2);
    drop(guard);
    let _guard = observe::install(second.clone()).unwrap();
    add(&a, &a);
    assert!(first.take().is_empty());
    assert_eq!(second.take().len(), 2);
}

#[test]
fn a_panic_takes_the_observer_off() {
    let a = floats(&[1.], &[1]);
    let notes = Rc::new(Notes::default());
    let result = catch_unwind(AssertUnwindSafe(|| {
        let _guard = observe::install(notes.clone()).unwrap();
        add(&a, &a);
        panic!("on purpose");
    }));
    assert!(result.is_err());
    assert_eq!(notes.take().len(), 2);
    add(&a, &a);
    assert!(notes.take().is_empty());
    drop(observe::install(notes).unwrap());
}

#[test]
fn an_observer_may_end_itself_in_a_callback() {
    /// Holds its own guard, the last owner of it.
    #[derive(Default)]
    struct Once {
        guard: RefCell<Option<Guard>>,
        seen: Rc<Cell<usize>>,
    }
    impl Observer for Once {
        fn after(&self, _call: &CallView<'_>, _results: &mut [Output], _status: c_int) {
            drop(self.guard.take());
            self.seen.set(self.seen.get() + 1);
        }
    }
    let a = floats(&[1.], &[1]);
    let once = Rc::new(Once::default());
    let seen = once.seen.clone();
    let guard = observe::install(once.clone()).unwrap();
    once.guard.replace(Some(guard));
    drop(once);
    add(&a, &a);
    add(&a, &a);
    assert_eq!(seen.get(), 1);
}

/// 3 times its argument, by two operations: MLX fuses no single one.
unsafe extern "C" fn triple(res: *mut mlx_vector_array, input: mlx_vector_array) -> c_int {
    let mut value = Array::empty();
    unsafe {
        raw::mlx_vector_array_get(&mut value.0, input, 0);
        let tripled = add(&add(&value, &value), &value);
        raw::mlx_vector_array_set_value(res, tripled.0)
    }
}

/// Applies `triple`, compiled, to 14 while `inlining` is the observer's answer: the result, what the observer noted,
/// and whether it was told the handle that is applied.
fn compiled(inlining: Option<Inlining>, detail: bool) -> (Array, Vec<String>, bool) {
    let notes = Rc::new(Notes::default());
    notes.inlining.set(inlining);
    let guard = inlining.map(|_| observe::install(notes.clone()).unwrap());
    unsafe {
        let plain = raw::mlx_closure_new_func(Some(triple));
        let mut closure = raw::mlx_closure_new();
        let status = if detail {
            // MLX keeps what it compiled by this number, on each thread.
            let number = inlining.map_or(7, |inlining| 8 + inlining as usize);
            mlx_sys::mlx_detail_compile(&mut closure, plain, number, false, std::ptr::null(), 0)
        } else {
            mlx_sys::mlx_compile(&mut closure, plain, false)
        };
        assert_eq!(status, 0);
        let input = List::of(&[&floats(&[14.], &[1])]);
        let mut output = List::empty();
        assert_eq!(mlx_sys::mlx_closure_apply(&mut output.0, closure, input.0), 0);
        let offered = notes
            .offered
            .get()
            .is_some_and(|offered| offered.ctx == closure.ctx);
        drop(guard);
        raw::mlx_closure_free(closure);
        raw::mlx_closure_free(plain);
        (output.get(0), notes.take(), offered)
    }
}

/// The name of the last primitive behind an array.
fn last_primitive(array: &Array) -> String {
    unsafe extern "C" fn unknown(_: *mut std::ffi::c_void, _: usize) -> i64 {
        -1
    }
    unsafe {
        let mut graph = raw::mlx_subgraph {
            ctx: std::ptr::null_mut(),
            index: 0,
        };
        assert_eq!(
            raw::mlx_graph_subgraph(&mut graph, &array.0, 1, Some(unknown), std::ptr::null_mut()),
            0
        );
        let steps = raw::mlx_graph_steps_size(graph);
        let name = std::ffi::CStr::from_ptr(raw::mlx_graph_step_name(graph, steps - 1));
        let name = name.to_string_lossy().into_owned();
        raw::mlx_graph_subgraph_free(graph);
        name
    }
}

#[test]
fn a_compiled_function_runs_as_its_operations_if_the_observer_says_so() {
    for detail in [false, true] {
        let (result, lines, offered) = compiled(Some(Inlining::Yes), detail);
        assert!(offered, "the observer is told the handle that is applied");
        assert_eq!(last_primitive(&result), "Add");
        assert_eq!(result.values::<f32>(), [42.]);
        assert_eq!(
            lines
                .iter()
                .filter(|line| line.starts_with("after mlx_add 0"))
                .count(),
            2
        );
        assert!(lines.last().unwrap().starts_with("after mlx_closure_apply"));
    }
}

#[test]
fn a_compiled_function_stays_compiled_otherwise() {
    for inlining in [Some(Inlining::No), None] {
        for detail in [false, true] {
            // Not evaluated: MLX would run a C++ compiler.
            let (result, _, offered) = compiled(inlining, detail);
            assert!(!offered, "what is compiled is another closure");
            let name = last_primitive(&result);
            assert!(name.starts_with("Compiled"), "{name}");
        }
    }
}

#[test]
fn an_application_is_seen_around_the_calls_inside() {
    let (notes, guard) = Notes::install();
    let input = List::of(&[&floats(&[1.], &[1])]);
    let mut output = List::empty();
    unsafe {
        let closure = raw::mlx_closure_new_func(Some(triple));
        assert_eq!(mlx_sys::mlx_closure_apply(&mut output.0, closure, input.0), 0);
        raw::mlx_closure_free(closure);
    }
    drop(guard);
    let seen = notes.take();
    assert_eq!(seen.len(), 6, "{seen:?}");
    assert_eq!(seen[0], "before mlx_closure_apply(cls=Opaque, input=list of 1)");
    assert!(seen[1].starts_with("before mlx_add("));
    assert_eq!(seen[5], "after mlx_closure_apply 0 list of 1");
    let apply = mlx_sys::function::Function::by_name("mlx_closure_apply").unwrap();
    assert_eq!(apply.class, Class::Application);
}

/// Notes closures, and streams that are not there.
#[derive(Default)]
struct Insides(RefCell<Vec<String>>);

impl Observer for Insides {
    fn after(&self, call: &CallView<'_>, _: &mut [Output], _: c_int) {
        self.0.borrow_mut().push(call.function.name.to_string());
    }

    fn enter_closure(&self, inputs: mlx_vector_array) {
        let count = unsafe { raw::mlx_graph_list_size(inputs) };
        self.0.borrow_mut().push(format!("enter with {count}"));
    }

    fn leave_closure(&self, results: Option<mlx_vector_array>) {
        let count = results.map(|list| unsafe { raw::mlx_graph_list_size(list) });
        self.0.borrow_mut().push(format!("leave with {count:?}"));
    }

    fn missing_stream(&self) {
        self.0.borrow_mut().push("no such stream".to_string());
    }
}

/// As `triple`, or a failure where the payload says so.
unsafe extern "C" fn triple_or_fail(
    res: *mut mlx_vector_array,
    input: mlx_vector_array,
    fails: *mut std::ffi::c_void,
) -> c_int {
    match unsafe { *fails.cast::<bool>() } {
        true => 1,
        false => unsafe { triple(res, input) },
    }
}

unsafe extern "C" fn free_flag(flag: *mut std::ffi::c_void) {
    drop(unsafe { Box::from_raw(flag.cast::<bool>()) });
}

#[test]
fn a_closure_is_seen_to_begin_and_end_also_where_it_fails() {
    handle_errors();
    for fails in [false, true] {
        let insides = Rc::new(Insides::default());
        let guard = observe::install(insides.clone()).unwrap();
        let input = List::of(&[&floats(&[1.], &[1])]);
        let mut output = List::empty();
        unsafe {
            let flag = Box::into_raw(Box::new(fails)).cast();
            let closure = mlx_sys::mlx_closure_new_func_payload(Some(triple_or_fail), flag, Some(free_flag));
            let status = mlx_sys::mlx_closure_apply(&mut output.0, closure, input.0);
            assert_eq!(status != 0, fails);
            raw::mlx_closure_free(closure);
        }
        drop(guard);
        let seen = insides.0.take();
        let wanted: &[&str] = match fails {
            false => &[
                "enter with 1",
                "mlx_add",
                "mlx_add",
                "leave with Some(1)",
                "mlx_closure_apply",
            ],
            true => &["enter with 1", "leave with None", "mlx_closure_apply"],
        };
        assert_eq!(seen, wanted);
    }
}

#[test]
fn a_closure_runs_unobserved_as_it_is() {
    let input = List::of(&[&floats(&[2.], &[1])]);
    let mut output = List::empty();
    unsafe {
        let flag = Box::into_raw(Box::new(false)).cast();
        let closure = mlx_sys::mlx_closure_new_func_payload(Some(triple_or_fail), flag, Some(free_flag));
        assert_eq!(mlx_sys::mlx_closure_apply(&mut output.0, closure, input.0), 0);
        raw::mlx_closure_free(closure);
    }
    assert_eq!(output.len(), 1);
}

#[test]
fn what_another_thread_makes_is_known_while_this_one_is_observed() {
    let made_there = || {
        std::thread::spawn(|| {
            let sum = add(&floats(&[1.], &[1]), &floats(&[2.], &[1])).evaluated();
            // A handle may cross; nobody else has it.
            let address = sum.0.ctx as usize;
            std::mem::forget(sum);
            address
        })
    };
    let back = |address: usize| {
        Array(mlx_array {
            ctx: address as *mut _,
        })
    };
    let before = back(made_there().join().unwrap());
    let guard = observe::install(Rc::new(Insides::default())).unwrap();
    let here = add(&floats(&[1.], &[1]), &floats(&[2.], &[1]));
    let there = back(made_there().join().unwrap());
    assert!(observe::made_elsewhere(there.0));
    assert!(!observe::made_elsewhere(here.0), "this thread made it");
    assert!(!observe::made_elsewhere(before.0), "nobody was observed then");
    drop(guard);
    let _guard = observe::install(Rc::new(Insides::default())).unwrap();
    assert!(
        !observe::made_elsewhere(there.0),
        "that was another observer's time"
    );
}

#[test]
fn a_stream_that_cannot_be_made_is_told() {
    handle_errors();
    let insides = Rc::new(Insides::default());
    let guard = observe::install(insides.clone()).unwrap();
    unsafe {
        let mut count = 0;
        let has_gpu = raw::mlx_device_count(&mut count, raw::mlx_device_type__MLX_GPU) == 0 && count > 0;
        let stream = mlx_sys::mlx_default_gpu_stream_new();
        assert_eq!(stream.ctx.is_null(), !has_gpu);
        if has_gpu {
            raw::mlx_stream_free(stream);
        }
        drop(guard);
        let wanted: &[&str] = if has_gpu { &[] } else { &["no such stream"] };
        assert_eq!(insides.0.take(), wanted);
    }
}
