//! What a table of layers is made of, and all tables together.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::super::arguments::Bound;
use super::super::error::ModelError;
use super::super::module::Built;
use crate::case::names::Signature;

/// A layer of a table.
pub struct LayerEntry {
    /// Its name and parameters: arrays are its forward's, the rest build it.
    pub signature: Signature,
    /// Builds it.
    pub(in crate::model) build: fn(&Bound<'_>) -> Result<Built, ModelError>,
    /// The constructor as it is written, from which the coverage of mlx-rs reads which items it uses.
    pub text: &'static str,
}

/// Every family with its layers, in the order of the lists.
pub static FAMILIES: &[(&str, &[LayerEntry])] = &[
    ("activations", super::activations::LAYERS),
    ("unary", super::unary::LAYERS),
    ("conv", super::conv::LAYERS),
    ("norm", super::norm::LAYERS),
    ("several", super::several::LAYERS),
    ("programs", super::programs::LAYERS),
];

static BY_NAME: LazyLock<HashMap<&'static str, &'static LayerEntry>> = LazyLock::new(|| {
    let entries = FAMILIES.iter().flat_map(|(_, layers)| layers.iter());
    entries.map(|entry| (entry.signature.name, entry)).collect()
});

static SIGNATURES: LazyLock<Vec<Signature>> = LazyLock::new(|| {
    let entries = FAMILIES.iter().flat_map(|(_, layers)| layers.iter());
    entries.map(|entry| entry.signature).collect()
});

/// The layer called `name`.
pub fn layer(name: &str) -> Option<&'static LayerEntry> {
    BY_NAME.get(name).copied()
}

/// The signatures of all layers, in the order of the lists.
pub fn signatures() -> &'static [Signature] {
    &SIGNATURES
}

/// A family's table: see the [module](super).
macro_rules! layers {
    ($($name:ident ( $($array:ident $(: $given:ident)?),* ; $($required:ident : $kind:ident),* ; $($optional:ident : $option:ident),* )
        => $build:expr;)*) => {
        /// The family's layers, in the order of the list.
        pub(super) static LAYERS: &[$crate::model::layers::LayerEntry] = &[$($crate::model::layers::LayerEntry {
            signature: $crate::case::names::Signature::new(stringify!($name), &[
                $($crate::model::layers::table::layers!(@array $array $(: $given)?),)*
                $($crate::case::names::Parameter::required(
                    stringify!($required),
                    <$crate::model::arguments::kinds::$kind as $crate::model::arguments::Take>::TAKES,
                ),)*
                $($crate::case::names::Parameter::optional(
                    stringify!($optional),
                    <$crate::model::arguments::kinds::$option as $crate::model::arguments::Take>::TAKES,
                ),)*
            ]),
            build: |bound| {
                let _ = bound;
                $(let $required = bound.required::<$crate::model::arguments::kinds::$kind>(stringify!($required))?;)*
                $(let $optional = bound.optional::<$crate::model::arguments::kinds::$option>(stringify!($optional))?;)*
                let build = || -> Result<$crate::model::module::Built, Box<dyn std::error::Error>> { $build };
                build().map_err(|error| $crate::model::ModelError::Mlx {
                    doing: concat!("building ", stringify!($name)).to_string(),
                    message: error.to_string(),
                })
            },
            text: stringify!($build),
        }),*];
    };
    (@array $array:ident) => {
        $crate::case::names::Parameter::required(stringify!($array), $crate::case::names::Takes::Array)
    };
    // `mask: optional` is an array that the forward does without.
    (@array $array:ident : optional) => {
        $crate::case::names::Parameter::optional(stringify!($array), $crate::case::names::Takes::Array)
    };
}
pub(super) use layers;
