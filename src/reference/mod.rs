//! Expected values that share no code with MLX.
//!
//! A function's reference computes in `f64`, `i64` or complex `f64` over [`ndarray`], and its result is rounded
//! once, to the type that the function yields. By how much MLX may then differ is a [`policy`], chosen by what the
//! function does and never by what MLX was seen to return. [`table`] lists what there is a reference for.
//!
//! Nothing here knows MLX: a cell's inputs are plain data already.

mod activation;
mod call;
mod conv;
mod elementwise;
mod error;
mod factory;
mod fft;
mod fused;
mod layer;
mod linalg;
mod loss;
mod optimizer;
mod order;
pub mod policy;
mod product;
mod promote;
mod quantize;
mod random;
mod reduce;
mod scatter;
mod shape;
pub mod table;
mod tensor;

pub use call::{expected, Expected, Relation, Seen};
pub use error::NoReference;
pub use policy::Policy;
pub use tensor::{Elements, Tensor};
