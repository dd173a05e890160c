//! Traces on disk.
//!
//! [`Trace::save`](crate::Trace::save) writes a folder with two files: `trace.json`, the record's structure, and
//! `payloads.safetensors`, the arrays' elements. A path that ends in `.safetensors` is one file with both: the structure
//! then stands in its metadata. [`Trace::load`](crate::Trace::load) reads either.
//!
//! What a loaded trace lacks is MLX's graph: primitives belong to the process that made them. Its calls are replayed by
//! their functions, and what has none (transforms, opaque compiled functions) is `no_replayable_function`.
//!
//! One idea a file: what is written (`document`), how it is sealed against edits (`seal`), the payloads
//! (`payload`), the way there (`write`) and back (`read`, with `check` before anything is believed), and where it
//! all lies (`place`).

mod argument;
mod check;
mod document;
mod error;
mod payload;
mod place;
mod read;
mod seal;
mod write;

pub use error::StoreError;
pub use place::is_saved_trace;

/// What the structure calls itself.
const FORMAT: &str = "mlx-assay trace";

/// The version of the format that this build writes and reads.
const VERSION: u64 = 1;

/// Where the structure stands in the metadata of one file.
const METADATA: &str = "mlx-assay trace";
