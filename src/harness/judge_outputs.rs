//! What a case expects of the outputs x what came out.

use super::compare::{self, Comparison};
use super::findings::Findings;
use super::seam::{Cell, Observed, Reference, ReferenceRelation};
use crate::case::cell::Located;
use crate::case::data::Input;
use crate::case::elements;
use crate::case::position::Path;
use crate::case::schema::{Expectation, OutputExpectation};
use crate::reference::Policy;
use crate::scorecard::outcome::{Checked, FindingKind, OutputRow};
use crate::vocabulary::{DType, Shape};

/// Judges shapes, element types and elements.
pub(super) fn judge_outputs(
    found: &mut Findings<'_>,
    expectation: &Located<Expectation>,
    observed: &Observed,
) {
    let Located { path, item } = expectation;
    let outputs = &observed.evidence.outputs;
    if let Some(wanted) = &item.outputs {
        let at = path.key("outputs");
        if wanted.len() != outputs.len() {
            let message = format!("outputs: found {}, expected {}", outputs.len(), wanted.len());
            found.add(Checked::Record, FindingKind::Outputs, &at, message);
        }
        for (place, (wanted, output)) in wanted.iter().zip(outputs).enumerate() {
            judge_output(found, place, wanted, output, observed, &at.index(place));
        }
    }
    if let (Some(rule), Some(own)) = (&item.dtype, own_dtype(found.cell)) {
        for (place, output) in outputs.iter().enumerate() {
            let wanted = rule.resolve(own).map(DType::name);
            if let Some(wanted) = wanted.filter(|wanted| *wanted != output.array.dtype) {
                let message = format!(
                    "output {place}: found dtype {}, expected {wanted}",
                    output.array.dtype
                );
                found.add(Checked::Value, FindingKind::Dtype, &path.key("dtype"), message);
            }
        }
    }
    if item.reference {
        judge_reference(found, observed, &path.key("reference"));
    }
}

/// The element type that `same` means: the axis's, or else the first array's.
pub(super) fn own_dtype(cell: &Cell) -> Option<DType> {
    let axis = cell.axes.iter().find(|(axis, _)| axis == "dtype");
    let of_axis = axis.and_then(|(_, value)| value.as_text()).and_then(DType::named);
    of_axis.or_else(|| cell.inputs.values().find_map(first_dtype))
}

fn first_dtype(input: &Input) -> Option<DType> {
    match input {
        Input::Array(array) => Some(array.dtype),
        Input::List(items) => items.iter().find_map(first_dtype),
        Input::Map(entries) => entries.values().find_map(first_dtype),
        Input::Int(_) | Input::Float(_) | Input::Bool(_) => None,
    }
}

fn judge_output(
    found: &mut Findings<'_>,
    place: usize,
    wanted: &OutputExpectation,
    output: &OutputRow,
    observed: &Observed,
    path: &Path,
) {
    if let Some(shape) = wanted
        .shape
        .as_ref()
        .filter(|shape| **shape != output.array.shape)
    {
        let message = format!(
            "output {place}: found shape {}, expected {}",
            Shape(&output.array.shape),
            Shape(shape)
        );
        found.add(Checked::Value, FindingKind::Shape, &path.key("shape"), message);
    }
    if let Some(dtype) = wanted.dtype.filter(|dtype| dtype.name() != output.array.dtype) {
        let message = format!(
            "output {place}: found dtype {}, expected {dtype}",
            output.array.dtype
        );
        found.add(Checked::Value, FindingKind::Dtype, &path.key("dtype"), message);
    }
    let Some(values) = &wanted.values else { return };
    let at = path.key("values");
    let (Some(dtype), Some(seen)) = (DType::named(&output.array.dtype), observed.values.get(place)) else {
        let message = format!("output {place}: its elements were not read");
        return found.add(Checked::Value, FindingKind::Suite, &at, message);
    };
    match elements::parse(values, dtype, "values") {
        Err(fault) => found.add(
            Checked::Value,
            FindingKind::Values,
            &at,
            format!("output {place}: {fault}"),
        ),
        Ok((shape, _)) if shape != output.array.shape => {
            let message = format!(
                "output {place}: found shape {}, expected {}",
                Shape(&output.array.shape),
                Shape(&shape)
            );
            found.add(Checked::Value, FindingKind::Shape, &at, message);
        }
        Ok((shape, data)) => {
            let tolerance = wanted.tolerance.unwrap_or_default();
            let policy = if wanted.tolerance.is_some() {
                "tolerance"
            } else {
                "exact"
            };
            let comparison = compare::compare(seen, &data, tolerance);
            let what = format!("output {place}");
            found.distance(&what, &at, tolerance, compare::ratio(seen, &data, tolerance));
            judge_comparison(found, comparison, &what, &shape, policy, dtype, &at);
        }
    }
}

fn judge_reference(found: &mut Findings<'_>, observed: &Observed, at: &Path) {
    let rows = &observed.evidence.outputs;
    let outputs = match &observed.reference {
        Reference::Expected(outputs) => outputs,
        Reference::Relations(relations) => {
            for ReferenceRelation {
                what,
                found: seen,
                wanted,
            } in relations
            {
                let tolerance = wanted.policy.tolerance(wanted.dtype);
                let comparison = compare::compare(seen, &wanted.data, tolerance);
                found.distance(what, at, tolerance, compare::ratio(seen, &wanted.data, tolerance));
                let (shape, policy) = (&wanted.shape, wanted.policy.name());
                judge_comparison(found, comparison, what, shape, policy, wanted.dtype, at);
            }
            return;
        }
        Reference::Missing { why } => {
            let message = format!("{why}; give `outputs:` with `values:` instead of `reference: true`");
            return found.add(Checked::Value, FindingKind::Suite, at, message);
        }
        Reference::None => {
            let message = "the reference was not computed".to_owned();
            return found.add(Checked::Value, FindingKind::Suite, at, message);
        }
    };
    if outputs.len() != rows.len() {
        let message = format!(
            "outputs: found {}, the reference has {}",
            rows.len(),
            outputs.len()
        );
        return found.add(Checked::Value, FindingKind::Outputs, at, message);
    }
    for (place, (wanted, row)) in outputs.iter().zip(rows).enumerate() {
        if wanted.shape != row.array.shape {
            let message = format!(
                "output {place}: found shape {}, expected {}",
                Shape(&row.array.shape),
                Shape(&wanted.shape)
            );
            found.add(Checked::Value, FindingKind::Shape, at, message);
            continue;
        }
        let (Some(dtype), Some(seen)) = (DType::named(&row.array.dtype), observed.values.get(place)) else {
            let message = format!("output {place}: its elements were not read");
            found.add(Checked::Value, FindingKind::Suite, at, message);
            continue;
        };
        if dtype != wanted.dtype {
            let message = format!("output {place}: found dtype {dtype}, expected {}", wanted.dtype);
            found.add(Checked::Value, FindingKind::Dtype, at, message);
            continue;
        }
        let tolerance = wanted.policy.tolerance(dtype);
        let ratio = compare::ratio(seen, &wanted.data, tolerance);
        found.distance(&format!("output {place}"), at, tolerance, ratio);
        let comparison = match wanted.policy {
            Policy::ExactBits => compare::compare_bits(seen, &wanted.data),
            _ => compare::compare(seen, &wanted.data, tolerance),
        };
        if let Comparison::Same { compared: 0, nan } = comparison {
            // An empty output is compared by its shape; one of nothing but NaN says nothing about a function.
            if nan > 0 {
                let message =
                    format!("output {place}: every element is NaN on both sides, which compares nothing");
                found.add(Checked::Value, FindingKind::Vacuous, at, message);
            }
            continue;
        }
        judge_comparison(
            found,
            comparison,
            &format!("output {place}"),
            &wanted.shape,
            wanted.policy.name(),
            dtype,
            at,
        );
    }
}

fn judge_comparison(
    found: &mut Findings<'_>,
    comparison: Comparison,
    what: &str,
    shape: &[i32],
    policy: &str,
    dtype: DType,
    at: &Path,
) {
    let message = match comparison {
        Comparison::Same { .. } => return,
        Comparison::OtherKind => {
            format!("{what}: its elements are of another kind than those expected")
        }
        Comparison::OtherLength { found, expected } => {
            format!("{what}: found {found} elements, expected {expected}")
        }
        Comparison::Differ {
            at,
            found,
            expected,
            count,
            of,
        } => {
            let index = elements::place(shape, at);
            let index = if index.is_empty() {
                index
            } else {
                format!(" at [{index}]")
            };
            let more = if count > 1 {
                format!("; {count} of {of} differ")
            } else {
                String::new()
            };
            format!("{what}{index}: found {found}, expected {expected} (policy {policy}, {dtype}){more}")
        }
    };
    found.add(Checked::Value, FindingKind::Values, at, message);
}
