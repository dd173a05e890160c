//! The coverage as a person reads it.

use super::count::{Coverage, Row, Standing};
use crate::model::{functions, layers};
use crate::reference::table::{covered, Covered};
use crate::report::table::Table;
use std::collections::BTreeMap;

/// Which rows are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// All.
    All,
    /// Those that are not covered.
    Open,
}

/// Both tables, the totals of each module, and how many functions have a reference.
pub fn text(coverage: &Coverage, rows: Rows) -> String {
    let mut text = String::new();
    for (title, part) in [
        ("operations of mlx-c that mlx-rs calls", &coverage.mlx_c),
        ("items of mlx-rs", &coverage.mlx_rs),
    ] {
        let shown: Vec<&Row> = part
            .iter()
            .filter(|row| rows == Rows::All || row.standing != Standing::Covered)
            .collect();
        if !shown.is_empty() {
            text.push_str(&format!("{}\n", table(&shown)));
        }
        text.push_str(&format!("{}\n{}\n", title, totals(part)));
    }
    text.push_str(&references());
    text
}

fn table(rows: &[&Row]) -> Table {
    let mut table = Table::new(&[
        "name",
        "cells",
        "dtypes",
        "traced",
        "replayed",
        "perturbed",
        "referenced",
        "refused",
        "standing",
    ]);
    for row in rows {
        let numbers = [
            row.cells,
            row.dtypes.len(),
            row.traced,
            row.replayed,
            row.perturbed,
            row.referenced,
            row.refused,
        ];
        let standing = match &row.reason {
            Some(reason) if row.standing == Standing::Excluded => format!("excluded: {reason}"),
            _ => row.standing.name().to_owned(),
        };
        table.row(
            std::iter::once(row.name.clone())
                .chain(numbers.iter().map(usize::to_string))
                .chain([standing]),
        );
    }
    table
}

fn totals(rows: &[Row]) -> Table {
    let mut modules: BTreeMap<&str, [usize; 5]> = BTreeMap::new();
    for row in rows {
        for module in [row.module.as_str(), "~all"] {
            let counts = modules.entry(module).or_default();
            counts[0] += 1;
            counts[1 + row.standing as usize] += 1;
        }
    }
    let mut table = Table::new(&["module", "of", "covered", "partial", "missing", "excluded"]);
    for (module, [all, missing, partial, covered, excluded]) in modules {
        let name = module.trim_start_matches('~').to_owned();
        table.row(
            [name]
                .into_iter()
                .chain([all, covered, partial, missing, excluded].map(|it| it.to_string())),
        );
    }
    table
}

/// How many functions and layers are held to values, how many to a property only, and which to nothing.
fn references() -> String {
    let functions = functions::signatures().iter().map(|it| it.name.to_owned());
    let layers = layers::FAMILIES
        .iter()
        .filter(|(family, _)| *family != "programs");
    let layers =
        layers.flat_map(|(_, layers)| layers.iter().map(|it| format!("layer.{}", it.signature.name)));
    let (mut values, mut property, mut none) = (0, Vec::new(), Vec::new());
    for name in functions.chain(layers) {
        match covered(&name) {
            Some(Covered::Values) => values += 1,
            Some(Covered::Property(what)) => property.push(format!("{name}: {what}")),
            None => none.push(name),
        }
    }
    let mut text = format!(
        "functions and layers: {values} with a reference, {} by property only, {} with neither\n",
        property.len(),
        none.len()
    );
    for line in property.iter().chain(&none) {
        text.push_str(&format!("  {line}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, module: &str, standing: Standing, reason: Option<&str>) -> Row {
        let seen = usize::from(matches!(standing, Standing::Covered | Standing::Partial));
        Row {
            name: name.to_owned(),
            module: module.to_owned(),
            cells: 3 * seen,
            dtypes: ["float32".to_owned()].into_iter().take(seen).collect(),
            traced: 3 * seen,
            replayed: 3 * seen,
            perturbed: 2 * seen,
            referenced: usize::from(standing == Standing::Covered),
            refused: 0,
            standing,
            reason: reason.map(str::to_owned),
        }
    }

    #[test]
    fn what_is_open_is_shown_and_everything_is_counted() {
        let rows = [
            row("mlx_add", "ops", Standing::Covered, None),
            row("mlx_load", "ops", Standing::Partial, None),
            row(
                "mlx_qqmm",
                "ops",
                Standing::Excluded,
                Some("no CPU implementation"),
            ),
            row("mlx_fft_fft", "fft", Standing::Missing, None),
        ];
        let open: Vec<&Row> = rows
            .iter()
            .filter(|row| row.standing != Standing::Covered)
            .collect();
        insta::assert_snapshot!(format!("{}\n{}", table(&open), totals(&rows)));
    }

    #[test]
    fn every_function_and_layer_has_a_reference_or_a_property() {
        let said = references();
        assert!(said.contains(" 0 with neither"), "{said}");
    }
}
