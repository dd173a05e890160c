//! Expected x observed -> verdicts: every combination, as a table.

use crate::names::cells;
use mlx_assay::capability::RefusalCode;
use mlx_assay::case::schema::Fails;
use mlx_assay::harness::expect::conclude;
use mlx_assay::harness::seam::Observed;
use mlx_assay::scorecard::cells::signature_of;
use mlx_assay::scorecard::outcome::{Checked, Ending, Evidence, Outcome, Verdict};
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

/// What the entry of an expected failure names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    /// Just what fails, and how.
    This,
    /// That, and something else that might.
    More,
    /// Something else.
    Another,
    /// Nothing.
    Nothing,
}

/// The outcome where `claim` is made and `evidence` seen; with the failures of these checks expected.
fn outcome(claim: &str, fails: &[(Checked, Names)], evidence: &Evidence) -> Outcome {
    let mut text = format!("inputs: {{x: {{shape: [2]}}}}\nmodel: gelu\nexpect: {{{claim}}}\n");
    if !fails.is_empty() {
        text.push_str("expected_fail:\n");
    }
    for (check, names) in fails {
        let another = "decision expect.decisions".to_owned();
        let mut lines = match names {
            Names::This | Names::More => {
                let plain = outcome(claim, &[], evidence);
                signature_of(*check, &plain.findings, &plain.evidence.ending)
            }
            Names::Another => vec![another.clone()],
            Names::Nothing => vec![],
        };
        if *names == Names::More {
            lines.push(another);
        }
        text.push_str(&format!(
            "  - {{check: {}, fails: {}, because: a, issue: b, opened: 2026-01-01, expires: 2027-01-01}}\n",
            check.name(),
            Fails(lines)
        ));
    }
    let observed = Observed {
        evidence: evidence.clone(),
        ..Observed::default()
    };
    conclude(&cells(&text)[0], observed, Duration::ZERO)
}

#[test]
fn every_claim_meets_every_ending() {
    let mut table = format!("{:12}", "");
    let endings = endings();
    endings
        .iter()
        .for_each(|(name, _)| table.push_str(&format!("{name:>12}")));
    for (names, about) in [
        (None, "plainly"),
        (Some(Names::This), "expected to fail, with this signature"),
        (
            Some(Names::More),
            "expected to fail, with this signature and more",
        ),
        (Some(Names::Another), "expected to fail, with another signature"),
        (Some(Names::Nothing), "expected to fail, with none"),
    ] {
        table.push_str(&format!("\n{about}\n"));
        for (name, claim) in CLAIMS {
            let row: Vec<String> = endings
                .iter()
                .map(|(ending, evidence)| {
                    let fails: Vec<(Checked, Names)> =
                        names.iter().map(|names| (Checked::Record, *names)).collect();
                    let outcome = outcome(claim, &fails, evidence);
                    let record = outcome.record;
                    assert_eq!(outcome.value, None, "nothing is claimed about values");
                    // The law behind the table, said once more: only the ending that is claimed passes, and only what is
                    // named is excused.
                    let met = name == *ending;
                    let judged = !matches!(*ending, "skipped" | "invalid");
                    let excused = matches!(names, Some(Names::This | Names::More));
                    let wanted = match (judged, met, names) {
                        (false, ..) => record == Verdict::Skipped || record == Verdict::Invalid,
                        (true, true, None) => record == Verdict::Pass,
                        (true, true, Some(_)) => record == Verdict::UnexpectedPass,
                        (true, false, None) => {
                            matches!(record, Verdict::Fail | Verdict::Crash | Verdict::Timeout)
                        }
                        (true, false, Some(_)) if excused => record == Verdict::ExpectedFail,
                        (true, false, Some(_)) => record == Verdict::ChangedFail,
                    };
                    assert!(wanted, "{name}, {ending}, {names:?}: {record}");
                    assert_eq!(!outcome.otherwise.is_empty(), record == Verdict::ChangedFail);
                    assert_eq!(record == Verdict::Skipped, *ending == "skipped");
                    assert_eq!(record == Verdict::Invalid, *ending == "invalid");
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
    let (record, value) = (Checked::Record, Checked::Value);
    for (name, evidence) in endings() {
        let of = |fails: &[(Checked, Names)]| {
            let outcome = outcome(claim, fails, &evidence);
            let value = outcome.value.map_or("-", short);
            format!("{:>10}{value:>10}", short(outcome.record))
        };
        table.push_str(&format!(
            "{name:12}{}  |{}  |{}  |{}  |{}\n",
            of(&[]),
            of(&[(record, Names::This)]),
            of(&[(value, Names::This)]),
            of(&[(record, Names::This), (value, Names::This)]),
            of(&[(record, Names::This), (value, Names::Nothing)]),
        ));
    }
    insta::assert_snapshot!(table);
}
