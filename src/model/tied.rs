//! Tied weights: one array at two addresses.

use std::rc::Rc;

use mlx_rs::error::Exception;
use mlx_rs::module::ModuleParamRef;
use mlx_rs::nested::{NestedHashMap, NestedValue};
use mlx_rs::ops::indexing::take_axis;
use mlx_rs::{ops, random, Array};

use super::module::Many;

/// A table of embeddings that is the head's weight too.
pub(super) struct Tied(Array);

impl Tied {
    pub(super) fn new(count: i32, dims: i32) -> Result<Self, Exception> {
        Ok(Self(random::normal::<f32>(&[count, dims], None, None, None)?))
    }
}

impl Many for Tied {
    fn forward(&mut self, operands: &[Option<Array>]) -> Result<Vec<Array>, Exception> {
        let [Some(tokens)] = operands else {
            return Err(Exception::custom("it takes tokens"));
        };
        let embedded = take_axis(&self.0, tokens, 0)?;
        Ok(vec![ops::matmul(embedded, self.0.t())?])
    }

    fn parameters(&self) -> ModuleParamRef<'_> {
        let weight = || NestedValue::Map([(Rc::from("weight"), NestedValue::Value(&self.0))].into());
        let mut parameters = NestedHashMap::new();
        parameters.entries.insert(Rc::from("table"), weight());
        parameters.entries.insert(Rc::from("head"), weight());
        parameters
    }
}
