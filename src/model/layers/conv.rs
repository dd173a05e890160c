//! Convolutions.

use mlx_rs::builder::Builder;
use mlx_rs::nn::{
    Conv1d, Conv1dBuilder, Conv2d, Conv2dBuilder, Conv3d, Conv3dBuilder, ConvTranspose1d,
    ConvTranspose1dBuilder, ConvTranspose2d, ConvTranspose2dBuilder, ConvTranspose3d, ConvTranspose3dBuilder,
};

use super::made::{pair, pair_or, triple, triple_or, unary};
use super::table::layers;

layers! {
    conv1d(x; input: Int, output: Int, kernel: Int; bias: Bool, stride: Int, padding: Int, dilation: Int, groups: Int) => unary(
        Conv1dBuilder::new(input, output, kernel)
            .bias(bias.unwrap_or(Conv1d::DEFAULT_BIAS))
            .stride(stride.unwrap_or(Conv1d::DEFAULT_STRIDE))
            .padding(padding.unwrap_or(Conv1d::DEFAULT_PADDING))
            .dilation(dilation.unwrap_or(Conv1d::DEFAULT_DILATION))
            .groups(groups.unwrap_or(Conv1d::DEFAULT_GROUPS))
            .build()?
    );
    conv2d(x; input: Int, output: Int, kernel: Ints; bias: Bool, stride: Ints, padding: Ints, dilation: Ints, groups: Int) => unary(
        Conv2dBuilder::new(input, output, pair(&kernel)?)
            .bias(bias.unwrap_or(Conv2d::DEFAULT_BIAS))
            .stride(pair_or(stride, Conv2d::DEFAULT_STRIDE)?)
            .padding(pair_or(padding, Conv2d::DEFAULT_PADDING)?)
            .dilation(pair_or(dilation, Conv2d::DEFAULT_DILATION)?)
            .groups(groups.unwrap_or(Conv2d::DEFAULT_GROUPS))
            .build()?
    );
    conv3d(x; input: Int, output: Int, kernel: Ints; bias: Bool, stride: Ints, padding: Ints, dilation: Ints, groups: Int) => unary(
        Conv3dBuilder::new(input, output, triple(&kernel)?)
            .bias(bias.unwrap_or(Conv3d::DEFAULT_BIAS))
            .stride(triple_or(stride, Conv3d::DEFAULT_STRIDE)?)
            .padding(triple_or(padding, Conv3d::DEFAULT_PADDING)?)
            .dilation(triple_or(dilation, Conv3d::DEFAULT_DILATION)?)
            .groups(groups.unwrap_or(Conv3d::DEFAULT_GROUPS))
            .build()?
    );
    conv_transpose1d(x; input: Int, output: Int, kernel: Int; bias: Bool, stride: Int, padding: Int, output_padding: Int) => unary(
        ConvTranspose1dBuilder::new(input, output, kernel)
            .bias(bias.unwrap_or(ConvTranspose1d::DEFAULT_BIAS))
            .stride(stride.unwrap_or(ConvTranspose1d::DEFAULT_STRIDE))
            .padding(padding.unwrap_or(ConvTranspose1d::DEFAULT_PADDING))
            .output_padding(output_padding.unwrap_or(ConvTranspose1d::DEFAULT_OUTPUT_PADDING))
            .build()?
    );
    conv_transpose2d(x; input: Int, output: Int, kernel: Ints; bias: Bool, stride: Ints, padding: Ints, output_padding: Ints) => unary(
        ConvTranspose2dBuilder::new(input, output, pair(&kernel)?)
            .bias(bias.unwrap_or(ConvTranspose2d::DEFAULT_BIAS))
            .stride(pair_or(stride, ConvTranspose2d::DEFAULT_STRIDE)?)
            .padding(pair_or(padding, ConvTranspose2d::DEFAULT_PADDING)?)
            .output_padding(pair_or(output_padding, ConvTranspose2d::DEFAULT_OUTPUT_PADDING)?)
            .build()?
    );
    conv_transpose3d(x; input: Int, output: Int, kernel: Ints; bias: Bool, stride: Ints, padding: Ints, output_padding: Ints) => unary(
        ConvTranspose3dBuilder::new(input, output, triple(&kernel)?)
            .bias(bias.unwrap_or(ConvTranspose3d::DEFAULT_BIAS))
            .stride(triple_or(stride, ConvTranspose3d::DEFAULT_STRIDE)?)
            .padding(triple_or(padding, ConvTranspose3d::DEFAULT_PADDING)?)
            .output_padding(triple_or(output_padding, ConvTranspose3d::DEFAULT_OUTPUT_PADDING)?)
            .build()?
    );
}
