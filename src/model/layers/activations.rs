//! Activations.

use mlx_rs::builder::Builder;
use mlx_rs::nn::{
    Celu, CeluBuilder, Gelu, GeluApprox, Glu, GluBuilder, HardSwish, LeakyRelu, LeakyReluBuilder, LogSigmoid,
    LogSoftmax, LogSoftmaxBuilder, Mish, Prelu, PreluBuilder, Relu, Relu6, Selu, Sigmoid, Silu, Softmax,
    SoftmaxBuilder, Softplus, Softsign, Step, StepBuilder, Tanh,
};

use super::made::unary;
use super::table::layers;

layers! {
    celu(x; ; alpha: Float) => unary(CeluBuilder::new().alpha(alpha.unwrap_or(Celu::DEFAULT_ALPHA)).build()?);
    gelu(x; ; approximate: Text) => unary(Gelu { approximate: gelu_approximation(approximate.as_deref())? });
    glu(x; ; axis: Int) => unary(GluBuilder::new().axis(axis.unwrap_or(Glu::DEFAULT_AXIS)).build()?);
    hard_swish(x; ; ) => unary(HardSwish);
    leaky_relu(x; ; neg_slope: Float) => unary(
        LeakyReluBuilder::new().neg_slope(neg_slope.unwrap_or(LeakyRelu::DEFAULT_NEG_SLOPE)).build()?
    );
    log_sigmoid(x; ; ) => unary(LogSigmoid);
    log_softmax(x; ; axis: Int) => unary(
        LogSoftmaxBuilder::new().axis(axis.unwrap_or(LogSoftmax::DEFAULT_AXIS)).build()?
    );
    mish(x; ; ) => unary(Mish);
    prelu(x; ; count: Int, value: Float) => unary(
        PreluBuilder::new()
            .count(count.unwrap_or(Prelu::DEFAULT_COUNT))
            .value(value.unwrap_or(Prelu::DEFAULT_VALUE))
            .build()?
    );
    relu(x; ; ) => unary(Relu);
    relu6(x; ; ) => unary(Relu6);
    selu(x; ; ) => unary(Selu);
    sigmoid(x; ; ) => unary(Sigmoid);
    silu(x; ; ) => unary(Silu);
    softmax(x; ; axis: Int) => unary(SoftmaxBuilder::new().axis(axis.unwrap_or(Softmax::DEFAULT_AXIS)).build()?);
    softplus(x; ; ) => unary(Softplus);
    softsign(x; ; ) => unary(Softsign);
    step(x; ; threshold: Float) => unary(StepBuilder::new().threshold(threshold.unwrap_or(Step::DEFAULT_THRESHOLD)).build()?);
    tanh(x; ; ) => unary(Tanh);
}

fn gelu_approximation(name: Option<&str>) -> Result<GeluApprox, Box<dyn std::error::Error>> {
    match name {
        None | Some("none") => Ok(GeluApprox::None),
        Some("precise") => Ok(GeluApprox::Precise),
        Some("fast") => Ok(GeluApprox::Fast),
        Some(other) => Err(format!("approximate is `none`, `precise` or `fast`, not `{other}`").into()),
    }
}
