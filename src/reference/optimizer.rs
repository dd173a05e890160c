//! The optimizers' steps, by their papers, in `f64`, always with the same gradient.

use super::call::Call;
use super::error::NoReference;
use super::promote::{fractional, promoted};
use super::tensor::{Floats, Tensor};

type Result1 = Result<Vec<Tensor>, NoReference>;

/// Settings are single-precision numbers in mlx-rs.
fn number(call: &Call<'_>, name: &str, default: f64) -> f64 {
    f64::from(call.float(name).unwrap_or(default) as f32)
}

/// The parameter after the steps; `step` changes it, given which step it is, counted from 1, and the gradient.
fn stepped(call: &Call<'_>, mut step: impl FnMut(u32, &mut Floats, &Floats)) -> Result1 {
    let (parameter, gradient) = (call.array("parameter")?, call.array("gradient")?);
    let dtype = fractional(promoted(parameter.dtype, gradient.dtype));
    let (mut x, gradient) = (parameter.to_floats()?, gradient.to_floats()?);
    for count in 1..=call.int("steps").unwrap_or(1) {
        step(count as u32, &mut x, &gradient);
    }
    Ok(vec![Tensor::floats(dtype, x)])
}

fn zeros(call: &Call<'_>) -> Result<Floats, NoReference> {
    Ok(Floats::zeros(call.floats("gradient")?.raw_dim()))
}

fn lr(call: &Call<'_>) -> f64 {
    number(call, "lr", 0.1)
}

pub(super) fn sgd(call: &Call<'_>) -> Result1 {
    let (momentum, decay) = (number(call, "momentum", 0.0), number(call, "weight_decay", 0.0));
    let (dampening, nesterov) = (
        number(call, "dampening", 0.0),
        call.flag("nesterov").unwrap_or(false),
    );
    let mut velocity = zeros(call)?;
    stepped(call, |_, x, gradient| {
        let gradient = gradient + &(&*x * decay);
        velocity = &velocity * momentum + &gradient * (1.0 - dampening);
        let update = match (momentum > 0.0, nesterov) {
            (false, _) => gradient,
            (true, true) => gradient + &velocity * momentum,
            (true, false) => velocity.clone(),
        };
        *x = &*x - &(update * lr(call));
    })
}

pub(super) fn adagrad(call: &Call<'_>) -> Result1 {
    let eps = number(call, "eps", 1e-8);
    let mut squares = zeros(call)?;
    stepped(call, |_, x, gradient| {
        squares = &squares + &(gradient * gradient);
        *x = &*x - &(gradient * lr(call) / (squares.mapv(f64::sqrt) + eps));
    })
}

pub(super) fn rmsprop(call: &Call<'_>) -> Result1 {
    let (alpha, eps) = (number(call, "alpha", 0.99), number(call, "epsilon", 1e-8));
    let mut squares = zeros(call)?;
    stepped(call, |_, x, gradient| {
        squares = &squares * alpha + gradient * gradient * (1.0 - alpha);
        *x = &*x - &(gradient * lr(call) / (squares.mapv(f64::sqrt) + eps));
    })
}

pub(super) fn adadelta(call: &Call<'_>) -> Result1 {
    let (rho, eps) = (number(call, "rho", 0.9), number(call, "eps", 1e-6));
    let (mut squares, mut updates) = (zeros(call)?, zeros(call)?);
    stepped(call, |_, x, gradient| {
        squares = &squares * rho + gradient * gradient * (1.0 - rho);
        let update = (&updates + eps).mapv(f64::sqrt) / (&squares + eps).mapv(f64::sqrt) * gradient;
        updates = &updates * rho + &update * &update * (1.0 - rho);
        *x = &*x - &(update * lr(call));
    })
}

/// Kingma and Ba, 2015, without the correction of the first steps' bias, which MLX leaves out by default.
pub(super) fn adam(call: &Call<'_>, default_decay: f64) -> Result1 {
    let (beta1, beta2) = (number(call, "beta1", 0.9), number(call, "beta2", 0.999));
    let (eps, decay) = (
        number(call, "eps", 1e-8),
        number(call, "weight_decay", default_decay),
    );
    let (mut first, mut second) = (zeros(call)?, zeros(call)?);
    stepped(call, |_, x, gradient| {
        first = &first * beta1 + gradient * (1.0 - beta1);
        second = &second * beta2 + gradient * gradient * (1.0 - beta2);
        *x = &*x * (1.0 - lr(call) * decay) - &first * lr(call) / (second.mapv(f64::sqrt) + eps);
    })
}

pub(super) fn adamax(call: &Call<'_>) -> Result1 {
    let (beta1, beta2) = (number(call, "beta1", 0.9), number(call, "beta2", 0.999));
    let eps = number(call, "eps", 1e-8);
    let (mut first, mut most) = (zeros(call)?, zeros(call)?);
    stepped(call, |_, x, gradient| {
        first = &first * beta1 + gradient * (1.0 - beta1);
        most = ndarray::Zip::from(&most)
            .and(gradient)
            .map_collect(|most, it| (most * beta2).max(it.abs()));
        *x = &*x - &(&first * lr(call) / (&most + eps));
    })
}

pub(super) fn lion(call: &Call<'_>) -> Result1 {
    let (beta1, beta2) = (number(call, "beta1", 0.9), number(call, "beta2", 0.999));
    let decay = number(call, "weight_decay", 0.0);
    let mut momentum = zeros(call)?;
    stepped(call, |_, x, gradient| {
        let direction = &momentum * beta1 + gradient * (1.0 - beta1);
        momentum = &momentum * beta2 + gradient * (1.0 - beta2);
        let sign = direction.mapv(|it| if it == 0.0 { 0.0 } else { it.signum() });
        *x = &*x * (1.0 - lr(call) * decay) - sign * lr(call);
    })
}

/// Shazeer and Stern, 2018: its second moments as a product of rows and columns where there are two axes.
pub(super) fn adafactor(call: &Call<'_>) -> Result1 {
    let relative = call.flag("relative_step").unwrap_or(true);
    let by_scale = call.flag("scale_parameter").unwrap_or(true);
    let warm = call.flag("warmup_init").unwrap_or(false);
    let decay = number(call, "weight_decay", 0.0);
    let given = call.float("lr").map(|it| f64::from(it as f32));
    let beta1 = call.float("beta1").map(|it| f64::from(it as f32));
    let root_mean_square = |it: &Floats| (it.mapv(|it| it * it).sum() / it.len() as f64).sqrt();
    let gradient = call.floats("gradient")?;
    let rank = gradient.ndim();
    let mut squares = zeros(call)?;
    let line = |axis: usize| squares.sum_axis(ndarray::Axis(axis));
    let (mut rows, mut columns) = match rank >= 2 {
        true => (line(rank - 1), line(rank - 2)),
        false => (squares.clone(), squares.clone()),
    };
    let mut first = zeros(call)?;
    stepped(call, |count, x, gradient| {
        let count = f64::from(count);
        let least = if warm { 1e-6 * count } else { 1e-2 };
        let pace = match (relative, given) {
            (true, _) | (false, None) => least.min(1.0 / count.sqrt()),
            (false, Some(given)) => given,
        };
        let scale = if by_scale {
            root_mean_square(x).max(1e-3)
        } else {
            1.0
        };
        let beta2 = 1.0 - count.powf(-0.8);
        let update = gradient.mapv(|it| it * it + 1e-30);
        let mean = |axis: usize| update.mean_axis(ndarray::Axis(axis));
        let factor = match (rank >= 2).then(|| (mean(rank - 1), mean(rank - 2))) {
            Some((Some(row), Some(column))) => {
                rows = &rows * beta2 + row * (1.0 - beta2);
                columns = &columns * beta2 + column * (1.0 - beta2);
                let all = rows.mean_axis(ndarray::Axis(rows.ndim() - 1));
                let all = all.map(|it| it.insert_axis(ndarray::Axis(rows.ndim() - 1)));
                let share = match all {
                    Some(all) => &rows / &all,
                    None => rows.clone(),
                };
                let row = share
                    .mapv(|it| 1.0 / it.sqrt())
                    .insert_axis(ndarray::Axis(rank - 1));
                let column = columns
                    .mapv(|it| 1.0 / it.sqrt())
                    .insert_axis(ndarray::Axis(rank - 2));
                row * column
            }
            _ => {
                squares = &squares * beta2 + &update * (1.0 - beta2);
                squares.mapv(|it| 1.0 / it.sqrt())
            }
        };
        let mut update = factor * gradient;
        update = &update / root_mean_square(&update).max(1.0) * (pace * scale);
        if let Some(beta1) = beta1 {
            first = &first * beta1 + &update * (1.0 - beta1);
            update = first.clone();
        }
        *x = &*x * (1.0 - decay * pace * scale) - update;
    })
}

/// All gradients by one factor, so that their common norm is at most the greatest.
pub(super) fn clip_grad_norm(call: &Call<'_>) -> Result1 {
    let gradients = call.arrays("gradients")?;
    let most = number(call, "max_norm", 1.0);
    let mut total = 0.0;
    for gradient in &gradients {
        total += gradient.to_floats()?.mapv(|it| it * it).sum();
    }
    let norm = total.sqrt();
    let scale = if norm < most { 1.0 } else { most / (norm + 1e-6) };
    let scaled = gradients
        .iter()
        .map(|it| Ok(Tensor::floats(it.dtype, it.to_floats()? * scale)));
    scaled.collect()
}
