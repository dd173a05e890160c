//! One point's inputs: what a case writes, with the axes' values put in and every shape checked.

use super::data::{ArraySpec, Data, GivenAs, Input, Source, View};
use super::elements;
use super::error::Fault;
use super::fill::{self, Fill};
use super::position::Path;
use super::schema::{ArrayFile, Bound, InputFile};
use super::value::Value;
use super::yaml::{self, FaultAt, Index};
use crate::vocabulary::DType;
use indexmap::IndexMap;
use serde::de::DeserializeOwned;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// The values of the axes at one point, and which axes have been asked for.
pub struct Bindings<'a> {
    /// Axis name and value.
    pub point: &'a [(String, Value)],
    /// The case's positions.
    pub index: &'a Index,
    /// Axes that something uses; shared by all points of a case.
    pub used: &'a RefCell<BTreeSet<String>>,
}

impl Bindings<'_> {
    /// The axis's value, which counts as a use of it.
    pub fn axis(&self, name: &str) -> Option<&Value> {
        let (_, value) = self.point.iter().find(|(axis, _)| axis == name)?;
        self.used.borrow_mut().insert(name.to_owned());
        Some(value)
    }

    /// The value with every `$axis` in it replaced; `path` is where it stands.
    pub fn put_in(&self, value: &Value, path: &Path) -> Result<Value, FaultAt> {
        Ok(match value {
            Value::Text(text) => match text.strip_prefix('$') {
                Some(name) => self.known_axis(name, path)?.clone(),
                None => value.clone(),
            },
            Value::List(items) => Value::List(
                items
                    .iter()
                    .enumerate()
                    .map(|(place, item)| self.put_in(item, &path.index(place)))
                    .collect::<Result<_, _>>()?,
            ),
            Value::Map(entries) => Value::Map(
                entries
                    .iter()
                    .map(|(key, item)| Ok((key.clone(), self.put_in(item, &path.key(key))?)))
                    .collect::<Result<_, _>>()?,
            ),
            plain => plain.clone(),
        })
    }

    /// What `bound` says, from the axis if it names one.
    fn get<T: Clone + DeserializeOwned>(
        &self,
        bound: Option<&Bound<T>>,
        wanted: &str,
        path: &Path,
    ) -> Result<Option<T>, FaultAt> {
        match bound {
            None => Ok(None),
            Some(Bound::Here(value)) => Ok(Some(value.clone())),
            Some(Bound::Axis(name)) => {
                let value = self.known_axis(name, path)?;
                self.convert(name, value, wanted).map(Some)
            }
        }
    }

    /// The axis's value as a `T`; a fault points into `matrix:`.
    pub fn convert<T: DeserializeOwned>(
        &self,
        axis: &str,
        value: &Value,
        wanted: &str,
    ) -> Result<T, FaultAt> {
        yaml::convert(value).map_err(|_| FaultAt {
            fault: Fault::WrongAxisValue {
                axis: axis.to_owned(),
                value: value.to_string(),
                wanted: wanted.to_owned(),
            },
            mark: self.index.key(&Path::root().key("matrix").key(axis)),
        })
    }

    fn known_axis(&self, name: &str, path: &Path) -> Result<&Value, FaultAt> {
        self.axis(name).ok_or_else(|| FaultAt {
            fault: Fault::UnknownAxis {
                axis: name.to_owned(),
                known: self.point.iter().map(|(axis, _)| axis.clone()).collect(),
            },
            mark: self.index.value(path),
        })
    }
}

/// What stands where an input is wrong.
fn stand_in() -> Input {
    Input::Array(ArraySpec {
        dtype: DType::Float32,
        shape: Vec::new(),
        view: View::Plain,
        source: Source::Values(Data::Float(vec![0.0])),
        given_as: GivenAs::default(),
    })
}

/// All inputs of a case at one point, in the order written, and what is wrong with any.
pub fn inputs(
    written: &IndexMap<String, InputFile>,
    seed: u64,
    bindings: &Bindings<'_>,
) -> (IndexMap<String, Input>, Vec<FaultAt>) {
    let at = Path::root().key("inputs");
    let mut faults = Vec::new();
    let mut inputs = IndexMap::new();
    for (name, input) in written {
        match resolve(input, &at.key(name), name, seed, bindings) {
            Ok(input) => {
                inputs.insert(name.clone(), input);
            }
            Err(fault) => {
                faults.push(fault);
                // Stands in, so that the rest can be checked: the program may name it.
                inputs.insert(name.clone(), stand_in());
            }
        }
    }
    (inputs, faults)
}

fn resolve(
    written: &InputFile,
    path: &Path,
    name: &str,
    seed: u64,
    bindings: &Bindings<'_>,
) -> Result<Input, FaultAt> {
    match written {
        InputFile::Array(array) => resolve_array(array, path, name, seed, bindings).map(Input::Array),
        InputFile::Scalar(Value::Bool(value)) => Ok(Input::Bool(*value)),
        InputFile::Scalar(Value::Int(value)) => Ok(Input::Int(*value)),
        // The schema lets through numbers and bools only.
        InputFile::Scalar(other) => Ok(Input::Float(other.as_float().unwrap_or(f64::NAN))),
        InputFile::List(items) => {
            // `{list: [...]}` puts the items one key deeper than `[...]` does.
            let inner = path.key("list");
            let inside = if bindings.index.contains(&inner) {
                inner
            } else {
                path.clone()
            };
            let item = |(place, item): (usize, &InputFile)| {
                resolve(
                    item,
                    &inside.index(place),
                    &format!("{name}.{place}"),
                    seed,
                    bindings,
                )
            };
            items
                .iter()
                .enumerate()
                .map(item)
                .collect::<Result<_, _>>()
                .map(Input::List)
        }
        InputFile::Map(entries) => {
            let inside = path.key("map");
            let entry = |(key, item): (&String, &InputFile)| {
                let item = resolve(item, &inside.key(key), &format!("{name}.{key}"), seed, bindings)?;
                Ok((key.clone(), item))
            };
            entries
                .iter()
                .map(entry)
                .collect::<Result<_, _>>()
                .map(Input::Map)
        }
    }
}

fn resolve_array(
    written: &ArrayFile,
    path: &Path,
    name: &str,
    seed: u64,
    bindings: &Bindings<'_>,
) -> Result<ArraySpec, FaultAt> {
    let index = bindings.index;
    let dtype = bindings.get(written.dtype.as_ref(), "an element type", &path.key("dtype"))?;
    let dtype = dtype.unwrap_or(DType::Float32);
    let view = bindings
        .get(written.view.as_ref(), "a view", &path.key("view"))?
        .unwrap_or_default();
    let shape = bindings.get(written.shape.as_ref(), "a shape", &path.key("shape"))?;
    let fill = bindings.get(written.fill.as_ref(), "a fill", &path.key("fill"))?;
    let fault = |fault, key| FaultAt {
        fault,
        mark: index.value(&path.key(key)),
    };

    match (&written.value, shape) {
        (Some(_), Some(_)) => Err(FaultAt {
            fault: Fault::ValueAnd { other: "shape" },
            mark: index.key(&path.key("shape")),
        }),
        (Some(_), None) if fill.is_some() => Err(FaultAt {
            fault: Fault::ValueAnd { other: "fill" },
            mark: index.key(&path.key("fill")),
        }),
        (Some(value), None) => {
            let value = bindings.put_in(value, &path.key("value"))?;
            let (shape, data) = elements::parse(&value, dtype, "value").map_err(|it| fault(it, "value"))?;
            Ok(ArraySpec {
                dtype,
                shape,
                view,
                source: Source::Values(data),
                given_as: written.given_as.unwrap_or_default(),
            })
        }
        (None, Some(extents)) => {
            let shape = elements::shape(&extents).map_err(|it| fault(it, "shape"))?;
            let seed = fill::seed_for(seed, name);
            let array = filled(dtype, shape, view, fill.unwrap_or_default(), seed);
            let array = array.map_err(|it| fault(it, "fill"))?;
            Ok(ArraySpec {
                given_as: written.given_as.unwrap_or_default(),
                ..array
            })
        }
        (None, None) => Err(FaultAt {
            fault: Fault::NoElements,
            mark: index.key(path),
        }),
    }
}

/// An array that is filled from a seed.
pub fn filled(dtype: DType, shape: Vec<i32>, view: View, fill: Fill, seed: u64) -> Result<ArraySpec, Fault> {
    if !fill.fits(dtype) {
        return Err(Fault::FillMisfit {
            fill: fill.to_string(),
            dtype: dtype.name(),
        });
    }
    Ok(ArraySpec {
        dtype,
        shape,
        view,
        source: Source::Fill { fill, seed },
        given_as: GivenAs::default(),
    })
}
