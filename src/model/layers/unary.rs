//! Layers of one array.

use mlx_rs::builder::Builder;
use mlx_rs::error::Exception;
use mlx_rs::nn::{
    AvgPool1d, AvgPool2d, Bilinear, BilinearBuilder, Dropout, Dropout2d, Dropout2dBuilder, Dropout3d,
    Dropout3dBuilder, DropoutBuilder, Embedding, Linear, LinearBuilder, MaxPool1d, MaxPool2d, Pool,
    QuantizedEmbedding, QuantizedEmbeddingBuilder, QuantizedLinear, QuantizedLinearBuilder, Relu, Sequential,
    SinusoidalPositionalEncoding, SinusoidalPositionalEncodingBuilder, Upsample, UpsampleMode,
};

use mlx_rs::Array;

use super::made::{in_mode, pair, program, unary, wide};
use super::table::layers;

layers! {
    avg_pool1d(x; kernel: Int; stride: Int) => unary(AvgPool1d::new(kernel, i64::from(stride.unwrap_or(kernel))));
    avg_pool2d(x; kernel: Ints; stride: Ints) => unary(AvgPool2d::new(pair(&kernel)?, wide(pair(&stride.unwrap_or(kernel))?)));
    bilinear(x; input1: Int, input2: Int, output: Int; bias: Bool) => unary(
        BilinearBuilder::new(input1, input2, output).bias(bias.unwrap_or(Bilinear::DEFAULT_BIAS)).build()?
    );
    dropout(x; ; p: Float, training: Bool) => unary(
        in_mode(DropoutBuilder::new().p(p.unwrap_or(Dropout::DEFAULT_P)).build()?, training)
    );
    embedding(x; count: Int, dims: Int; ) => unary(Embedding::new(count, dims)?);
    linear(x; input: Int, output: Int; bias: Bool) => unary(
        LinearBuilder::new(input, output).bias(bias.unwrap_or(Linear::DEFAULT_BIAS)).build()?
    );
    max_pool1d(x; kernel: Int; stride: Int) => unary(MaxPool1d::new(kernel, i64::from(stride.unwrap_or(kernel))));
    max_pool2d(x; kernel: Ints; stride: Ints) => unary(MaxPool2d::new(pair(&kernel)?, wide(pair(&stride.unwrap_or(kernel))?)));
    dropout2d(x; ; p: Float, training: Bool) => unary(
        in_mode(Dropout2dBuilder::new().p(p.unwrap_or(Dropout2d::DEFAULT_P)).build()?, training)
    );
    dropout3d(x; ; p: Float, training: Bool) => unary(
        in_mode(Dropout3dBuilder::new().p(p.unwrap_or(Dropout3d::DEFAULT_P)).build()?, training)
    );
    mlx_sequential(x; input: Int, hidden: Int; ) => program(
        Sequential::<Exception>::new()
            .append(LinearBuilder::new(input, hidden).build()?)
            .append(Relu)
    );
    pool(x; kernel: Ints; stride: Ints) => {
        let stride = stride.unwrap_or_else(|| kernel.clone()).into_iter().map(i64::from).collect();
        unary(Pool::new(kernel, stride, |x: &Array, axes: &[i32]| x.max_axes(axes, None)))
    };
    quantized_embedding(x; count: Int, dims: Int; group_size: Int, bits: Int) => unary(
        QuantizedEmbeddingBuilder::new(count, dims)
            .group_size(group_size.unwrap_or(QuantizedEmbedding::DEFAULT_GROUP_SIZE))
            .bits(bits.unwrap_or(QuantizedEmbedding::DEFAULT_BITS))
            .build()?
    );
    quantized_linear(x; input: Int, output: Int; group_size: Int, bits: Int, bias: Bool) => unary(
        QuantizedLinearBuilder::new(input, output)
            .group_size(group_size.unwrap_or(QuantizedLinear::DEFAULT_GROUP_SIZE))
            .bits(bits.unwrap_or(QuantizedLinear::DEFAULT_BITS))
            .bias(bias.unwrap_or(Linear::DEFAULT_BIAS))
            .build()?
    );
    sinusoidal_positional_encoding(x; dims: Int; min_frequency: Float, max_frequency: Float, scale: Float, cosine_first: Bool, full_turns: Bool) => unary(
        SinusoidalPositionalEncodingBuilder::new(dims)
            .min_frequency(min_frequency.unwrap_or(SinusoidalPositionalEncoding::DEFAULT_MIN_FREQUENCY))
            .max_frequency(max_frequency.unwrap_or(SinusoidalPositionalEncoding::DEFAULT_MAX_FREQUENCY))
            .scale(scale)
            .cosine_first(cosine_first.unwrap_or(SinusoidalPositionalEncoding::DEFAULT_COSINE_FIRST))
            .full_turns(full_turns.unwrap_or(SinusoidalPositionalEncoding::DEFAULT_FULL_TURNS))
            .build()?
    );
    upsample(x; scale: Float; mode: Text, align_corners: Bool) => unary(Upsample::new(scale, upsampling(mode.as_deref(), align_corners)?));
}

fn upsampling(
    mode: Option<&str>,
    align_corners: Option<bool>,
) -> Result<UpsampleMode, Box<dyn std::error::Error>> {
    let align_corners = align_corners.unwrap_or(false);
    match mode {
        None | Some("nearest") => Ok(UpsampleMode::Nearest),
        Some("linear") => Ok(UpsampleMode::Linear { align_corners }),
        Some("cubic") => Ok(UpsampleMode::Cubic { align_corners }),
        Some(other) => Err(format!("mode is `nearest`, `linear` or `cubic`, not `{other}`").into()),
    }
}
