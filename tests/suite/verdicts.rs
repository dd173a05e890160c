//! Expected x observed -> verdicts: every combination, as a table.

use crate::names::cells;
use mlx_assay::capability::RefusalCode;
use mlx_assay::harness::expect::conclude;
use mlx_assay::harness::seam::Observed;
use mlx_assay::scorecard::outcome::{Ending, Evidence, Verdict};
use mlx_assay::vocabulary::State;
use std::time::Duration;

/// What a case can claim of how a capture ends.
const CLAIMS: [(&str, &str); 9] = [
    ("passed", "state: passed"),
    ("unverified", "state: unverified"),
    ("refusal", "refusal: nested_capture"),
    ("error", "error: here"),
    ("panic", "panic: here"),
    ("pending", "pending: here"),
    ("crash", "crash: here"),
    ("timeout", "timeout: here"),
    ("memory", "memory: here"),
];

/// Every way to end: the claim that it meets, and what was seen.
fn endings() -> Vec<(&'static str, Evidence)> {
    let message = || "it is here".to_owned();
    let at = || Some(message());
    let traced = |state| Evidence {
        state: Some(state),
        ..Evidence::default()
    };
    let refused = Ending::Refused {
        code: RefusalCode::NestedCapture,
        capability: "capture".to_owned(),
        message: message(),
        remedy: String::new(),
    };
    let ended = |name, ending| (name, Evidence::ended(ending));
    vec![
        ("passed", traced(State::Passed)),
        ("unverified", traced(State::Unverified)),
        ended("refusal", refused),
        ended("error", Ending::Error { message: message() }),
        ended("panic", Ending::Panicked { message: message() }),
        ended("pending", Ending::Pending { message: message() }),
        ended(
            "crash",
            Ending::Crashed {
                at: at(),
                message: "SIGFPE".to_owned(),
            },
        ),
        ended("timeout", Ending::TimedOut { at: at(), seconds: 1 }),
        ended(
            "memory",
            Ending::OutOfMemory {
                at: at(),
                megabytes: 1,
            },
        ),
        ended("skipped", Ending::Skipped { reason: message() }),
        ended("invalid", Ending::Invalid { message: message() }),
    ]
}

/// The verdicts where `claim` is made and `evidence` seen; with the failures of these checks expected.
fn verdicts(claim: &str, fails: &[&str], evidence: Evidence) -> (Verdict, Option<Verdict>) {
    let mut text = format!("inputs: {{x: {{shape: [2]}}}}\nmodel: gelu\nexpect: {{{claim}}}\n");
    if !fails.is_empty() {
        text.push_str("expected_fail:\n");
    }
    for check in fails {
        text.push_str(&format!(
            "  - {{check: {check}, because: a, issue: b, opened: 2026-01-01, expires: 2027-01-01}}\n"
        ));
    }
    let observed = Observed {
        evidence,
        ..Observed::default()
    };
    let outcome = conclude(&cells(&text)[0], observed, Duration::ZERO);
    (outcome.record, outcome.value)
}

#[test]
fn every_claim_meets_every_ending() {
    let mut table = format!("{:12}", "");
    let endings = endings();
    endings
        .iter()
        .for_each(|(name, _)| table.push_str(&format!("{name:>12}")));
    for (fails, about) in [(&[][..], "plainly"), (&["record"], "expected to fail")] {
        table.push_str(&format!("\n{about}\n"));
        for (name, claim) in CLAIMS {
            let row: Vec<String> = endings
                .iter()
                .map(|(ending, evidence)| {
                    let (record, value) = verdicts(claim, fails, evidence.clone());
                    assert_eq!(value, None, "nothing is claimed about values");
                    // The law behind the table, said once more: only the ending that is claimed passes.
                    let kept = !matches!(*ending, "skipped" | "invalid");
                    assert_eq!(record == Verdict::Pass, fails.is_empty() && name == *ending);
                    assert_eq!(
                        record == Verdict::UnexpectedPass,
                        !fails.is_empty() && name == *ending
                    );
                    assert_eq!(record == Verdict::Skipped, *ending == "skipped");
                    assert_eq!(record == Verdict::Invalid, *ending == "invalid");
                    assert!(kept || !matches!(record, Verdict::ExpectedFail | Verdict::Fail));
                    format!("{:>12}", short(record))
                })
                .collect();
            table.push_str(format!("{name:12}{}", row.concat()).trim_end());
            table.push('\n');
        }
    }
    insta::assert_snapshot!(table);
}

/// A verdict that fits into a column.
fn short(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::ExpectedFail => "xfail",
        Verdict::UnexpectedPass => "xpass",
        Verdict::ChangedFail => "changed",
        other => other.name(),
    }
}

#[test]
fn values_are_right_only_where_there_is_a_trace() {
    let claim = "outputs: [{shape: [2]}]";
    let mut table = String::new();
    for (name, evidence) in endings() {
        let of = |fails: &[&str]| {
            let (record, value) = verdicts(claim, fails, evidence.clone());
            let value = value.map_or("-", short);
            format!("{:>10}{value:>10}", short(record))
        };
        table.push_str(&format!(
            "{name:12}{}  |{}  |{}  |{}\n",
            of(&[]),
            of(&["record"]),
            of(&["value"]),
            of(&["record", "value"])
        ));
    }
    insta::assert_snapshot!(table);
}
