//! Layers once built: called with arrays by name, whatever their input structure is in mlx-rs.

use mlx_rs::error::Exception;
use mlx_rs::module::{ModuleParamRef, ModuleParameters};
use mlx_rs::Array;

use super::error::ModelError;
use crate::capture::containers::{Layer, Naming};

/// A layer once built.
pub struct Built {
    /// Its class, for module records.
    pub(super) class: String,
    /// What its calls are at op level.
    pub(super) naming: Naming,
    /// The layer.
    pub(super) body: Body,
}

/// The layer itself.
pub(super) enum Body {
    /// One array in, one out.
    Unary(Box<dyn Layer>),
    /// Several arrays in, or several out.
    Many(Box<dyn Many>),
}

/// A layer that takes several arrays, or yields several.
pub trait Many {
    /// The forward, with operands in the order of the signature; those left out are `None`.
    ///
    /// # Errors
    ///
    /// MLX's.
    fn forward(&mut self, operands: &[Option<Array>]) -> Result<Vec<Array>, Exception>;

    /// The parameters, by mlx-rs's addresses.
    fn parameters(&self) -> ModuleParamRef<'_>;
}

impl Built {
    pub(super) fn forward(&mut self, operands: &[Option<Array>]) -> Result<Vec<Array>, ModelError> {
        let result = match &mut self.body {
            Body::Unary(layer) => match operands {
                [Some(x)] => layer.forward(x).map(|y| vec![y]),
                _ => {
                    return Err(ModelError::Argument {
                        callee: self.class.clone(),
                        parameter: "x".to_string(),
                        wanted: "one array",
                    })
                }
            },
            Body::Many(module) => module.forward(operands),
        };
        result.map_err(|error| ModelError::mlx(&self.class, &error))
    }

    pub(super) fn parameters(&self) -> ModuleParamRef<'_> {
        match &self.body {
            Body::Unary(layer) => layer.parameters(),
            Body::Many(module) => module.parameters(),
        }
    }
}
