//! Fused kernels.

use mlx_rs::fast::{self, ScaledDotProductAttentionMask};

use super::table::{exception, functions};

functions! {
    fast.layer_norm(x: Array; weight: Array, bias: Array, eps: Float) => fast::layer_norm(&x, weight.as_ref(), bias.as_ref(), eps.unwrap_or(1e-5));
    fast.rms_norm(x: Array; weight: Array, eps: Float) => fast::rms_norm(&x, weight.as_ref(), eps.unwrap_or(1e-5));
    fast.rope(x: Array, dimensions: Int; traditional: Bool, base: Float, scale: Float, offset: Int, freqs: Array) => fast::rope(
        &x, dimensions, traditional.unwrap_or(false), base_without(base, freqs.is_some()), scale.unwrap_or(1.0),
        offset.unwrap_or(0), freqs.as_ref(),
    );
    fast.rope_dynamic(x: Array, dimensions: Int, offset: Array; traditional: Bool, base: Float, scale: Float, freqs: Array) => fast::rope_dynamic(
        &x, dimensions, traditional.unwrap_or(false), base_without(base, freqs.is_some()), scale.unwrap_or(1.0),
        &offset, freqs.as_ref(),
    );
    fast.scaled_dot_product_attention(queries: Array, keys: Array, values: Array; scale: Float, mask: Array, mask_mode: Text, sinks: Array) => {
        let mask = match (mask.as_ref(), mask_mode.as_deref()) {
            (Some(mask), _) => Some(ScaledDotProductAttentionMask::Array(mask)),
            (None, Some("causal")) => Some(ScaledDotProductAttentionMask::Causal),
            (None, None) => None,
            (None, Some(other)) => return Err(exception(format!("mask_mode is `causal`, not `{other}`"))),
        };
        fast::scaled_dot_product_attention(&queries, &keys, &values, scale.unwrap_or(1.0), mask, sinks.as_ref())
    };
}

/// MLX takes a base or frequencies, not both.
fn base_without(base: Option<f32>, frequencies: bool) -> Option<f32> {
    match frequencies {
        true => base,
        false => base.or(Some(10_000.0)),
    }
}
