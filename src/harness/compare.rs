//! Compares elements with elements.

use crate::case::data::Data;
use crate::case::elements;
use crate::case::schema::Tolerance;

/// How found elements relate to expected ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// All lie within the tolerance.
    Same {
        /// How many were compared as numbers.
        compared: usize,
        /// How many were NaN on both sides.
        nan: usize,
    },
    /// One side is of another kind (bool, integer, float, complex).
    OtherKind,
    /// One side has more elements.
    OtherLength {
        /// On the side found.
        found: usize,
        /// On the side expected.
        expected: usize,
    },
    /// Some differ.
    Differ {
        /// The place of the first that differs, in row-major order.
        at: usize,
        /// That element as found.
        found: String,
        /// That element as expected.
        expected: String,
        /// How many differ.
        count: usize,
        /// Of how many.
        of: usize,
    },
}

/// Compares element by element. NaN equals NaN; without tolerance, zeros of both signs are equal too, since a case
/// cannot be expected to know a zero's sign.
pub fn compare(found: &Data, expected: &Data, tolerance: Tolerance) -> Comparison {
    let near = |a: f64, b: f64| within(a, b, tolerance);
    compare_with(found, expected, near, |a, b| int_within(a, b, tolerance))
}

/// Compares bit for bit: zeros of both signs differ; NaN equals NaN.
pub fn compare_bits(found: &Data, expected: &Data) -> Comparison {
    let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    compare_with(found, expected, same, |a, b| a == b)
}

/// The largest error over what its element may be off by; `None` where something is off that may not be.
pub fn ratio(found: &Data, expected: &Data, tolerance: Tolerance) -> Option<f64> {
    if found.len() != expected.len() {
        return None;
    }
    let float = |a: f64, b: f64| over(a, b, tolerance);
    let int = |a: i64, b: i64| {
        if a == b {
            Some(0.0)
        } else {
            over(a as f64, b as f64, tolerance)
        }
    };
    match (found, expected) {
        (Data::Bool(a), Data::Bool(b)) => (a == b).then_some(0.0),
        (Data::Int(a), Data::Int(b)) => largest(a.iter().zip(b).map(|(a, b)| int(*a, *b))),
        (Data::Float(a), Data::Float(b)) => largest(a.iter().zip(b).map(|(a, b)| float(*a, *b))),
        (Data::Complex(a), Data::Complex(b)) => {
            let parts = a.iter().zip(b).flat_map(|(a, b)| [(a[0], b[0]), (a[1], b[1])]);
            largest(parts.map(|(a, b)| float(a, b)))
        }
        _ => None,
    }
}

fn largest(mut ratios: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    ratios.try_fold(0.0_f64, |most, ratio| ratio.map(|ratio| most.max(ratio)))
}

/// One element's error over what it may be off by.
fn over(found: f64, expected: f64, tolerance: Tolerance) -> Option<f64> {
    if found == expected || (found.is_nan() && expected.is_nan()) {
        return Some(0.0);
    }
    let ratio = (found - expected).abs() / (tolerance.absolute + tolerance.relative * expected.abs());
    ratio.is_finite().then_some(ratio)
}

fn compare_with(
    found: &Data,
    expected: &Data,
    near: impl Fn(f64, f64) -> bool,
    int_near: impl Fn(i64, i64) -> bool,
) -> Comparison {
    if found.len() != expected.len() {
        return Comparison::OtherLength {
            found: found.len(),
            expected: expected.len(),
        };
    }
    let fits: Vec<bool> = match (found, expected) {
        (Data::Bool(a), Data::Bool(b)) => a.iter().zip(b).map(|(a, b)| a == b).collect(),
        (Data::Int(a), Data::Int(b)) => a.iter().zip(b).map(|(a, b)| int_near(*a, *b)).collect(),
        (Data::Float(a), Data::Float(b)) => a.iter().zip(b).map(|(a, b)| near(*a, *b)).collect(),
        (Data::Complex(a), Data::Complex(b)) => a
            .iter()
            .zip(b)
            .map(|(a, b)| near(a[0], b[0]) && near(a[1], b[1]))
            .collect(),
        _ => return Comparison::OtherKind,
    };
    match fits.iter().position(|fits| !fits) {
        Some(at) => Comparison::Differ {
            at,
            found: elements::spell(found, at),
            expected: elements::spell(expected, at),
            count: fits.iter().filter(|fits| !**fits).count(),
            of: fits.len(),
        },
        None => {
            let nan = nans(expected);
            Comparison::Same {
                compared: fits.len() - nan,
                nan,
            }
        }
    }
}

/// `|found - expected| <= absolute + relative * |expected|`; infinities only equal themselves.
fn within(found: f64, expected: f64, tolerance: Tolerance) -> bool {
    if found == expected || (found.is_nan() && expected.is_nan()) {
        return true;
    }
    let distance = (found - expected).abs();
    distance.is_finite() && distance <= tolerance.absolute + tolerance.relative * expected.abs()
}

/// Integers are compared as integers where no tolerance is given: beyond 2^53 a float would lose the difference.
fn int_within(found: i64, expected: i64, tolerance: Tolerance) -> bool {
    found == expected
        || (tolerance != Tolerance::default() && within(found as f64, expected as f64, tolerance))
}

fn nans(data: &Data) -> usize {
    match data {
        Data::Float(elements) => elements.iter().filter(|it| it.is_nan()).count(),
        Data::Complex(elements) => elements
            .iter()
            .filter(|[re, im]| re.is_nan() || im.is_nan())
            .count(),
        Data::Bool(_) | Data::Int(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(found: &[f64], expected: &[f64]) -> Comparison {
        compare(
            &Data::Float(found.to_vec()),
            &Data::Float(expected.to_vec()),
            Tolerance::default(),
        )
    }

    #[test]
    fn equal_means_equal() {
        assert_eq!(
            exact(&[1.0, f64::NAN], &[1.0, f64::NAN]),
            Comparison::Same { compared: 1, nan: 1 }
        );
        assert!(matches!(
            exact(&[1.0, f64::NAN], &[1.0, 2.0]),
            Comparison::Differ { at: 1, count: 1, .. }
        ));
        assert!(matches!(
            exact(&[f64::INFINITY], &[f64::NEG_INFINITY]),
            Comparison::Differ { .. }
        ));
        assert_eq!(
            exact(&[1.0], &[1.0, 2.0]),
            Comparison::OtherLength {
                found: 1,
                expected: 2
            }
        );
    }

    #[test]
    fn a_tolerance_never_excuses_an_infinity_or_a_nan() {
        let loose = Tolerance {
            absolute: 1.0,
            relative: 1.0,
        };
        let differs = |found: f64, expected: f64| {
            compare(&Data::Float(vec![found]), &Data::Float(vec![expected]), loose)
                != Comparison::Same { compared: 1, nan: 0 }
        };
        assert!(differs(f64::NAN, 1.0) && differs(1.0, f64::INFINITY) && differs(f64::INFINITY, f64::MAX));
        assert!(!differs(2.5, 1.0));
    }

    #[test]
    fn the_ratio_is_above_1_just_where_the_comparison_fails() {
        let tolerance = Tolerance {
            absolute: 0.5,
            relative: 0.25,
        };
        let of = |found: f64, expected: f64| {
            ratio(
                &Data::Float(vec![1.0, found]),
                &Data::Float(vec![1.0, expected]),
                tolerance,
            )
        };
        assert_eq!(of(2.0, 2.0), Some(0.0));
        assert_eq!(of(2.5, 2.0), Some(0.5));
        assert_eq!(of(4.0, 2.0), Some(2.0));
        assert_eq!(of(f64::NAN, 2.0), None);
        assert_eq!(of(f64::INFINITY, 2.0), None);
        let exact = Tolerance::default();
        assert_eq!(ratio(&Data::Int(vec![3]), &Data::Int(vec![4]), exact), None);
        assert_eq!(ratio(&Data::Int(vec![3]), &Data::Int(vec![3]), exact), Some(0.0));
    }

    #[test]
    fn neighbours_beyond_2_to_53_differ() {
        let big = 1i64 << 53;
        let comparison = compare(
            &Data::Int(vec![big]),
            &Data::Int(vec![big + 1]),
            Tolerance::default(),
        );
        assert!(matches!(comparison, Comparison::Differ { .. }));
    }
}
