//! A decoder block as Llama has them, over several steps with a cache of keys and values.
//!
//! Each step attends to itself and to all before it, and appends its keys and values to the cache; nothing in it knows of
//! captures.

use mlx_rs::builder::Builder;
use mlx_rs::error::Exception;
use mlx_rs::fast::scaled_dot_product_attention;
use mlx_rs::macros::ModuleParameters;
use mlx_rs::module::{Module, Param};
use mlx_rs::nn::{
    silu, Linear, LinearBuilder, QuantizedLinear, RmsNorm, RmsNormBuilder, RopeInput,
    RotaryPositionalEncoding, RotaryPositionalEncodingBuilder,
};
use mlx_rs::{ops, Array, Dtype};

/// The block: attention, then a gated feed-forward network, each on a normalized input and added to it.
#[derive(Debug, Clone, ModuleParameters)]
pub struct LlamaBlock {
    #[param]
    attention_norm: RmsNorm,
    #[param]
    query: Linear,
    #[param]
    key: Linear,
    #[param]
    value: Linear,
    #[param]
    output: Linear,
    #[param]
    norm: RmsNorm,
    #[param]
    gate: Linear,
    #[param]
    up: Linear,
    #[param]
    down: QuantizedLinear,
    #[param]
    rope: RotaryPositionalEncoding,
    heads: i32,
}

/// How many values of a quantized weight share a scale; the hidden size is a multiple of it.
const GROUP: i32 = 32;

impl LlamaBlock {
    /// A block of `heads` heads over `dims` features, with `hidden` features inside the feed-forward network, its
    /// parameters drawn at random and cast to `dtype`.
    ///
    /// # Errors
    ///
    /// MLX's, such as of a hidden size that is no multiple of 32.
    pub fn new(dims: i32, heads: i32, hidden: i32, dtype: Dtype) -> Result<Self, Box<dyn std::error::Error>> {
        let linear = |input, output| -> Result<Linear, Box<dyn std::error::Error>> {
            let mut layer = LinearBuilder::new(input, output).bias(false).build()?;
            layer.weight = Param::new(layer.weight.as_dtype(dtype)?);
            Ok(layer)
        };
        let norm = || -> Result<RmsNorm, Box<dyn std::error::Error>> {
            let mut layer = RmsNormBuilder::new(dims).build()?;
            layer.weight = Param::new(layer.weight.as_dtype(dtype)?);
            Ok(layer)
        };
        Ok(Self {
            attention_norm: norm()?,
            query: linear(dims, dims)?,
            key: linear(dims, dims)?,
            value: linear(dims, dims)?,
            output: linear(dims, dims)?,
            norm: norm()?,
            gate: linear(dims, hidden)?,
            up: linear(dims, hidden)?,
            down: QuantizedLinear::try_from_linear(linear(hidden, dims)?, GROUP, 4)?,
            rope: RotaryPositionalEncodingBuilder::new(dims / heads).build()?,
            heads,
        })
    }

    /// One step: `x` has one place, and `cache` the keys and values of those before it.
    fn step(
        &mut self,
        x: &Array,
        place: i32,
        cache: &mut Option<(Array, Array)>,
    ) -> Result<Array, Exception> {
        let h = self.attention_norm.forward(x)?;
        let (batch, dims) = (h.dim(0), h.dim(2));
        let heads = self.heads;
        let split = |it: Array| {
            it.reshape(&[batch, 1, heads, dims / heads])?
                .transpose_axes(&[0, 2, 1, 3])
        };
        let queries = split(self.query.forward(&h)?)?;
        let keys = split(self.key.forward(&h)?)?;
        let values = split(self.value.forward(&h)?)?;
        let mut turned = |x: &Array| self.rope.forward(RopeInput { x, offset: place });
        let (queries, mut keys, mut values) = (turned(&queries)?, turned(&keys)?, values);
        if let Some((before, valued)) = cache.take() {
            keys = ops::concatenate(&[&before, &keys], 2)?;
            values = ops::concatenate(&[&valued, &values], 2)?;
        }
        let scale = 1.0 / ((dims / heads) as f32).sqrt();
        let attended = scaled_dot_product_attention(&queries, &keys, &values, scale, None, None)?;
        *cache = Some((keys, values));
        let attended = attended
            .transpose_axes(&[0, 2, 1, 3])?
            .reshape(&[batch, 1, dims])?;
        let x = x.add(self.output.forward(&attended)?)?;
        let h = self.norm.forward(&x)?;
        let gated = silu(self.gate.forward(&h)?)?.multiply(self.up.forward(&h)?)?;
        x.add(self.down.forward(&gated)?)
    }
}

impl Module<&Array> for LlamaBlock {
    type Output = Array;
    type Error = Exception;

    /// `x` is (batch, steps, dims); each place is a step of its own.
    #[inline(never)]
    fn forward(&mut self, x: &Array) -> Result<Array, Exception> {
        let mut cache = None;
        let mut made = Vec::new();
        for (place, x) in ops::split_equal(x, x.dim(1), 1)?.iter().enumerate() {
            made.push(self.step(x, place as i32, &mut cache)?);
        }
        ops::concatenate(&made, 1)
    }

    fn training_mode(&mut self, _mode: bool) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::validate;
    use crate::vocabulary::State;
    use crate::Trace;
    use mlx_rs::random;

    /// Three steps, from the same random numbers for each element type.
    fn traced(dtype: Dtype) -> Trace {
        random::seed(5).unwrap();
        let mut block = LlamaBlock::new(32, 4, 64, dtype).unwrap();
        let x = random::normal::<f32>(&[1, 3, 32], None, None, None).unwrap();
        let x = x.as_dtype(dtype).unwrap();
        x.eval().unwrap();
        crate::trace(&mut block, &x).unwrap()
    }

    #[test]
    fn three_steps_in_two_element_types_part_no_further_than_the_narrow_one_is_coarse() {
        let (wide, narrow) = (traced(Dtype::Float32), traced(Dtype::Bfloat16));
        for trace in [&wide, &narrow] {
            let status = validate(trace);
            assert_eq!(status.state(), State::Passed, "{status}");
            assert!(trace.first_non_finite().unwrap().is_none());
        }
        let quantized = wide
            .ops()
            .iter()
            .filter(|op| op.func_name() == "quantized_linear")
            .count();
        assert_eq!(
            quantized,
            3,
            "{:?}",
            wide.ops().iter().map(|op| op.label()).collect::<Vec<_>>()
        );
        // The same ops in the same order, all the way.
        let rows = wide.beside(&narrow).unwrap();
        assert_eq!(rows.len(), wide.ops().len());
        assert_eq!(rows.len(), narrow.ops().len());
        // bfloat16 has 8 bits: the input parts by half of the last, and sums of a few dozen by some of them.
        let first = wide.parting(&narrow, 0.0).unwrap().unwrap();
        assert_eq!(first.op, "input_1:1");
        let far = wide.parting(&narrow, 0.1).unwrap();
        assert_eq!(far, None);
        // The cache grows by one place a step.
        let ops = wide.ops();
        let keys: Vec<i32> = ops
            .iter()
            .filter(|op| op.func_name() == "concatenate" && wide.value(op.results()[0]).shape().len() == 4)
            .map(|op| wide.value(op.results()[0]).shape()[2])
            .collect();
        assert_eq!(keys, [2, 2, 3, 3]);
    }
}
