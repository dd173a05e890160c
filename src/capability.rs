//! The claims about the capture backend: one capability, one row of the scorecard.
//!
//! A claim is a flag and what stands behind it. `flag: true` says the backend can; the suite must then prove it.
//! `flag: false` says it cannot, refuses with the named code, and tells the user what to do instead.

use crate::vocabulary::words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

words! {
    /// Why the backend refuses: the code of a `BackendUnsupportedError`, a closed list.
    RefusalCode {
        /// An operation took part that the recorded surface does not cover.
        UnwrappedOpInCapture = "unwrapped_op_in_capture",
        /// A capture was started inside a capture on the same thread.
        NestedCapture = "nested_capture",
        /// A result was to be replaced that the forward does not have, or by an array of another kind.
        InterventionUnsupported = "intervention_unsupported",
        /// The forward was to stop after an op.
        HaltUnsupported = "halt_unsupported",
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
    /// The code of the refusal that must come where `flag` is false.
    pub refusal: Option<RefusalCode>,
    /// What a user does where the backend refuses or falls short.
    pub remedy: &'static str,
}

/// Every capability, sorted by id.
pub static CAPABILITIES: &[Capability] = &[
    claim(
        "capture.constants",
        "an array the forward closes over is a constant with its payload",
        "pass it as an input",
    ),
    claim(
        "capture.literals",
        "an array built from data inside the forward is a literal producer",
        "pass it as an input",
    ),
    claim(
        "capture.unwrapped_refused",
        "an operation outside the recorded surface is refused by policy, and nothing stays behind",
        "use the policy `warn`, and read the trace as unverified",
    ),
    claim(
        "evaluation.explicit",
        "evaluating in the middle of the forward loses no edge and is listed",
        "evaluate after the forward",
    ),
    claim(
        "evaluation.implicit",
        "reading data in the middle of the forward loses no edge and is listed",
        "read after the forward",
    ),
    claim(
        "forward.containers",
        "lists and maps of modules have records of their own, with addresses",
        "name the layers in one struct",
    ),
    claim(
        "forward.modules",
        "a forward of mlx-rs modules is recorded call by call and validates",
        "use `Session::run`",
    ),
    claim(
        "modules.addresses",
        "ops and parameters carry the address of their module",
        "wrap the module in `Scoped`",
    ),
    refusal(
        "session.halt",
        "a forward can stop after an op",
        RefusalCode::HaltUnsupported,
        "capture the whole forward, and read the trace up to the op",
    ),
    claim(
        "session.intervene",
        "a result can be replaced while the forward runs, and what follows reads the replacement",
        "replace the value in the model itself",
    ),
    claim(
        "validation.both_routes",
        "each op replays bit for bit through the function and through MLX's own graph",
        "validate on the thread that captured",
    ),
];

/// A claim that the backend can.
const fn claim(id: &'static str, sentence: &'static str, remedy: &'static str) -> Capability {
    Capability {
        id,
        sentence,
        flag: true,
        refusal: None,
        remedy,
    }
}

/// What the backend refuses, and says so.
const fn refusal(
    id: &'static str,
    sentence: &'static str,
    code: RefusalCode,
    remedy: &'static str,
) -> Capability {
    Capability {
        id,
        sentence,
        flag: false,
        refusal: Some(code),
        remedy,
    }
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
        assert!(CAPABILITIES.windows(2).all(|pair| pair[0].id < pair[1].id));
    }

    #[test]
    fn what_is_not_claimed_names_its_refusal() {
        assert!(CAPABILITIES.iter().all(|row| row.flag || row.refusal.is_some()));
    }
}
