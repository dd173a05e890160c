//! The matrix of a case: its points, which of them a selection means, and how a point is named.

use super::error::Fault;
use super::position::Path;
use super::schema::{Selection, Vary};
use super::value::Value;
use super::yaml::{FaultAt, Index};
use indexmap::IndexMap;

/// The most cells one case may have.
pub const MAX_CELLS: usize = 10_000;

/// Axis names and the values of each, as `matrix:` has them.
pub type Axes = IndexMap<String, Vec<Value>>;

/// One point: axis name and value, in the order of the axes.
pub type Point = Vec<(String, Value)>;

/// Every combination, the last axis changing fastest, or those that leave the first in one axis only; less the excluded
/// ones.
pub fn points(
    axes: &Axes,
    vary: Vary,
    exclude: &[Selection],
    index: &Index,
) -> Result<Vec<Point>, Vec<FaultAt>> {
    let at = Path::root().key("matrix");
    let mut faults = Vec::new();
    for (axis, values) in axes {
        let path = at.key(axis);
        if values.is_empty() {
            faults.push(FaultAt {
                fault: Fault::EmptyAxis { axis: axis.clone() },
                mark: index.key(&path),
            });
        }
        for (place, value) in values.iter().enumerate() {
            if values[..place].contains(value) {
                let fault = Fault::RepeatedValue {
                    axis: axis.clone(),
                    value: value.to_string(),
                };
                faults.push(FaultAt {
                    fault,
                    mark: index.value(&path.index(place)),
                });
            }
        }
    }
    let count = match vary {
        Vary::All => axes
            .values()
            .try_fold(1usize, |product, values| product.checked_mul(values.len())),
        Vary::One => axes
            .values()
            .try_fold(1usize, |sum, values| sum.checked_add(values.len())),
    };
    if count.is_none_or(|count| count > MAX_CELLS) {
        let cells = count.map_or("more than 2^64".to_owned(), |count| count.to_string());
        faults.push(FaultAt {
            fault: Fault::TooManyCells {
                cells,
                most: MAX_CELLS,
            },
            mark: index.key(&at),
        });
    }
    if !faults.is_empty() {
        return Err(faults);
    }

    let mut points: Vec<Point> = vec![Vec::new()];
    for (axis, values) in axes {
        points = points
            .iter()
            .flat_map(|point| {
                let fixed = vary == Vary::One && !at_first(axes, point);
                let values = if fixed { &values[..1] } else { &values[..] };
                values
                    .iter()
                    .map(|value| extended(point, axis, value))
                    .collect::<Vec<_>>()
            })
            .collect();
    }
    let all = points.clone();
    for (place, selection) in exclude.iter().enumerate() {
        let path = Path::root().key("exclude").index(place);
        faults.extend(check_selection(selection, axes, &all, &path, index));
        points.retain(|point| selection.is_empty() || !selects(selection, point));
    }
    if points.is_empty() && faults.is_empty() {
        faults.push(FaultAt {
            fault: Fault::NoCells,
            mark: index.key(&Path::root().key("exclude")),
        });
    }
    if faults.is_empty() {
        Ok(points)
    } else {
        Err(faults)
    }
}

/// Whether every axis of the point so far has its first value.
fn at_first(axes: &Axes, point: &Point) -> bool {
    point
        .iter()
        .all(|(axis, value)| axes.get(axis).and_then(|values| values.first()) == Some(value))
}

fn extended(point: &Point, axis: &str, value: &Value) -> Point {
    let mut point = point.clone();
    point.push((axis.to_owned(), value.clone()));
    point
}

/// Whether the point has, on every axis named, the value given or one of the list given.
pub fn selects(selection: &Selection, point: &[(String, Value)]) -> bool {
    selection.iter().all(|(axis, wanted)| {
        point
            .iter()
            .any(|(name, value)| name == axis && matches_value(wanted, value))
    })
}

fn matches_value(wanted: &Value, value: &Value) -> bool {
    wanted == value || wanted.as_list().is_some_and(|any| any.contains(value))
}

/// What is wrong with a selection: an axis or value that does not exist, or no cell among `points`.
pub fn check_selection(
    selection: &Selection,
    axes: &Axes,
    points: &[Point],
    path: &Path,
    index: &Index,
) -> Vec<FaultAt> {
    let mut faults = Vec::new();
    for (axis, wanted) in selection {
        let at = path.key(axis);
        let Some(values) = axes.get(axis) else {
            let known = axes.keys().cloned().collect();
            faults.push(FaultAt {
                fault: Fault::UnknownAxis {
                    axis: axis.clone(),
                    known,
                },
                mark: index.key(&at),
            });
            continue;
        };
        let unknown = |value: &Value, at: &Path| FaultAt {
            fault: Fault::UnknownAxisValue {
                axis: axis.clone(),
                value: value.to_string(),
                known: values.iter().map(Value::to_string).collect(),
            },
            mark: index.value(at),
        };
        match wanted {
            wanted if values.contains(wanted) => {}
            // A list of which nothing is a value was meant as one value, such as a shape.
            Value::List(any) if any.iter().any(|item| values.contains(item)) => {
                let wrong = any.iter().enumerate().filter(|(_, item)| !values.contains(item));
                faults.extend(wrong.map(|(place, item)| unknown(item, &at.index(place))));
            }
            wanted => faults.push(unknown(wanted, &at)),
        }
    }
    if faults.is_empty() && !points.iter().any(|point| selects(selection, point)) {
        faults.push(FaultAt {
            fault: Fault::SelectsNothing,
            mark: index.value(path),
        });
    }
    faults
}

/// The part of a cell's id that says which point it is; empty for a case without matrix.
///
/// Element type and shape stand bare and first. Every other axis is `name=value`, and is silent at its first value,
/// so that a new axis whose first value is what was there before renames no cell.
pub fn name(axes: &Axes, point: &[(String, Value)]) -> String {
    let bare = |wanted: &str| {
        point
            .iter()
            .find(|(axis, _)| axis == wanted)
            .map(|(_, value)| value)
    };
    let mut parts: Vec<String> = Vec::new();
    parts.extend(bare("dtype").map(spelled));
    parts.extend(bare("shape").map(shape_name));
    for (axis, value) in point
        .iter()
        .filter(|(axis, _)| axis != "dtype" && axis != "shape")
    {
        if axes.get(axis).and_then(|values| values.first()) != Some(value) {
            parts.push(format!("{axis}={}", spelled(value)));
        }
    }
    parts.join("::")
}

/// `3x4`, `scalar`, and `3x4_4` for one shape per operand.
fn shape_name(value: &Value) -> String {
    match value {
        Value::List(items) if items.is_empty() => "scalar".to_owned(),
        Value::List(items) if items.iter().all(|item| item.as_int().is_some()) => {
            items.iter().map(spelled).collect::<Vec<_>>().join("x")
        }
        Value::List(items) => items.iter().map(shape_name).collect::<Vec<_>>().join("_"),
        other => spelled(other),
    }
}

/// A value in letters that need no quotes in a shell: `axes:-1+keep_dims:true`.
fn spelled(value: &Value) -> String {
    match value {
        Value::List(items) if items.is_empty() => "empty".to_owned(),
        Value::List(items) => items.iter().map(spelled).collect::<Vec<_>>().join(","),
        Value::Map(entries) if entries.is_empty() => "none".to_owned(),
        Value::Map(entries) => entries
            .iter()
            .map(|(key, value)| format!("{key}:{}", spelled(value)))
            .collect::<Vec<_>>()
            .join("+"),
        plain => plain
            .to_string()
            .chars()
            .map(|letter| {
                if letter.is_ascii_alphanumeric() || "-_.".contains(letter) {
                    letter
                } else {
                    '_'
                }
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::yaml;
    use super::*;
    use proptest::prelude::*;

    fn axes(text: &str) -> Axes {
        yaml::read(text).expect("the test's YAML is right").said
    }

    fn names(text: &str) -> Vec<String> {
        let axes = axes(text);
        let points = points(&axes, Vary::All, &[], &Index::default()).expect("the test's matrix is right");
        points.iter().map(|point| name(&axes, point)).collect()
    }

    #[test]
    fn element_type_and_shape_stand_bare_and_others_are_silent_at_first() {
        let text = "view: [plain, transposed]\ndtype: [float16]\nshape: [[], [3, 4]]\n\
                    args: [{}, {axes: [-1], keep_dims: true}]";
        assert_eq!(
            names(text),
            [
                "float16::scalar",
                "float16::scalar::args=axes:-1+keep_dims:true",
                "float16::3x4",
                "float16::3x4::args=axes:-1+keep_dims:true",
                "float16::scalar::view=transposed",
                "float16::scalar::view=transposed::args=axes:-1+keep_dims:true",
                "float16::3x4::view=transposed",
                "float16::3x4::view=transposed::args=axes:-1+keep_dims:true",
            ]
        );
    }

    #[test]
    fn one_at_a_time_leaves_the_first_values_along_one_axis_only() {
        let axes = axes("dtype: [int8, bool, float32]\nshape: [[], [3]]\nview: [plain, strided]");
        let points = points(&axes, Vary::One, &[], &Index::default()).expect("right");
        let names: Vec<String> = points.iter().map(|point| name(&axes, point)).collect();
        assert_eq!(
            names,
            [
                "int8::scalar",
                "int8::scalar::view=strided",
                "int8::3",
                "bool::scalar",
                "float32::scalar"
            ]
        );
    }

    #[test]
    fn a_new_axis_renames_nothing() {
        let before = names("dtype: [int8, bool]");
        let after = names("dtype: [int8, bool]\nview: [plain, strided]");
        assert!(before.iter().all(|name| after.contains(name)), "{after:?}");
    }

    #[test]
    fn a_list_selects_by_any_of_its_values_unless_it_is_one_itself() {
        let axes = axes("dtype: [float16, float32]\nshape: [[4096], [3]]");
        let points = points(&axes, Vary::All, &[], &Index::default()).expect("right");
        let selection: Selection = yaml::read("dtype: [float16, float32]\nshape: [4096]")
            .expect("right")
            .said;
        assert_eq!(
            points.iter().filter(|point| selects(&selection, point)).count(),
            2
        );
    }

    proptest! {
        #[test]
        fn points_are_as_many_as_the_product_and_always_alike(sizes in prop::collection::vec(1usize..5, 0..4)) {
            let axes: Axes = sizes.iter().enumerate()
                .map(|(axis, size)| (format!("a{axis}"), (0..*size as i64).map(Value::Int).collect()))
                .collect();
            let once = points(&axes, Vary::All, &[], &Index::default()).expect("no axis is empty");
            prop_assert_eq!(once.len(), sizes.iter().product::<usize>());
            let mut names: Vec<String> = once.iter().map(|point| name(&axes, point)).collect();
            names.sort();
            names.dedup();
            prop_assert_eq!(names.len(), once.len());
            prop_assert_eq!(points(&axes, Vary::All, &[], &Index::default()).expect("no axis is empty"), once);
        }
    }
}
