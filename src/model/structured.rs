//! Layers whose forward takes a structure: called with arrays in the order of their table entry.

use mlx_rs::error::Exception;
use mlx_rs::module::{Module, ModuleParamRef, ModuleParameters};
use mlx_rs::nn::{
    Alibi, AlibiInput, Gru, Lstm, LstmInput, MultiHeadAttention, MultiHeadAttentionInput, Rnn, RnnInput,
    RopeInput, RotaryPositionalEncoding, Transformer, TransformerInput,
};
use mlx_rs::Array;
use mlx_sys::observe;

use super::module::Many;

/// Implements [`Many`] for a wrapper: what its operands are called, and the forward over them.
macro_rules! structured {
    ($(#[$about:meta])* $name:ident($inner:ty $(, $setting:ident: $kind:ty)?) takes $wanted:literal, $layer:ident, $operands:pat => $forward:expr) => {
        $(#[$about])*
        pub(super) struct $name(pub(super) $inner $(, pub(super) $kind)?);

        impl Many for $name {
            fn forward(&mut self, operands: &[Option<Array>]) -> Result<Vec<Array>, Exception> {
                let $layer = &mut self.0;
                $(let $setting = self.1;)?
                match operands {
                    $operands => $forward,
                    _ => Err(Exception::custom(concat!("it takes ", $wanted))),
                }
            }

            fn parameters(&self) -> ModuleParamRef<'_> {
                self.0.parameters()
            }
        }
    };
}

structured! {
    /// The hidden state at each step.
    GruCall(Gru) takes "x and maybe a hidden state", layer, [Some(x), hidden] => {
        layer.forward(RnnInput { x, hidden: hidden.as_ref() }).map(|states| vec![states])
    }
}

structured! {
    /// The hidden state and the cell state at each step.
    LstmCall(Lstm) takes "x and maybe a hidden and a cell state", layer, [Some(x), hidden, cell] => {
        let input = LstmInput { x, hidden: hidden.as_ref(), cell: cell.as_ref() };
        layer.forward(input).map(|(hidden, cell)| vec![hidden, cell])
    }
}

structured! {
    /// The hidden state at each step.
    RnnCall(Rnn) takes "x and maybe a hidden state", layer, [Some(x), hidden] => {
        layer.forward(RnnInput { x, hidden: hidden.as_ref() }).map(|states| vec![states])
    }
}

structured! {
    /// The attended values.
    MultiHeadAttentionCall(MultiHeadAttention) takes "queries, keys, values and maybe a mask",
    layer, [Some(queries), Some(keys), Some(values), mask] => {
        let input = MultiHeadAttentionInput { queries, keys, values, mask: mask.as_ref() };
        layer.forward(input).map(|values| vec![values])
    }
}

structured! {
    /// mlx-rs's Transformer, with masks of zero.
    TransformerCall(Transformer) takes "a source and a target", layer, [Some(source), Some(target)] => {
        let mask = Array::from_f32(0.0);
        let input = TransformerInput {
            source,
            target,
            source_mask: &mask,
            target_mask: &mask,
            memory_mask: &mask,
        };
        layer.forward(input).map(|y| vec![y])
    }
}

structured! {
    /// Attention scores with a bias by distance.
    AlibiCall(Alibi, offset: i32) takes "scores and maybe a mask", layer, [Some(attention_scores), mask] => {
        let input = || AlibiInput { attention_scores, offset, mask: mask.as_ref() };
        // mlx-rs keeps each bias for the thread's life: whether a trace shows its making must not depend on what ran
        // before, so it is there already.
        observe::unobserved(|| layer.forward(input()).and_then(|y| y.eval()))?;
        layer.forward(input()).map(|y| vec![y])
    }
}

structured! {
    /// Pairs of features, turned by their place.
    RopeCall(RotaryPositionalEncoding, offset: i32) takes "x", layer, [Some(x)] => {
        layer.forward(RopeInput { x, offset }).map(|y| vec![y])
    }
}
