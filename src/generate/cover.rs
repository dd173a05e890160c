//! Which selections say exactly which points are meant.

use crate::case::matrix::Point;
use crate::case::value::Value;

/// A selection: for each axis that matters, the values meant.
pub type Selection = Vec<(String, Vec<Value>)>;

/// Selections that together mean all of `wanted` and none of `others`; a single empty one where there are no others.
///
/// Each begins at the first point that is not meant yet and takes in, axis by axis, every value that brings in none of
/// the others.
pub fn selections(wanted: &[&Point], others: &[&Point]) -> Vec<Selection> {
    if others.is_empty() {
        return vec![Vec::new()];
    }
    let mut left: Vec<&Point> = wanted.to_vec();
    let mut found = Vec::new();
    while let Some(start) = left.first() {
        let mut selection: Selection = start
            .iter()
            .map(|(axis, value)| (axis.clone(), vec![value.clone()]))
            .collect();
        for axis in 0..selection.len() {
            for point in wanted.iter().chain(others) {
                let value = &point[axis].1;
                if selection[axis].1.contains(value) {
                    continue;
                }
                selection[axis].1.push(value.clone());
                let strays = others.iter().any(|other| means(&selection, other));
                let useful = wanted
                    .iter()
                    .any(|point| means(&selection, point) && point[axis].1 == *value);
                if strays || !useful {
                    selection[axis].1.pop();
                }
            }
        }
        left.retain(|point| !means(&selection, point));
        found.push(without_idle_axes(selection, others));
    }
    found
}

fn means(selection: &Selection, point: &Point) -> bool {
    selection.iter().all(|(axis, values)| {
        point
            .iter()
            .any(|(name, value)| name == axis && values.contains(value))
    })
}

/// Without the axes that keep out none of the others.
fn without_idle_axes(mut selection: Selection, others: &[&Point]) -> Selection {
    for axis in (0..selection.len()).rev() {
        let mut shorter = selection.clone();
        shorter.remove(axis);
        if !others.iter().any(|other| means(&shorter, other)) {
            selection = shorter;
        }
    }
    selection
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point(a: i64, b: i64) -> Point {
        vec![("a".to_owned(), Value::Int(a)), ("b".to_owned(), Value::Int(b))]
    }

    #[test]
    fn without_others_nothing_needs_saying() {
        assert_eq!(selections(&[&point(1, 1)], &[]), [Selection::new()]);
    }

    #[test]
    fn an_axis_that_tells_all_apart_is_enough() {
        let (wanted, others) = ([point(1, 1), point(1, 2)], [point(2, 1), point(2, 2)]);
        let found = selections(
            &wanted.iter().collect::<Vec<_>>(),
            &others.iter().collect::<Vec<_>>(),
        );
        assert_eq!(found, [vec![("a".to_owned(), vec![Value::Int(1)])]]);
    }

    proptest! {
        #[test]
        fn all_that_is_wanted_is_meant_and_nothing_else(wanted in prop::collection::vec(any::<bool>(), 16)) {
            let points: Vec<Point> = (0..16).map(|at| point(at / 4, at % 4)).collect();
            let of = |want: bool| {
                points.iter().zip(&wanted).filter(|(_, it)| **it == want).map(|(point, _)| point).collect::<Vec<_>>()
            };
            let found = selections(&of(true), &of(false));
            for (point, want) in points.iter().zip(&wanted) {
                let meant = found.iter().any(|selection| means(selection, point));
                prop_assert_eq!(meant, *want || of(false).is_empty());
            }
        }
    }
}
