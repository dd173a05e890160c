//! `assay diff` on prepared pairs.

use crate::sides::{prepared, rules, Prepared};
use mlx_assay::report::diff::{markdown, text};
use mlx_assay::scorecard::changes::Direction;
use mlx_assay::scorecard::decision::{Decision, Label};
use mlx_assay::scorecard::diff::{diff, Diff, Side, Terms};
use mlx_assay::scorecard::outcome::Verdict;
use mlx_assay::scorecard::outcomes::Origin;
use mlx_assay::scorecard::retired::Retired;
use mlx_assay::scorecard::surface::Standings;
use mlx_assay::vocabulary::Device;

const TODAY: &str = "2026-11-29";

fn compare(base: &Side, head: &Side, retired: &Retired) -> Diff {
    let terms = Terms {
        retired,
        gate: &rules(),
        today: TODAY,
    };
    diff(base, head, &terms)
}

/// The pair in which only what `change` does differs.
fn pair(change: impl Fn(&mut Prepared)) -> Diff {
    let mut changed = prepared();
    change(&mut changed);
    compare(
        &prepared().side("base"),
        &changed.side("head"),
        &Retired::default(),
    )
}

fn both(found: &Diff) -> String {
    format!("{}\n{}", text(found, None), markdown(found))
}

#[test]
fn nothing_is_no_change() {
    let found = pair(|_| {});
    assert!(found.changes.is_empty());
    insta::assert_snapshot!(both(&found));
}

#[test]
fn a_regression() {
    let found = pair(|it| {
        let record = it.record("models::mlp");
        record.record = Verdict::Fail;
        record.signature = vec!["record ops expect.ops".into()];
    });
    assert!(found.is_worse());
    insta::assert_snapshot!(both(&found));
}

#[test]
fn a_fix() {
    let mut broken = prepared();
    broken.record("ops::sum::float16").value = Some(Verdict::ExpectedFail);
    let found = compare(
        &broken.side("base"),
        &prepared().side("head"),
        &Retired::default(),
    );
    assert!(!found.is_worse());
    insta::assert_snapshot!(both(&found));
}

#[test]
fn a_new_case() {
    let mut before = prepared();
    before.cells.retain(|row| row.cell != "ops::sum::float16");
    let found = compare(
        &before.side("base"),
        &prepared().side("head"),
        &Retired::default(),
    );
    assert!(!found.is_worse());
    insta::assert_snapshot!(both(&found));
}

#[test]
fn a_case_that_is_gone_and_one_that_is_retired() {
    let gone = |it: &mut Prepared| it.cells.retain(|row| row.case != "ops::sum");
    let found = pair(gone);
    assert!(found.is_worse());
    let retired = "- {id: 'ops::sum', on: 2026-11-29, because: it is gone upstream}\n";
    let retired = Retired::read("cases/retired.yaml", retired).expect("read");
    let mut changed = prepared();
    gone(&mut changed);
    let excused = compare(&prepared().side("base"), &changed.side("head"), &retired);
    assert!(!excused.is_worse(), "{}", both(&excused));
    insta::assert_snapshot!(format!("{}\n{}", both(&found), text(&excused, None)));
}

#[test]
fn a_renamed_case() {
    let found = pair(|it| {
        let row = it.cell("models::mlp");
        row.cell = "models::perceptron".into();
        row.case = "models::perceptron".into();
    });
    assert!(found.is_worse());
    insta::assert_snapshot!(both(&found));
}

#[test]
fn a_weaker_tolerance() {
    let found = pair(|it| it.record("ops::sum::float32").tolerances = vec!["reference 1e-3 1e-5".into()]);
    assert!(found.is_worse());
    insta::assert_snapshot!(both(&found));
    let narrower = pair(|it| it.record("ops::sum::float32").tolerances = vec!["reference exact".into()]);
    assert!(!narrower.is_worse());
}

#[test]
fn a_dropped_expectation() {
    let found = pair(|it| it.cell("ops::sum::float32").about.expects = vec!["dtype".into()]);
    assert!(found.is_worse());
    insta::assert_snapshot!(both(&found));
    let uncovered = pair(|it| it.cell("models::mlp_deep").covers = vec!["validation.both_routes".into()]);
    assert!(text(&uncovered, None).contains("no longer covers forward.modules"));
}

fn origin(change: impl Fn(&mut Origin)) -> Origin {
    let files = [("cases/ops/sum.yaml".to_owned(), "1".to_owned())].into();
    let environment = prepared().ground.environments[&Device::LinuxCpu].clone();
    let mut origin = Origin::new(Device::LinuxCpu, environment, files);
    (origin.harness, origin.backend) = ("h1".into(), "b1".into());
    change(&mut origin);
    origin
}

/// Two runs, in whose second the sum is wrong.
fn runs(change: impl Fn(&mut Origin)) -> Diff {
    let side = |name: &str, prepared: Prepared, origin: Origin| Side {
        origin: Some(origin),
        ..prepared.side(name)
    };
    let mut wrong = prepared();
    let changed = origin(change);
    wrong
        .ground
        .environments
        .insert(Device::LinuxCpu, changed.environment.clone());
    wrong.record("ops::sum::float32").value = Some(Verdict::Fail);
    let base = side("base.jsonl", prepared(), origin(|_| {}));
    compare(&base, &side("head.jsonl", wrong, changed), &Retired::default())
}

#[test]
fn a_device_that_only_one_of_two_runs_was_of_is_no_loss() {
    let with_origin = |name: &str, prepared: Prepared| Side {
        origin: Some(origin(|_| {})),
        ..prepared.side(name)
    };
    let mut one = prepared();
    let other = Device::MacosMetal;
    assert!(one.ground.environments.remove(&other).is_some());
    for row in &mut one.cells {
        row.devices.remove(&other);
    }
    for row in &mut one.ground.surface {
        row.devices.remove(&other);
    }
    let (both, one) = (
        with_origin("both.jsonl", prepared()),
        with_origin("one.jsonl", one),
    );
    for (base, head) in [(&both, &one), (&one, &both)] {
        let found = compare(base, head, &Retired::default());
        assert!(!found.is_worse(), "{}", text(&found, None));
    }
}

#[test]
fn only_the_environment_changed() {
    let found = runs(|it| it.environment.mlx = "0.33.0".into());
    insta::assert_snapshot!(both(&found));
}

#[test]
fn only_the_harness_changed() {
    let found = runs(|it| it.harness = "h2".into());
    insta::assert_snapshot!(both(&found));
}

#[test]
fn what_made_it_is_said_cell_by_cell() {
    let case = runs(|it| drop(it.files.insert("cases/ops/sum.yaml".into(), "2".into())));
    assert_eq!(case.because["ops::sum::float32"], "its case changed");
    let backend = runs(|it| (it.backend, it.harness) = ("b2".into(), "h2".into()));
    assert_eq!(backend.because["ops::sum::float32"], "the backend changed");
    let nothing = runs(|_| {});
    assert!(nothing.why[0].contains("nothing changed that is digested"));
}

#[test]
fn a_new_function_upstream() {
    let new = |list: fn(&mut Standings) -> &mut Vec<String>| {
        pair(move |it| {
            for row in &mut it.ground.surface {
                for standings in row.devices.values_mut() {
                    list(standings).push("bitwise_and".into());
                }
            }
        })
    };
    let missing = new(|it| &mut it.missing);
    assert!(missing.is_worse(), "what is new is to be covered");
    assert_eq!(missing.new_upstream(), (0, 4));
    insta::assert_snapshot!(both(&missing));
    assert!(new(|it| &mut it.partial).is_worse());
    let covered = new(|it| &mut it.covered);
    assert!(!covered.is_worse());
    assert_eq!(covered.new_upstream(), (4, 4));
    assert!(!new(|it| &mut it.excluded).is_worse(), "left out for a reason");
    let lost = pair(|it| {
        for standings in it.ground.surface[0].devices.values_mut() {
            standings.missing = standings.covered.split_off(1);
        }
    });
    assert!(lost.is_worse());
}

#[test]
fn a_label_without_evidence() {
    let decided = |side: Side, label| Side {
        decision: Some(Decision {
            label,
            ..Decision::default()
        }),
        ..side
    };
    let mut poor = prepared();
    poor.cells.retain(|row| row.case != "refusals::halt");
    let base = decided(poor.clone().side("base"), Label::Preview);
    let head = decided(poor.side("head"), Label::Stable);
    let found = compare(&base, &head, &Retired::default());
    assert!(found.is_worse());
    insta::assert_snapshot!(both(&found));
    let head = decided(prepared().side("head"), Label::Stable);
    let base = decided(prepared().side("base"), Label::Preview);
    let found = compare(&base, &head, &Retired::default());
    assert_eq!(found.changes[0].direction, Direction::Improvement);
}

#[test]
fn a_damaged_file() {
    use mlx_assay::scorecard::changes::Version;
    let version = prepared().version();
    let (card, cells) = (
        version.card.write().expect("spelled"),
        version.cells.write().expect("spelled"),
    );
    let refused = |card: &str, cells: &str| {
        let error = Version::read(("base.json", card), ("base.cells.json", cells)).expect_err("refused");
        error.to_string()
    };
    let damaged = [
        refused(&card[..card.len() / 2], &cells),
        refused(&card.replace("\"passing\":2", "\"passing\":3"), &cells),
        refused(
            &card.replace("\"flag\":true", "\"flag\":true,\"flga\":true"),
            &cells,
        ),
        refused(&card.replace("narrow accumulation", "because"), &cells),
        refused(
            &card,
            &cells.replacen("\"record\":\"pass\"", "\"record\":\"fail\"", 1),
        ),
        refused(
            &card,
            &cells.replacen("\"record\":\"pass\"", "\"record\":\"fine\"", 1),
        ),
        refused(
            &card,
            &cells.replace("\"cells\":[\"float16\"", "\"cells\":[\"float61\""),
        ),
        refused(&card.replace("\"schema\": 2", "\"schema\": 1"), &cells),
    ];
    insta::assert_snapshot!(damaged.join("\n\n"));
}

#[test]
fn a_note_from_a_case_is_no_markup() {
    let found = pair(|it| it.record("ops::sum::float32").signature = vec!["<img src=x> | `a`".into()]);
    let said = markdown(&found);
    assert!(!said.contains("<img"), "{said}");
    assert!(said.contains("&lt;img src=x&gt; \\| \\`a\\`"), "{said}");
}
