//! Layers of several arrays, or whose forward takes a structure: see `model::structured`.

use mlx_rs::builder::Builder;
use mlx_rs::module::Module;
use mlx_rs::nn::{
    Alibi, AlibiInput, Gru, GruBuilder, Lstm, LstmBuilder, MultiHeadAttention, MultiHeadAttentionBuilder,
    Rnn, RnnBuilder, RopeInput, RotaryPositionalEncoding, RotaryPositionalEncodingBuilder, Transformer,
    TransformerBuilder, TransformerInput,
};

use super::super::structured::{
    AlibiCall, GruCall, LstmCall, MultiHeadAttentionCall, RnnCall, RopeCall, TransformerCall,
};
use super::made::{composite, many};
use super::table::layers;

layers! {
    gru(x, state: optional; input: Int, hidden: Int; bias: Bool) => many(GruCall(
        GruBuilder::new(input, hidden).bias(bias.unwrap_or(Gru::DEFAULT_BIAS)).build()?
    ));
    lstm(x, state: optional, cell: optional; input: Int, hidden: Int; bias: Bool) => many(LstmCall(
        LstmBuilder::new(input, hidden).bias(bias.unwrap_or(Lstm::DEFAULT_BIAS)).build()?
    ));
    multi_head_attention(queries, keys, values, mask: optional; dims: Int, heads: Int; bias: Bool) => many(MultiHeadAttentionCall(
        MultiHeadAttentionBuilder::new(dims, heads).bias(bias.unwrap_or(MultiHeadAttention::DEFAULT_BIAS)).build()?
    ));
    rnn(x, state: optional; input: Int, hidden: Int; bias: Bool) => many(RnnCall(
        RnnBuilder::new(input, hidden).bias(bias.unwrap_or(Rnn::DEFAULT_BIAS)).build()?
    ));
    transformer(source, target;; dims: Int, heads: Int, encoder_layers: Int, decoder_layers: Int, dropout: Float, norm_first: Bool, training: Bool) => {
        let layers = |given: Option<i32>, default: usize| given.map_or(default, |layers| layers.max(0) as usize);
        let mut model = TransformerBuilder::new()
            .dimensions(dims.unwrap_or(Transformer::DEFAULT_DIMENSIONS))
            .num_heads(heads.unwrap_or(Transformer::DEFAULT_NUM_HEADS))
            .encoder_layer_count(layers(encoder_layers, Transformer::DEFAULT_ENCODER_LAYERS_COUNT))
            .decoder_layer_count(layers(decoder_layers, Transformer::DEFAULT_DECODER_LAYERS_COUNT))
            .dropout(dropout.unwrap_or(Transformer::DEFAULT_DROPOUT))
            .norm_first(norm_first.unwrap_or(Transformer::DEFAULT_NORM_FIRST))
            .build()?;
        if let Some(mode) = training {
            Module::<TransformerInput<'_>>::training_mode(&mut model, mode);
        }
        composite(TransformerCall(model))
    };
    alibi(scores, mask: optional; ; offset: Int) => many(AlibiCall(Alibi, offset.unwrap_or(AlibiInput::DEFAULT_OFFSET)));
    rope(x; dims: Int; traditional: Bool, base: Float, scale: Float, offset: Int) => many(RopeCall(
        RotaryPositionalEncodingBuilder::new(dims)
            .traditional(traditional.unwrap_or(RotaryPositionalEncoding::DEFAULT_TRADITIONAL))
            .base(base.unwrap_or(RotaryPositionalEncoding::DEFAULT_BASE))
            .scale(scale.unwrap_or(RotaryPositionalEncoding::DEFAULT_SCALE))
            .build()?,
        offset.unwrap_or(RopeInput::DEFAULT_OFFSET),
    ));
}
