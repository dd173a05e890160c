//! Programs of the field cases that YAML cannot say: gradients at awkward places, compiled functions that fail or draw,
//! data read from arrays.

use mlx_rs::error::Exception;
use mlx_rs::ops::indexing::TryIndexOp;
use mlx_rs::random::{self, RandomState};
use mlx_rs::transforms::compile::{compile, compile_with_state};
use mlx_rs::transforms::{async_eval, grad, value_and_grad, value_and_grad_with_argnums};
use mlx_rs::{linalg, ops, Array};
use mlx_sys::observe::unobserved;

use super::routines::{only, Routines};

/// What each of them does.
pub(super) static ROUTINES: Routines = &[
    // Case 15.
    ("gradient_of_root_where_positive", |inputs| {
        let zero = Array::from_f32(0.0);
        let f = |x: &Array| ops::sum(ops::select(ops::gt(x, &zero)?, ops::sqrt(x)?, &zero)?, None);
        slope(f, only(inputs)?)
    }),
    ("gradient_of_norm", |inputs| {
        let f = |x: &Array| linalg::norm_l2(x, linalg::NormOptions::default());
        slope(f, only(inputs)?)
    }),
    // Case 16.
    ("gradient_of_power_zero", |inputs| {
        let f = |x: &Array| ops::sum(ops::power(x, Array::from_f32(0.0))?, None);
        slope(f, only(inputs)?)
    }),
    // Case 17.
    ("gradient_of_squares", |inputs| {
        let f = |x: &Array| ops::sum(x.square()?, None);
        slope(f, only(inputs)?)
    }),
    // Case 18: the same loss, with examples and labels read from outside, and with all given as inputs.
    ("captured_inputs", |inputs| {
        let [w, x, y] = inputs else {
            return Err(Exception::custom("weights, examples and labels are wanted"));
        };
        let f = |inputs: &[Array]| Ok::<_, Exception>(vec![half_mean_square(&inputs[0], x, y)?]);
        let given = value_and_grad(f)(&[(*w).clone()])?;
        both(given)
    }),
    ("explicit_inputs", |inputs| {
        let all: Vec<Array> = inputs.iter().map(|input| (*input).clone()).collect();
        let f = |inputs: &[Array]| match inputs {
            [w, x, y] => Ok(vec![half_mean_square(w, x, y)?]),
            _ => Err(Exception::custom("weights, examples and labels are wanted")),
        };
        both(value_and_grad_with_argnums(f, &[0])(&all)?)
    }),
    // Case 20.
    ("count_of_slice", |inputs| {
        let x = only(inputs)?;
        let slice = x
            .try_as_slice::<f32>()
            .map_err(|error| Exception::custom(error.to_string()))?;
        Ok(vec![Array::from_int(slice.len() as i32), ops::exp(x)?])
    }),
    // Case 22: three draws, and whether they are three values.
    ("three_draws", |inputs| {
        let draw = |x: &Array| -> Result<Array, Exception> {
            ops::add(x, random::uniform::<_, f32>(0.0, 1.0, &[16], None)?)
        };
        let mut compiled = compile(draw, None);
        let x = only(inputs)?;
        Ok(vec![all_apart(&[compiled(x)?, compiled(x)?, compiled(x)?])?])
    }),
    // With a state, and whether another state of the same seed repeats them.
    ("three_draws_with_state", |inputs| {
        let x = only(inputs)?;
        let draws = || -> Result<[Array; 3], Exception> {
            let mut state = RandomState::with_seed(42)?;
            let mut compiled = compile_with_state(drawn_with, None);
            Ok([
                compiled(&mut state, x)?,
                compiled(&mut state, x)?,
                compiled(&mut state, x)?,
            ])
        };
        let (first, again) = (draws()?, draws()?);
        let repeats = ops::all(ops::eq(ops::stack(&first, 0)?, ops::stack(&again, 0)?)?, None)?;
        Ok(vec![all_apart(&first)?, repeats])
    }),
    // Case 23.
    ("error_of_compiled", |inputs| {
        let mut compiled = compile(failing, None);
        Ok(vec![compiled(only(inputs)?)?])
    }),
    // The next transform fails for reasons of its own: its closure's, and MLX's, which takes no gradient of several numbers.
    ("closure_error_after_compiled", |inputs| {
        let x = only(inputs)?;
        let second = |_: &Array| -> Result<Array, Exception> { Err(Exception::custom("what came second")) };
        match compile(failing, None)(x) {
            Err(_) => slope(second, x),
            Ok(y) => Ok(vec![y]),
        }
    }),
    ("transform_error_after_compiled", |inputs| {
        let x = only(inputs)?;
        match compile(failing, None)(x) {
            Err(_) => slope(|x: &Array| x.square(), x),
            Ok(y) => Ok(vec![y]),
        }
    }),
    // Case 24: once an evaluation has failed, each one fails.
    ("inverse_evaluated_again", |inputs| {
        let inverse = linalg::inv(only(inputs)?)?;
        let _busy = unobserved(busy)?;
        if inverse.eval().is_ok() {
            return Err(Exception::custom("the first evaluation did not fail"));
        }
        inverse.eval()?;
        Ok(vec![inverse])
    }),
    // Case 27.
    ("gradient_of_slice", |inputs| {
        let f = |x: &Array| ops::sum(x.try_index(0..3)?.square()?, None);
        slope(f, only(inputs)?)
    }),
    // Case 28.
    ("gradient_of_branch", |inputs| {
        let [x, taken] = inputs else {
            return Err(Exception::custom("a point, and which branch is taken"));
        };
        let f = |x: &Array| ops::sum(ops::select(*taken, ops::sqrt(x)?, ops::zeros_like(x)?)?, None);
        slope(f, x)
    }),
];

/// Keeps MLX's thread busy for some milliseconds.
///
/// What fails there is told to whoever waits for it. If it fails before anybody waits, MLX says so while it is still being
/// asked and leaves the array as it was, so that the next evaluation computes it anew and fails again; which of the two is
/// a race. Behind something long, whatever is asked next finds its asker waiting.
fn busy() -> Result<Array, Exception> {
    let long = ops::exp(ops::arange::<_, f32>(None, 1 << 20, None)?)?;
    async_eval([&long])?;
    Ok(long)
}

/// The gradient of `f` at `x`.
fn slope(f: impl Fn(&Array) -> Result<Array, Exception>, x: &Array) -> Result<Vec<Array>, Exception> {
    let gradient = grad(f)(x)?;
    Ok(vec![gradient])
}

/// The loss of mlx-rs's guide: `0.5 mean((x w - y)^2)`.
fn half_mean_square(w: &Array, x: &Array, y: &Array) -> Result<Array, Exception> {
    let off = ops::subtract(x.matmul(w)?, y)?;
    ops::multiply(Array::from_f32(0.5), ops::mean(&off.square()?, None)?)
}

fn both((values, gradients): (Vec<Array>, Vec<Array>)) -> Result<Vec<Array>, Exception> {
    Ok(values.into_iter().chain(gradients).collect())
}

fn drawn_with(state: &mut RandomState, x: &Array) -> Result<Array, Exception> {
    let key = state.next_key()?;
    ops::add(x, random::uniform::<_, f32>(0.0, 1.0, &[16], Some(&key))?)
}

fn failing(_: &Array) -> Result<Array, Exception> {
    Err(Exception::custom("what came first"))
}

/// Whether no two of three arrays are equal: by their distances, each of which any of their elements can move.
fn all_apart([a, b, c]: &[Array; 3]) -> Result<Array, Exception> {
    let apart = |a: &Array, b: &Array| ops::max(ops::abs(ops::subtract(a, b)?)?, None);
    let least = ops::minimum(ops::minimum(apart(a, b)?, apart(b, c)?)?, apart(a, c)?)?;
    ops::gt(least, Array::from_f32(0.0))
}
