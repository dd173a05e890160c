//! The layers that a case may build: one entry each.
//!
//! `name(arrays; settings; optional settings) => constructor`. The arrays are what its forward takes; the settings
//! build it, with mlx-rs's defaults where they are left out.

use std::collections::{BTreeMap, HashMap};

use mlx_rs::builder::Builder;
use mlx_rs::error::Exception;
use mlx_rs::module::{Module, ModuleParamRef, ModuleParameters};
use mlx_rs::nn::{
    Gelu, LayerNorm, LayerNormBuilder, Linear, LinearBuilder, Relu, Transformer, TransformerBuilder,
    TransformerInput,
};
use mlx_rs::Array;

use super::arguments::{kinds, Bound, Take};
use super::error::ModelError;
use super::module::{Body, Built, Many};
use super::programs::{BranchOnItem, EvaluateMidway, InnerLiteral, NormEvaluated, OuterConstant, ReadMidway};
use crate::capture::class_name;
use crate::capture::containers::{Layer, List, Map, Naming, Sequential};
use crate::case::names::{Parameter, Signature};
use crate::case::spec::{Children, Spec};

/// A layer of the table.
pub struct LayerEntry {
    /// Its name and parameters: arrays are its forward's, the rest build it.
    pub signature: Signature,
    build: fn(&Bound<'_>) -> Result<Built, ModelError>,
}

macro_rules! layers {
    ($($name:ident ( $($array:ident $(: $given:ident)?),* ; $($required:ident : $kind:ident),* ; $($optional:ident : $option:ident),* )
        => $build:expr;)*) => {
        /// Every layer, in the order of the list.
        pub static LAYERS: &[LayerEntry] = &[$(LayerEntry {
            signature: layers!(@signature $name $($array $(: $given)?),* ; $($required: $kind),* ; $($optional: $option),*),
            build: |bound| {
                let _ = bound;
                $(let $required = bound.required::<kinds::$kind>(stringify!($required))?;)*
                $(let $optional = bound.optional::<kinds::$option>(stringify!($optional))?;)*
                let built = (|| -> Result<Built, Box<dyn std::error::Error>> { $build })();
                built.map_err(|error| ModelError::Mlx {
                    doing: concat!("building ", stringify!($name)).to_string(),
                    message: error.to_string(),
                })
            },
        }),*];

        /// Their signatures, in the same order.
        pub static SIGNATURES: &[Signature] = &[$(
            layers!(@signature $name $($array $(: $given)?),* ; $($required: $kind),* ; $($optional: $option),*)
        ),*];
    };
    (@signature $name:ident $($array:ident $(: $given:ident)?),* ; $($required:ident : $kind:ident),* ; $($optional:ident : $option:ident),*) => {
        Signature::new(stringify!($name), &[
            $(layers!(@array $array $(: $given)?),)*
            $(Parameter::required(stringify!($required), <kinds::$kind as Take>::TAKES),)*
            $(Parameter::optional(stringify!($optional), <kinds::$option as Take>::TAKES),)*
        ])
    };
    (@array $array:ident) => { Parameter::required(stringify!($array), <kinds::Array as Take>::TAKES) };
    // `mask: optional` is an array that the forward does without.
    (@array $array:ident : optional) => { Parameter::optional(stringify!($array), <kinds::Array as Take>::TAKES) };
}

layers! {
    gelu(x; ; ) => unary(Gelu::new());
    layer_norm(x; dims: Int; eps: Float, affine: Bool) => unary(
        LayerNormBuilder::new(dims)
            .eps(eps.unwrap_or(LayerNorm::DEFAULT_EPS))
            .affine(affine.unwrap_or(LayerNorm::DEFAULT_AFFINE))
            .build()?
    );
    linear(x; input: Int, output: Int; bias: Bool) => unary(
        LinearBuilder::new(input, output).bias(bias.unwrap_or(Linear::DEFAULT_BIAS)).build()?
    );
    relu(x; ; ) => unary(Relu);
    transformer(source, target; dims: Int, heads: Int; encoder_layers: Int, decoder_layers: Int) => {
        let layers = |given: Option<i32>, default: usize| given.map_or(default, |layers| layers.max(0) as usize);
        let model = TransformerBuilder::new()
            .dimensions(dims)
            .num_heads(heads)
            .encoder_layer_count(layers(encoder_layers, Transformer::DEFAULT_ENCODER_LAYERS_COUNT))
            .decoder_layer_count(layers(decoder_layers, Transformer::DEFAULT_DECODER_LAYERS_COUNT))
            .build()?;
        composite(TransformerCall(model))
    };

    // Named Rust models: see `programs`.
    branch_on_item(x; ; ) => program(BranchOnItem::new());
    evaluate_midway(x; ; ) => program(EvaluateMidway::new());
    inner_literal(x; ; ) => program(InnerLiteral::new());
    norm_evaluated(x; ; ) => program(NormEvaluated::new());
    outer_constant(x; ; ) => program(OuterConstant::new());
    read_midway(x; ; ) => program(ReadMidway::new());
}

/// The layer called `name`.
pub fn layer(name: &str) -> Option<&'static LayerEntry> {
    LAYERS.iter().find(|entry| entry.signature.name == name)
}

/// Builds a layer or a container of layers, drawing its parameters in the order written.
///
/// # Errors
///
/// An unknown name, a setting of the wrong kind, or what mlx-rs refuses.
pub fn build(spec: &Spec) -> Result<Built, ModelError> {
    match (&spec.children, spec.name.as_str()) {
        (Children::None, name) => {
            let entry = layer(name).ok_or_else(|| unknown(name))?;
            let arguments: BTreeMap<&'static str, _> = entry
                .signature
                .settings()
                .filter_map(|parameter| {
                    spec.args
                        .get(parameter.name)
                        .map(|value| (parameter.name, value.clone()))
                })
                .collect();
            (entry.build)(&Bound::new(name, &arguments, &HashMap::new()))
        }
        (Children::List(items), name) => {
            let mut list = List::new();
            for item in items {
                let (class, naming, layer) = unary_parts(item)?;
                list = list.push_as(class, naming, layer);
            }
            match name {
                "sequential" => Ok(container(Sequential::of(list))),
                "list" => Ok(container(list)),
                _ => Err(unknown(name)),
            }
        }
        (Children::Map(entries), name) => {
            let mut map = Map::new();
            for (key, item) in entries {
                let (class, naming, layer) = unary_parts(item)?;
                map = map.insert_as(key, class, naming, layer);
            }
            match name {
                "map" => Ok(container(map)),
                _ => Err(unknown(name)),
            }
        }
    }
}

fn unknown(name: &str) -> ModelError {
    ModelError::Unknown {
        what: "layer",
        name: name.to_string(),
    }
}

fn unary_parts(spec: &Spec) -> Result<(String, Naming, Box<dyn Layer>), ModelError> {
    let built = build(spec)?;
    match built.body {
        Body::Unary(layer) => Ok((built.class, built.naming, layer)),
        Body::Many(_) => Err(ModelError::NotUnary {
            name: spec.name.clone(),
        }),
    }
}

/// A layer that is one op.
fn unary<M: Layer + 'static>(layer: M) -> Result<Built, Box<dyn std::error::Error>> {
    Ok(Built {
        class: class_name::<M>(),
        naming: Naming::Op,
        body: Body::Unary(Box::new(layer)),
    })
}

/// A program whose every call is an op.
fn program<M: Layer + 'static>(program: M) -> Result<Built, Box<dyn std::error::Error>> {
    Ok(container(program))
}

fn container<M: Layer + 'static>(layer: M) -> Built {
    Built {
        class: class_name::<M>(),
        naming: Naming::Container,
        body: Body::Unary(Box::new(layer)),
    }
}

/// A module of many layers whose every call is an op, until the call stack names its layers.
fn composite<M: Many + 'static>(module: M) -> Result<Built, Box<dyn std::error::Error>> {
    let class = class_name::<M>().trim_end_matches("Call").to_string();
    Ok(Built {
        class,
        naming: Naming::Container,
        body: Body::Many(Box::new(module)),
    })
}

/// mlx-rs's Transformer, with masks of zero.
struct TransformerCall(Transformer);

impl Many for TransformerCall {
    fn forward(&mut self, operands: &[Option<Array>]) -> Result<Vec<Array>, Exception> {
        let [Some(source), Some(target)] = operands else {
            return Err(Exception::custom("a transformer takes a source and a target"));
        };
        let mask = Array::from_f32(0.0);
        let input = TransformerInput {
            source,
            target,
            source_mask: &mask,
            target_mask: &mask,
            memory_mask: &mask,
        };
        self.0.forward(input).map(|y| vec![y])
    }

    fn parameters(&self) -> ModuleParamRef<'_> {
        self.0.parameters()
    }
}
