//! Transforms of functions: each routine gives what the transform computes and, after it, how far that lies from what
//! finite differences say.

use mlx_rs::error::Exception;
use mlx_rs::transforms::{fallible_jvp, fallible_vjp, grad, value_and_grad, value_and_grad_with_argnums};
use mlx_rs::{ops, Array};

use super::routines::{only, Routines};
use crate::capture::function_scope;

/// What each of them does.
pub(super) static ROUTINES: Routines = &[
    ("grad", |inputs| {
        let x = only(inputs)?;
        let gradient = grad(curve)(x)?;
        let off = ops::subtract(&gradient, slopes(&curve, x)?)?;
        Ok(vec![gradient, off])
    }),
    ("grad_of_grad", |inputs| {
        let x = only(inputs)?;
        let slope = |x: &Array| -> Result<Array, Exception> { ops::sum(grad(curve)(x)?, None) };
        let second = grad(slope)(x)?;
        let off = ops::subtract(&second, slopes(&slope, x)?)?;
        Ok(vec![second, off])
    }),
    ("value_and_grad", |inputs| {
        let arguments: Vec<Array> = inputs.iter().map(|input| (*input).clone()).collect();
        let [x, y] = &arguments[..] else {
            return Err(Exception::custom("two arrays are wanted"));
        };
        let product = |arguments: &[Array]| -> Result<Vec<Array>, Exception> {
            Ok(vec![bilinear(&arguments[0], &arguments[1])?])
        };
        let (values, gradients) = value_and_grad_with_argnums(product, &[0, 1])(&arguments)?;
        let by_x = ops::subtract(&gradients[0], slopes(&|x: &Array| bilinear(x, y), x)?)?;
        let by_y = ops::subtract(&gradients[1], slopes(&|y: &Array| bilinear(x, y), y)?)?;
        Ok(values.into_iter().chain([by_x, by_y]).collect())
    }),
    ("vjp", |inputs| {
        let [x, cotangent] = inputs else {
            return Err(Exception::custom("a point and a cotangent are wanted"));
        };
        let f = |arguments: &[Array]| Ok(vec![wave(&arguments[0])?]);
        let (values, gradients) = fallible_vjp(f, &[(*x).clone()], &[(*cotangent).clone()])?;
        let weighed = |x: &Array| ops::sum(ops::multiply(wave(x)?, *cotangent)?, None);
        let off = ops::subtract(&gradients[0], slopes(&weighed, x)?)?;
        Ok(values.into_iter().chain([off]).collect())
    }),
    ("jvp", |inputs| {
        let [x, tangent] = inputs else {
            return Err(Exception::custom("a point and a tangent are wanted"));
        };
        let f = |arguments: &[Array]| Ok(vec![wave(&arguments[0])?]);
        let (values, pushed) = fallible_jvp(f, &[(*x).clone()], &[(*tangent).clone()])?;
        let along = function_scope("finite_differences", || {
            let ahead = wave(&ops::add(x, ops::multiply(tangent, step())?)?)?;
            let behind = wave(&ops::subtract(x, ops::multiply(tangent, step())?)?)?;
            ops::divide(ops::subtract(ahead, behind)?, twice_the_step())
        })?;
        let off = ops::subtract(&pushed[0], along)?;
        Ok(values.into_iter().chain([off]).collect())
    }),
    // The closure reads two results of the forward around it.
    ("outer_array", |inputs| {
        let x = only(inputs)?;
        let weight = ops::exp(x)?;
        let bias = ops::stack(&[0.5, -1.0, 2.0].map(Array::from_f64), 0)?;
        let f = |x: &Array| ops::sum(ops::add(ops::multiply(x, &weight)?, &bias)?.square()?, None);
        let gradient = grad(f)(x)?;
        let off = ops::subtract(&gradient, slopes(&f, x)?)?;
        Ok(vec![gradient, off])
    }),
    // The closure evaluates on its way, which takes away what MLX knew of it.
    ("evaluated_inside", |inputs| {
        let x = only(inputs)?;
        let f = |x: &Array| -> Result<Array, Exception> {
            let squared = x.square()?;
            squared.eval()?;
            ops::sum(squared.multiply(x)?, None)
        };
        Ok(vec![grad(f)(x)?])
    }),
    // The closure fails, and the forward goes on without a gradient.
    ("failing_closure", |inputs| {
        let x = only(inputs)?;
        let f = |arguments: &[Array]| -> Result<Vec<Array>, Exception> {
            let doubled = ops::add(&arguments[0], &arguments[0])?;
            Ok(vec![ops::add(&doubled, ops::zeros::<f64>(&[7])?)?])
        };
        match value_and_grad(f)(std::slice::from_ref(x)) {
            Ok((values, _)) => Ok(values),
            Err(_) => Ok(vec![ops::negative(x)?]),
        }
    }),
];

/// The sum of x^3 / (1 + x^2): MLX computes sin, exp and the like of a double in single precision.
fn curve(x: &Array) -> Result<Array, Exception> {
    ops::sum(ops::multiply(x, wave(x)?)?, None)
}

/// x^2 / (1 + x^2), element by element.
fn wave(x: &Array) -> Result<Array, Exception> {
    let squared = x.square()?;
    ops::divide(&squared, ops::add(&squared, Array::from_f64(1.0))?)
}

/// The sum of x^2 y.
fn bilinear(x: &Array, y: &Array) -> Result<Array, Exception> {
    ops::sum(ops::multiply(x.square()?, y)?, None)
}

/// Half the distance between the points of a central difference: in double precision the error of cutting off and that of
/// rounding meet about there.
const STEP: f64 = 1e-6;

fn step() -> Array {
    Array::from_f64(STEP)
}

fn twice_the_step() -> Array {
    Array::from_f64(2.0 * STEP)
}

/// The slope of `f` along each element of a vector, by central differences.
fn slopes(f: &dyn Fn(&Array) -> Result<Array, Exception>, x: &Array) -> Result<Array, Exception> {
    function_scope("finite_differences", || {
        let count = x.shape().first().copied().unwrap_or(0);
        let mut found = Vec::new();
        for place in 0..count {
            let along: Vec<Array> = (0..count)
                .map(|at| Array::from_f64(if at == place { STEP } else { 0.0 }))
                .collect();
            let along = ops::stack(&along, 0)?;
            let (ahead, behind) = (f(&ops::add(x, &along)?)?, f(&ops::subtract(x, &along)?)?);
            found.push(ops::divide(ops::subtract(ahead, behind)?, twice_the_step())?);
        }
        ops::stack(&found, 0)
    })
}
