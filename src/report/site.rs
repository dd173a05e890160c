//! All pages of a report: plain data in, files out. Nothing here reads or writes a file.

use super::badge::badges;
use super::graph::graph;
use super::pages::{capability, case, cases, diff, function, index};
use crate::capability::Capability;
use crate::scorecard::changes::{Change, Version};
use crate::scorecard::gate::Missing;
use crate::scorecard::label::Standing as Label;
use crate::scorecard::outcome::{ModuleRow, OpRow, Outcome};
use crate::scorecard::totals::Totals;
use crate::vocabulary::Device;
use rayon::prelude::*;
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;
use tera::{Context, Tera};
use thiserror::Error;

/// The folder that the pages lie in, relative to the root.
pub const FOLDER: &str = "reports";

/// The folders in it whose pages come and go with cases and functions.
pub const FOLDERS: [&str; 3] = ["capabilities", "cases", "functions"];

/// The templates, by name; built in, so that the binary needs no folder beside it.
const TEMPLATES: [(&str, &str); 13] = [
    ("base.html", include_str!("../../templates/base.html")),
    ("badge.svg", include_str!("../../templates/badge.svg")),
    ("capabilities.md", include_str!("../../templates/capabilities.md")),
    ("capability.html", include_str!("../../templates/capability.html")),
    ("case.html", include_str!("../../templates/case.html")),
    ("cases.html", include_str!("../../templates/cases.html")),
    ("diff.html", include_str!("../../templates/diff.html")),
    ("function.html", include_str!("../../templates/function.html")),
    ("graph.html", include_str!("../../templates/graph.html")),
    ("graph.svg", include_str!("../../templates/graph.svg")),
    ("index.html", include_str!("../../templates/index.html")),
    ("ops.html", include_str!("../../templates/ops.html")),
    ("trace.svg", include_str!("../../templates/trace.svg")),
];

/// What lies beside the pages as it is.
const FILES: [(&str, &str); 2] = [
    ("style.css", include_str!("../../templates/style.css")),
    ("script.js", include_str!("../../templates/script.js")),
];

/// A page cannot be made.
#[derive(Debug, Error)]
#[error("cannot make {page} from its template: {source}")]
pub struct ReportError {
    page: String,
    #[source]
    source: tera::Error,
}

/// What a report is about.
#[derive(Clone, Copy)]
pub struct Report<'a> {
    /// The claims.
    pub capabilities: &'a [Capability],
    /// The device that the outcomes are of.
    pub device: Device,
    /// The other devices that the run was of, each with the way to its first page from this report's.
    pub others: &'a [(Device, String)],
    /// What the cells yielded.
    pub outcomes: &'a [Outcome],
    /// How many of each.
    pub totals: Totals,
    /// The scorecard.
    pub version: &'a Version,
    /// What changed since the committed one.
    pub changes: &'a [Change],
    /// One line on what became of the scorecard.
    pub update: &'a str,
    /// The label, and whether it holds.
    pub label: &'a Label,
    /// What is missing for `stable`.
    pub missing: &'a [Missing],
    /// The day, by which known failures age: `2026-11-29`.
    pub today: &'a str,
    /// The text of each case's file.
    pub sources: &'a BTreeMap<String, String>,
}

/// A file of the report: its path below the folder, and its content.
pub type Page = (String, String);

/// All files of the report.
///
/// # Errors
///
/// A template does not fit.
pub fn pages(report: &Report<'_>) -> Result<Vec<Page>, ReportError> {
    let templates = Templates::new()?;
    let mut found: Vec<Page> = FILES
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect();
    found.push(templates.page("index.html", "index.html", &index::view(report))?);
    found.push(templates.page("cases.html", "cases.html", &cases::view(report))?);
    found.push(templates.page("diff.html", "diff.html", &diff::view(report))?);
    for view in capability::views(report) {
        found.push(templates.page("capability.html", &view.path(), &view)?);
    }
    for view in function::views(report) {
        found.push(templates.page("function.html", &view.path(), &view)?);
    }
    for badge in badges(report.version, report.device, report.label) {
        found.push(templates.page("badge.svg", badge.path, &badge)?);
    }
    let cases: Result<Vec<Page>, ReportError> = case::by_case(report)
        .into_par_iter()
        .map(|outcomes| {
            let view = case::view(report, &outcomes);
            templates.page("case.html", &view.path(), &view)
        })
        .collect();
    found.extend(cases?);
    Ok(found)
}

/// The folder of committed badges, relative to the root.
pub const BADGES: &str = "docs/badges";

/// The badges as committed files, with their paths below the root.
///
/// # Errors
///
/// The template does not fit.
pub fn badge_files(version: &Version, device: Device, label: &Label) -> Result<Vec<Page>, ReportError> {
    let templates = Templates::new()?;
    let badges = badges(version, device, label).into_iter();
    badges
        .map(|badge| templates.page("badge.svg", &format!("docs/{}", badge.path), &badge))
        .collect()
}

/// A trace's ops as a picture that stands alone; `None` where there is nothing to draw, or too much.
///
/// # Errors
///
/// The template does not fit.
pub fn picture(ops: &[OpRow], modules: &[ModuleRow]) -> Result<Option<String>, ReportError> {
    let Some(graph) = graph(ops, modules) else {
        return Ok(None);
    };
    let style = include_str!("../../templates/style.css").lines();
    let style: Vec<&str> = style.filter(|line| line.starts_with(".graph ")).collect();
    let view = json!({"trace": {"graph": graph, "number": 0}, "style": style.join("\n")});
    let (_, text) = Templates::new()?.page("trace.svg", "a picture of a trace", &view)?;
    Ok(Some(text))
}

/// The templates, ready to be filled in.
pub struct Templates(Tera);

impl Templates {
    /// Reads them.
    ///
    /// # Errors
    ///
    /// One is no template.
    pub fn new() -> Result<Self, ReportError> {
        let failed = |source| ReportError {
            page: "the pages".to_owned(),
            source,
        };
        let mut tera = Tera::default();
        // What a case says is text, in pictures too.
        tera.autoescape_on([".html", ".svg"]);
        tera.add_raw_templates(TEMPLATES).map_err(failed)?;
        Ok(Self(tera))
    }

    /// Fills one in.
    ///
    /// # Errors
    ///
    /// The template does not fit.
    pub fn page(&self, template: &str, path: &str, view: &impl Serialize) -> Result<Page, ReportError> {
        let failed = |source| ReportError {
            page: path.to_owned(),
            source,
        };
        let context = Context::from_serialize(view).map_err(failed)?;
        let text = self.0.render(template, &context).map_err(failed)?;
        Ok((path.to_owned(), text))
    }
}
