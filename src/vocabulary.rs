//! The closed lists of words that a case claims, a trace ends with and a scorecard counts.
//!
//! They are plain data, shared by every room of the crate, so that a word means the same in a YAML file, in a
//! status and on a page. A word's spelling for people and files is its [`name`](State::name), in `snake_case`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Declares a closed list of words: the enum, its names, and how to find a word by its name.
macro_rules! words {
    ($(#[$about:meta])* $list:ident { $($(#[$word_about:meta])* $word:ident = $name:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum $list { $($(#[$word_about])* #[serde(rename = $name)] $word),+ }

        impl $list {
            /// Every word of the list, in its order of declaration.
            pub const ALL: &'static [$list] = &[$($list::$word),+];

            /// The word as files and people spell it.
            pub const fn name(self) -> &'static str {
                match self { $($list::$word => $name),+ }
            }

            /// The word that is spelled `name`, if the list has it.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|word| word.name() == name)
            }
        }

        impl std::fmt::Display for $list {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
pub(crate) use words;

words! {
    /// The state of a validated trace; never a bool.
    State {
        /// Every op was replayed and shown to depend on what it declares.
        Passed = "passed",
        /// Some op's record is wrong.
        Failed = "failed",
        /// Nothing is known to be wrong, but something could not be proven.
        Unverified = "unverified",
        /// There is nothing to replay with.
        Unavailable = "unavailable",
    }
}

words! {
    /// What validation concluded about one op.
    Decision {
        /// Replayed, and shown to depend on each of its parents.
        Verified = "verified",
        /// Not to be replayed, for a reason that makes this right.
        Exempt = "exempt",
        /// Neither shown nor refuted.
        Unproven = "unproven",
        /// Shown to be wrong.
        Failed = "failed",
    }
}

words! {
    /// Why a decision is what it is: a closed list.
    Reason {
        /// A replay gave another result than the record holds.
        ReplayMismatch = "replay_mismatch",
        /// The declared parents are not those that MLX's own graph, or a replay, shows.
        DeclaredParentsInconsistent = "declared_parents_inconsistent",
        /// Something between the recorded values was never recorded.
        ReplayCoverageIncomplete = "replay_coverage_incomplete",
        /// A constant or literal changed when only the inputs did.
        ConstantDependsOnInput = "constant_depends_on_input",
        /// A parent's payload was not kept.
        ParentPayloadMissing = "parent_payload_missing",
        /// No function can replay this op.
        NoReplayableFunction = "no_replayable_function",
        /// No candidate changed any result.
        PerturbationInsensitive = "perturbation_insensitive",
        /// A value was evaluated inside a transform, which cuts MLX's graph.
        EvaluatedInsideTransform = "evaluated_inside_transform",
        /// The user replaced this op's result.
        UserInterventionReplacement = "user_intervention_replacement",
        /// A constant has no producer to replay.
        ConstantProducerLeaf = "constant_producer_leaf",
        /// The function declares an operand whose data it does not read.
        OperandNotRead = "operand_not_read",
        /// Verified by perturbing a parent that is a constant.
        ConstantParentPayload = "constant_parent_payload",
    }
}

impl Reason {
    /// The decision that this reason comes with.
    pub const fn decision(self) -> Decision {
        match self {
            Reason::ReplayMismatch
            | Reason::DeclaredParentsInconsistent
            | Reason::ReplayCoverageIncomplete
            | Reason::ConstantDependsOnInput => Decision::Failed,
            Reason::ParentPayloadMissing
            | Reason::NoReplayableFunction
            | Reason::PerturbationInsensitive
            | Reason::EvaluatedInsideTransform => Decision::Unproven,
            Reason::UserInterventionReplacement | Reason::ConstantProducerLeaf | Reason::OperandNotRead => {
                Decision::Exempt
            }
            Reason::ConstantParentPayload => Decision::Verified,
        }
    }
}

words! {
    /// The device whose column of the scorecard a run speaks for.
    Device {
        /// Linux, MLX's CPU backend.
        LinuxCpu = "linux-cpu",
        /// Linux, NVIDIA GPU.
        LinuxCuda = "linux-cuda",
        /// macOS, Metal.
        MacosMetal = "macos-metal",
    }
}

words! {
    /// The kind of device a case may need.
    DeviceKind {
        /// MLX's CPU backend.
        Cpu = "cpu",
        /// A GPU through Metal.
        Metal = "metal",
        /// A GPU through CUDA.
        Cuda = "cuda",
    }
}

words! {
    /// An operating system that a case may need.
    Os {
        /// Linux.
        Linux = "linux",
        /// macOS.
        Macos = "macos",
    }
}

impl Device {
    /// The kind of this device.
    pub const fn kind(self) -> DeviceKind {
        match self {
            Device::LinuxCpu => DeviceKind::Cpu,
            Device::LinuxCuda => DeviceKind::Cuda,
            Device::MacosMetal => DeviceKind::Metal,
        }
    }
}

words! {
    /// An array's element type.
    DType {
        /// True or false.
        Bool = "bool",
        /// 8-bit unsigned integer.
        Uint8 = "uint8",
        /// 16-bit unsigned integer.
        Uint16 = "uint16",
        /// 32-bit unsigned integer.
        Uint32 = "uint32",
        /// 64-bit unsigned integer.
        Uint64 = "uint64",
        /// 8-bit integer.
        Int8 = "int8",
        /// 16-bit integer.
        Int16 = "int16",
        /// 32-bit integer.
        Int32 = "int32",
        /// 64-bit integer.
        Int64 = "int64",
        /// IEEE half precision.
        Float16 = "float16",
        /// The upper half of a float32.
        Bfloat16 = "bfloat16",
        /// IEEE single precision.
        Float32 = "float32",
        /// IEEE double precision.
        Float64 = "float64",
        /// Two float32: real and imaginary part.
        Complex64 = "complex64",
    }
}

/// What an element type holds, when its width does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// True or false.
    Bool,
    /// Signed or unsigned integers.
    Int,
    /// Binary floating point.
    Float,
    /// Pairs of floating-point numbers.
    Complex,
}

impl DType {
    /// What the elements are.
    pub const fn kind(self) -> Kind {
        match self {
            DType::Bool => Kind::Bool,
            DType::Float16 | DType::Bfloat16 | DType::Float32 | DType::Float64 => Kind::Float,
            DType::Complex64 => Kind::Complex,
            _ => Kind::Int,
        }
    }

    /// Smallest and largest integer of an integer type; `uint64` ends at the largest `i64`, since that is what
    /// a case can spell.
    pub const fn integer_range(self) -> Option<(i64, i64)> {
        match self {
            DType::Uint8 => Some((0, u8::MAX as i64)),
            DType::Uint16 => Some((0, u16::MAX as i64)),
            DType::Uint32 => Some((0, u32::MAX as i64)),
            DType::Uint64 => Some((0, i64::MAX)),
            DType::Int8 => Some((i8::MIN as i64, i8::MAX as i64)),
            DType::Int16 => Some((i16::MIN as i64, i16::MAX as i64)),
            DType::Int32 => Some((i32::MIN as i64, i32::MAX as i64)),
            DType::Int64 => Some((i64::MIN, i64::MAX)),
            _ => None,
        }
    }
}

/// An array's extents, outermost first, as a tuple: `(2, 3)`, `(4)`; an empty slice is a scalar, `()`.
pub struct Shape<'a>(pub &'a [i32]);

impl std::fmt::Display for Shape<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let extents: Vec<String> = self.0.iter().map(i32::to_string).collect();
        write!(f, "({})", extents.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_by_the_name_it_prints() {
        for reason in Reason::ALL {
            assert_eq!(Reason::named(&reason.to_string()), Some(*reason));
        }
        assert_eq!(State::named("green"), None);
    }

    #[test]
    fn shapes_read_as_tuples() {
        let read = |extents: &[i32]| Shape(extents).to_string();
        assert_eq!(
            (read(&[]), read(&[4]), read(&[2, 3])),
            ("()".into(), "(4)".into(), "(2, 3)".into())
        );
    }
}
