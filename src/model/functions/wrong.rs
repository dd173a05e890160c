//! A table with a slip in each line, of the kinds that are made when a table is written: each must be caught by the
//! references. Replay cannot: what was recorded is what was called.

use std::cell::Cell;
use std::path::Path;

use mlx_rs::ops;

use super::table::{functions, Function};
use crate::case::check;
use crate::harness::in_process::InProcess;
use crate::harness::seam::Runner;
use crate::scorecard::outcome::{Checked, Outcome, Verdict};
use crate::under_test::backend;

functions! {
    // Two arguments swapped.
    subtract(a: Array, b: Array) => ops::subtract(&b, &a);
    addmm(c: Array, a: Array, b: Array; alpha: Float, beta: Float) => ops::addmm(&c, &a, &b, beta, alpha);
    cumsum(x: Array; axis: Int, reverse: Bool, inclusive: Bool) => ops::cumsum(&x, axis, inclusive, reverse);
    conv1d(x: Array, weight: Array; stride: Int, padding: Int, dilation: Int, groups: Int) => ops::conv1d(
        &x, &weight, padding.map(|it| it + 1), stride, dilation, groups,
    );
    // Another default.
    nn.leaky_relu(x: Array; neg_slope: Float) => mlx_rs::nn::leaky_relu(&x, neg_slope.or(Some(0.02)));
    concatenate(arrays: Arrays; axis: Int) => ops::concatenate(&arrays, axis.unwrap_or(-1));
    // Another axis.
    softmax(x: Array; axes: Ints, axis: Int, precise: Bool) => {
        let _ = (axes, axis);
        ops::softmax_axis(&x, 0, precise)
    };
    // A neighbour's function.
    expm1(x: Array) => ops::exp(&x);
}

thread_local! {
    /// The function that this thread calls by its wrong line.
    static WRONG: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// The wrong line for a function, where this thread is to call it so.
pub(super) fn line(name: &str) -> Option<&'static Function> {
    let wrong = WRONG.get().filter(|wrong| *wrong == name)?;
    FUNCTIONS.iter().find(|function| function.signature.name == wrong)
}

/// Every cell of a function's generated case, run in this thread.
fn run(family: &str, name: &str) -> Vec<Outcome> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = name.rsplit('.').next().unwrap_or(name);
    let suite = check::of_cell(root, &format!("surface::{family}::{own}"), &backend().names);
    assert!(suite.problems.is_empty() && !suite.cells.is_empty(), "{name}");
    suite.cells.iter().map(|cell| InProcess.run(cell)).collect()
}

#[test]
fn a_wrong_line_of_a_table_is_caught_by_the_references_and_not_by_replay() {
    for function in FUNCTIONS {
        let name = function.signature.name;
        let right = super::function(name).expect("a line of the real tables");
        assert_eq!(
            right.signature, function.signature,
            "the two lines differ in what they call only"
        );
        let family = super::family(name).expect("a function of the tables");
        for outcome in run(family, name) {
            assert!(!outcome.is_red(), "{} is red as it is", outcome.cell);
        }

        WRONG.set(Some(name));
        let outcomes = run(family, name);
        WRONG.set(None);
        let caught: Vec<&Outcome> = outcomes
            .iter()
            .filter(|outcome| outcome.value == Some(Verdict::Fail))
            .collect();
        assert!(!caught.is_empty(), "no reference catches the wrong {name}");
        for outcome in caught {
            assert_eq!(
                outcome.record,
                Verdict::Pass,
                "the record of {} is true",
                outcome.cell
            );
            let by_value = |checked: Checked| checked == Checked::Value;
            assert!(outcome.findings.iter().all(|finding| by_value(finding.check)));
        }
    }
}
