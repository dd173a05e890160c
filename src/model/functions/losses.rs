//! Losses: built with their settings, applied to arrays.

use mlx_rs::builder::Builder;
use mlx_rs::error::Exception;
use mlx_rs::losses::{
    BinaryCrossEntropy, BinaryCrossEntropyBuilder, CosineSimilarityLoss, CosineSimilarityLossBuilder,
    CrossEntropy, CrossEntropyBuilder, GaussianNllLoss, GaussianNllLossBuilder, HingeLoss, HingeLossBuilder,
    HuberLoss, HuberLossBuilder, KlDivLoss, KlDivLossBuilder, L1Loss, L1LossBuilder, LogCoshLoss,
    LogCoshLossBuilder, LossReduction, MarginRankingLoss, MarginRankingLossBuilder, MseLoss, MseLossBuilder,
    NllLoss, NllLossBuilder, SmoothL1Loss, SmoothL1LossBuilder, TripletLoss, TripletLossBuilder,
};

use super::table::{exception, functions};

/// Builds a loss with the settings that are given, and its reduction.
macro_rules! built {
    ($builder:ident, $loss:ident, $reduction:expr $(, $setting:ident = $given:expr, $default:ident)*) => {
        $builder::new()
            $(.$setting($given.unwrap_or($loss::$default)))*
            .reduction(reduction($reduction.as_deref(), $loss::DEFAULT_REDUCTION)?)
            .build()
            .map_err(exception)?
    };
}

functions! {
    loss.binary_cross_entropy(logits: Array, targets: Array; weights: Array, inputs_are_logits: Bool, reduction: Text) => {
        let mut loss = built!(BinaryCrossEntropyBuilder, BinaryCrossEntropy, reduction, inputs_are_logits = inputs_are_logits, DEFAULT_INPUTS_ARE_LOGITS);
        loss.weights = weights.as_ref();
        loss.apply(&logits, &targets)
    };
    loss.cosine_similarity(a: Array, b: Array; axis: Int, eps: Float, reduction: Text) => {
        built!(CosineSimilarityLossBuilder, CosineSimilarityLoss, reduction, axis = axis, DEFAULT_AXIS, eps = eps, DEFAULT_EPS).apply(&a, &b)
    };
    loss.cross_entropy(logits: Array, targets: Array; weights: Array, axis: Int, label_smoothing: Float, reduction: Text) => {
        let mut loss = built!(
            CrossEntropyBuilder, CrossEntropy, reduction, axis = axis, DEFAULT_AXIS, label_smoothing = label_smoothing, DEFAULT_LABEL_SMOOTHING
        );
        loss.weights = weights.as_ref();
        loss.apply(&logits, &targets)
    };
    loss.gaussian_nll(inputs: Array, targets: Array, vars: Array; full: Bool, eps: Float, reduction: Text) => {
        built!(GaussianNllLossBuilder, GaussianNllLoss, reduction, full = full, DEFAULT_FULL, eps = eps, DEFAULT_EPS).apply(&inputs, &targets, &vars)
    };
    loss.hinge(inputs: Array, targets: Array; reduction: Text) => built!(HingeLossBuilder, HingeLoss, reduction).apply(&inputs, &targets);
    loss.huber(inputs: Array, targets: Array; delta: Float, reduction: Text) => {
        built!(HuberLossBuilder, HuberLoss, reduction, delta = delta, DEFAULT_DELTA).apply(&inputs, &targets)
    };
    loss.kl_div(inputs: Array, targets: Array; axis: Int, reduction: Text) => {
        built!(KlDivLossBuilder, KlDivLoss, reduction, axis = axis, DEFAULT_AXIS).apply(&inputs, &targets)
    };
    loss.l1(predictions: Array, targets: Array; reduction: Text) => built!(L1LossBuilder, L1Loss, reduction).apply(&predictions, &targets);
    loss.log_cosh(inputs: Array, targets: Array; reduction: Text) => built!(LogCoshLossBuilder, LogCoshLoss, reduction).apply(&inputs, &targets);
    loss.margin_ranking(inputs1: Array, inputs2: Array, targets: Array; margin: Float, reduction: Text) => {
        built!(MarginRankingLossBuilder, MarginRankingLoss, reduction, margin = margin, DEFAULT_MARGIN).apply(&inputs1, &inputs2, &targets)
    };
    loss.mse(predictions: Array, targets: Array; reduction: Text) => built!(MseLossBuilder, MseLoss, reduction).apply(&predictions, &targets);
    loss.nll(inputs: Array, targets: Array; axis: Int, reduction: Text) => {
        built!(NllLossBuilder, NllLoss, reduction, axis = axis, DEFAULT_AXIS).apply(&inputs, &targets)
    };
    loss.smooth_l1(predictions: Array, targets: Array; beta: Float, reduction: Text) => {
        built!(SmoothL1LossBuilder, SmoothL1Loss, reduction, beta = beta, DEFAULT_BETA).apply(&predictions, &targets)
    };
    loss.triplet(anchors: Array, positives: Array, negatives: Array; axis: Int, p: Float, margin: Float, eps: Float, reduction: Text) => {
        built!(
            TripletLossBuilder, TripletLoss, reduction, axis = axis, DEFAULT_AXIS, p = p, DEFAULT_P, margin = margin, DEFAULT_MARGIN, eps = eps, DEFAULT_EPS
        ).apply(&anchors, &positives, &negatives)
    };
}

fn reduction(name: Option<&str>, default: LossReduction) -> Result<LossReduction, Exception> {
    match name {
        None => Ok(default),
        Some("none") => Ok(LossReduction::None),
        Some("sum") => Ok(LossReduction::Sum),
        Some("mean") => Ok(LossReduction::Mean),
        Some(other) => Err(exception(format!(
            "reduction is `none`, `sum` or `mean`, not `{other}`"
        ))),
    }
}
