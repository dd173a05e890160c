//! What a session does about operations it did not see, and what it keeps alive.

use std::cell::Cell;

use serde::{Deserialize, Serialize};

use super::intervention::Selector;

/// What to do when the forward used the result of an operation that the recorded surface does not cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnwrappedPolicy {
    /// Record on: the trace has `capture_verified = false` and a warning, and is never `passed`.
    #[default]
    Warn,
    /// End with [`BackendUnsupportedError`](super::BackendUnsupportedError), code `unwrapped_op_in_capture`.
    Refuse,
}

/// Which arrays a trace keeps.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PayloadPolicy {
    /// All of them, as shared handles.
    #[default]
    All,
    /// What the chosen ops read and give, so that they can be validated; of the others shapes and dtypes only. What was
    /// not chosen is let go when the forward is over, before what it is left lazy is computed.
    Ops(Vec<Selector>),
    /// None: shapes and dtypes only. Such a trace cannot be validated.
    None,
}

/// How functions compiled by `transforms::compile` run while a trace is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompilePolicy {
    /// As their operations, each recorded. Side effects happen each time: a draw without a state of its own, which a plain
    /// run freezes at the first call, is drawn anew.
    #[default]
    Inline,
    /// As MLX runs them: one op, replayed from its subgraph.
    Opaque,
}

impl CompilePolicy {
    /// As a trace says it: `inlined` or `opaque`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inline => "inlined",
            Self::Opaque => "opaque",
        }
    }
}

thread_local! {
    static UNWRAPPED: Cell<UnwrappedPolicy> = const { Cell::new(UnwrappedPolicy::Warn) };
}

/// Runs `f` with `policy` as the default of this thread's sessions; restored afterwards, also by a panic.
pub fn unwrapped_policy<T>(policy: UnwrappedPolicy, f: impl FnOnce() -> T) -> T {
    struct Restore(UnwrappedPolicy);
    impl Drop for Restore {
        fn drop(&mut self) {
            UNWRAPPED.set(self.0);
        }
    }
    let _restore = Restore(UNWRAPPED.replace(policy));
    f()
}

/// The policy of a session that names none.
pub(crate) fn default_unwrapped_policy() -> UnwrappedPolicy {
    UNWRAPPED.get()
}
