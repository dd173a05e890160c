//! The one fault that a run seeds in a cell and what `assay mutate` tries must agree, over the suite's own cells.

use std::path::Path;

use mlx_assay::case::check;
use mlx_assay::scorecard::outcome::Fate;

#[test]
fn what_a_run_seeds_is_among_what_mutate_tries_with_the_same_fate_and_nothing_survives() {
    let backend = mlx_assay::under_test::backend();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cells = check::suite(root, &backend.names).unwrap().cells;
    let mut seeded = 0;
    for cell in &cells {
        // Four places of each kind keep this short; `assay mutate` tries 16.
        let Ok(tried) = backend.runner.mutate(cell, 4) else {
            panic!("{} could not be tried", cell.id);
        };
        for mutation in &tried.mutants {
            match &mutation.row {
                Some(row) => assert!(matches!(row.fate, Fate::Killed(_)), "{}: {mutation:?}", cell.id),
                None => assert!(mutation.equivalent.is_some(), "{}: {mutation:?}", cell.id),
            }
        }
        let Some(row) = backend.runner.run(cell).evidence.mutant else {
            continue;
        };
        seeded += 1;
        assert!(
            tried
                .mutants
                .iter()
                .any(|mutation| mutation.row.as_ref() == Some(&row)),
            "{}: {row:?} is not among what mutate tried",
            cell.id
        );
    }
    assert!(seeded > 0, "no cell has a mutant");
}
