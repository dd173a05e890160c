//! Is a trace true? Replay, perturbation, parents, coverage; one decision per call and per op, one state per trace.
//!
//! Each call is computed again from its parents' saved payloads by two unrelated routes: the function itself, and
//! the primitives that MLX's own graph held. Each operand is changed on its own, and must change a result. What the
//! graph reaches must be what the record declares. Nothing here knows of cases or reports.

mod bound;
mod candidate;
mod compare;
mod contrast;
mod coverage;
mod decision;
mod engine;
mod flight;
mod floor;
mod inside;
pub mod mutate;
mod perturbed;
mod replay;
mod roll_up;
mod status;
mod tolerance;

pub use candidate::Candidate;
pub use compare::{compare_captures, Changed, Comparison};
pub use contrast::Contrast;
pub use decision::{CallDecision, Detail, OpDecision, Operand, Proof, Reaction, Routes};
pub use engine::validate;
pub use floor::Floor;
pub use inside::{Inside, PrimitiveDecision};
pub use status::{Status, Work};
