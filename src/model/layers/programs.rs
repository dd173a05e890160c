//! Named Rust models: see `model::programs`.

use super::super::faults::Fault;
use super::super::programs::{
    BranchOnItem, EvaluateMidway, InnerLiteral, LoadNumpy, NormEvaluated, OuterConstant, PrintMidway,
    ReadItem, ReadMidway, ReadSlice, RecoverFromError, RecoverFromPanic, SaveNumpy, SaveSafetensors,
};
use super::made::program;
use super::table::layers;

layers! {
    branch_on_item(x; ; ) => program(BranchOnItem::new());
    evaluate_midway(x; ; ) => program(EvaluateMidway::new());
    fault(x; kind: Text; ) => program(Fault::new(&kind)?);
    inner_literal(x; ; ) => program(InnerLiteral::new());
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
}
