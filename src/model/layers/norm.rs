//! Normalizations.

use mlx_rs::builder::Builder;
use mlx_rs::nn::{
    BatchNorm, BatchNormBuilder, GroupNorm, GroupNormBuilder, InstanceNorm, InstanceNormBuilder, LayerNorm,
    LayerNormBuilder, RmsNorm, RmsNormBuilder,
};

use super::made::{in_mode, unary};
use super::table::layers;

layers! {
    batch_norm(x; features: Int; eps: Float, momentum: Float, affine: Bool, track_running_stats: Bool, training: Bool) => {
        let layer = BatchNormBuilder::new(features)
            .eps(eps.unwrap_or(BatchNorm::DEFAULT_EPS))
            .momentum(momentum.unwrap_or(BatchNorm::DEFAULT_MOMENTUM))
            .affine(affine.unwrap_or(BatchNorm::DEFAULT_AFFINE))
            .track_running_stats(track_running_stats.unwrap_or(BatchNorm::DEFAULT_TRACK_RUNNING_STATS))
            .build()?;
        unary(in_mode(layer, training))
    };
    group_norm(x; groups: Int, dims: Int; eps: Float, affine: Bool, pytorch_compatible: Bool) => unary(
        GroupNormBuilder::new(groups, dims)
            .eps(eps.unwrap_or(GroupNorm::DEFAULT_EPS))
            .affine(affine.unwrap_or(GroupNorm::DEFAULT_AFFINE))
            .pytorch_compatible(pytorch_compatible.unwrap_or(GroupNorm::DEFAULT_PYTORCH_COMPATIBLE))
            .build()?
    );
    instance_norm(x; dims: Int; eps: Float, affine: Bool) => unary(
        InstanceNormBuilder::new(dims)
            .eps(eps.unwrap_or(InstanceNorm::DEFAULT_EPS))
            .affine(affine.unwrap_or(InstanceNorm::DEFAULT_AFFINE))
            .build()?
    );
    layer_norm(x; dims: Int; eps: Float, affine: Bool) => unary(
        LayerNormBuilder::new(dims)
            .eps(eps.unwrap_or(LayerNorm::DEFAULT_EPS))
            .affine(affine.unwrap_or(LayerNorm::DEFAULT_AFFINE))
            .build()?
    );
    rms_norm(x; dims: Int; eps: Float) => unary(
        RmsNormBuilder::new(dims).eps(eps.unwrap_or(RmsNorm::DEFAULT_EPS)).build()?
    );
}
