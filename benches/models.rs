//! The three models that costs are measured on.

use mlx_assay::capture::containers::Sequential;
use mlx_rs::builder::Builder;
use mlx_rs::error::Exception;
use mlx_rs::module::Module;
use mlx_rs::nn::{
    Gelu, Linear, Sequential as PlainSequential, Transformer, TransformerBuilder, TransformerInput,
};
use mlx_rs::{ops, random, Array};

/// mlx-rs's own Transformer with its inputs: 2+2 layers, 64 dimensions, 4 heads.
pub struct TransformerCase {
    pub model: Transformer,
    source: Array,
    target: Array,
    mask: Array,
}

impl TransformerCase {
    pub fn new() -> Result<Self, Box<dyn std::error::Error>> {
        random::seed(0)?;
        let mut model = TransformerBuilder::new()
            .dimensions(64)
            .num_heads(4)
            .encoder_layer_count(2_usize)
            .decoder_layer_count(2_usize)
            .build()?;
        <Transformer as Module<TransformerInput<'_>>>::training_mode(&mut model, false);
        let source = random::normal::<f32>(&[4, 16, 64], None, None, None)?;
        let target = random::normal::<f32>(&[4, 12, 64], None, None, None)?;
        let mask = Array::from_f32(0.0);
        mlx_rs::transforms::eval_params(mlx_rs::module::ModuleParameters::parameters(&model))?;
        mlx_rs::transforms::eval([&source, &target, &mask])?;
        Ok(Self {
            model,
            source,
            target,
            mask,
        })
    }

    /// The model and its input, borrowed apart.
    pub fn parts(&mut self) -> (&mut Transformer, TransformerInput<'_>) {
        let input = TransformerInput {
            source: &self.source,
            target: &self.target,
            source_mask: &self.mask,
            target_mask: &self.mask,
            memory_mask: &self.mask,
        };
        (&mut self.model, input)
    }
}

/// 50 times Linear 64 + gelu, batch 8, as mlx-rs's own container.
pub fn mlp100() -> Result<(PlainSequential, Array), Exception> {
    random::seed(0)?;
    let mut model = PlainSequential::new();
    for _ in 0..50 {
        model = model.append(Linear::new(64, 64)?).append(Gelu::new());
    }
    let x = random::normal::<f32>(&[8, 64], None, None, None)?;
    mlx_rs::transforms::eval_params(mlx_rs::module::ModuleParameters::parameters(&model))?;
    x.eval()?;
    Ok((model, x))
}

/// The same in our container, whose layers have names.
#[allow(dead_code)]
pub fn mlp100_scoped() -> Result<Sequential, Exception> {
    let mut model = Sequential::new();
    for _ in 0..50 {
        model = model.push(Linear::new(64, 64)?).push(Gelu::new());
    }
    Ok(model)
}

/// 50 additions of 1,024 x 1,024.
pub fn elementwise_1024(x: &Array) -> Result<Array, Exception> {
    let mut y = x.clone();
    for _ in 0..50 {
        y = ops::add(&y, x)?;
    }
    Ok(y)
}
