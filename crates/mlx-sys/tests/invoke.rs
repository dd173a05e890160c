//! The table of functions, and calling them again.

mod support;

use mlx_sys::function::{Argument, Class, Function, Kind, ResultKind, Returned, Role};
use mlx_sys::invoke::{invoke, InvokeError};
use mlx_sys::{observe, raw, FUNCTIONS};

use support::{errors, floats, handle_errors, ints, made, stream, Array, List};

fn function(name: &str) -> &'static Function {
    Function::by_name(name).unwrap_or_else(|| panic!("{name} is not in the table"))
}

/// Invokes a function; a list's arrays in place.
fn call(name: &str, arguments: &[Argument<'_>]) -> Vec<Array> {
    let results = unsafe { invoke(function(name), arguments) }.unwrap();
    let mut arrays = Vec::new();
    for result in results {
        match result {
            Returned::Array(array) => arrays.push(Array(array)),
            Returned::Arrays(list) => {
                let list = List(list);
                arrays.extend((0..list.len()).map(|index| list.get(index)));
            }
        }
    }
    arrays
}

#[test]
fn the_table_is_sorted_and_each_function_knows_its_place() {
    assert!(FUNCTIONS.windows(2).all(|pair| pair[0].name < pair[1].name));
    for (index, function) in FUNCTIONS.iter().enumerate() {
        assert_eq!(function.index, index);
        assert!(std::ptr::eq(Function::by_name(function.name).unwrap(), function));
    }
    assert!(Function::by_name("mlx_").is_none());
    assert!(Function::by_name("mlx_array_free").is_none());
    assert!(Function::by_name("mlx_zzz").is_none());
}

#[test]
fn the_table_has_334_operations() {
    let of = |class| {
        FUNCTIONS
            .iter()
            .filter(|function| function.class == class)
            .count()
    };
    assert_eq!(of(Class::Operation), 334);
    for (name, class) in [
        ("mlx_array_new_float", Class::Constructor),
        ("mlx_array_set_float", Class::Constructor),
        ("mlx_closure_value_and_grad_apply", Class::Application),
        ("mlx_eval", Class::Evaluation),
        ("mlx_async_eval", Class::Evaluation),
        ("mlx_array_item_float32", Class::Evaluation),
        ("mlx_array_data_float32", Class::Reading),
        ("mlx_load_safetensors", Class::Loading),
        ("mlx_random_key", Class::Other),
        ("mlx_depends", Class::Other),
    ] {
        assert_eq!(function(name).class, class, "{name}");
    }
}

#[test]
fn operations_yield_arrays_and_end_with_a_stream() {
    for function in FUNCTIONS
        .iter()
        .filter(|function| function.class == Class::Operation)
    {
        assert!(!function.results.is_empty(), "{}", function.name);
        assert_eq!(
            function.parameters.last().unwrap().kind,
            Kind::Stream,
            "{}",
            function.name
        );
    }
    assert_eq!(
        function("mlx_linalg_qr").results,
        [ResultKind::Array, ResultKind::Array]
    );
    assert_eq!(function("mlx_divmod").results, [ResultKind::Arrays]);
}

#[test]
fn operands_have_the_roles_that_the_file_gives_them() {
    let role = |name: &str, parameter: &str| {
        let parameters = function(name).parameters;
        parameters.iter().find(|p| p.name == parameter).unwrap().role
    };
    assert_eq!(role("mlx_take_axis", "indices"), Role::Index);
    assert_eq!(role("mlx_take_axis", "a"), Role::Value);
    assert_eq!(role("mlx_random_normal", "key"), Role::Key);
    assert_eq!(role("mlx_floor_divide", "b"), Role::Divisor);
    assert_eq!(role("mlx_floor_divide", "a"), Role::Value);
    assert_eq!(role("mlx_slice_dynamic", "start"), Role::Count);
    assert_eq!(role("mlx_quantized_matmul", "w"), Role::Packed);
    assert_eq!(role("mlx_divide", "b"), Role::Value);
    // A role is an array's.
    for parameter in FUNCTIONS.iter().flat_map(|function| function.parameters) {
        let array = matches!(parameter.kind, Kind::Array | Kind::Arrays | Kind::ArrayMap);
        assert!(array || parameter.role == Role::Value, "{parameter:?}");
    }
}

#[test]
fn plain_operands_are_invoked() {
    let (a, b) = (floats(&[1., 2.], &[2]), floats(&[10., 20.], &[2]));
    let arguments = [
        Argument::Array(a.0),
        Argument::Array(b.0),
        Argument::Stream(stream()),
    ];
    let results = call("mlx_subtract", &arguments);
    assert_eq!(results.len(), 1);
    assert_eq!(results[0].values::<f32>(), [-9., -18.]);
}

#[test]
fn a_list_is_invoked() {
    let (a, b) = (floats(&[1., 2.], &[2]), floats(&[3.], &[1]));
    let list = List::of(&[&a, &b]);
    let arguments = [
        Argument::Arrays(list.0),
        Argument::Int(0),
        Argument::Stream(stream()),
    ];
    assert_eq!(
        call("mlx_concatenate_axis", &arguments)[0].values::<f32>(),
        [1., 2., 3.]
    );
}

#[test]
fn an_absent_operand_and_integers_are_invoked() {
    let a = floats(&[1., 5., 9.], &[3]);
    let high = floats(&[4.], &[]);
    let arguments = [
        Argument::Array(a.0),
        Argument::Array(raw::mlx_array {
            ctx: std::ptr::null_mut(),
        }),
        Argument::Array(high.0),
        Argument::Stream(stream()),
    ];
    assert_eq!(call("mlx_clip", &arguments)[0].values::<f32>(), [1., 4., 4.]);

    let arguments = [
        Argument::Array(a.0),
        Argument::Ints(Some(&[3, 1])),
        Argument::Stream(stream()),
    ];
    assert_eq!(call("mlx_reshape", &arguments)[0].shape(), [3, 1]);
}

#[test]
fn optional_numbers_and_text_are_invoked_with_several_results() {
    let w = floats(&(0..64).map(|i| i as f32).collect::<Vec<_>>(), &[1, 64]);
    let quantize = |group: Option<i32>, bits: Option<i32>| {
        call(
            "mlx_quantize",
            &[
                Argument::Array(w.0),
                Argument::OptionalInt(group),
                Argument::OptionalInt(bits),
                Argument::Text(Some(c"affine")),
                Argument::Array(raw::mlx_array {
                    ctx: std::ptr::null_mut(),
                }),
                Argument::Stream(stream()),
            ],
        )
    };
    let given = quantize(Some(32), Some(8));
    assert_eq!(given.len(), 3, "packed weights, scales, biases");
    assert_eq!(given[0].shape(), [1, 16]);
    assert_eq!(given[1].shape(), [1, 2]);
    // MLX's own choice: groups of 64, 4 bits.
    let absent = quantize(None, None);
    assert_eq!(absent[0].shape(), [1, 8]);
    assert_eq!(absent[1].shape(), [1, 1]);
}

#[test]
fn text_is_invoked() {
    let a = floats(&[1., 2., 3., 4.], &[2, 2]);
    let list = List::of(&[&a, &a]);
    let arguments = [
        Argument::Text(Some(c"ij,ij->i")),
        Argument::Arrays(list.0),
        Argument::Stream(stream()),
    ];
    assert_eq!(call("mlx_einsum", &arguments)[0].values::<f32>(), [5., 25.]);
}

#[test]
fn two_results_come_in_order() {
    let a = floats(&[3., 0., 4., 5.], &[2, 2]);
    let results = call(
        "mlx_linalg_qr",
        &[Argument::Array(a.0), Argument::Stream(stream())],
    );
    let [q, r] = &results[..] else {
        panic!("{results:?}")
    };
    let product = made(|res| unsafe { raw::mlx_matmul(res, q.0, r.0, stream()) });
    for (found, expected) in product.values::<f32>().iter().zip([3., 0., 4., 5.]) {
        assert!((found - expected).abs() < 1e-5);
    }
    assert_eq!(r.values::<f32>()[2], 0., "the second is the upper triangle");

    let (a, b) = (ints(&[7, -7]), ints(&[2, 2]));
    let arguments = [
        Argument::Array(a.0),
        Argument::Array(b.0),
        Argument::Stream(stream()),
    ];
    let results = call("mlx_divmod", &arguments);
    assert_eq!(results.len(), 2);
    assert_eq!(results[1].values::<i32>()[0], 1);
}

#[test]
fn constructors_and_keys_are_invoked() {
    assert_eq!(
        call("mlx_array_new_float", &[Argument::Float(2.5)])[0].values::<f32>(),
        [2.5]
    );
    assert_eq!(
        call("mlx_random_key", &[Argument::Uint64(0)])[0].values::<u32>(),
        [0, 0]
    );
}

#[test]
fn invoking_is_not_observed() {
    struct Nothing;
    impl observe::Observer for Nothing {
        fn after(
            &self,
            call: &mlx_sys::function::CallView<'_>,
            _: &mut [mlx_sys::function::Output],
            _: std::ffi::c_int,
        ) {
            panic!("{} was observed", call.function.name);
        }
    }
    let a = floats(&[1.], &[1]);
    let _guard = observe::install(std::rc::Rc::new(Nothing)).unwrap();
    call("mlx_exp", &[Argument::Array(a.0), Argument::Stream(stream())]);
}

#[test]
fn what_reads_closures_readers_or_raw_data_is_not_invocable() {
    for name in [
        "mlx_closure_apply",
        "mlx_vjp",
        "mlx_eval",
        "mlx_array_data_float32",
        "mlx_load",
        "mlx_load_reader",
        "mlx_array_new_data",
        "mlx_array_set_float",
    ] {
        let function = function(name);
        assert!(!function.is_invocable(), "{name}");
        assert_eq!(
            unsafe { invoke(function, &[]) }.unwrap_err(),
            InvokeError::NotInvocable(name)
        );
    }
}

#[test]
fn arguments_of_other_kinds_or_another_number_are_refused() {
    handle_errors();
    let a = floats(&[1.], &[1]);
    let (array, stream) = (Argument::Array(a.0), Argument::Stream(stream()));
    for arguments in [
        vec![],
        vec![array, stream],
        vec![array, array, array, stream],
        vec![array, Argument::Int(1), stream],
        vec![stream, array, array],
    ] {
        let error = unsafe { invoke(function("mlx_add"), &arguments) }.unwrap_err();
        assert_eq!(error, InvokeError::Arguments("mlx_add"));
        assert_eq!(error.to_string(), "the arguments given are not those of mlx_add");
    }
    assert!(errors().is_empty());
}

#[test]
fn an_error_of_mlx_is_given_back_and_not_to_the_programs_handler() {
    handle_errors();
    let (a, b) = (floats(&[1., 2.], &[2]), floats(&[1., 2., 3.], &[3]));
    let arguments = [
        Argument::Array(a.0),
        Argument::Array(b.0),
        Argument::Stream(stream()),
    ];
    let error = unsafe { invoke(function("mlx_add"), &arguments) }.unwrap_err();
    assert!(
        matches!(&error, InvokeError::Mlx { function: "mlx_add", message } if message.contains("broadcast")),
        "{error:?}"
    );
    // An operand that may not be absent.
    let absent = Argument::Array(raw::mlx_array {
        ctx: std::ptr::null_mut(),
    });
    let error = unsafe { invoke(function("mlx_exp"), &[absent, arguments[2]]) }.unwrap_err();
    assert!(error.to_string().starts_with("mlx_exp failed: "), "{error}");
    assert!(errors().is_empty());
}
