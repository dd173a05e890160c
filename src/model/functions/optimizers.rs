//! The optimizers' step: a parameter after so many updates with one gradient.

use std::rc::Rc;

use mlx_rs::builder::Builder;
use mlx_rs::error::Exception;
use mlx_rs::optimizers::{
    clip_grad_norm, AdaDelta, AdaDeltaBuilder, AdaGrad, AdaGradBuilder, Adafactor, AdafactorBuilder, Adam,
    AdamBuilder, AdamW, AdamWBuilder, Adamax, AdamaxBuilder, Lion, LionBuilder, Optimizer, RmsProp,
    RmsPropBuilder, Sgd, SgdBuilder,
};
use mlx_rs::Array;

use super::table::{exception, functions};

/// Builds an optimizer with the settings that are given.
macro_rules! built {
    ($builder:ident, $optimizer:ident, ($($lr:expr)?) $(, $setting:ident = $given:expr, $default:ident)*) => {
        $builder::new($($lr)?)
            $(.$setting($given.unwrap_or($optimizer::$default)))*
            .build()
            .map_err(exception)?
    };
}

functions! {
    optimizer.adadelta(parameter: Array, gradient: Array; lr: Float, rho: Float, eps: Float, steps: Int) => stepped(
        built!(AdaDeltaBuilder, AdaDelta, (lr.unwrap_or(0.1)), rho = rho, DEFAULT_RHO, eps = eps, DEFAULT_EPS), parameter, &gradient, steps,
    );
    optimizer.adafactor(parameter: Array, gradient: Array; lr: Float, weight_decay: Float, scale_parameter: Bool, relative_step: Bool, warmup_init: Bool, beta1: Float, steps: Int) => stepped(
        AdafactorBuilder::new()
            .lr(lr)
            .weight_decay(weight_decay.unwrap_or(Adafactor::DEFAULT_WEIGHT_DECAY))
            .scale_parameter(scale_parameter.unwrap_or(Adafactor::DEFAULT_SCALE_PARAMETER))
            .relative_step(relative_step.unwrap_or(Adafactor::DEFAULT_RELATIVE_STEP))
            .warmup_init(warmup_init.unwrap_or(Adafactor::DEFAULT_WARMUP_INIT))
            .beta1(beta1)
            .build()
            .map_err(exception)?,
        parameter, &gradient, steps,
    );
    optimizer.adagrad(parameter: Array, gradient: Array; lr: Float, eps: Float, steps: Int) => stepped(
        built!(AdaGradBuilder, AdaGrad, (lr.unwrap_or(0.1)), eps = eps, DEFAULT_EPS), parameter, &gradient, steps,
    );
    optimizer.adam(parameter: Array, gradient: Array; lr: Float, eps: Float, beta1: Float, beta2: Float, steps: Int) => stepped(
        built!(AdamBuilder, Adam, (lr.unwrap_or(0.1)), betas = betas(beta1, beta2, Adam::DEFAULT_BETAS), DEFAULT_BETAS, eps = eps, DEFAULT_EPS),
        parameter, &gradient, steps,
    );
    optimizer.adamax(parameter: Array, gradient: Array; lr: Float, eps: Float, beta1: Float, beta2: Float, steps: Int) => stepped(
        built!(AdamaxBuilder, Adamax, (lr.unwrap_or(0.1)), betas = betas(beta1, beta2, Adamax::DEFAULT_BETAS), DEFAULT_BETAS, eps = eps, DEFAULT_EPS),
        parameter, &gradient, steps,
    );
    optimizer.adamw(parameter: Array, gradient: Array; lr: Float, eps: Float, beta1: Float, beta2: Float, weight_decay: Float, steps: Int) => stepped(
        built!(
            AdamWBuilder, AdamW, (lr.unwrap_or(0.1)), betas = betas(beta1, beta2, AdamW::DEFAULT_BETAS), DEFAULT_BETAS,
            eps = eps, DEFAULT_EPS, weight_decay = weight_decay, DEFAULT_WEIGHT_DECAY
        ),
        parameter, &gradient, steps,
    );
    optimizer.lion(parameter: Array, gradient: Array; lr: Float, beta1: Float, beta2: Float, weight_decay: Float, steps: Int) => stepped(
        built!(
            LionBuilder, Lion, (lr.unwrap_or(0.1)), betas = betas(beta1, beta2, Lion::DEFAULT_BETAS), DEFAULT_BETAS,
            weight_decay = weight_decay, DEFAULT_WEIGHT_DECAY
        ),
        parameter, &gradient, steps,
    );
    optimizer.rmsprop(parameter: Array, gradient: Array; lr: Float, alpha: Float, epsilon: Float, steps: Int) => stepped(
        built!(RmsPropBuilder, RmsProp, (lr.unwrap_or(0.1)), alpha = alpha, DEFAULT_ALPHA, epsilon = epsilon, DEFAULT_EPSILON),
        parameter, &gradient, steps,
    );
    optimizer.sgd(parameter: Array, gradient: Array; lr: Float, momentum: Float, weight_decay: Float, dampening: Float, nesterov: Bool, steps: Int) => stepped(
        built!(
            SgdBuilder, Sgd, (lr.unwrap_or(0.1)), momentum = momentum, DEFAULT_MOMENTUM, weight_decay = weight_decay, DEFAULT_WEIGHT_DECAY,
            dampening = dampening, DEFAULT_DAMPENING, nesterov = nesterov, DEFAULT_NESTEROV
        ),
        parameter, &gradient, steps,
    );
    optimizer.clip_grad_norm(gradients: Arrays, max_norm: Float) => {
        let named = gradients.into_iter().enumerate().map(|(place, it)| (Rc::from(place.to_string()), it)).collect();
        let (clipped, _norm) = clip_grad_norm(&named, max_norm)?;
        Ok((0..named.len()).filter_map(|place| clipped.get(place.to_string().as_str()).map(|it| Array::clone(it))).collect::<Vec<_>>())
    };
}

/// Both decays where a case gives at least one.
fn betas(first: Option<f32>, second: Option<f32>, default: (f32, f32)) -> Option<(f32, f32)> {
    Some((first.unwrap_or(default.0), second.unwrap_or(default.1)))
}

/// The parameter after so many steps, one if none are given.
fn stepped<O: Optimizer>(
    mut optimizer: O,
    mut parameter: Array,
    gradient: &Array,
    steps: Option<i32>,
) -> Result<Array, Exception> {
    let key: Rc<str> = Rc::from("parameter");
    for _ in 0..steps.unwrap_or(1) {
        optimizer.update_single(&key, gradient, &mut parameter)?;
    }
    Ok(parameter)
}
