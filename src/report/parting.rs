//! Two traces side by side, for people.

use crate::capture::{Apart, Difference, Trace};
use crate::report::table::Table;
use crate::vocabulary::Shape;

/// The first op where values part and by how much, then each op.
pub fn text(names: (&str, &str), one: &Trace, rows: &[Apart], tolerance: f64) -> String {
    let mut text = format!("{} -> {}\n", names.0, names.1);
    match rows.iter().find(|row| row.exceeds(tolerance)) {
        Some(row) => {
            let op = one.ops().into_iter().find(|op| op.label() == row.op);
            let line = op
                .as_ref()
                .and_then(|op| op.source())
                .map(|line| format!(" at {line}"));
            text.push_str(&format!(
                "first apart  {}{}: {}\n",
                row.op,
                line.unwrap_or_default(),
                difference(row)
            ));
        }
        None => text.push_str(&format!(
            "no op is further apart than {tolerance} of its largest magnitude\n"
        )),
    }
    let mut table = Table::new(&["op", "difference"]);
    for row in rows {
        table.row([row.op.clone(), difference(row)]);
    }
    text.push_str(&format!("\n{table}"));
    text
}

fn difference(row: &Apart) -> String {
    match &row.difference {
        None => "none".to_owned(),
        Some(Difference::Op { other: Some(other) }) => format!("the other has {other} here"),
        Some(Difference::Op { other: None }) => "the other ends before it".to_owned(),
        Some(Difference::Shape { one, other }) => format!("{}, and the other {}", Shape(one), Shape(other)),
        Some(Difference::Values {
            absolute,
            relative,
            element,
        }) => format!("{absolute:.3e} at element {element}, {relative:.3e} of the largest"),
        Some(Difference::Unknown) => "a payload was not kept".to_owned(),
    }
}
