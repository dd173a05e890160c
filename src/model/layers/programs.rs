//! Named Rust models: see `model::programs`.

use super::super::faults::Fault;
use super::super::llama::LlamaBlock;
use super::super::programs::{
    AsyncMidway, BranchOnItem, EvaluateMidway, InnerLiteral, LoadNumpy, NormEvaluated, OuterConstant,
    PrintMidway, ReadItem, ReadMidway, ReadSlice, RecoverFromError, RecoverFromPanic, SaveNumpy,
    SaveSafetensors,
};
use super::super::routines::Run;
use super::super::tied::Tied;
use super::super::training::{LeastSquares, Training, TransformerGradient};
use super::super::{compiled, field, gradients, unsupported};
use super::made::{composite, program};
use super::table::layers;

layers! {
    async_midway(x; ; ) => program(AsyncMidway::new());
    branch_on_item(x; ; ) => program(BranchOnItem::new());
    evaluate_midway(x; ; ) => program(EvaluateMidway::new());
    fault(x; kind: Text; ) => program(Fault::new(&kind)?);
    inner_literal(x; ; ) => program(InnerLiteral::new());
    llama_block(x; dims: Int, heads: Int, hidden: Int; dtype: DType) => program(
        LlamaBlock::new(dims, heads, hidden, dtype.unwrap_or(mlx_rs::Dtype::Float32))?
    );
    load_numpy(x; ; ) => program(LoadNumpy::new());
    norm_evaluated(x; ; ) => program(NormEvaluated::new());
    outer_constant(x; ; ) => program(OuterConstant::new());
    print_midway(x; ; ) => program(PrintMidway::new());
    read_item(x; ; ) => program(ReadItem::new());
    read_slice(x; ; ) => program(ReadSlice::new());
    recover_from_error(x; ; ) => program(RecoverFromError::new());
    recover_from_panic(x; ; ) => program(RecoverFromPanic::new());
    save_numpy(x; ; ) => program(SaveNumpy::new());
    save_safetensors(x; ; ) => program(SaveSafetensors::new());
    read_midway(x; ; ) => program(ReadMidway::new());
    compiled(; kind: Text; ) => composite(Run::new(compiled::ROUTINES, &kind)?);
    field(; kind: Text; ) => composite(Run::new(field::ROUTINES, &kind)?);
    least_squares(w, x, y; steps: Int, rate: Float; ) => composite(LeastSquares { steps, rate: rate.into() });
    linear_gradient(x, y; input: Int, output: Int; ) => composite(Training::new(input, output, false)?);
    tied(tokens; count: Int, dims: Int; ) => composite(Tied::new(count, dims)?);
    training_step(x, y; input: Int, output: Int; ) => composite(Training::new(input, output, true)?);
    transformer_gradient(source, target; dims: Int, heads: Int; ) => composite(TransformerGradient::new(dims, heads)?);
    transform(; kind: Text; ) => composite(Run::new(gradients::ROUTINES, &kind)?);
    unsupported(; kind: Text; ) => composite(Run::new(unsupported::ROUTINES, &kind)?);
}
