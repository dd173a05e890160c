//! Training: mlx-rs's linear regression, whole steps of an optimizer, the gradient of a Transformer.

use std::rc::Rc;

use mlx_rs::builder::Builder;
use mlx_rs::error::Exception;
use mlx_rs::module::{update_parameters, Module, ModuleParamRef, ModuleParameters};
use mlx_rs::nested::NestedHashMap;
use mlx_rs::nn::{self, LinearBuilder, Transformer, TransformerBuilder, TransformerInput};
use mlx_rs::optimizers::{Optimizer, Sgd};
use mlx_rs::{ops, transforms, Array, Dtype};

use super::module::Many;
use crate::capture::function_scope;

/// mlx-rs's linear regression: everything that the loss needs comes in as an argument of the closure.
pub(super) struct LeastSquares {
    pub(super) steps: i32,
    pub(super) rate: f64,
}

impl Many for LeastSquares {
    fn forward(&mut self, operands: &[Option<Array>]) -> Result<Vec<Array>, Exception> {
        let [Some(w), Some(x), Some(y)] = operands else {
            return Err(Exception::custom("it takes weights, examples and labels"));
        };
        let loss = |inputs: &[Array]| -> Result<Array, Exception> {
            let predicted = inputs[1].matmul(&inputs[0])?;
            let error = ops::subtract(predicted, &inputs[2])?;
            ops::multiply(Array::from_f64(0.5), ops::mean(&error.square()?, None)?)
        };
        let mut gradient = transforms::grad(loss);
        let mut inputs = [w.clone(), x.clone(), y.clone()];
        for _ in 0..self.steps {
            let slope = gradient(&inputs)?;
            inputs[0] = ops::subtract(&inputs[0], ops::multiply(Array::from_f64(self.rate), slope)?)?;
            inputs[0].eval()?;
        }
        let [w, ..] = inputs;
        Ok(vec![w])
    }

    fn parameters(&self) -> ModuleParamRef<'_> {
        NestedHashMap::new()
    }
}

/// A linear layer in double precision, and what trains it.
pub(super) struct Training {
    model: nn::Linear,
    optimizer: Sgd,
    updates: bool,
}

/// The rate of the optimizer.
const RATE: f32 = 0.125;

impl Training {
    /// With `updates` a step ends with the new parameters; without, with the gradient.
    pub(super) fn new(input: i32, output: i32, updates: bool) -> Result<Self, Exception> {
        let mut model = LinearBuilder::new(input, output).build()?;
        in_double_precision(&mut model)?;
        Ok(Self {
            model,
            optimizer: Sgd::new(RATE),
            updates,
        })
    }
}

/// The mean squared error of a linear layer.
fn error_of(model: &mut nn::Linear, (x, y): (&Array, &Array)) -> Result<Array, Exception> {
    let off = ops::subtract(model.forward(x)?, y)?;
    ops::mean(&off.square()?, None)
}

impl Many for Training {
    fn forward(&mut self, operands: &[Option<Array>]) -> Result<Vec<Array>, Exception> {
        let [Some(x), Some(y)] = operands else {
            return Err(Exception::custom("it takes examples and labels"));
        };
        let (weight, bias) = (self.model.weight.value.clone(), self.model.bias.value.clone());
        let bias = bias.ok_or_else(|| Exception::custom("the layer has no bias"))?;
        let mut step = nn::value_and_grad(error_of);
        let (loss, gradients) = step(&mut self.model, (x, y))?;
        if self.updates {
            self.optimizer.update(&mut self.model, &gradients)?;
        }
        // The gradient of the mean squared error of a linear layer, as a textbook has it.
        let wanted = function_scope("by_hand", || {
            let off = ops::subtract(ops::add(ops::matmul(x, weight.t())?, &bias)?, y)?;
            let scaled = ops::multiply(&off, Array::from_f64(2.0 / off.size() as f64))?;
            Ok::<_, Exception>([ops::matmul(scaled.t(), x)?, ops::sum_axis(&scaled, 0, None)?])
        })?;
        let mut given = vec![loss];
        for ((name, before), wanted) in [("weight", &weight), ("bias", &bias)].into_iter().zip(wanted) {
            let missing = || Exception::custom(format!("there is no gradient of {name}"));
            let off = match self.updates {
                false => ops::subtract(gradients.get(name).ok_or_else(missing)?, wanted)?,
                true => {
                    let now = self.model.parameters().flatten();
                    let now = now.get(name).map(|now| (*now).clone()).ok_or_else(missing)?;
                    let wanted = ops::subtract(before, ops::multiply(wanted, Array::from_f64(RATE.into()))?)?;
                    ops::subtract(now, wanted)?
                }
            };
            given.push(off);
        }
        Ok(given)
    }

    fn parameters(&self) -> ModuleParamRef<'_> {
        self.model.parameters()
    }
}

/// mlx-rs's Transformer, and the gradient of the mean of its squares by three of its parameters.
pub(super) struct TransformerGradient(Transformer);

/// One near the input, one in the middle, one near the output.
const WATCHED: [&str; 3] = [
    "encoder.layers.0.attention.query_proj.weight",
    "decoder.layers.0.linear1.weight",
    "decoder.layers.0.linear2.bias",
];

/// MLX computes exp of a double in single precision, so that a difference must be well above that.
const STEP: f64 = 1e-2;

impl TransformerGradient {
    pub(super) fn new(dims: i32, heads: i32) -> Result<Self, Box<dyn std::error::Error>> {
        let mut model = TransformerBuilder::new()
            .dimensions(dims)
            .num_heads(heads)
            .encoder_layer_count(1_usize)
            .decoder_layer_count(1_usize)
            .mlp_dimensions(2 * dims)
            .build()?;
        in_double_precision(&mut model)?;
        Ok(Self(model))
    }
}

/// The mean of the squares of what the Transformer gives.
fn squares_of(model: &mut Transformer, (source, target): (&Array, &Array)) -> Result<Array, Exception> {
    let mask = Array::from_f64(0.0);
    let given = model.forward(TransformerInput {
        source,
        target,
        source_mask: &mask,
        target_mask: &mask,
        memory_mask: &mask,
    })?;
    ops::mean(&given.square()?, None)
}

impl Many for TransformerGradient {
    fn forward(&mut self, operands: &[Option<Array>]) -> Result<Vec<Array>, Exception> {
        let [Some(source), Some(target)] = operands else {
            return Err(Exception::custom("it takes a source and a target"));
        };
        let model = &mut self.0;
        let before: Vec<(Rc<str>, Array)> = model
            .parameters()
            .flatten()
            .into_iter()
            .map(|(name, array)| (name, array.clone()))
            .collect();
        let (loss, gradients) = nn::value_and_grad(squares_of)(model, (source, target))?;
        update_parameters(model, before.iter().cloned());
        let mut given = vec![loss];
        for name in WATCHED {
            let missing = || Exception::custom(format!("the Transformer has no parameter {name}"));
            let gradient = gradients.get(name).ok_or_else(missing)?;
            let (_, parameter) = before
                .iter()
                .find(|(known, _)| &**known == name)
                .ok_or_else(missing)?;
            // Along a direction in which every element counts, each otherwise.
            let count = parameter.size() as i32;
            let ramp = ops::arange::<_, f64>(None, f64::from(count), None)?;
            let along = ops::divide(
                ops::add(ramp, Array::from_f64(1.0))?,
                Array::from_f64(f64::from(count)),
            )?;
            let along = along.reshape(parameter.shape())?;
            let slope = function_scope("finite_differences", || {
                let mut at = |step: f64| -> Result<Array, Exception> {
                    let moved = ops::add(parameter, ops::multiply(&along, Array::from_f64(step))?)?;
                    update_parameters(model, [(Rc::from(name), moved)]);
                    let loss = squares_of(model, (source, target));
                    update_parameters(model, [(Rc::from(name), parameter.clone())]);
                    loss
                };
                ops::divide(ops::subtract(at(STEP)?, at(-STEP)?)?, Array::from_f64(2.0 * STEP))
            })?;
            let said = ops::sum(ops::multiply(gradient, &along)?, None)?;
            given.push(ops::subtract(said, slope)?);
        }
        Ok(given)
    }

    fn parameters(&self) -> ModuleParamRef<'_> {
        self.0.parameters()
    }
}

fn in_double_precision(model: &mut impl ModuleParameters) -> Result<(), Exception> {
    for parameter in model.parameters_mut().flatten().values_mut() {
        **parameter = parameter.as_dtype(Dtype::Float64)?;
    }
    Ok(())
}
