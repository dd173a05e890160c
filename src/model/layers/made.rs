//! What the tables build layers with.

use mlx_rs::utils::{SingleOrPair, SingleOrTriple};

use super::super::module::{Body, Built, Many};
use crate::capture::class_name;
use crate::capture::containers::{Layer, Naming};

/// A layer that is one op.
pub(super) fn unary<M: Layer + 'static>(layer: M) -> Result<Built, Box<dyn std::error::Error>> {
    Ok(Built {
        class: class_name::<M>(),
        naming: Naming::Op,
        body: Body::Unary(Box::new(layer)),
    })
}

/// A program whose every call is an op.
pub(super) fn program<M: Layer + 'static>(program: M) -> Result<Built, Box<dyn std::error::Error>> {
    Ok(container(program))
}

pub(super) fn container<M: Layer + 'static>(layer: M) -> Built {
    Built {
        class: class_name::<M>(),
        naming: Naming::Container,
        body: Body::Unary(Box::new(layer)),
    }
}

/// A module of many layers whose every call is an op, until the call stack names its layers.
pub(super) fn composite<M: Many + 'static>(module: M) -> Result<Built, Box<dyn std::error::Error>> {
    let class = class_name::<M>().trim_end_matches("Call").to_string();
    Ok(Built {
        class,
        naming: Naming::Container,
        body: Body::Many(Box::new(module)),
    })
}

/// A layer of several arrays that is one op.
pub(super) fn many<M: Many + 'static>(module: M) -> Result<Built, Box<dyn std::error::Error>> {
    Ok(Built {
        naming: Naming::Op,
        ..composite(module)?
    })
}

/// The layer in the mode that the case asks for; mlx-rs's own, training, if it asks for none.
pub(super) fn in_mode<M: Layer>(mut layer: M, training: Option<bool>) -> M {
    if let Some(mode) = training {
        layer.training_mode(mode);
    }
    layer
}

/// One number for both axes, or one for each.
pub(super) fn pair(numbers: &[i32]) -> Result<SingleOrPair<i32>, Box<dyn std::error::Error>> {
    match *numbers {
        [both] => Ok(SingleOrPair::Single(both)),
        [first, second] => Ok(SingleOrPair::Pair(first, second)),
        _ => Err("one number is wanted, or two".into()),
    }
}

pub(super) fn pair_or(
    numbers: Option<Vec<i32>>,
    default: SingleOrPair<i32>,
) -> Result<SingleOrPair<i32>, Box<dyn std::error::Error>> {
    numbers.map_or(Ok(default), |numbers| pair(&numbers))
}

pub(super) fn wide(pair: SingleOrPair<i32>) -> SingleOrPair<i64> {
    SingleOrPair::Pair(i64::from(pair.first()), i64::from(pair.second()))
}

/// One number for all three axes, or one for each.
pub(super) fn triple(numbers: &[i32]) -> Result<SingleOrTriple<i32>, Box<dyn std::error::Error>> {
    match *numbers {
        [all] => Ok(SingleOrTriple::Single(all)),
        [first, second, third] => Ok(SingleOrTriple::Triple(first, second, third)),
        _ => Err("one number is wanted, or three".into()),
    }
}

pub(super) fn triple_or(
    numbers: Option<Vec<i32>>,
    default: SingleOrTriple<i32>,
) -> Result<SingleOrTriple<i32>, Box<dyn std::error::Error>> {
    numbers.map_or(Ok(default), |numbers| triple(&numbers))
}
