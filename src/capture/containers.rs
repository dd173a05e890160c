//! Containers whose modules have records, addresses and names: [`Sequential`], [`List`], [`Map`].
//!
//! The calls of a layer that is pushed are one op at op level; containers lie inside containers.

use std::fmt::Debug;

use indexmap::IndexMap;
use mlx_rs::error::Exception;
use mlx_rs::module::{Module, ModuleParamMut, ModuleParamRef, ModuleParameters};
use mlx_rs::nested::{NestedHashMap, NestedValue};
use mlx_rs::Array;

use super::module::class_name;
use super::scope::{module_scope, ScopeKind};

/// A layer: one array in, one array out.
pub trait Layer: for<'a> Module<&'a Array, Output = Array, Error = Exception> + Debug {}

impl<T> Layer for T where T: for<'a> Module<&'a Array, Output = Array, Error = Exception> + Debug {}

/// What a layer's calls are at op level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// One op, called after the layer's class.
    Op,
    /// What the modules inside make of them: the layer is a container.
    Container,
}

/// One place of a container.
#[derive(Debug)]
struct Slot {
    step: String,
    class: String,
    naming: Naming,
    layer: Box<dyn Layer>,
}

impl Slot {
    fn forward(&mut self, x: &Array) -> Result<Array, Exception> {
        let kind = match self.naming {
            Naming::Op => ScopeKind::Module(self.class.clone()),
            Naming::Container => ScopeKind::Container(self.class.clone()),
        };
        module_scope(kind, Some(&self.step), || self.layer.forward(x))
    }
}

/// Layers in order, each fed by the one before: addresses `0`, `1`, ….
#[derive(Debug, Default)]
pub struct List {
    slots: Vec<Slot>,
}

/// Layers by name, in the order of insertion, each fed by the one before.
#[derive(Debug, Default)]
pub struct Map {
    slots: IndexMap<String, Slot>,
}

/// mlx-rs's `Sequential`, whose field `layers` has a record of its own.
#[derive(Debug, Default)]
pub struct Sequential {
    layers: List,
}

impl List {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// With one more layer, whose calls are one op.
    pub fn push<M: Layer + 'static>(self, layer: M) -> Self {
        self.push_as(class_name::<M>(), Naming::Op, Box::new(layer))
    }

    /// With one more container.
    pub fn push_container<M: Layer + 'static>(self, container: M) -> Self {
        self.push_as(class_name::<M>(), Naming::Container, Box::new(container))
    }

    /// With one more layer, whose class and naming are given.
    pub fn push_as(mut self, class: String, naming: Naming, layer: Box<dyn Layer>) -> Self {
        let step = self.slots.len().to_string();
        self.slots.push(Slot {
            step,
            class: container_class(class),
            naming,
            layer,
        });
        self
    }
}

impl Map {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// With one more layer, whose calls are one op. A name given twice keeps the later layer.
    pub fn insert<M: Layer + 'static>(self, name: impl Into<String>, layer: M) -> Self {
        self.insert_as(name, class_name::<M>(), Naming::Op, Box::new(layer))
    }

    /// With one more layer, whose class and naming are given.
    pub fn insert_as(
        mut self,
        name: impl Into<String>,
        class: String,
        naming: Naming,
        layer: Box<dyn Layer>,
    ) -> Self {
        let step = name.into();
        self.slots.insert(
            step.clone(),
            Slot {
                step,
                class: container_class(class),
                naming,
                layer,
            },
        );
        self
    }
}

impl Sequential {
    /// No layers.
    pub fn new() -> Self {
        Self::default()
    }

    /// With one more layer, whose calls are one op.
    pub fn push<M: Layer + 'static>(self, layer: M) -> Self {
        Self {
            layers: self.layers.push(layer),
        }
    }

    /// With these layers.
    pub fn of(layers: List) -> Self {
        Self { layers }
    }
}

/// How the class of our own containers is spelled in a module record.
fn container_class(class: String) -> String {
    match class.as_str() {
        "List" => "list".to_string(),
        "Map" => "map".to_string(),
        _ => class,
    }
}

/// Feeds each layer with what the one before gave; without layers the input itself is the result.
fn chain<'a>(slots: impl Iterator<Item = &'a mut Slot>, x: &Array) -> Result<Array, Exception> {
    let mut current = x.clone();
    for slot in slots {
        current = slot.forward(&current)?;
    }
    Ok(current)
}

impl Module<&Array> for List {
    type Output = Array;
    type Error = Exception;

    fn forward(&mut self, x: &Array) -> Result<Array, Exception> {
        chain(self.slots.iter_mut(), x)
    }

    fn training_mode(&mut self, mode: bool) {
        self.slots
            .iter_mut()
            .for_each(|slot| slot.layer.training_mode(mode));
    }
}

impl Module<&Array> for Map {
    type Output = Array;
    type Error = Exception;

    fn forward(&mut self, x: &Array) -> Result<Array, Exception> {
        chain(self.slots.values_mut(), x)
    }

    fn training_mode(&mut self, mode: bool) {
        self.slots
            .values_mut()
            .for_each(|slot| slot.layer.training_mode(mode));
    }
}

impl Module<&Array> for Sequential {
    type Output = Array;
    type Error = Exception;

    fn forward(&mut self, x: &Array) -> Result<Array, Exception> {
        module_scope(ScopeKind::Container("list".to_string()), Some("layers"), || {
            self.layers.forward(x)
        })
    }

    fn training_mode(&mut self, mode: bool) {
        self.layers.training_mode(mode);
    }
}

/// The slots of a container as one list, which is what its parameters are made of.
trait Slots {
    fn slots(&self) -> impl Iterator<Item = &Slot>;
    fn slots_mut(&mut self) -> impl Iterator<Item = &mut Slot>;
}

impl Slots for List {
    fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter()
    }

    fn slots_mut(&mut self) -> impl Iterator<Item = &mut Slot> {
        self.slots.iter_mut()
    }
}

impl Slots for Map {
    fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.slots.values()
    }

    fn slots_mut(&mut self) -> impl Iterator<Item = &mut Slot> {
        self.slots.values_mut()
    }
}

/// Nests each layer's parameters under its step.
macro_rules! parameters_of_slots {
    ($name:ty) => {
        impl ModuleParameters for $name {
            fn num_parameters(&self) -> usize {
                self.slots().map(|slot| slot.layer.num_parameters()).sum()
            }

            fn parameters(&self) -> ModuleParamRef<'_> {
                nest(
                    self.slots()
                        .map(|slot| (slot.step.as_str(), slot.layer.parameters())),
                )
            }

            fn parameters_mut(&mut self) -> ModuleParamMut<'_> {
                nest(
                    self.slots_mut()
                        .map(|slot| (slot.step.as_str(), slot.layer.parameters_mut())),
                )
            }

            fn trainable_parameters(&self) -> ModuleParamRef<'_> {
                nest(
                    self.slots()
                        .map(|slot| (slot.step.as_str(), slot.layer.trainable_parameters())),
                )
            }

            fn freeze_parameters(&mut self, recursive: bool) {
                self.slots_mut()
                    .for_each(|slot| slot.layer.freeze_parameters(recursive));
            }

            fn unfreeze_parameters(&mut self, recursive: bool) {
                self.slots_mut()
                    .for_each(|slot| slot.layer.unfreeze_parameters(recursive));
            }

            fn all_frozen(&self) -> Option<bool> {
                let mut frozen = self
                    .slots()
                    .filter_map(|slot| slot.layer.all_frozen())
                    .peekable();
                frozen.peek()?;
                Some(frozen.all(|frozen| frozen))
            }

            fn any_frozen(&self) -> Option<bool> {
                let mut frozen = self
                    .slots()
                    .filter_map(|slot| slot.layer.any_frozen())
                    .peekable();
                frozen.peek()?;
                Some(frozen.any(|frozen| frozen))
            }
        }
    };
}

parameters_of_slots!(List);
parameters_of_slots!(Map);

/// Parameters nested under steps.
fn nest<'a, V>(
    slots: impl Iterator<Item = (&'a str, NestedHashMap<std::rc::Rc<str>, V>)>,
) -> NestedHashMap<std::rc::Rc<str>, V> {
    let mut nested = NestedHashMap::new();
    for (step, parameters) in slots {
        nested.insert(step.into(), NestedValue::Map(parameters.entries));
    }
    nested
}

/// `layers` in front of an inner address.
macro_rules! under_layers {
    ($parameters:expr) => {
        nest(std::iter::once(("layers", $parameters)))
    };
}

impl ModuleParameters for Sequential {
    fn num_parameters(&self) -> usize {
        self.layers.num_parameters()
    }

    fn parameters(&self) -> ModuleParamRef<'_> {
        under_layers!(self.layers.parameters())
    }

    fn parameters_mut(&mut self) -> ModuleParamMut<'_> {
        under_layers!(self.layers.parameters_mut())
    }

    fn trainable_parameters(&self) -> ModuleParamRef<'_> {
        under_layers!(self.layers.trainable_parameters())
    }

    fn freeze_parameters(&mut self, recursive: bool) {
        self.layers.freeze_parameters(recursive);
    }

    fn unfreeze_parameters(&mut self, recursive: bool) {
        self.layers.unfreeze_parameters(recursive);
    }

    fn all_frozen(&self) -> Option<bool> {
        self.layers.all_frozen()
    }

    fn any_frozen(&self) -> Option<bool> {
        self.layers.any_frozen()
    }
}
