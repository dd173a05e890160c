//! Shards joined are one run; what does not belong together is refused.

use crate::roots::{assay, code, outcomes, parts, root_with, said};
use mlx_assay::scorecard::outcome::{Checked, Finding, FindingKind, Verdict};
use mlx_assay::scorecard::outcomes::Outcomes;
use mlx_assay::scorecard::store::{Store, CARD, CELLS, JUNIT, OUTCOMES};
use mlx_assay::vocabulary::Device;
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

/// A shard's outcomes as if a Mac had run them, with this cell red there.
fn of_a_mac(file: &str, red: &str) -> String {
    let parts = Outcomes::read(file, &std::fs::read_to_string(file).expect("outcomes")).expect("readable");
    let mut part = parts[0].clone();
    part.origin.device = Device::MacosMetal;
    let outcome = part
        .outcomes
        .iter_mut()
        .find(|it| it.cell == red)
        .expect("the cell");
    outcome.record = Verdict::Fail;
    outcome.findings = vec![Finding {
        check: Checked::Record,
        at: "expect.state".to_owned(),
        line: outcome.line,
        kind: FindingKind::State,
        message: "state: found failed, expected passed".to_owned(),
        hint: None,
    }];
    let mac = file.replace(".jsonl", "-mac.jsonl");
    std::fs::write(&mac, part.write().expect("spelled")).expect("written");
    mac
}

#[test]
fn several_devices_are_joined_and_each_is_told() {
    let root = root_with(&CASES);
    assay(root.path(), &["run"]);
    let linux = root.path().join("linux.jsonl").display().to_string();
    std::fs::copy(root.path().join(OUTCOMES), &linux).expect("kept");
    let mac = of_a_mac(&linux, "tutorial::sequential");
    let merged = assay(root.path(), &["merge", &linux, &mac]);
    let text = said(&merged);
    assert_eq!(code(&merged), 1, "{text}");
    let cells = outcomes(root.path()).len() / 2;
    for line in [
        format!("linux-cpu: {cells} of {cells} cells ran, record {cells} pass"),
        format!(
            "macos-metal: {cells} of {cells} cells ran, record {} pass",
            cells - 1
        ),
        "on macos-metal:\nFAIL tutorial::sequential   record fail".to_owned(),
        "rerun  cargo test --test conformance -- --exact tutorial::sequential".to_owned(),
    ] {
        assert!(text.contains(&line), "{line} is not in:\n{text}");
    }
    assert_eq!(text.matches("FAIL ").count(), 1, "{text}");

    let devices: Vec<Device> = parts(root.path()).iter().map(|it| it.origin.device).collect();
    assert_eq!(devices, [Device::LinuxCpu, Device::MacosMetal]);
    let read = |file: &str| std::fs::read_to_string(root.path().join(file)).unwrap_or_default();
    let junit = read(JUNIT);
    let tests = |device: &str| {
        let class = format!("classname=\"{device}: cases/tutorial/sequential.yaml\"");
        junit.matches(&class).count()
    };
    assert_eq!((tests("linux-cpu"), tests("macos-metal")), (1, 1), "{junit}");
    assert_eq!(junit.matches("<failure").count(), 1, "{junit}");
    for (page, other) in [
        ("reports/index.html", "href=\"macos-metal/index.html\""),
        ("reports/macos-metal/index.html", "href=\"../index.html\""),
    ] {
        assert!(read(page).contains(other), "{page}");
    }
    let page = "cases/tutorial.sequential.html";
    assert!(read(&format!("reports/macos-metal/{page}")).contains("record fail"));
    assert!(!read(&format!("reports/{page}")).contains("record fail"));

    // What follows from the outcomes takes both.
    let joined = root.path().join(OUTCOMES).display().to_string();
    let again = assay(root.path(), &["merge", &joined]);
    assert_eq!(said(&again), text, "they are whole, and merge alone");
    for command in [&["report"][..], &["coverage"], &["accept"]] {
        let output = assay(root.path(), command);
        assert!(matches!(code(&output), 0 | 4), "{command:?}: {}", said(&output));
    }
    assert!(root.path().join("reports/macos-metal/index.html").exists());
    let version = Store::new(root.path()).committed().expect("readable");
    let record = |device| {
        version
            .cells
            .record("tutorial::sequential", device)
            .map(|it| it.record)
    };
    assert_eq!(record(Device::LinuxCpu), Some(Verdict::Pass));
    assert_eq!(record(Device::MacosMetal), Some(Verdict::Fail));

    assay(root.path(), &["run"]);
    assert!(!root.path().join("reports/macos-metal").exists());
    assert!(!read("reports/index.html").contains("macos-metal/index.html"));
}

#[test]
fn a_file_that_holds_no_outcomes_is_named_with_its_line() {
    let root = root_with(&["tutorial"]);
    let file = root.path().join("bad.jsonl");
    std::fs::write(&file, "{\"schema\": 1}\n").expect("written");
    let output = assay(root.path(), &["merge", &file.display().to_string()]);
    assert_eq!(code(&output), 3, "{}", said(&output));
    assert!(
        said(&output).contains("bad.jsonl:1 is no outcome"),
        "{}",
        said(&output)
    );
    // Cut short on the way from another machine.
    assay(root.path(), &["run"]);
    let whole = std::fs::read_to_string(root.path().join(OUTCOMES)).expect("outcomes");
    std::fs::write(&file, &whole[..whole.len() - 9]).expect("written");
    let output = assay(root.path(), &["merge", &file.display().to_string()]);
    assert_eq!(code(&output), 3, "{}", said(&output));
    let last = format!("bad.jsonl:{} is no outcome", whole.lines().count());
    for part in [&last, "cut short or damaged: carry it over again"] {
        assert!(said(&output).contains(part), "{}", said(&output));
    }
}
