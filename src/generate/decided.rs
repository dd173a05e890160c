//! What a person decided of what asking could not decide: by the subjects, and by what asking said.
//!
//! It stands here and not in the files, so that a file that is written anew says it again.

const RECORD_ONLY_ACTIVATION: &str =
    "no activation is defined on complex numbers: what MLX makes of them is recorded, and held to nothing";
const RECORD_ONLY_LOSS: &str =
    "a complex loss cannot be made small: what MLX makes of it is recorded, and held to nothing";
const RECORD_ONLY_STEP: &str =
    "these optimizers are defined on real numbers: what MLX makes of others is recorded, and held to nothing";
const RECORD_ONLY_LAYER: &str =
    "this layer's reference computes in real numbers: of complex ones the record alone is held to anything";
const RECORD_ONLY_FACTORS: &str =
    "this reference factors real matrices: of complex ones the record alone is held to anything";
const RECORD_ONLY_DRAWS: &str =
    "this property is of real draws: of complex ones the record alone is held to anything";

const COMPLEX: &str = "does not cover complex64";
const UNPROVEN: &str = "perturbation_insensitive";

/// Subjects (a family and a name, `*` for all of a family), a part of what asking said, and what was decided.
static DECIDED: &[(&[&str], &str, &str)] = &[
    (&["nn::*"], COMPLEX, RECORD_ONLY_ACTIVATION),
    (
        &[
            "layers::celu",
            "layers::hard_swish",
            "layers::leaky_relu",
            "layers::log_sigmoid",
            "layers::log_softmax",
            "layers::mish",
            "layers::prelu",
            "layers::relu",
            "layers::relu6",
            "layers::selu",
            "layers::softmax",
            "layers::softplus",
            "layers::softsign",
            "layers::step",
        ],
        COMPLEX,
        RECORD_ONLY_ACTIVATION,
    ),
    (&["layers::*"], COMPLEX, RECORD_ONLY_LAYER),
    (&["losses::*"], COMPLEX, RECORD_ONLY_LOSS),
    (&["optimizers::*"], COMPLEX, RECORD_ONLY_STEP),
    (&["linalg::*"], COMPLEX, RECORD_ONLY_FACTORS),
    (&["random::*"], COMPLEX, RECORD_ONLY_DRAWS),
    (
        &["reduce::mean", "array::mean"],
        "every element is NaN",
        "the mean of nothing is NaN, and NaN beside NaN is no evidence: the record alone is held to anything",
    ),
    (
        &[
            "array::floor_divide",
            "array::remainder",
            "elementwise::divmod",
            "elementwise::floor_divide",
            "elementwise::remainder",
            "operators::rem",
            "operators::rem_assign",
        ],
        UNPROVEN,
        "right: a divisor that is not 0 can only be true, and anything over it leaves nothing",
    ),
    (
        &["elementwise::array_eq", "array::eq_exact", "array::eq_values"],
        UNPROVEN,
        "right: arrays that differ in several places differ still with another one in the place of either",
    ),
    (
        &["elementwise::all_close", "array::all_close"],
        UNPROVEN,
        "right: what is not close stays so with anything that is put in its place",
    ),
    (
        &["elementwise::logical_or", "array::logical_or"],
        UNPROVEN,
        "right: beside one that is true the other one shows nothing",
    ),
    (
        &["elementwise::is_neg_inf", "array::is_neg_inf"],
        UNPROVEN,
        "right: minus infinity is none of what is put in an element's place, nor ever a complex number",
    ),
    (
        &["elementwise::is_pos_inf", "array::is_pos_inf"],
        UNPROVEN,
        "right: no complex number is an infinity of the real line",
    ),
    (
        &["indexing::scatter_max_single", "indexing::scatter_min_single"],
        COMPLEX,
        "this reference orders real numbers: of complex ones the record alone is held to anything",
    ),
    (
        &["shape::pad"],
        UNPROVEN,
        "right: what is padded by nothing shows nothing of what it is padded with",
    ),
    (
        &["order::argsort"],
        UNPROVEN,
        "right: the only element comes first, whatever it is",
    ),
    (
        &["order::softmax"],
        UNPROVEN,
        "right: in the integers' own type, which is the finding below, every share is 0",
    ),
    (
        &["losses::binary_cross_entropy"],
        UNPROVEN,
        "right: shares of an integer type are all 0, and so is their product with anything that type holds",
    ),
    (
        &["nn::elu", "nn::selu", "nn::step"],
        UNPROVEN,
        "right: one number alone may lie on the same side of everything that is put in the threshold's place",
    ),
    (
        &["nn::celu", "layers::celu", "nn::prelu"],
        UNPROVEN,
        "right: no number without a sign is below 0, so its negative part is 0 whatever it is",
    ),
    (
        &["nn::gelu_approximate"],
        UNPROVEN,
        "right: 0 and 1 to any power are themselves",
    ),
    (
        &["product::addmm"],
        UNPROVEN,
        "right: what is added 0 times shows nothing of itself",
    ),
    (
        &["fast::rope_dynamic"],
        UNPROVEN,
        "right: an offset is a place, of which only those that are there are tried, and here is one",
    ),
    (
        &["indexing::getitem_arrays"],
        UNPROVEN,
        "right: truth values at several places are alike, so that another place may hold the same",
    ),
    (
        &["indexing::setitem"],
        UNPROVEN,
        "right: every element is overwritten, so that nothing shows what was there",
    ),
    (
        &["layers::upsample"],
        UNPROVEN,
        "right: at the edges a place is read with the weight 0, so that another one changes nothing",
    ),
    (
        &["random::randint"],
        UNPROVEN,
        "right: a truth value between 2 and 9 is true, whatever the bounds",
    ),
    (
        &["random::random_state_new"],
        "constant_depends_on_input",
        "right: it is seeded by the clock, so that no two captures have the same key, and the record says so",
    ),
    (
        &["array::deep_clone"],
        "constant_depends_on_input",
        "right: it copies through the host, where no capture can follow, and the record says so",
    ),
    (
        &["optimizers::clip_grad_norm"],
        "constant_depends_on_input",
        "right: it reads the norm on the host and goes on with a number, and the record says so",
    ),
    (
        &["layers::dropout", "layers::dropout2d", "layers::dropout3d"],
        "there is nothing to replay with",
        "right: in evaluation it computes nothing and gives back what it was given",
    ),
];

/// What was decided of what asking said of a subject (`surface::nn::elu`), if anything was.
pub(super) fn decided(subject: &str, said: &str) -> Option<&'static str> {
    let subject = subject.strip_prefix("surface::").unwrap_or(subject);
    let means = |pattern: &&str| match pattern.strip_suffix('*') {
        Some(family) => subject.starts_with(family),
        None => subject == *pattern,
    };
    let row = DECIDED
        .iter()
        .find(|(subjects, part, _)| said.contains(part) && subjects.iter().any(means));
    row.map(|(_, _, decision)| *decision)
}
