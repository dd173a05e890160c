//! Elements as a case writes them, `[[1.0, 2.0], [3.0, 4.0]]`, turned into a shape and data.

use super::data::{Data, MAX_ELEMENTS};
use super::error::Fault;
use super::fill::round_to;
use super::value::Value;
use crate::vocabulary::{DType, Kind, Shape};

/// The shape and elements that `value` spells, as elements of `dtype`; floats are rounded to it. `key` is the key
/// under which the value stands, for messages.
pub fn parse(value: &Value, dtype: DType, key: &'static str) -> Result<(Vec<i32>, Data), Fault> {
    let mut shape = Vec::new();
    measure(value, &mut shape);
    let mut leaves = Vec::new();
    flatten(value, &shape, key, &mut leaves)?;
    let data = match dtype.kind() {
        Kind::Bool => Data::Bool(each(&leaves, dtype, Value::as_bool)?),
        Kind::Int => Data::Int(each(&leaves, dtype, |leaf| {
            let (least, most) = dtype.integer_range()?;
            leaf.as_int().filter(|it| (least..=most).contains(it))
        })?),
        Kind::Float => Data::Float(each(&leaves, dtype, |leaf| {
            leaf.as_float().map(|it| round_to(dtype, it))
        })?),
        Kind::Complex => Data::Complex(each(&leaves, dtype, |leaf| complex(leaf, dtype))?),
    };
    Ok((shape, data))
}

/// Checks a shape as written and narrows it.
pub fn shape(extents: &[i64]) -> Result<Vec<i32>, Fault> {
    if let Some(extent) = extents.iter().find(|extent| **extent < 0) {
        return Err(Fault::ImpossibleExtent { extent: *extent });
    }
    let elements = extents
        .iter()
        .try_fold(1u64, |product, extent| product.checked_mul(*extent as u64));
    let narrow: Option<Vec<i32>> = extents.iter().map(|extent| i32::try_from(*extent).ok()).collect();
    match (elements, narrow) {
        (Some(elements), Some(narrow)) if elements <= MAX_ELEMENTS => Ok(narrow),
        (elements, _) => Err(Fault::TooManyElements {
            shape: format!("{extents:?}"),
            elements: elements.map_or("more than 2^64".to_owned(), |it| it.to_string()),
            most: MAX_ELEMENTS,
        }),
    }
}

fn measure(value: &Value, shape: &mut Vec<i32>) {
    if let Value::List(items) = value {
        // A file's size bounds the length far below i32's.
        shape.push(items.len() as i32);
        if let Some(first) = items.first() {
            measure(first, shape);
        }
    }
}

fn flatten<'a>(
    value: &'a Value,
    shape: &[i32],
    key: &'static str,
    leaves: &mut Vec<&'a Value>,
) -> Result<(), Fault> {
    match (value, shape.split_first()) {
        (Value::List(items), Some((extent, inner))) if items.len() == *extent as usize => items
            .iter()
            .try_for_each(|item| flatten(item, inner, key, leaves)),
        (Value::List(_), _) => Err(Fault::Ragged { key }),
        (leaf, None) => {
            leaves.push(leaf);
            Ok(())
        }
        (_, Some(_)) => Err(Fault::Ragged { key }),
    }
}

fn each<T>(leaves: &[&Value], dtype: DType, read: impl Fn(&Value) -> Option<T>) -> Result<Vec<T>, Fault> {
    let wrong = |leaf: &Value| Fault::WrongElement {
        element: leaf.to_string(),
        dtype: dtype.name(),
    };
    leaves
        .iter()
        .map(|leaf| read(leaf).ok_or_else(|| wrong(leaf)))
        .collect()
}

/// A real number, or `{re: 1.0, im: 2.0}`.
fn complex(leaf: &Value, dtype: DType) -> Option<[f64; 2]> {
    let parts = match leaf {
        Value::Map(entries) => {
            let only = entries.keys().all(|key| key == "re" || key == "im");
            let part = |key| entries.get(key).map_or(Some(0.0), Value::as_float);
            [part("re").filter(|_| only)?, part("im")?]
        }
        real => [real.as_float()?, 0.0],
    };
    Some(parts.map(|part| round_to(dtype, part)))
}

/// One element of `data`, as a person would write it: `2048`, `0.1`, `.nan`.
pub fn spell(data: &Data, at: usize) -> String {
    let number = |value: f64| {
        let text = Value::Float(value).to_string();
        text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
    };
    match data {
        Data::Bool(elements) => elements.get(at).map(bool::to_string),
        Data::Int(elements) => elements.get(at).map(i64::to_string),
        Data::Float(elements) => elements.get(at).map(|it| number(*it)),
        Data::Complex(elements) => elements
            .get(at)
            .map(|[re, im]| format!("{{re: {}, im: {}}}", number(*re), number(*im))),
    }
    .unwrap_or_else(|| "nothing".to_owned())
}

/// How many elements are spelled whole.
const FEW: usize = 16;

/// All elements where they are few, else how many there are and between what they lie.
pub fn summary(data: &Data) -> String {
    let count = data.len();
    if count <= FEW {
        let all: Vec<String> = (0..count).map(|at| spell(data, at)).collect();
        return format!("[{}]", all.join(", "));
    }
    let numbers: Vec<f64> = match data {
        Data::Bool(items) => {
            let yes = items.iter().filter(|it| **it).count();
            return format!("{count} elements, {yes} of them true");
        }
        Data::Int(items) => items.iter().map(|it| *it as f64).collect(),
        Data::Float(items) => items.clone(),
        Data::Complex(items) => items.iter().map(|[re, im]| re.hypot(*im)).collect(),
    };
    let finite: Vec<f64> = numbers.iter().copied().filter(|it| it.is_finite()).collect();
    let what = if matches!(data, Data::Complex(_)) {
        "magnitudes"
    } else {
        "elements"
    };
    if finite.is_empty() {
        return format!("{count} {what}, none of them finite");
    }
    let least = finite.iter().copied().fold(f64::INFINITY, f64::min);
    let most = finite.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mean = finite.iter().sum::<f64>() / finite.len() as f64;
    let others = match count - finite.len() {
        0 => String::new(),
        others => format!(", {others} not finite"),
    };
    format!("{count} {what} from {least:.6} to {most:.6}, mean {mean:.6}{others}")
}

/// The index of the element at place `at` of an array of this shape, as `[1, 2]`.
pub fn place(shape: &[i32], at: usize) -> String {
    let mut rest = at;
    let mut index: Vec<i32> = shape
        .iter()
        .rev()
        .map(|extent| {
            let extent = (*extent).max(1) as usize;
            let here = rest % extent;
            rest /= extent;
            here as i32
        })
        .collect();
    index.reverse();
    Shape(&index).to_string().trim_matches(['(', ')']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(items: &[i64]) -> Value {
        Value::List(items.iter().map(|it| Value::Int(*it)).collect())
    }

    #[test]
    fn nested_lists_have_a_shape() {
        let value = Value::List(vec![ints(&[1, 2]), ints(&[3, 4]), ints(&[5, 6])]);
        assert_eq!(
            parse(&value, DType::Int8, "value"),
            Ok((vec![3, 2], Data::Int(vec![1, 2, 3, 4, 5, 6])))
        );
        assert_eq!(
            parse(&ints(&[]), DType::Float32, "value"),
            Ok((vec![0], Data::Float(vec![])))
        );
        assert_eq!(
            parse(&Value::Bool(true), DType::Bool, "value"),
            Ok((vec![], Data::Bool(vec![true])))
        );
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let ragged = Value::List(vec![ints(&[1, 2]), ints(&[3])]);
        assert_eq!(
            parse(&ragged, DType::Int32, "value"),
            Err(Fault::Ragged { key: "value" })
        );
        let wrong = |element: &str, dtype| {
            Err(Fault::WrongElement {
                element: element.into(),
                dtype,
            })
        };
        assert_eq!(parse(&ints(&[300]), DType::Uint8, "value"), wrong("300", "uint8"));
        assert_eq!(
            parse(&Value::Float(1.5), DType::Int32, "value"),
            wrong("1.5", "int32")
        );
    }

    #[test]
    fn shapes_are_checked_before_anything_is_allocated() {
        assert_eq!(shape(&[2, 3]), Ok(vec![2, 3]));
        assert_eq!(shape(&[2, -1]), Err(Fault::ImpossibleExtent { extent: -1 }));
        assert!(matches!(
            shape(&[1_000_000, 1_000_000]),
            Err(Fault::TooManyElements { .. })
        ));
        assert!(matches!(
            shape(&[i64::MAX, i64::MAX]),
            Err(Fault::TooManyElements { .. })
        ));
        assert!(matches!(
            shape(&[0, i64::MAX]),
            Err(Fault::TooManyElements { .. })
        ));
    }

    #[test]
    fn a_place_reads_as_an_index() {
        assert_eq!(
            (place(&[2, 3], 5), place(&[7], 2), place(&[], 0)),
            ("1, 2".into(), "2".into(), "".into())
        );
    }
}
