//! Activations as functions. Their layers stand in the table of layers.

use mlx_rs::nn::{self, MultiHeadAttention};

use super::table::functions;

functions! {
    nn.celu(x: Array; alpha: Float) => nn::celu(&x, alpha);
    nn.elu(x: Array; alpha: Float) => nn::elu(&x, alpha);
    nn.gelu(x: Array) => nn::gelu(&x);
    nn.gelu_approximate(x: Array) => nn::gelu_approximate(&x);
    nn.gelu_fast_approximate(x: Array) => nn::gelu_fast_approximate(&x);
    nn.glu(x: Array; axis: Int) => nn::glu(&x, axis);
    nn.hard_swish(x: Array) => nn::hard_swish(&x);
    nn.leaky_relu(x: Array; neg_slope: Float) => nn::leaky_relu(&x, neg_slope);
    nn.log_sigmoid(x: Array) => nn::log_sigmoid(&x);
    nn.log_softmax(x: Array; axis: Int) => nn::log_softmax(&x, axis);
    nn.mish(x: Array) => nn::mish(&x);
    nn.prelu(x: Array, alpha: Array) => nn::prelu(&x, &alpha);
    nn.relu(x: Array) => nn::relu(&x);
    nn.relu6(x: Array) => nn::relu6(&x);
    nn.selu(x: Array) => nn::selu(&x);
    nn.sigmoid(x: Array) => nn::sigmoid(&x);
    nn.silu(x: Array) => nn::silu(&x);
    nn.softplus(x: Array) => nn::softplus(&x);
    nn.softsign(x: Array) => nn::softsign(&x);
    nn.step(x: Array; threshold: Float) => nn::step(&x, threshold);
    nn.causal_mask(n: Int) => MultiHeadAttention::create_additive_causal_mask::<f32>(n);
}
