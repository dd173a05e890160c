//! The first page: label and gate, totals, capabilities, functions by element type, known failures.

use super::capability::tone;
use super::function::by_function;
use super::links;
use crate::report::badge::coverage;
use crate::report::site::Report;
use crate::report::text::counted;
use crate::scorecard::card::CapabilityRow;
use crate::scorecard::decision::Label;
use crate::scorecard::functions::Shown;
use crate::scorecard::totals::Totals;
use crate::scorecard::verdict::Standing;
use crate::vocabulary::{DType, Device};
use serde::Serialize;
use std::collections::BTreeSet;

/// The page.
#[derive(Clone, Debug, Serialize)]
pub struct View {
    root: &'static str,
    title: String,
    label: String,
    label_tone: &'static str,
    broken: Vec<String>,
    missing: Vec<MissingView>,
    device: &'static str,
    others: Vec<(&'static str, String)>,
    environment: String,
    version: &'static str,
    update: String,
    whole: bool,
    totals: Totals,
    supported: usize,
    covered: usize,
    names: usize,
    changes: Vec<(&'static str, usize)>,
    devices: Vec<&'static str>,
    capabilities: Vec<CapabilityView>,
    dtypes: Vec<&'static str>,
    functions: Vec<FunctionView>,
    failures: Vec<FailureView>,
}

#[derive(Clone, Debug, Serialize)]
struct MissingView {
    what: String,
    device: &'static str,
    lacks: String,
    run: String,
}

#[derive(Clone, Debug, Serialize)]
struct CapabilityView {
    id: &'static str,
    link: String,
    sentence: &'static str,
    flag: bool,
    code: Option<&'static str>,
    cells: Vec<StandingView>,
}

#[derive(Clone, Debug, Serialize)]
struct StandingView {
    verdict: &'static str,
    tone: &'static str,
    evidence: String,
}

#[derive(Clone, Debug, Serialize)]
struct FunctionView {
    name: String,
    link: String,
    cells: Vec<Option<HeatView>>,
}

#[derive(Clone, Debug, Serialize)]
struct HeatView {
    anchor: String,
    tone: &'static str,
    sign: &'static str,
    word: &'static str,
    count: String,
}

#[derive(Clone, Debug, Serialize)]
struct FailureView {
    case: String,
    link: String,
    check: &'static str,
    cells: u32,
    because: String,
    issue: String,
    opened: String,
    expires: String,
    expired: bool,
}

/// What it shows.
pub fn view(report: &Report<'_>) -> View {
    let card = &report.version.card;
    let devices: Vec<Device> = card.devices.iter().map(|row| row.device).collect();
    let (covered, names) = coverage(card, report.device);
    let environment = card.devices.iter().find(|row| row.device == report.device);
    let (dtypes, functions) = functions(report);
    View {
        root: "",
        title: format!("mlx-assay: {}", report.label.phrase()),
        label: report.label.phrase(),
        label_tone: match (report.label.label, report.label.holds()) {
            (Label::Preview, _) => "open",
            (_, true) => "good",
            (_, false) => "bad",
        },
        broken: report.label.broken.clone(),
        missing: report
            .missing
            .iter()
            .map(|it| MissingView {
                what: it.what.clone(),
                device: it.device.map_or("any device", |device| device.name()),
                lacks: it.lacks.clone(),
                run: it.run.clone(),
            })
            .collect(),
        device: report.device.name(),
        others: report
            .others
            .iter()
            .map(|(device, link)| (device.name(), link.clone()))
            .collect(),
        environment: environment
            .map(|row| row.environment.to_string())
            .unwrap_or_default(),
        version: env!("CARGO_PKG_VERSION"),
        update: report.update.to_owned(),
        whole: report.totals.ran == report.totals.cells,
        totals: report.totals,
        supported: card.supported(report.device).0,
        covered,
        names,
        changes: changes(report),
        devices: devices.iter().map(|device| device.name()).collect(),
        capabilities: capabilities(report, &devices),
        dtypes,
        functions,
        failures: failures(report),
    }
}

fn changes(report: &Report<'_>) -> Vec<(&'static str, usize)> {
    use crate::scorecard::changes::Direction;
    let words = [
        (Direction::Regression, "worse"),
        (Direction::Improvement, "better"),
        (Direction::Addition, "new"),
        (Direction::Other, "else"),
    ];
    let count = |direction| {
        report
            .changes
            .iter()
            .filter(|it| it.direction == direction)
            .count()
    };
    let counted = words
        .into_iter()
        .map(|(direction, word)| (word, count(direction)));
    counted.filter(|(_, count)| *count > 0).collect()
}

fn capabilities(report: &Report<'_>, devices: &[Device]) -> Vec<CapabilityView> {
    let claims = report.capabilities.iter();
    claims
        .map(|claim| {
            let row = report.version.card.capability(claim.id);
            CapabilityView {
                id: claim.id,
                link: links::capability(claim.id),
                sentence: claim.sentence,
                flag: claim.flag,
                code: claim.refusal.map(|code| code.name()),
                cells: devices.iter().map(|device| standing(row, *device)).collect(),
            }
        })
        .collect()
}

fn cells(count: u32) -> String {
    counted(count as usize, "cell")
}

fn standing(row: Option<&CapabilityRow>, device: Device) -> StandingView {
    let Some(evidence) = row.and_then(|row| row.devices.get(&device)) else {
        return StandingView {
            verdict: Standing::NotYetProven.phrase(),
            tone: "open",
            evidence: "no cell covers it".to_owned(),
        };
    };
    let proof = match evidence.verdict {
        Standing::Supported => format!(
            "{}, {} of {} mutants killed",
            cells(evidence.cells),
            evidence.killed,
            evidence.mutants
        ),
        Standing::Unsupported => format!("{} with the refusal", cells(evidence.refusing)),
        Standing::NotYetProven => evidence.missing.clone().unwrap_or_default(),
    };
    StandingView {
        verdict: evidence.verdict.phrase(),
        tone: tone(evidence.verdict),
        evidence: proof,
    }
}

/// The element types that any function has, in their usual order, and what each function shows of each.
fn functions(report: &Report<'_>) -> (Vec<&'static str>, Vec<FunctionView>) {
    let by_name = by_function(report);
    let rows = &report.version.card.functions;
    let shown: Vec<_> = rows.iter().map(|row| (row, row.shown(report.device))).collect();
    let used: BTreeSet<&str> = shown
        .iter()
        .flat_map(|(_, shown)| shown.keys().copied())
        .collect();
    let all = DType::ALL.iter().map(|dtype| dtype.name()).chain(["none"]);
    let dtypes: Vec<&'static str> = all.filter(|name| used.contains(name)).collect();
    let views = shown
        .iter()
        .filter(|(row, _)| by_name.contains_key(row.function.as_str()));
    let views = views.map(|(row, shown)| FunctionView {
        name: row.function.clone(),
        link: links::function(&row.function),
        cells: dtypes
            .iter()
            .map(|dtype| {
                // A run of some cells has pages for those only.
                let ran = by_name
                    .get(row.function.as_str())
                    .is_some_and(|it| it.contains_key(dtype));
                shown.get(dtype).filter(|_| ran).map(|shown| heat(dtype, shown))
            })
            .collect(),
    });
    let views = views.collect();
    (dtypes, views)
}

fn heat(dtype: &str, shown: &Shown) -> HeatView {
    let (tone, sign, word) = match shown {
        it if it.failing() == 0 && it.claims > 0 => ("good", "●", "all pass"),
        it if it.failing() == 0 => ("calm", "○", "records pass, no value is claimed"),
        it if it.records == it.cells => ("open", "◐", "records pass, some values do not"),
        _ => ("bad", "✕", "some records do not pass"),
    };
    HeatView {
        anchor: links::anchor(dtype),
        tone,
        sign,
        word,
        count: match shown.failing() {
            0 => shown.cells.to_string(),
            failing => format!(
                "{}/{}",
                shown.cells.saturating_sub(failing.min(shown.cells)),
                shown.cells
            ),
        },
    }
}

fn failures(report: &Report<'_>) -> Vec<FailureView> {
    let rows = report.version.card.expected_failures.iter();
    rows.map(|row| FailureView {
        case: row.case.clone(),
        link: match report.outcomes.iter().any(|it| it.case() == row.case) {
            true => links::case(&row.case),
            false => String::new(),
        },
        check: match row.check {
            crate::scorecard::outcome::Checked::Record => "record",
            crate::scorecard::outcome::Checked::Value => "value",
        },
        cells: row.cells,
        because: row.because.clone(),
        issue: row.issue.clone(),
        opened: row.opened.clone(),
        expires: row.expires.clone(),
        expired: row.expires.as_str() < report.today,
    })
    .collect()
}
