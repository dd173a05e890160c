//! A few names of each kind, so that the grammar is tested without the tables of the backend.

use mlx_assay::capability::CAPABILITIES;
use mlx_assay::case::cell::Cell;
use mlx_assay::case::check;
use mlx_assay::case::error::Problem;
use mlx_assay::case::load::Source;
use mlx_assay::case::names::{Names, Parameter, Signature, Takes};

const X: Parameter = Parameter::required("x", Takes::Array);

static LAYERS: &[Signature] = &[
    Signature::new("gelu", &[X]),
    Signature::new(
        "gru",
        &[
            X,
            Parameter::required("input", Takes::Int),
            Parameter::required("hidden", Takes::Int),
        ],
    ),
    Signature::new(
        "linear",
        &[
            X,
            Parameter::required("input", Takes::Int),
            Parameter::required("output", Takes::Int),
            Parameter::optional("bias", Takes::Bool),
        ],
    ),
    Signature::new(
        "transformer",
        &[
            Parameter::required("source", Takes::Array),
            Parameter::required("target", Takes::Array),
            Parameter::required("dims", Takes::Int),
        ],
    ),
];

static FUNCTIONS: &[Signature] = &[
    Signature::new("linalg.norm", &[X]),
    Signature::new(
        "power",
        &[
            Parameter::required("a", Takes::Array),
            Parameter::required("b", Takes::Array),
        ],
    ),
    Signature::new(
        "stack",
        &[
            Parameter::required("arrays", Takes::Arrays),
            Parameter::optional("axis", Takes::Int),
        ],
    ),
    Signature::new(
        "sum",
        &[
            X,
            Parameter::optional("axes", Takes::Ints),
            Parameter::optional("keep_dims", Takes::Bool),
        ],
    ),
];

/// The names.
pub const NAMES: Names = Names {
    layers: LAYERS,
    functions: FUNCTIONS,
    capabilities: CAPABILITIES,
    observed: &[
        "mlx_addmm",
        "mlx_erf",
        "mlx_linalg_norm",
        "mlx_linalg_norm_l2",
        "mlx_sum",
        "mlx_sum_axes",
    ],
};

/// The cells of `text`, or what is wrong with it, as the file `cases/test.yaml`.
pub fn read(text: &str) -> Result<Vec<Cell>, Vec<Problem>> {
    let source = Source {
        id: "test".to_owned(),
        file: "cases/test.yaml".to_owned(),
        text: text.into(),
    };
    check::case(&source, &NAMES)
}

/// The cells of a text with which nothing is wrong.
pub fn cells(text: &str) -> Vec<Cell> {
    read(text)
        .unwrap_or_else(|problems| panic!("{}", problems.iter().map(Problem::render).collect::<String>()))
}
