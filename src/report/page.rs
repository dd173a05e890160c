//! The page: `reports/index.html`, one file that opens from disk without a network.

use super::text;
use crate::capability::Capability;
use crate::scorecard::outcome::{Outcome, Verdict};
use crate::scorecard::settle::{Settled, Update};
use crate::scorecard::totals::Totals;
use crate::scorecard::verdict::{self, Standing};
use crate::vocabulary::{Device, Shape};
use serde::Serialize;
use tera::{Context, Tera};
use thiserror::Error;

/// The templates, by name; built in, so that the binary needs no folder beside it.
const TEMPLATES: [(&str, &str); 4] = [
    ("style.css", include_str!("../../templates/style.css")),
    (
        "capabilities.html",
        include_str!("../../templates/capabilities.html"),
    ),
    ("cells.html", include_str!("../../templates/cells.html")),
    ("index.html", include_str!("../../templates/index.html")),
];

/// The page cannot be made.
#[derive(Debug, Error)]
#[error("cannot make the page {name}: {source}")]
pub struct ReportError {
    name: &'static str,
    #[source]
    source: tera::Error,
}

/// What the page shows.
#[derive(Clone, Debug, Serialize)]
pub struct Page {
    label: &'static str,
    device: &'static str,
    version: &'static str,
    totals: Totals,
    /// Why the page does not show the whole suite, where it does not.
    partial: Option<String>,
    update: String,
    supported: usize,
    capabilities: Vec<CapabilityView>,
    cells: Vec<CellView>,
}

#[derive(Clone, Debug, Serialize)]
struct CapabilityView {
    id: &'static str,
    sentence: &'static str,
    flag: bool,
    code: Option<&'static str>,
    remedy: &'static str,
    verdict: &'static str,
    /// The CSS class of the verdict.
    tone: &'static str,
    evidence: String,
    cells: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
struct CellView {
    id: String,
    place: String,
    record: Verdict,
    value: Option<Verdict>,
    tone: &'static str,
    summary: String,
    covers: Vec<String>,
    findings: Vec<FindingView>,
    warnings: Vec<String>,
    ops: Vec<OpView>,
}

#[derive(Clone, Debug, Serialize)]
struct FindingView {
    at: String,
    message: String,
    hint: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
struct OpView {
    label: String,
    name: String,
    parents: String,
    shape: String,
    dtype: String,
    module: String,
    decision: String,
    tone: &'static str,
}

impl Page {
    /// The page of a run.
    pub fn new(
        capabilities: &[Capability],
        device: Device,
        outcomes: &[Outcome],
        totals: Totals,
        settled: &Settled,
    ) -> Self {
        let capabilities: Vec<CapabilityView> = capabilities
            .iter()
            .map(|capability| capability_view(capability, outcomes))
            .collect();
        let partial = match settled.update {
            Update::Partial { .. } | Update::Invalid { .. } => Some(text::update_line(&settled.update)),
            _ => None,
        };
        Self {
            // Only a maintainer's decision file says anything else.
            label: "preview",
            device: device.name(),
            version: env!("CARGO_PKG_VERSION"),
            totals,
            partial,
            update: text::update_line(&settled.update),
            supported: capabilities
                .iter()
                .filter(|row| row.verdict == Standing::Supported.phrase())
                .count(),
            capabilities,
            cells: outcomes.iter().map(cell_view).collect(),
        }
    }
}

fn counted(number: u32, what: &str) -> String {
    text::counted(number as usize, what)
}

/// The page as HTML.
pub fn render(page: &Page) -> Result<String, ReportError> {
    let failed = |source| ReportError {
        name: "index.html",
        source,
    };
    let mut tera = Tera::default();
    tera.add_raw_templates(TEMPLATES).map_err(failed)?;
    let context = Context::from_serialize(page).map_err(failed)?;
    tera.render("index.html", &context).map_err(failed)
}

fn capability_view(capability: &Capability, outcomes: &[Outcome]) -> CapabilityView {
    let evidence = verdict::evidence(capability, outcomes.iter());
    let tone = match evidence.verdict {
        Standing::Supported => "good",
        Standing::Unsupported => "calm",
        Standing::NotYetProven => "open",
    };
    let proof = match evidence.verdict {
        Standing::Supported => format!(
            "{} cells pass, {} killed a mutant",
            evidence.passing, evidence.killed
        ),
        Standing::Unsupported => format!("{} with the refusal", counted(evidence.refusing, "cell")),
        Standing::NotYetProven => evidence.missing.clone().unwrap_or_default(),
    };
    let covering = outcomes
        .iter()
        .filter(|outcome| outcome.covers.iter().any(|id| id == capability.id));
    CapabilityView {
        id: capability.id,
        sentence: capability.sentence,
        flag: capability.flag,
        code: capability.refusal.map(|code| code.name()),
        remedy: capability.remedy,
        verdict: evidence.verdict.phrase(),
        tone,
        evidence: proof,
        cells: covering.map(|outcome| outcome.cell.clone()).collect(),
    }
}

fn cell_view(outcome: &Outcome) -> CellView {
    let tone = match (outcome.is_red(), outcome.record, outcome.value) {
        (true, ..) => "bad",
        (false, Verdict::Pass, None | Some(Verdict::Pass)) => "good",
        _ => "open",
    };
    let evidence = &outcome.evidence;
    let summary = match evidence.state {
        Some(state) => format!("{state}, {} ops, {} calls", evidence.ops.len(), evidence.calls),
        None => text::ending(&evidence.ending),
    };
    let ops = evidence.ops.iter().map(|op| {
        let each = |spell: &dyn Fn(&crate::scorecard::outcome::ArrayRow) -> String| {
            op.results.iter().map(spell).collect::<Vec<_>>().join(" ")
        };
        OpView {
            label: op.label.clone(),
            name: op.name.clone(),
            parents: op.parents.join(" "),
            shape: each(&|it| Shape(&it.shape).to_string()),
            dtype: each(&|it| it.dtype.clone()),
            module: op.module.clone().unwrap_or_default(),
            decision: text::decision(op),
            tone: op.decision.map_or("none", |decision| decision.name()),
        }
    });
    CellView {
        id: outcome.cell.clone(),
        place: format!("{}:{}", outcome.file, outcome.line),
        record: outcome.record,
        value: outcome.value,
        tone,
        summary,
        covers: outcome.covers.clone(),
        findings: outcome
            .findings
            .iter()
            .map(|it| FindingView {
                at: it.at.clone(),
                message: it.message.clone(),
                hint: it.hint.clone(),
            })
            .collect(),
        warnings: evidence.warnings.clone(),
        ops: ops.collect(),
    }
}
