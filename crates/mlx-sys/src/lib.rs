//! mlx-sys from prebuilt MLX.

#![allow(non_upper_case_globals)]
#![allow(non_camel_case_types)]
#![allow(non_snake_case)]
#![allow(clippy::all)]

/// The bits of an IEEE 754 half, as mlx-rs expects them.
#[repr(transparent)]
#[derive(Debug, Default, Copy, Clone, PartialEq, Eq, Hash)]
pub struct float16_t(pub u16);

include!(concat!(env!("OUT_DIR"), "/bindings.rs"));
