//! The claims about the capture backend: one capability, one row of the scorecard.
//!
//! A claim is a flag and what stands behind it. With the flag the backend says that it can; the suite must then prove
//! it. Without, it says that it cannot: it refuses with the named code, before anything is recorded where that can be
//! known, and tells the user what to do instead. Each code belongs to one row, and a run fails where no cell pins it.

use crate::vocabulary::words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

words! {
    /// Why the backend refuses: the code of a `BackendUnsupportedError`, a closed list.
    RefusalCode {
        /// A kernel that only its source describes was to run.
        CustomKernelUnsupported = "custom_kernel_unsupported",
        /// An operation of several processes was to run.
        DistributedUnsupported = "distributed_unsupported",
        /// A GPU was asked for, and this build of MLX has none.
        GpuUnavailable = "gpu_unavailable",
        /// An input was of a type or a form that no array has.
        InputUnsupported = "input_unsupported",
        /// An op inside a transform's closure was to be replaced, or halted after.
        InterventionInsideTransform = "intervention_inside_transform",
        /// A result was to be replaced by an array of another shape or element type.
        InterventionMismatch = "intervention_mismatch",
        /// A capture was started inside a capture on the same thread.
        NestedCapture = "nested_capture",
        /// The forward sent work to another thread, and used what came back.
        OtherThread = "other_thread",
        /// An intervention names an op that the forward does not have.
        SelectorWithoutMatch = "selector_without_match",
        /// A backend of another name was asked for.
        UnknownBackend = "unknown_backend",
        /// An operation took part that the recorded surface does not cover.
        UnwrappedOpInCapture = "unwrapped_op_in_capture",
    }
}

impl RefusalCode {
    /// The capability that a refusal with this code is about.
    pub fn capability(self) -> &'static Capability {
        CAPABILITIES
            .iter()
            .find(|row| row.refusal == Some(self))
            // Each code stands in one row: a test below.
            .expect("every code has its row")
    }
}

/// One claim about the backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capability {
    /// Stable id, `room.claim`; what a case names in `covers:`.
    pub id: &'static str,
    /// The claim as one sentence.
    pub sentence: &'static str,
    /// Whether the backend claims to support it.
    pub flag: bool,
    /// The code of the refusal that must come where `flag` is false. Beside a true flag: that of the refusal which is
    /// the claim, or part of it.
    pub refusal: Option<RefusalCode>,
    /// What a user does where the backend refuses or falls short.
    pub remedy: &'static str,
}

/// Declares the table: `can "id": "sentence", or "remedy";`, with `refusing Code` where a refusal is part of the claim,
/// and `cannot` for what is refused.
macro_rules! capabilities {
    ($($word:ident $id:literal $(refusing $code:ident)?: $sentence:literal, or $remedy:literal;)+) => {
        /// Every capability, sorted by id.
        pub static CAPABILITIES: &[Capability] = &[$(Capability {
            id: $id,
            sentence: $sentence,
            flag: capabilities!(@flag $word),
            refusal: capabilities!(@code $($code)?),
            remedy: $remedy,
        }),+];
    };
    (@flag can) => { true };
    (@flag cannot) => { false };
    (@code) => { None };
    (@code $code:ident) => { Some(RefusalCode::$code) };
}

capabilities! {
    cannot "backend.second" refusing UnknownBackend:
        "captures with another backend than mlx",
        or "ask for `mlx`: there is no other backend";

    can "capture.aliases":
        "an op that gives back its argument is an alias of it, and never its own parent",
        or "wrap the call in a scope of its own";
    can "capture.constants":
        "an array the forward closes over is a constant with its payload",
        or "pass it as an input";
    cannot "capture.custom_kernels" refusing CustomKernelUnsupported:
        "kernels of one's own, for Metal or CUDA, take part in a capture",
        or "write the kernel as operations, or run it before the capture and pass its result as an input";
    cannot "capture.distributed" refusing DistributedUnsupported:
        "operations of several processes take part in a capture",
        or "capture the part of the forward that one process computes";
    can "capture.dtypes":
        "arrays of all 14 element types are recorded and validated",
        or "cast before the forward";
    can "capture.empty_arrays":
        "arrays without elements are recorded and validated",
        or "leave the empty part out";
    can "capture.getitem":
        "indexing is one op, `getitem`, with the arrays it reads as parents",
        or "index by `take`";
    can "capture.list_operands":
        "each array of a list is a parent of its own",
        or "pass the arrays one by one";
    can "capture.literals":
        "an array built from data inside the forward is a literal producer",
        or "pass it as an input";
    can "capture.loading":
        "an array read from a file inside the forward is a literal producer with its payload",
        or "read it before, and pass it as an input";
    can "capture.methods":
        "methods and operators are recorded as the functions they stand for",
        or "call the function";
    can "capture.multiple_results":
        "an op of several results has each of them, in order",
        or "take the results apart by indexing";
    cannot "capture.nested" refusing NestedCapture:
        "captures inside another capture on the same thread",
        or "let the outer capture end first: it records what the inner one would";
    can "capture.scalars":
        "arrays without axes are recorded and validated",
        or "reshape to one element";
    can "capture.unwrapped_refused" refusing UnwrappedOpInCapture:
        "an operation outside the recorded surface is refused by policy, and nothing stays behind",
        or "record under UnwrappedPolicy::Warn, and read the trace as unverified";
    can "capture.unwrapped_warned":
        "an operation outside the recorded surface makes a trace unverified, and a forward without one passes",
        or "use the policy `refuse`";
    can "capture.values_apart":
        "values that are equal are still two, and one value read twice is one parent",
        or "compare values by their id";
    can "capture.views":
        "views keep their layout in the record and in replays",
        or "copy before the forward";

    can "compile.inline":
        "a compiled function runs as its operations, each recorded",
        or "capture with CompilePolicy::Opaque";
    can "compile.opaque":
        "a compiled function is one op, replayed from its subgraph",
        or "capture with CompilePolicy::Inline";
    can "compile.stateless_draw":
        "a compiled draw without a state is frozen or drawn anew as the policy says, and the trace says which",
        or "pass a RandomState to `compile_with_state`";
    can "compile.with_state":
        "a RandomState that is passed to a compiled function is drawn from correctly, inlined and opaque",
        or "draw before, and pass the result";

    cannot "device.gpu_on_cpu_build" refusing GpuUnavailable:
        "a build of MLX for the CPU can capture on a GPU",
        or "capture on the CPU, or build with a MLX for that device";

    can "device.metal":
        "a forward on Metal is recorded, and validates within the tolerance of each type",
        or "capture on the CPU";

    can "errors.model":
        "an error of the forward reaches the caller unchanged, and nothing stays behind",
        or "run the forward without a capture to see its error";
    can "errors.panic":
        "a panic of the forward reaches the caller unchanged, and nothing stays behind",
        or "run the forward without a capture to see its panic";

    can "errors.partial_trace":
        "the record up to where a forward failed is there to be looked at, with the call that failed",
        or "halt the forward before the op that fails";

    can "evaluation.async":
        "having something computed meanwhile loses no edge and is listed",
        or "evaluate after the forward";
    can "evaluation.branches":
        "a branch on a value keeps the edges of the value and of the branch taken",
        or "select between both branches";
    can "evaluation.explicit":
        "evaluating in the middle of the forward loses no edge and is listed",
        or "evaluate after the forward";
    can "evaluation.implicit":
        "reading data in the middle of the forward loses no edge and is listed",
        or "read after the forward";
    can "evaluation.item":
        "reading one number by `item` loses no edge",
        or "read after the forward";
    can "evaluation.printing":
        "printing an array loses no edge",
        or "print after the forward";
    can "evaluation.saving":
        "saving an array to a file loses no edge",
        or "save after the forward";
    can "evaluation.slice":
        "reading the data as a slice loses no edge",
        or "read after the forward";

    can "forward.activations":
        "activations that mlx-rs compiles run as their operations, and are one op",
        or "call the operations one by one";
    can "forward.closures":
        "any closure over arrays is recorded, call by call",
        or "write a module";
    can "forward.containers":
        "lists and maps of modules have records of their own, with addresses",
        or "name the layers in one struct";
    can "forward.modules":
        "a forward of mlx-rs modules is recorded call by call and validates",
        or "use `Session::run`";
    can "forward.nested_containers":
        "containers inside containers have an address at each level",
        or "name the layers in one struct";
    can "forward.parameterless":
        "a layer without parameters is an op of its own, with a record",
        or "wrap it in `Scoped`";
    can "forward.recurrent":
        "a recurrent layer is one op, and its state a parent",
        or "write the steps as a closure";
    can "forward.shared_modules":
        "a module that is called several times is one record, and its calls are numbered",
        or "clone the module";
    can "forward.tied_weights":
        "one array at two addresses is one value, at both",
        or "give each module weights of its own";
    can "forward.uncalled_modules":
        "a module that is never called has a record with no calls",
        or "read `Trace::parameters`";

    can "inputs.keyword":
        "inputs are given by name, and found by it",
        or "pass a map";
    can "inputs.ndarray":
        "an `ndarray` is converted once, whatever its order in memory",
        or "convert it with `Array::from_slice`";
    can "inputs.not_read":
        "an input that nothing reads is still an input, and one that is given back an output",
        or "leave it out";
    can "inputs.numbers":
        "a plain number is an input, converted once",
        or "pass an array";
    can "inputs.several":
        "several inputs are told apart by their names",
        or "pass a tuple";
    can "inputs.structured":
        "arrays in lists and maps are inputs by their paths",
        or "pass the arrays one by one";

    cannot "inputs.unsupported_type" refusing InputUnsupported:
        "inputs of types and forms that no array has (128-bit integers, ragged rows) can be captured",
        or "convert to one of the 14 element types, in rows of one length";
    can "inputs.vectors":
        "vectors and slices, also nested, are converted once",
        or "pass an array";

    can "modules.addresses":
        "ops and parameters carry the address of their module",
        or "wrap the module in `Scoped`";
    can "modules.classes":
        "a module's record has its class, its calls and its own parameters",
        or "declare the class with `Session::declare_module`";
    can "modules.from_call_stack":
        "in code that nobody touched, ops are named after the layers and functions that the call stack shows",
        or "wrap the modules in `Scoped`, or build with symbols";

    can "outputs.paths":
        "each output has its path in what the forward returned",
        or "return a tuple";
    can "outputs.several":
        "several outputs are recorded in order",
        or "return a tuple";

    can "random.dropout":
        "dropout in training is recorded with its mask, and replayed from the same key",
        or "run the model in evaluation mode";
    can "random.explicit_keys":
        "a draw from a key depends on the key, and is replayed from it",
        or "draw before the forward";
    can "random.implicit_state":
        "a draw from the thread's own state is recorded with its key, and not frozen",
        or "pass a key";
    can "random.scoped_state":
        "draws inside `with_random_state` are recorded with their keys",
        or "pass a key";
    can "random.state_object":
        "keys taken from a `RandomState` are recorded, and depend on the key it began with",
        or "pass a key";

    can "session.halt":
        "a forward can be halted after an op, and nothing after it runs",
        or "capture the whole forward, and read the trace up to the op";
    can "session.intervene":
        "a result can be replaced while the forward runs, and what follows reads the replacement",
        or "replace the value in the model itself";
    can "session.intervene_by_module":
        "what a module gives back can be replaced, by its address",
        or "name the op by its label";
    can "session.intervene_by_name":
        "each op of a name can be replaced in one stroke",
        or "name the ops by their labels";
    can "session.intervene_closure":
        "a result can be replaced by what a function makes of it",
        or "give the array itself";
    cannot "session.intervene_inside_transform" refusing InterventionInsideTransform:
        "an op inside a transform's closure can be replaced, or halted after",
        or "replace what the transform reads, or write the change into the closure";
    cannot "session.intervene_mismatch" refusing InterventionMismatch:
        "a result can be replaced by an array of another shape or element type",
        or "give an array of the result's shape and element type";
    can "session.payloads_all":
        "every array is kept, and each op replays from what it read",
        or "keep those of chosen ops";
    can "session.payloads_chosen":
        "what chosen ops read and give is kept: they are verified, the others lack their payloads, and the trace says so",
        or "keep all payloads, and release those that are not wanted";
    can "session.payloads_none":
        "nothing but shapes and element types is kept: such a trace is unavailable, and one that has payloads passes",
        or "keep the payloads of chosen ops";
    cannot "session.selector_without_match" refusing SelectorWithoutMatch:
        "an op that the forward does not have can be named",
        or "name an op of the trace without interventions";

    cannot "threads.other_thread" refusing OtherThread:
        "work that the forward sends to another thread takes part in a capture",
        or "compute it on the capturing thread, or before the capture and pass it as an input";
    can "threads.stream":
        "a capture can run on a stream of one's own",
        or "capture on the default stream";

    can "traces.saved":
        "a trace that was saved and loaded again is the same, and its calls replay by their functions",
        or "keep the trace in memory, or run the forward again";

    can "training.loop":
        "a training loop is one trace, and comes to the least-squares solution",
        or "capture a step at a time";
    can "training.step":
        "loss, gradient and an optimizer's update are one trace",
        or "capture the gradient, and update outside";

    can "transforms.backward":
        "the primitives of a gradient are ops of a level of their own, with their parents, and replay one by one",
        or "validate on the thread that captured";
    can "transforms.evaluated_inside":
        "what a closure evaluates inside a transform makes the op unproven, between transforms it loses nothing",
        or "evaluate outside the closure";
    can "transforms.grad":
        "`grad` is one op, replayed from MLX's graph, and agrees with finite differences",
        or "compute the gradient before the forward";
    can "transforms.jvp":
        "`jvp` is one op, with its tangents as parents, and agrees with finite differences",
        or "compute it before the forward";
    can "transforms.nested_trace":
        "the closure's own forward is a trace inside the transform's op, and validates",
        or "capture the closure without the transform";
    can "transforms.nn_value_and_grad":
        "the gradient by a module's parameters is one op, its results by their addresses",
        or "use `value_and_grad` over the arrays";
    can "transforms.outer_array":
        "an array that a closure reads beside its arguments is named, and a parent of the transform",
        or "pass it as an argument";
    can "transforms.value_and_grad":
        "`value_and_grad` is one op with all its results, and agrees with finite differences",
        or "compute it before the forward";
    can "transforms.vjp":
        "`vjp` is one op, with its cotangents as parents, and agrees with finite differences",
        or "compute it before the forward";

    can "validation.both_routes":
        "each op replays bit for bit through the function and through MLX's own graph",
        or "validate on the thread that captured";
    can "validation.each_operand":
        "each operand is shown to matter, by a perturbation of its own",
        or "choose inputs that the function can react to";
    can "validation.hard_to_move":
        "an op that ordinary changes do not move (argmax, times zero, softmax of one column) is proven all the same",
        or "choose inputs that the function can react to";
}

/// The capability with this id.
pub fn capability(id: &str) -> Option<&'static Capability> {
    CAPABILITIES.iter().find(|row| row.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_named_once() {
        for pair in CAPABILITIES.windows(2) {
            assert!(
                pair[0].id < pair[1].id,
                "{} stands before {}",
                pair[0].id,
                pair[1].id
            );
        }
    }

    #[test]
    fn what_is_not_claimed_names_its_refusal() {
        assert!(CAPABILITIES.iter().all(|row| row.flag || row.refusal.is_some()));
    }

    #[test]
    fn each_code_stands_in_one_row() {
        for code in RefusalCode::ALL {
            let rows = CAPABILITIES.iter().filter(|row| row.refusal == Some(*code));
            assert_eq!(rows.count(), 1, "{code}");
        }
    }
}
