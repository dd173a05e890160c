//! The layers that a case may build: one entry each.
//!
//! `name(arrays; settings; optional settings) => constructor`. The arrays are what its forward takes; the settings
//! build it, with mlx-rs's defaults where they are left out.

use std::collections::{BTreeMap, HashMap};

use mlx_rs::builder::Builder;
use mlx_rs::module::Module;
use mlx_rs::nn::{
    AvgPool1d, AvgPool2d, BatchNorm, BatchNormBuilder, Celu, CeluBuilder, Conv1d, Conv1dBuilder, Conv2d,
    Conv2dBuilder, Dropout, DropoutBuilder, Embedding, Gelu, GeluApprox, Glu, GluBuilder, GroupNorm,
    GroupNormBuilder, Gru, GruBuilder, HardSwish, InstanceNorm, InstanceNormBuilder, LayerNorm,
    LayerNormBuilder, LeakyRelu, LeakyReluBuilder, Linear, LinearBuilder, LogSigmoid, LogSoftmax,
    LogSoftmaxBuilder, Lstm, LstmBuilder, MaxPool1d, MaxPool2d, Mish, MultiHeadAttention,
    MultiHeadAttentionBuilder, Prelu, PreluBuilder, Relu, Relu6, RmsNorm, RmsNormBuilder, Rnn, RnnBuilder,
    Selu, Sigmoid, Silu, Softmax, SoftmaxBuilder, Softplus, Softsign, Step, StepBuilder, Tanh, Transformer,
    TransformerBuilder, TransformerInput,
};
use mlx_rs::utils::SingleOrPair;

use super::arguments::{kinds, Bound, Take};
use super::error::ModelError;
use super::faults::Fault;
use super::module::{Body, Built, Many};
use super::programs::{BranchOnItem, EvaluateMidway, InnerLiteral, NormEvaluated, OuterConstant, ReadMidway};
use super::structured::{GruCall, LstmCall, MultiHeadAttentionCall, RnnCall, TransformerCall};
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
                let build = || -> Result<Built, Box<dyn std::error::Error>> { $build };
                let built = build();
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
    // Activations.
    celu(x; ; alpha: Float) => unary(CeluBuilder::new().alpha(alpha.unwrap_or(Celu::DEFAULT_ALPHA)).build()?);
    gelu(x; ; approximate: Text) => unary(Gelu { approximate: gelu_approximation(approximate.as_deref())? });
    glu(x; ; axis: Int) => unary(GluBuilder::new().axis(axis.unwrap_or(Glu::DEFAULT_AXIS)).build()?);
    hard_swish(x; ; ) => unary(HardSwish);
    leaky_relu(x; ; neg_slope: Float) => unary(
        LeakyReluBuilder::new().neg_slope(neg_slope.unwrap_or(LeakyRelu::DEFAULT_NEG_SLOPE)).build()?
    );
    log_sigmoid(x; ; ) => unary(LogSigmoid);
    log_softmax(x; ; axis: Int) => unary(
        LogSoftmaxBuilder::new().axis(axis.unwrap_or(LogSoftmax::DEFAULT_AXIS)).build()?
    );
    mish(x; ; ) => unary(Mish);
    prelu(x; ; count: Int, value: Float) => unary(
        PreluBuilder::new()
            .count(count.unwrap_or(Prelu::DEFAULT_COUNT))
            .value(value.unwrap_or(Prelu::DEFAULT_VALUE))
            .build()?
    );
    relu(x; ; ) => unary(Relu);
    relu6(x; ; ) => unary(Relu6);
    selu(x; ; ) => unary(Selu);
    sigmoid(x; ; ) => unary(Sigmoid);
    silu(x; ; ) => unary(Silu);
    softmax(x; ; axis: Int) => unary(SoftmaxBuilder::new().axis(axis.unwrap_or(Softmax::DEFAULT_AXIS)).build()?);
    softplus(x; ; ) => unary(Softplus);
    softsign(x; ; ) => unary(Softsign);
    step(x; ; threshold: Float) => unary(StepBuilder::new().threshold(threshold.unwrap_or(Step::DEFAULT_THRESHOLD)).build()?);
    tanh(x; ; ) => unary(Tanh);

    // Layers of one array.
    avg_pool1d(x; kernel: Int; stride: Int) => unary(AvgPool1d::new(kernel, i64::from(stride.unwrap_or(kernel))));
    avg_pool2d(x; kernel: Ints; stride: Ints) => unary(AvgPool2d::new(pair(&kernel)?, wide(pair(&stride.unwrap_or(kernel))?)));
    batch_norm(x; features: Int; eps: Float, momentum: Float, affine: Bool, track_running_stats: Bool, training: Bool) => {
        let layer = BatchNormBuilder::new(features)
            .eps(eps.unwrap_or(BatchNorm::DEFAULT_EPS))
            .momentum(momentum.unwrap_or(BatchNorm::DEFAULT_MOMENTUM))
            .affine(affine.unwrap_or(BatchNorm::DEFAULT_AFFINE))
            .track_running_stats(track_running_stats.unwrap_or(BatchNorm::DEFAULT_TRACK_RUNNING_STATS))
            .build()?;
        unary(in_mode(layer, training))
    };
    conv1d(x; input: Int, output: Int, kernel: Int; bias: Bool, stride: Int, padding: Int, dilation: Int, groups: Int) => unary(
        Conv1dBuilder::new(input, output, kernel)
            .bias(bias.unwrap_or(Conv1d::DEFAULT_BIAS))
            .stride(stride.unwrap_or(Conv1d::DEFAULT_STRIDE))
            .padding(padding.unwrap_or(Conv1d::DEFAULT_PADDING))
            .dilation(dilation.unwrap_or(Conv1d::DEFAULT_DILATION))
            .groups(groups.unwrap_or(Conv1d::DEFAULT_GROUPS))
            .build()?
    );
    conv2d(x; input: Int, output: Int, kernel: Ints; bias: Bool, stride: Ints, padding: Ints, dilation: Ints, groups: Int) => unary(
        Conv2dBuilder::new(input, output, pair(&kernel)?)
            .bias(bias.unwrap_or(Conv2d::DEFAULT_BIAS))
            .stride(pair_or(stride, Conv2d::DEFAULT_STRIDE)?)
            .padding(pair_or(padding, Conv2d::DEFAULT_PADDING)?)
            .dilation(pair_or(dilation, Conv2d::DEFAULT_DILATION)?)
            .groups(groups.unwrap_or(Conv2d::DEFAULT_GROUPS))
            .build()?
    );
    dropout(x; ; p: Float, training: Bool) => unary(
        in_mode(DropoutBuilder::new().p(p.unwrap_or(Dropout::DEFAULT_P)).build()?, training)
    );
    embedding(x; count: Int, dims: Int; ) => unary(Embedding::new(count, dims)?);
    group_norm(x; groups: Int, dims: Int; eps: Float, affine: Bool, pytorch_compatible: Bool) => unary(
        GroupNormBuilder::new(groups, dims)
            .eps(eps.unwrap_or(GroupNorm::DEFAULT_EPS))
            .affine(affine.unwrap_or(GroupNorm::DEFAULT_AFFINE))
            .pytorch_compatible(pytorch_compatible.unwrap_or(GroupNorm::DEFAULT_PYTORCH_COMPATIBLE))
            .build()?
    );
    instance_norm(x; dims: Int; eps: Float, affine: Bool) => unary(
        InstanceNormBuilder::new(dims)
            .eps(eps.unwrap_or(InstanceNorm::DEFAULT_EPS))
            .affine(affine.unwrap_or(InstanceNorm::DEFAULT_AFFINE))
            .build()?
    );
    layer_norm(x; dims: Int; eps: Float, affine: Bool) => unary(
        LayerNormBuilder::new(dims)
            .eps(eps.unwrap_or(LayerNorm::DEFAULT_EPS))
            .affine(affine.unwrap_or(LayerNorm::DEFAULT_AFFINE))
            .build()?
    );
    linear(x; input: Int, output: Int; bias: Bool) => unary(
        LinearBuilder::new(input, output).bias(bias.unwrap_or(Linear::DEFAULT_BIAS)).build()?
    );
    max_pool1d(x; kernel: Int; stride: Int) => unary(MaxPool1d::new(kernel, i64::from(stride.unwrap_or(kernel))));
    max_pool2d(x; kernel: Ints; stride: Ints) => unary(MaxPool2d::new(pair(&kernel)?, wide(pair(&stride.unwrap_or(kernel))?)));
    rms_norm(x; dims: Int; eps: Float) => unary(
        RmsNormBuilder::new(dims).eps(eps.unwrap_or(RmsNorm::DEFAULT_EPS)).build()?
    );

    // Layers of several arrays: see `structured`.
    gru(x, state: optional; input: Int, hidden: Int; bias: Bool) => many(GruCall(
        GruBuilder::new(input, hidden).bias(bias.unwrap_or(Gru::DEFAULT_BIAS)).build()?
    ));
    lstm(x, state: optional, cell: optional; input: Int, hidden: Int; bias: Bool) => many(LstmCall(
        LstmBuilder::new(input, hidden).bias(bias.unwrap_or(Lstm::DEFAULT_BIAS)).build()?
    ));
    multi_head_attention(queries, keys, values, mask: optional; dims: Int, heads: Int; bias: Bool) => many(MultiHeadAttentionCall(
        MultiHeadAttentionBuilder::new(dims, heads).bias(bias.unwrap_or(MultiHeadAttention::DEFAULT_BIAS)).build()?
    ));
    rnn(x, state: optional; input: Int, hidden: Int; bias: Bool) => many(RnnCall(
        RnnBuilder::new(input, hidden).bias(bias.unwrap_or(Rnn::DEFAULT_BIAS)).build()?
    ));
    transformer(source, target;; dims: Int, heads: Int, encoder_layers: Int, decoder_layers: Int, dropout: Float, norm_first: Bool, training: Bool) => {
        let layers = |given: Option<i32>, default: usize| given.map_or(default, |layers| layers.max(0) as usize);
        let mut model = TransformerBuilder::new()
            .dimensions(dims.unwrap_or(Transformer::DEFAULT_DIMENSIONS))
            .num_heads(heads.unwrap_or(Transformer::DEFAULT_NUM_HEADS))
            .encoder_layer_count(layers(encoder_layers, Transformer::DEFAULT_ENCODER_LAYERS_COUNT))
            .decoder_layer_count(layers(decoder_layers, Transformer::DEFAULT_DECODER_LAYERS_COUNT))
            .dropout(dropout.unwrap_or(Transformer::DEFAULT_DROPOUT))
            .norm_first(norm_first.unwrap_or(Transformer::DEFAULT_NORM_FIRST))
            .build()?;
        if let Some(mode) = training {
            Module::<TransformerInput<'_>>::training_mode(&mut model, mode);
        }
        composite(TransformerCall(model))
    };

    // Named Rust models: see `programs`.
    branch_on_item(x; ; ) => program(BranchOnItem::new());
    fault(x; kind: Text; ) => program(Fault::new(&kind)?);
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

/// A layer of several arrays that is one op.
fn many<M: Many + 'static>(module: M) -> Result<Built, Box<dyn std::error::Error>> {
    Ok(Built {
        naming: Naming::Op,
        ..composite(module)?
    })
}

/// The layer in the mode that the case asks for; mlx-rs's own, training, if it asks for none.
fn in_mode<M: Layer>(mut layer: M, training: Option<bool>) -> M {
    if let Some(mode) = training {
        layer.training_mode(mode);
    }
    layer
}

/// One number for both axes, or one for each.
fn pair(numbers: &[i32]) -> Result<SingleOrPair<i32>, Box<dyn std::error::Error>> {
    match *numbers {
        [both] => Ok(SingleOrPair::Single(both)),
        [first, second] => Ok(SingleOrPair::Pair(first, second)),
        _ => Err("one number is wanted, or two".into()),
    }
}

fn pair_or(
    numbers: Option<Vec<i32>>,
    default: SingleOrPair<i32>,
) -> Result<SingleOrPair<i32>, Box<dyn std::error::Error>> {
    numbers.map_or(Ok(default), |numbers| pair(&numbers))
}

fn wide(pair: SingleOrPair<i32>) -> SingleOrPair<i64> {
    SingleOrPair::Pair(i64::from(pair.first()), i64::from(pair.second()))
}

fn gelu_approximation(name: Option<&str>) -> Result<GeluApprox, Box<dyn std::error::Error>> {
    match name {
        None | Some("none") => Ok(GeluApprox::None),
        Some("precise") => Ok(GeluApprox::Precise),
        Some("fast") => Ok(GeluApprox::Fast),
        Some(other) => Err(format!("approximate is `none`, `precise` or `fast`, not `{other}`").into()),
    }
}
