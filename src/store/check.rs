//! Whether a structure hangs together: every number in it points to something, so that nothing that reads a trace can
//! stumble. Whether it is true is for validation.

use super::document::{OriginDocument, TraceDocument, TransformDocument};
use super::error::Flaw;
use crate::capture::{CallId, Captured, ScopeId, ValueId};

/// The first number that points to nothing.
pub(super) fn check(document: &TraceDocument) -> Result<(), Flaw> {
    let bounds = Bounds {
        values: document.values.len(),
        calls: document.calls.len(),
        scopes: document.scopes.len(),
    };
    bounds.values("inputs", &document.inputs)?;
    for (place, output) in document.outputs.iter().enumerate() {
        bounds.value(&format!("outputs[{place}].value"), output.value())?;
    }
    for (place, (_, value)) in document.parameters.iter().enumerate() {
        bounds.value(&format!("parameters[{place}]"), *value)?;
    }
    for (place, value) in document.values.iter().enumerate() {
        let elements = value.shape.iter().try_fold(1_i64, |size, extent| {
            let extent = (*extent >= 0).then_some(i64::from(*extent));
            size.checked_mul(extent?)
        });
        if elements.is_none() {
            let message = format!("no array has the shape {:?}", value.shape);
            return Err(Flaw::new(format!("values[{place}].shape"), message));
        }
        if let OriginDocument::Result { call, .. } = value.origin {
            bounds.call(&format!("values[{place}].origin.call"), call)?;
        }
    }
    check_calls(document, &bounds)?;
    for (place, scope) in document.scopes.iter().enumerate() {
        let field = format!("scopes[{place}]");
        bounds.values(&format!("{field}.returned"), scope.returned())?;
        // A scope lies in one that was entered before, so that the way outwards ends.
        if scope.parent().is_some_and(|parent| parent.index() >= place) {
            return Err(Flaw::new(format!("{field}.parent"), "it was entered later"));
        }
        if scope.first_call > bounds.calls {
            return Err(Flaw::new(format!("{field}.first_call"), "there are fewer calls"));
        }
    }
    for (place, transform) in document.transforms.iter().enumerate() {
        check_transform(&format!("transforms[{place}]"), transform, &bounds)?;
    }
    for (place, evaluation) in document.evaluations.iter().enumerate() {
        let field = format!("evaluations[{place}]");
        bounds.values(&format!("{field}.values"), &evaluation.values)?;
        if let Some(after) = evaluation.after {
            bounds.call(&format!("{field}.after"), after)?;
        }
    }
    for (place, replacement) in document.replacements.iter().enumerate() {
        bounds.value(&format!("replacements[{place}].original"), replacement.original)?;
        bounds.value(
            &format!("replacements[{place}].replacement"),
            replacement.replacement,
        )?;
    }
    for (place, unwrapped) in document.unwrapped.iter().enumerate() {
        bounds.values(&format!("unwrapped[{place}].ancestors"), &unwrapped.ancestors)?;
    }
    for (place, failed) in document.failed.iter().enumerate() {
        bounds.values(&format!("failed[{place}].operands"), &failed.operands)?;
    }
    Ok(())
}

fn check_calls(document: &TraceDocument, bounds: &Bounds) -> Result<(), Flaw> {
    use super::argument::ArgumentDocument::{Array, Arrays};
    for (place, call) in document.calls.iter().enumerate() {
        let field = format!("calls[{place}]");
        for (number, argument) in call.arguments.iter().enumerate() {
            let field = format!("{field}.arguments[{number}]");
            match argument {
                Array(Some(value)) => bounds.value(&field, *value)?,
                Arrays(values) => bounds.values(&field, values)?,
                _ => {}
            }
        }
        bounds.values(&format!("{field}.results"), &call.results)?;
        bounds.values(&format!("{field}.captured"), &call.captured)?;
        if let Some(scope) = call.scope {
            bounds.scope(&format!("{field}.scope"), scope)?;
        }
    }
    Ok(())
}

fn check_transform(field: &str, transform: &TransformDocument, around: &Bounds) -> Result<(), Flaw> {
    around.call(&format!("{field}.call"), transform.call)?;
    for (place, outside) in transform.arguments.iter().enumerate() {
        if let Some(outside) = outside {
            around.value(&format!("{field}.arguments[{place}]"), *outside)?;
        }
    }
    let inner = Bounds {
        values: transform.forward.values.len(),
        calls: transform.forward.calls.len(),
        scopes: transform.forward.scopes.len(),
    };
    for (name, list) in [("captured", &transform.captured), ("given", &transform.given)] {
        for (place, Captured { inside, outside }) in list.iter().enumerate() {
            inner.value(&format!("{field}.{name}[{place}].inside"), *inside)?;
            around.value(&format!("{field}.{name}[{place}].outside"), *outside)?;
        }
    }
    check(&transform.forward).map_err(|flaw| flaw.inside(&format!("{field}.forward")))
}

/// How many there are of each.
struct Bounds {
    values: usize,
    calls: usize,
    scopes: usize,
}

impl Bounds {
    fn value(&self, field: &str, value: ValueId) -> Result<(), Flaw> {
        within(field, "values", value.index(), self.values)
    }

    fn values(&self, field: &str, values: &[ValueId]) -> Result<(), Flaw> {
        values.iter().try_for_each(|value| self.value(field, *value))
    }

    fn call(&self, field: &str, call: CallId) -> Result<(), Flaw> {
        within(field, "calls", call.index(), self.calls)
    }

    fn scope(&self, field: &str, scope: ScopeId) -> Result<(), Flaw> {
        within(field, "scopes", scope.index(), self.scopes)
    }
}

fn within(field: &str, what: &str, number: usize, count: usize) -> Result<(), Flaw> {
    match number < count {
        true => Ok(()),
        false => Err(Flaw::new(
            field,
            format!("it points to number {number} of {count} {what}"),
        )),
    }
}
