//! Laws of validation, on random programs: a true record never fails, and a record with a fault never passes.
//!
//! Without more ado these are the same 2,000 programs every time, since MLX may hang on one that nobody has met yet, and
//! such a find belongs to whoever looks for it. `MLX_ASSAY_PROGRAMS=N` tries N others each time.

use mlx_assay::validate::mutate::{self, Fate, Fault};
use mlx_assay::validate::validate;
use mlx_assay::vocabulary::State;
use mlx_assay::{Session, Trace};
use mlx_rs::error::Exception;
use mlx_rs::{ops, random, Array, Dtype};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// One step: which function, which earlier values it reads, and a number that it may use.
#[derive(Debug, Clone, Copy)]
struct Step {
    function: usize,
    a: usize,
    b: usize,
    number: i32,
}

type Run = fn(&Array, &Array, i32) -> Result<Vec<Array>, Exception>;

fn one(result: Result<Array, Exception>) -> Result<Vec<Array>, Exception> {
    result.map(|array| vec![array])
}

/// A float copy of what only floats have; `astype` of a float is an alias, which is a case of its own.
fn float(a: &Array) -> Result<Array, Exception> {
    match a.dtype().is_float() {
        true => Ok(a.clone()),
        false => a.as_type::<f32>(),
    }
}

/// Nothing that ends the process: no integer division by what may be 0, no sort of an empty axis, no free indices; and
/// nothing that never ends: MLX sums the empty axis of a transposed (0, 3) for ever.
const FUNCTIONS: &[(&str, Run)] = &[
    ("add", |a, b, _| one(ops::add(a, b))),
    ("subtract", |a, b, _| one(ops::subtract(a, b))),
    ("multiply", |a, b, _| one(ops::multiply(a, b))),
    ("divide", |a, b, _| one(ops::divide(float(a)?, float(b)?))),
    ("maximum", |a, b, _| one(ops::maximum(float(a)?, float(b)?))),
    ("minimum", |a, b, _| one(ops::minimum(float(a)?, float(b)?))),
    ("equal", |a, b, _| one(ops::eq(a, b))),
    ("less", |a, b, _| one(ops::lt(float(a)?, float(b)?))),
    ("logical_and", |a, b, _| one(ops::logical_and(a, b))),
    ("matmul", |a, b, _| one(ops::matmul(float(a)?, float(b)?))),
    ("square_matmul", |a, _, _| {
        let a = float(a)?;
        one(ops::matmul(&a, a.transpose()?))
    }),
    ("where", |a, b, _| one(ops::select(ops::eq(a, b)?, a, b))),
    ("concatenate", |a, b, _| one(ops::concatenate(&[a, b, a], 0))),
    ("stack", |a, b, n| one(ops::stack(&[a, b], n % 2))),
    ("negative", |a, _, _| one(ops::negative(float(a)?))),
    ("abs", |a, _, _| one(ops::abs(a))),
    ("square", |a, _, _| one(ops::square(a))),
    ("exp", |a, _, _| one(ops::exp(float(a)?))),
    ("sin", |a, _, _| one(ops::sin(float(a)?))),
    ("sigmoid", |a, _, _| one(ops::sigmoid(float(a)?))),
    ("softmax", |a, _, n| {
        let a = float(a)?;
        match a.size() {
            0 => one(ops::sigmoid(&a)),
            _ => one(ops::softmax_axis(&a, -1, n % 2 == 0)),
        }
    }),
    ("sum", |a, _, n| one(ops::sum(a, n % 2 == 0))),
    ("sum_axis", |a, _, n| match a.size() {
        0 => one(ops::abs(a)),
        _ => one(ops::sum_axis(a, n % 2, n % 3 == 0)),
    }),
    ("mean", |a, _, _| one(ops::mean(float(a)?, None))),
    ("max", |a, _, n| match a.size() {
        0 => one(ops::is_nan(a)),
        _ => one(float(a)?.max(n % 2 == 0)),
    }),
    ("sort", |a, _, _| match a.size() {
        0 => one(ops::abs(a)),
        _ => one(ops::sort_axis(float(a)?.reshape(&[-1])?, 0)),
    }),
    ("cumsum", |a, _, n| match a.size() {
        0 => one(ops::abs(a)),
        _ => one(ops::cumsum(float(a)?.reshape(&[-1])?, 0, n % 2 == 0, n % 3 == 0)),
    }),
    ("transpose", |a, _, _| one(ops::transpose(a))),
    ("reshape", |a, _, _| one(ops::reshape(a, &[a.size() as i32]))),
    ("expand_dims", |a, _, n| one(ops::expand_dims(a, n % 2))),
    ("as_type", |a, _, n| {
        one(a.as_dtype([Dtype::Float32, Dtype::Float16, Dtype::Int32, Dtype::Bool][n as usize % 4]))
    }),
    ("is_nan", |a, _, _| one(ops::is_nan(a))),
    ("ones_like", |a, _, _| one(ops::ones_like(a))),
    ("logical_not", |a, _, _| one(ops::logical_not(a))),
    ("split", |a, _, _| ops::split_equal(a, 2, 0)),
    ("literal", |a, _, n| {
        one(ops::multiply(a, Array::from_f32(n as f32)))
    }),
    ("normal", |_, _, n| {
        one(random::normal::<f32>(&[2, n % 3 + 1], None, None, None))
    }),
    ("keyed", |_, _, n| {
        one(random::uniform::<_, f32>(0.0, 1.0, &[3], &random::key(n as u64)?))
    }),
    ("gradient", |a, _, _| {
        let loss = |x: &Array| -> Result<Array, Exception> { ops::sum(ops::square(ops::sin(x)?)?, None) };
        one(mlx_rs::transforms::grad(loss)(&float(a)?))
    }),
    ("evaluated", |a, _, _| {
        let y = ops::abs(a)?;
        y.eval()?;
        one(ops::multiply(&y, a))
    }),
];

fn inputs(seed: i32) -> Vec<Array> {
    let numbers: Vec<f32> = (0..6).map(|i| ((i * 7 + seed) % 11) as f32 * 0.5 - 2.0).collect();
    let matrix = Array::from_slice(&numbers, &[2, 3]);
    let made = [
        matrix.clone(),
        Array::from_slice(&numbers[..3], &[3]),
        Array::from_f32(numbers[seed as usize % 6]),
        Array::from_slice(&numbers, &[2, 3])
            .as_dtype(Dtype::Float16)
            .unwrap(),
        Array::from_slice(&numbers[..2], &[2, 1])
            .as_dtype(Dtype::Bfloat16)
            .unwrap(),
        Array::from_slice(&[seed, 3, -1, 0, 2, seed / 2], &[2, 3]),
        Array::from_slice(&[true, false, seed % 2 == 0], &[3]),
        ops::zeros::<f32>(&[0, 3]).unwrap(),
        ops::zeros::<f32>(&[2, 3]).unwrap(),
        Array::from_slice(&numbers, &[2, 3])
            .as_dtype(Dtype::Complex64)
            .unwrap(),
        Array::from_slice(&[1_u8, 2, 250], &[3]),
        Array::from_slice(&[1_i64, -2, 3], &[1, 3]),
        matrix.transpose().unwrap(),
    ];
    mlx_rs::transforms::eval(&made).unwrap();
    made.to_vec()
}

/// What no order or arithmetic is defined on is left to the functions that take all types.
fn applies(name: &str, a: &Array, b: &Array) -> bool {
    let real = |array: &Array| array.dtype() != Dtype::Complex64;
    // Two arrays broadcast to the product of both at most.
    if a.size().max(1) * b.size().max(1) > 4096 || a.ndim() > 3 || b.ndim() > 3 {
        return false;
    }
    matches!(
        name,
        "add" | "subtract" | "multiply" | "equal" | "concatenate" | "stack" | "transpose" | "reshape"
    ) || (real(a) && real(b))
}

fn capture(seed: i32, steps: &[Step]) -> Trace {
    random::seed(seed as u64).unwrap();
    let given = inputs(seed);
    let forward = || {
        let mut values = given.clone();
        for step in steps {
            let (name, run) = FUNCTIONS[step.function % FUNCTIONS.len()];
            let a = values[step.a % values.len()].clone();
            let b = values[step.b % values.len()].clone();
            if !applies(name, &a, &b) {
                continue;
            }
            // Shapes that do not fit are an error of the call, which then made nothing.
            if let Ok(results) = run(&a, &b, step.number) {
                values.extend(results);
            }
        }
        Ok::<_, Exception>(values.split_off(given.len().max(values.len() - 2)))
    };
    Session::new()
        .run(&given, forward)
        .expect("a forward without errors")
        .0
}

fn step() -> impl Strategy<Value = Step> {
    (0..FUNCTIONS.len(), 0..64_usize, 0..64_usize, 0..12_i32).prop_map(|(function, a, b, number)| Step {
        function,
        a,
        b,
        number,
    })
}

/// How many new programs are asked for, if any are.
fn asked() -> Option<u32> {
    let count = std::env::var("MLX_ASSAY_PROGRAMS").ok()?;
    Some(count.parse().expect("MLX_ASSAY_PROGRAMS is a number"))
}

#[test]
fn a_true_record_never_fails_and_one_with_a_fault_never_passes() {
    let config = Config {
        cases: asked().unwrap_or(2_000),
        failure_persistence: None,
        // A long program shrinks slowly.
        max_shrink_iters: 1_000,
        ..Config::default()
    };
    let mut runner = match asked() {
        Some(_) => TestRunner::new(config),
        None => TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha)),
    };
    let program = (
        0..64_i32,
        proptest::collection::vec(step(), 1..40),
        0..Fault::ALL.len(),
        0..64_usize,
    );
    let tally = std::cell::RefCell::new(std::collections::BTreeMap::<String, usize>::new());
    let count = |what: String| *tally.borrow_mut().entry(what).or_default() += 1;
    let outcome = runner.run(&program, |(seed, steps, fault, place)| {
        let mut trace = capture(seed, &steps);
        let status = validate(&trace);
        count(format!("state {}", status.state()));
        prop_assert_ne!(status.state(), State::Failed, "{}", status);
        if status.state() != State::Passed {
            return Ok(());
        }
        // From a place on, the first call that offers one.
        let calls: Vec<_> = status.calls().iter().map(|decision| decision.call()).collect();
        for step in 0..calls.len() {
            let at = calls[(place + step) % calls.len()];
            let Some(found) = mutate::attempt(&mut trace, Fault::ALL[fault], at).unwrap() else {
                continue;
            };
            match found.fate {
                Fate::Killed(reason) => count(format!("{} killed, {reason}", found.fault.name())),
                Fate::Equivalent(_) => count(format!("{} equivalent", found.fault.name())),
                Fate::Misnamed(reason) => {
                    prop_assert!(false, "{} at {at:?}: misnamed as {reason}", found.fault.name());
                }
                Fate::Survived => {
                    assert!(found.fault.apply(&mut trace, at).unwrap());
                    let status = validate(&trace);
                    count(format!("{} {}", found.fault.name(), status.state()));
                    prop_assert_ne!(
                        status.state(),
                        State::Passed,
                        "{} at {:?} {}: {}",
                        found.fault.name(),
                        at,
                        trace.call(at).function().name,
                        status
                    );
                }
            }
            break;
        }
        Ok(())
    });
    for (what, count) in tally.borrow().iter() {
        println!("{count:6} {what}");
    }
    outcome.unwrap();
}
