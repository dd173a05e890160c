//! The gate and the label.

use crate::sides::{prepared, rules, Prepared};
use mlx_assay::report::gate::{lacking, open};
use mlx_assay::scorecard::decision::{Decision, Label};
use mlx_assay::scorecard::diff::Terms;
use mlx_assay::scorecard::gate::{missing, Gate, Missing};
use mlx_assay::scorecard::label::standing;
use mlx_assay::scorecard::outcome::Verdict;
use mlx_assay::scorecard::retired::Retired;
use mlx_assay::vocabulary::Device;

const TODAY: &str = "2026-11-29";

fn lacks(change: impl Fn(&mut Prepared)) -> Vec<Missing> {
    let mut changed = prepared();
    change(&mut changed);
    missing(&rules(), &changed.version(), TODAY)
}

#[test]
fn a_scorecard_that_meets_the_rules_lacks_nothing() {
    assert_eq!(lacks(|_| {}), []);
    let version = prepared().version();
    let decision = Decision {
        label: Label::Stable,
        when: TODAY.into(),
        revision: "0123abcd".into(),
        digest: version.card.digest,
        ..Decision::default()
    };
    insta::assert_snapshot!(open(&decision, "scorecards/mlx.decision.yaml"));
}

#[test]
fn each_piece_of_evidence_that_goes_brings_back_its_own_line() {
    let drop_case = |case: &'static str| move |it: &mut Prepared| it.cells.retain(|row| row.case != case);
    let pieces: Vec<(&str, Vec<Missing>)> = vec![
        ("a refusal's case", lacks(drop_case("refusals::halt"))),
        (
            "a cell's pass",
            lacks(|it| it.record("models::mlp").record = Verdict::Fail),
        ),
        (
            "a device",
            lacks(|it| {
                for row in &mut it.cells {
                    row.devices.remove(&Device::MacosMetal);
                }
                it.ground.environments.remove(&Device::MacosMetal);
            }),
        ),
        (
            "a mutant's death",
            lacks(|it| it.record("models::mlp").mutant = Some("call_dropped: survived".into())),
        ),
        (
            "a covered operation",
            lacks(|it| {
                let standings = it.ground.surface[0].devices.get_mut(&Device::LinuxCpu);
                let standings = standings.expect("it ran");
                standings.missing = standings.covered.split_off(1);
            }),
        ),
        (
            "a failure's day",
            lacks(|it| it.ground.expected_failures[0].expires = "2026-11-28".into()),
        ),
        (
            "a flag",
            lacks(|it| {
                it.ground.claims.retain(|(id, ..)| id != "session.halt");
                it.ground.claims[0].1 = false;
                it.ground.claims[0].2 = Some(mlx_assay::capability::RefusalCode::NestedCapture);
            }),
        ),
    ];
    for (piece, found) in &pieces {
        let devices = if *piece == "a refusal's case" || *piece == "a flag" {
            2
        } else {
            1
        };
        assert_eq!(found.len(), devices, "{piece}: {found:?}");
    }
    let said: Vec<String> = pieces
        .iter()
        .map(|(piece, found)| format!("without {piece}:\n{}", lacking(found)))
        .collect();
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn the_rules_of_this_repository_read_and_name_capabilities() {
    let gate = Gate::read("scorecards/gate.yaml", include_str!("../../scorecards/gate.yaml")).expect("read");
    for id in &gate.supported {
        assert!(mlx_assay::capability::capability(id).is_some(), "{id}");
    }
    let strange = include_str!("../../scorecards/gate.yaml").replace("kill_rate_percent", "kill_rate");
    let error = Gate::read("scorecards/gate.yaml", &strange).expect_err("unknown field");
    assert!(error.to_string().contains("unknown field `kill_rate`"), "{error}");
}

fn label(
    change: impl Fn(&mut Prepared),
    decided: impl Fn(&mut Prepared),
    digest: Option<&str>,
) -> mlx_assay::scorecard::label::Standing {
    let mut then = prepared();
    decided(&mut then);
    let then = then.version();
    let mut now = prepared();
    change(&mut now);
    let decision = Decision {
        label: Label::Stable,
        who: "a maintainer".into(),
        when: TODAY.into(),
        why: "all is proven".into(),
        revision: "0123".into(),
        digest: digest.unwrap_or(&then.card.digest).into(),
        ..Decision::default()
    };
    let terms = Terms {
        retired: &Retired::default(),
        gate: &rules(),
        today: TODAY,
    };
    standing(Some(&decision), |_| Ok(then.clone()), &now.version(), &terms)
}

#[test]
fn a_label_holds_until_something_gets_worse_or_weaker() {
    let same = |_: &mut Prepared| {};
    assert!(label(same, same, None).holds());
    let added = |it: &mut Prepared| {
        let mut row = it.cell("models::mlp").clone();
        (row.cell, row.case) = ("models::more".into(), "models::more".into());
        it.cells.push(row);
    };
    assert!(label(added, same, None).holds(), "additions never break it");
    let worse = label(|it| it.record("models::mlp").record = Verdict::Fail, same, None);
    let weaker = label(
        |it| it.cell("ops::sum::float32").about.expects.clear(),
        same,
        None,
    );
    let other = label(same, same, Some("another"));
    let early = label(
        same,
        |it| it.cells.retain(|row| row.case != "refusals::halt"),
        None,
    );
    let gone = {
        let terms = Terms {
            retired: &Retired::default(),
            gate: &rules(),
            today: TODAY,
        };
        let decision = Decision {
            label: Label::Stable,
            ..Decision::default()
        };
        let version = prepared().version();
        standing(
            Some(&decision),
            |_| Err("git knows no 0123".into()),
            &version,
            &terms,
        )
    };
    let said: Vec<String> = [worse, weaker, other, early, gone]
        .iter()
        .map(|it| format!("{}\n{}", it.phrase(), it.broken.join("\n")))
        .collect();
    insta::assert_snapshot!(said.join("\n\n"));
}
