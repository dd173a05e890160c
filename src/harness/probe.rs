//! Whether a refusal or an error left anything behind: the tutorial model is captured before anything else, and again
//! after each of them, and both traces must be the same to the last bit. So must be what a transform says that cannot be
//! taken: an error that somebody dropped before would be said in its place.

use std::cell::OnceCell;
use std::fmt::Write as _;

use mlx_rs::transforms::grad;
use mlx_rs::Array;

use super::seam::Cell;
use crate::capture::Trace;
use crate::case::check;
use crate::case::load::Source;
use crate::case::names::Names;
use crate::graph;
use crate::model::{Inputs, Model};

/// The case whose trace is compared.
const TUTORIAL: &str = include_str!("../../cases/tutorial/sequential.yaml");

thread_local! {
    static BEFORE: OnceCell<Result<String, String>> = const { OnceCell::new() };
}

/// Takes the trace to compare with, once for a thread: before its first cell runs.
pub(super) fn remember(names: &dyn Fn() -> Names) {
    BEFORE.with(|before| {
        before.get_or_init(|| transcript(names));
    });
}

/// Whether the tutorial model's trace is still what it was.
///
/// # Errors
///
/// How it differs, or why it cannot be taken.
pub(super) fn same_as_before(names: &dyn Fn() -> Names) -> Result<(), String> {
    let now = transcript(names)?;
    let before = BEFORE.with(|before| before.get().cloned().unwrap_or_else(|| Ok(now.clone())))?;
    if now == before {
        return Ok(());
    }
    let line = now
        .lines()
        .zip(before.lines())
        .find(|(now, before)| now != before);
    let (now, before) = line.unwrap_or(("another number of lines", ""));
    Err(format!(
        "the trace of the tutorial model is another one: {now}, where there was {before}"
    ))
}

fn transcript(names: &dyn Fn() -> Names) -> Result<String, String> {
    let source = Source {
        id: "tutorial::sequential".to_owned(),
        file: "cases/tutorial/sequential.yaml".to_owned(),
        text: TUTORIAL.into(),
    };
    let cells = check::case(&source, &names())
        .map_err(|problems| format!("{} problems in the tutorial", problems.len()))?;
    let cell: &Cell = cells.first().ok_or("the tutorial has no cell")?;
    let inputs = Inputs::new(&cell.inputs).map_err(|error| error.to_string())?;
    let mut model = Model::build(cell).map_err(|error| error.to_string())?;
    let trace = model.capture(&inputs).map_err(|error| error.to_string())?;
    trace.evaluate().map_err(|error| error.message)?;
    Ok(format!("{}{}\n", spell(&trace), impossible_transform()))
}

/// What MLX says of a gradient of several numbers.
fn impossible_transform() -> String {
    let both = |x: &Array| x.square();
    let gradient = grad(both)(&Array::from_slice(&[1.0_f32, 2.0], &[2]));
    gradient.map_or_else(|error| error.to_string(), |gradient| format!("{gradient:?}"))
}

/// Everything that a trace says, and the bits of every payload.
fn spell(trace: &Trace) -> String {
    let mut text = String::new();
    // Writing to a text cannot fail.
    let _ = writeln!(
        text,
        "{:?}\n{:?}\n{:?}",
        trace.inputs(),
        trace.outputs(),
        trace.parameters()
    );
    for op in trace.ops() {
        let _ = writeln!(text, "{op:?}");
    }
    for call in trace.calls() {
        let name = call.function().name;
        let steps = trace
            .subgraph(call)
            .map(|graph| (graph.boundary(), graph.steps(), graph.results()));
        let _ = writeln!(
            text,
            "{name} {:?} {:?} {:?} {steps:?}",
            call.arguments(),
            call.results(),
            call.scope()
        );
    }
    for value in trace.values() {
        let bytes = value.payload().map(graph::read);
        let _ = writeln!(
            text,
            "{:?} {:?} {:?} {bytes:?}",
            value.origin(),
            value.shape(),
            value.dtype()
        );
    }
    let _ = writeln!(
        text,
        "{:?}\n{:?}\n{:?}",
        trace.scopes(),
        trace.modules(),
        trace.evaluations()
    );
    let _ = writeln!(
        text,
        "{:?} {:?} {:?}",
        trace.closures(),
        trace.warnings(),
        trace.notes()
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::in_process::names;
    use mlx_rs::error::Exception;
    use mlx_rs::transforms::async_eval;
    use mlx_rs::transforms::compile::compile;
    use mlx_rs::{linalg, ops};

    #[test]
    fn the_tutorial_is_the_same_twice_and_anything_else_is_told() {
        remember(&names);
        assert_eq!(same_as_before(&names), Ok(()));
        let kept = transcript(&names).unwrap();
        // One bit of one payload.
        let other = kept.replacen("Ok([", "Ok([1, ", 1);
        assert_ne!(kept, other);
        std::thread::spawn(move || {
            BEFORE.with(|before| before.set(Ok(other)).unwrap());
            let told = same_as_before(&names).unwrap_err();
            assert!(told.contains("is another one"), "{told}");
        })
        .join()
        .unwrap();
    }

    /// What the probe says on a thread of its own where `leave` has left something.
    fn told_after(leave: fn()) -> Result<(), String> {
        let probed = move || {
            remember(&names);
            leave();
            same_as_before(&names)
        };
        std::thread::spawn(probed).join().unwrap()
    }

    #[test]
    fn an_error_at_a_call_leaves_nothing() {
        let misfit = || {
            let three = Array::from_slice(&[1.0_f32, 2.0, 3.0], &[3]);
            let two = Array::from_slice(&[1.0_f32, 2.0], &[2]);
            ops::add(&three, &two).unwrap_err();
        };
        assert_eq!(told_after(misfit), Ok(()));
    }

    #[test]
    fn an_error_that_was_dropped_and_one_that_is_held_back_are_told() {
        let dropped = || {
            let fails = |_: &Array| -> Result<Array, Exception> { Err(Exception::custom("left behind")) };
            compile(fails, None)(&Array::from_int(1)).unwrap_err();
        };
        let told = told_after(dropped).unwrap_err();
        assert!(told.contains("left behind"), "{told}");
        let held_back = || {
            let singular = || linalg::inv(Array::from_slice(&[1.0_f32, 1.0, 1.0, 1.0], &[2, 2])).unwrap();
            // MLX's thread may be so fast that its error is heard here already, which leaves none.
            while async_eval([&singular()]).is_err() {}
        };
        let told = told_after(held_back).unwrap_err();
        assert!(told.contains("Inverse"), "{told}");
    }
}
