//! The backend under test, put together: the one place where the suite meets what traces a cell.

use crate::capability::CAPABILITIES;
use crate::case::names::{Names, Parameter, Signature, Takes};
use crate::harness::backend::{Backend, Fact};
use crate::harness::expect::conclude;
use crate::harness::seam::{Cell, Observed, Runner};
use crate::scorecard::outcome::{Ending, Evidence, Outcome};
use crate::vocabulary::Device;
use std::sync::Arc;
use std::time::Duration;

/// The layers that a case may build.
static LAYERS: &[Signature] = &[
    Signature::new("gelu", &[X]),
    Signature::new(
        "layer_norm",
        &[X, setting("dims", Takes::Int), option("eps", Takes::Float)],
    ),
    Signature::new(
        "linear",
        &[
            X,
            setting("input", Takes::Int),
            setting("output", Takes::Int),
            option("bias", Takes::Bool),
        ],
    ),
    Signature::new("relu", &[X]),
    Signature::new(
        "transformer",
        &[
            Parameter::required("source", Takes::Array),
            Parameter::required("target", Takes::Array),
            setting("dims", Takes::Int),
            setting("heads", Takes::Int),
            option("encoder_layers", Takes::Int),
            option("decoder_layers", Takes::Int),
        ],
    ),
];

const X: Parameter = Parameter::required("x", Takes::Array);

const fn setting(name: &'static str, takes: Takes) -> Parameter {
    Parameter::required(name, takes)
}

const fn option(name: &'static str, takes: Takes) -> Parameter {
    Parameter::optional(name, takes)
}

/// The backend that the commands and the trials run against.
pub fn backend() -> Backend {
    Backend {
        names: Names {
            layers: LAYERS,
            functions: &[],
            capabilities: CAPABILITIES,
        },
        device: Device::LinuxCpu,
        runner: Arc::new(Unplugged),
        facts: vec![Fact::new("assay", env!("CARGO_PKG_VERSION"))],
    }
}

/// A build without a capture layer: every cell is the suite's own fault, and nothing is green.
struct Unplugged;

impl Runner for Unplugged {
    fn run(&self, cell: &Cell) -> Outcome {
        let message = "this build has no capture layer".to_owned();
        let evidence = Evidence::ended(Ending::Invalid { message });
        conclude(
            cell,
            Observed {
                evidence,
                ..Observed::default()
            },
            Duration::ZERO,
        )
    }
}
