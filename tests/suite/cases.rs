//! The repository's own cases and the files that follow from the grammar.

use mlx_assay::case::check;
use mlx_assay::case::error::Problem;
use mlx_assay::case::json_schema;
use mlx_assay::under_test::backend;
use std::path::Path;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn nothing_is_wrong_with_the_cases() {
    let suite = check::suite(root(), &backend().names).expect("cases are found");
    assert!(
        suite.problems.is_empty(),
        "{}",
        suite.problems.iter().map(Problem::render).collect::<String>()
    );
    assert!(!suite.cells.is_empty());
}

#[test]
fn the_schema_is_current() {
    let committed = std::fs::read_to_string(root().join(json_schema::FILE)).unwrap_or_default();
    let current = json_schema::text(&backend().names).expect("spelled");
    assert!(
        committed == current,
        "{} is out of date; write it with  assay generate",
        json_schema::FILE
    );
}
