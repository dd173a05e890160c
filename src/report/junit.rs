//! JUnit's XML, for services that show test results: a case a suite, a cell a test; each device has suites of its own.

use crate::scorecard::outcome::{Outcome, Verdict};
use crate::vocabulary::Device;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::collections::BTreeMap;
use std::time::Duration;
use thiserror::Error;

/// The XML cannot be written.
#[derive(Debug, Error)]
#[error("cannot write the outcomes as JUnit's XML: {0}")]
pub struct JunitError(#[from] quick_junit::SerializeError);

/// The outcomes of each device as XML.
///
/// # Errors
///
/// The library's.
pub fn junit(runs: &[(Device, &[Outcome])]) -> Result<String, JunitError> {
    let mut report = Report::new("mlx-assay");
    for (device, outcomes) in runs {
        // What shows results tells two tests apart by these names.
        let name = |file: &str| match runs.len() {
            1 => file.to_owned(),
            _ => format!("{device}: {file}"),
        };
        let mut suites: BTreeMap<&str, TestSuite> = BTreeMap::new();
        for outcome in *outcomes {
            let name = name(&outcome.file);
            let case = test_case(outcome, &name);
            let suite = suites
                .entry(&outcome.file)
                .or_insert_with(|| TestSuite::new(name));
            suite.add_test_case(case);
        }
        report.add_test_suites(suites.into_values());
    }
    Ok(report.to_string()?)
}

fn test_case(outcome: &Outcome, class: &str) -> TestCase {
    let mut case = TestCase::new(outcome.cell.as_str(), status(outcome));
    case.set_classname(class)
        .set_time(Duration::from_millis(outcome.millis));
    if !outcome.output.is_empty() {
        case.set_system_out(outcome.output.as_str());
    }
    case
}

fn status(outcome: &Outcome) -> TestCaseStatus {
    if outcome.record == Verdict::Skipped {
        let mut status = TestCaseStatus::skipped();
        status.set_message(outcome.evidence.ending.to_string());
        return status;
    }
    if !outcome.is_red() {
        return TestCaseStatus::success();
    }
    let worst = match outcome.value {
        Some(value) if !outcome.record.is_red() => value,
        _ => outcome.record,
    };
    let kind = match worst {
        Verdict::Crash | Verdict::Timeout | Verdict::Invalid => NonSuccessKind::Error,
        _ => NonSuccessKind::Failure,
    };
    let mut status = TestCaseStatus::non_success(kind);
    let findings: Vec<String> = outcome
        .findings
        .iter()
        .map(|it| format!("{}:{}  {}\n{}", outcome.file, it.line, it.at, it.message))
        .collect();
    let message = outcome.findings.first().map(|finding| finding.message.as_str());
    status
        .set_type(worst.name())
        .set_message(message.unwrap_or(worst.name()))
        .set_description(format!(
            "{}\nrerun  {}",
            findings.join("\n"),
            outcome.rerun_command()
        ));
    status
}
