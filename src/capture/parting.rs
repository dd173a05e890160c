//! Two traces side by side, and the first value of one that is no number: what people do by hand when a port drifts.

use std::sync::Arc;

use serde::Serialize;

use super::argument::Recorded;
use super::op::Op;
use super::trace::Trace;
use super::value::{Origin, ValueId};
use crate::graph::{self, GraphError};

/// One op of two traces, and how far its results lie apart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Apart {
    /// The op's label in the first trace.
    pub op: String,
    /// What differs; `None` where every result is the same, bit for bit but for the element type's width.
    pub difference: Option<Difference>,
}

impl Apart {
    /// Whether something differs by more than `tolerance`: see [`Difference::exceeds`].
    pub fn exceeds(&self, tolerance: f64) -> bool {
        self.difference.as_ref().is_some_and(|it| it.exceeds(tolerance))
    }
}

/// How an op of one trace differs from that of another.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// Another op stands there, or none: from here on the traces cannot be laid side by side.
    Op {
        /// The other's label; `None` where the other trace ends.
        other: Option<String>,
    },
    /// A result has other extents.
    Shape {
        /// In the first trace.
        one: Vec<i32>,
        /// In the second.
        other: Vec<i32>,
    },
    /// Elements differ.
    Values {
        /// The largest distance of two elements that belong together; infinite where only one of them is a number.
        absolute: f64,
        /// The largest distance in units of the larger magnitude in the first trace's result; infinite likewise.
        relative: f64,
        /// Where the largest distance is, in row-major order.
        element: usize,
    },
    /// A payload was not kept, so nothing can be said.
    Unknown,
}

impl Difference {
    /// Whether it is more than `tolerance`, in units of the result's largest magnitude; another op or shape always is.
    pub fn exceeds(&self, tolerance: f64) -> bool {
        match self {
            Self::Values { relative, .. } => *relative > tolerance,
            Self::Op { .. } | Self::Shape { .. } => true,
            Self::Unknown => false,
        }
    }
}

impl Trace {
    /// This trace and another one op by op, up to the first place where they have different ops. Element types may
    /// differ: elements are compared as numbers.
    ///
    /// # Errors
    ///
    /// A payload that cannot be computed or read.
    pub fn beside(&self, other: &Trace) -> Result<Vec<Apart>, GraphError> {
        self.evaluate()?;
        other.evaluate()?;
        let (ours, theirs) = (self.ops(), other.ops());
        let mut rows = Vec::with_capacity(ours.len());
        for (place, op) in ours.iter().enumerate() {
            let their = theirs.get(place);
            let difference = match their {
                Some(their) if their.func_name() == op.func_name() => self.difference(op, other, their)?,
                _ => Some(Difference::Op {
                    other: their.map(Op::label),
                }),
            };
            let parted = matches!(difference, Some(Difference::Op { .. }));
            rows.push(Apart {
                op: op.label(),
                difference,
            });
            if parted {
                break;
            }
        }
        Ok(rows)
    }

    /// The first op, in order, whose results are further apart than `tolerance`, in units of the result's largest
    /// magnitude; 0 asks for the same numbers.
    ///
    /// # Errors
    ///
    /// As [`beside`](Self::beside).
    pub fn parting(&self, other: &Trace, tolerance: f64) -> Result<Option<Apart>, GraphError> {
        let exceeds = |row: &Apart| row.exceeds(tolerance);
        Ok(self.beside(other)?.into_iter().find(exceeds))
    }

    /// The first op, in order, that has a NaN or an infinity among its results: an input or a constant, if it came from
    /// outside. Values without a payload are passed over.
    ///
    /// # Errors
    ///
    /// A payload that cannot be computed or read.
    pub fn first_non_finite(&self) -> Result<Option<Op>, GraphError> {
        self.evaluate()?;
        for op in self.ops() {
            for result in op.results() {
                let Some(numbers) = self.numbers(*result)? else {
                    continue;
                };
                if numbers.iter().any(|number| !number.is_finite()) {
                    return Ok(Some(op));
                }
            }
        }
        Ok(None)
    }

    fn difference(&self, op: &Op, other: &Trace, their: &Op) -> Result<Option<Difference>, GraphError> {
        for (one, two) in ordered(self, op).iter().zip(&ordered(other, their)) {
            let (shape, theirs) = (self.value(*one).shape(), other.value(*two).shape());
            if shape != theirs {
                return Ok(Some(Difference::Shape {
                    one: shape.to_vec(),
                    other: theirs.to_vec(),
                }));
            }
            let (Some(ours), Some(theirs)) = (self.numbers(*one)?, other.numbers(*two)?) else {
                return Ok(Some(Difference::Unknown));
            };
            if let Some(found) = distance(&ours, &theirs) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The elements of a value as numbers; those of a complex one both parts after another.
    fn numbers(&self, value: ValueId) -> Result<Option<Vec<f64>>, GraphError> {
        self.value(value).payload().map(graph::numbers).transpose()
    }
}

/// An op's results in an order that is the same in each run: mlx-rs keeps parameters in hash maps, and gives gradients in
/// the order that it finds them in.
fn ordered(trace: &Trace, op: &Op) -> Vec<ValueId> {
    let mut results = op.results().to_vec();
    results.sort_by_key(|result| parameter_of(trace, *result));
    results
}

/// The address of the parameter that a result is the gradient by; `None` for anything else.
fn parameter_of(trace: &Trace, result: ValueId) -> Option<Arc<str>> {
    let Origin::Result { call, index } = *trace.value(result).origin() else {
        return None;
    };
    let call = trace.call(call);
    if call.function().name != "mlx_closure_value_and_grad_apply" {
        return None;
    }
    let given = call.arguments().iter().find_map(|argument| match argument {
        Recorded::Arrays(values) => Some(values),
        _ => None,
    })?;
    // The values come first, then a gradient for each argument.
    let place = (index as usize + given.len()).checked_sub(call.results().len())?;
    match trace.value(*given.get(place)?).origin() {
        Origin::Parameter { address } => Some(address.clone()),
        _ => None,
    }
}

/// The largest distance; `None` where all are equal, NaN and NaN too.
fn distance(ours: &[f64], theirs: &[f64]) -> Option<Difference> {
    let finite = ours.iter().filter(|it| it.is_finite());
    let scale = finite.fold(0.0_f64, |most, it| most.max(it.abs()));
    let mut found: Option<(f64, usize)> = None;
    for (element, (one, other)) in ours.iter().zip(theirs).enumerate() {
        if one == other || (one.is_nan() && other.is_nan()) {
            continue;
        }
        let apart = (one - other).abs();
        let apart = if apart.is_nan() { f64::INFINITY } else { apart };
        if found.is_none_or(|(most, _)| apart > most) {
            found = Some((apart, element));
        }
    }
    found.map(|(absolute, element)| Difference::Values {
        absolute,
        relative: if scale > 0.0 {
            absolute / scale
        } else {
            f64::INFINITY
        },
        element,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Session;
    use mlx_rs::error::Exception;
    use mlx_rs::{ops, Array, Dtype};

    fn captured(x: &Array, forward: impl Fn(&Array) -> Result<Array, Exception>) -> Trace {
        Session::new().call_stacks(false).run(x, || forward(x)).unwrap().0
    }

    #[test]
    fn the_first_op_where_values_part_and_by_how_much() {
        let x = Array::from_slice(&[1.0_f32, 2.0, 4.0], &[3]);
        let scaled = |by: f32| {
            captured(&x, move |x| {
                ops::multiply(ops::square(x)?, Array::from_f32(by)).and_then(|it| ops::exp(it.negative()?))
            })
        };
        assert_eq!(scaled(1.0).parting(&scaled(1.0), 0.0).unwrap(), None);
        let found = scaled(1.0).parting(&scaled(1.25), 0.3).unwrap();
        assert_eq!(
            found, None,
            "no op is further apart than a quarter of its largest"
        );
        let found = scaled(1.0).parting(&scaled(1.25), 0.2).unwrap().unwrap();
        // The literal itself parts first.
        assert_eq!(found.op, "array_1:1");
        let rows = scaled(1.0).beside(&scaled(1.25)).unwrap();
        let multiplied = rows.iter().find(|row| row.op == "multiply_1:1").unwrap();
        let wanted = Difference::Values {
            absolute: 4.0,
            relative: 0.25,
            element: 2,
        };
        assert_eq!(multiplied.difference, Some(wanted));
    }

    #[test]
    fn traces_of_other_element_types_are_laid_side_by_side_and_other_ops_end_it() {
        let x = Array::from_slice(&[1.0_f32, 2.0, 3.1], &[3]);
        let half = x.as_dtype(Dtype::Float16).unwrap();
        let wide = captured(&x, |x| ops::square(x));
        let narrow = captured(&half, |x| ops::square(x));
        assert!(wide.parting(&narrow, 0.0).unwrap().is_some());
        assert_eq!(wide.parting(&narrow, 1e-3).unwrap(), None);
        let other = captured(&x, |x| ops::exp(x));
        let found = wide.parting(&other, 1.0).unwrap().unwrap();
        let wanted = Difference::Op {
            other: Some("exp_1:1".to_string()),
        };
        assert_eq!(found.difference, Some(wanted));
        let wider = captured(&ops::zeros::<f32>(&[4]).unwrap(), |x| ops::square(x));
        assert!(matches!(
            wide.parting(&wider, 1.0).unwrap().unwrap().difference,
            Some(Difference::Shape { .. })
        ));
    }

    #[test]
    fn the_first_op_that_is_no_number() {
        let x = Array::from_slice(&[1.0_f32, 0.0, 4.0], &[3]);
        let fine = captured(&x, |x| ops::square(x));
        assert!(fine.first_non_finite().unwrap().is_none());
        let broken = captured(&x, |x| ops::add(ops::log(ops::square(x)?)?, x));
        assert_eq!(broken.first_non_finite().unwrap().unwrap().label(), "log_1:1");
        let given = captured(&Array::from_slice(&[f32::NAN], &[1]), |x| ops::square(x));
        assert_eq!(given.first_non_finite().unwrap().unwrap().label(), "input_1:1");
    }
}
