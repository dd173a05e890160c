//! From a case's tree of layers to layers.

use std::collections::{BTreeMap, HashMap};

use super::super::arguments::Bound;
use super::super::error::ModelError;
use super::super::module::{Body, Built};
use super::made::container;
use super::table::layer;
use crate::capture::containers::{Layer, List, Map, Naming, Sequential};
use crate::case::spec::{Children, Spec};

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
