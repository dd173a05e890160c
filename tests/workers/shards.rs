//! Shards joined are one run; what does not belong together is refused.

use crate::roots::{assay, code, outcomes, root_with, said};
use mlx_assay::scorecard::store::{CARD, CELLS, OUTCOMES};
use std::path::Path;

const CASES: [&str; 4] = ["tutorial", "evaluation", "models", "faults/abort.yaml"];

/// Runs a shard and keeps its outcomes beside.
fn shard(root: &Path, part: &str) -> String {
    let output = assay(root, &["run", "--shard", part]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    assert!(!root.join(CARD).exists());
    let kept = root.join(format!("{}.jsonl", part.replace('/', "-")));
    std::fs::copy(root.join(OUTCOMES), &kept).expect("kept");
    kept.display().to_string()
}

fn scorecard(root: &Path) -> [Vec<u8>; 2] {
    // A suite this small does not prove every claim, so the scorecard waits.
    let output = assay(root, &["accept"]);
    assert_eq!(code(&output), 0, "{}", said(&output));
    [CARD, CELLS].map(|file| std::fs::read(root.join(file)).expect("written"))
}

#[test]
fn three_shards_joined_are_one_run() {
    let (apart, whole) = (root_with(&CASES), root_with(&CASES));
    let parts: Vec<String> = ["1/3", "2/3", "3/3"]
        .iter()
        .map(|part| shard(apart.path(), part))
        .collect();
    let merged = assay(apart.path(), &["merge", &parts[1], &parts[0], &parts[2]]);
    let run = assay(whole.path(), &["run"]);
    assert_eq!(code(&merged), code(&run), "{}", said(&merged));
    assert!(outcomes(apart.path())
        .iter()
        .zip(&outcomes(whole.path()))
        .all(|(a, b)| a.same_as(b)));
    assert_eq!(outcomes(apart.path()).len(), outcomes(whole.path()).len());
    assert_eq!(scorecard(apart.path()), scorecard(whole.path()));
}

#[test]
fn shards_of_other_cases_and_too_few_shards_give_no_scorecard() {
    let root = root_with(&CASES);
    let first = shard(root.path(), "1/2");
    let alone = assay(root.path(), &["merge", &first]);
    assert!(said(&alone).contains("scorecard not updated"), "{}", said(&alone));
    let file = root.path().join("cases/evaluation/dtypes.yaml");
    let text = std::fs::read_to_string(&file).expect("a case");
    std::fs::write(&file, text + "# changed\n").expect("written");
    let second = shard(root.path(), "2/2");
    let refused = assay(root.path(), &["merge", &first, &second]);
    assert_eq!(code(&refused), 3, "{}", said(&refused));
    assert!(
        said(&refused).contains("is about another cases/evaluation/dtypes.yaml"),
        "{}",
        said(&refused)
    );
    assert!(!root.path().join(CARD).exists());
}

#[test]
fn a_file_that_holds_no_outcomes_is_named_with_its_line() {
    let root = root_with(&["tutorial"]);
    let file = root.path().join("bad.jsonl");
    std::fs::write(&file, "{\"schema\": 1}\n").expect("written");
    let output = assay(root.path(), &["merge", &file.display().to_string()]);
    assert_eq!(code(&output), 3, "{}", said(&output));
    assert!(
        said(&output).contains("bad.jsonl at `line 1`"),
        "{}",
        said(&output)
    );
}
