//! Traces mlx-rs's own `nn::Transformer`, unchanged, and prints what validation makes of the trace.
//!
//! `cargo run --example trace_your_model`

use mlx_assay::backends;
use mlx_rs::builder::Builder;
use mlx_rs::nn::{TransformerBuilder, TransformerInput};
use mlx_rs::{random, Array};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    random::seed(0)?;
    let mut model = TransformerBuilder::new()
        .dimensions(64)
        .num_heads(4)
        .encoder_layer_count(2usize)
        .decoder_layer_count(2usize)
        .build()?;
    let source = random::normal::<f32>(&[1, 6, 64], None, None, None)?;
    let target = random::normal::<f32>(&[1, 5, 64], None, None, None)?;
    let mask = Array::from_f32(0.0);

    let input = TransformerInput {
        source: &source,
        target: &target,
        source_mask: &mask,
        target_mask: &mask,
        memory_mask: &mask,
    };
    let trace = mlx_assay::trace(&mut model, input)?;
    for op in trace.ops().iter().take(12) {
        println!("{:<16} {:?}", op.label(), op.parents());
    }
    println!("… {} calls in all", trace.calls().len());

    let status = backends::spec("mlx")?.validate_trace(&trace)?;
    println!("{status}");
    Ok(())
}
