//! The report in a browser: it works, asks for nothing, and can be used by everyone.
//!
//! Ignored by a plain `cargo test`, so that nobody needs a browser for it: `scripts/browser-tools`, then
//! `cargo test --test browser -- --ignored`. The browser is the system's Chromium; the validator needs Java.

#[path = "browser/devtools.rs"]
mod devtools;
#[path = "browser/report.rs"]
mod report;

use devtools::Browser;
use report::{Report, HOSTILE};
use serde_json::{json, Value};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn tool(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("target/browser-tools")
        .join(name);
    assert!(path.exists(), "run scripts/browser-tools, which fetches {name}");
    path
}

/// Every kind of page that a report has.
const PAGES: [&str; 7] = [
    "index.html",
    "cases.html",
    "diff.html",
    "capabilities/forward.modules.html",
    "functions/sum.html",
    "cases/models.gru_shared.html",
    "cases/ops.reduce.sum.html",
];

#[test]
#[ignore = "needs Chromium"]
fn every_page_works_alone_and_without_an_error() {
    let report = Report::new();
    let mut browser = Browser::start();
    for page in PAGES {
        browser.open(&report.address(page));
        assert_ne!(
            browser.evaluate("document.querySelector('h1').textContent"),
            json!("")
        );
    }
    let own = report.address("");
    let foreign = |address: &&String| !address.starts_with(&own) && *address != "about:blank";
    let left: Vec<&String> = browser.requests.iter().filter(foreign).collect();
    assert!(left.is_empty(), "asked for {left:?}");
    assert!(browser.requests.len() >= PAGES.len(), "{:?}", browser.requests);
    assert!(browser.errors.is_empty(), "{:#?}", browser.errors);
}

fn rows(browser: &mut Browser, table: &str) -> Vec<String> {
    let expression = format!(
        "[...document.getElementById('{table}').tBodies[0].rows].filter(it => !it.hidden).map(it => it.cells[0].textContent.trim())"
    );
    let found = browser.evaluate(&expression);
    let found = found.as_array().expect("a list").iter();
    found.map(|it| it.as_str().expect("text").to_owned()).collect()
}

#[test]
#[ignore = "needs Chromium"]
fn a_table_is_searched_filtered_and_sorted_by_keyboard() {
    let report = Report::new();
    let mut browser = Browser::start();
    browser.open(&report.address("index.html"));
    let all = rows(&mut browser, "capability-table");
    assert!(all.len() >= 11, "{all:?}");
    browser.evaluate("document.querySelector('[data-search=capability-table]').focus()");
    browser.type_in("session.");
    browser.wait("document.querySelector('[data-count=capability-table]').textContent !== ''");
    let found = rows(&mut browser, "capability-table");
    assert!(!found.is_empty() && found.len() < all.len(), "{found:?}");
    assert!(found.iter().all(|id| id.starts_with("session.")), "{found:?}");
    browser.evaluate(
        "(() => { const it = document.querySelector('[data-search=capability-table]'); it.value = ''; \
         it.dispatchEvent(new Event('input')); const filter = document.querySelector('[data-filter=capability-table]'); \
         filter.value = 'supported'; filter.dispatchEvent(new Event('input')); })()",
    );
    let supported = rows(&mut browser, "capability-table");
    let words = browser.evaluate(
        "[...document.querySelectorAll('#capability-table tbody tr')].filter(it => !it.hidden).every(it => it.cells[2].textContent === 'supported')",
    );
    assert!(
        !supported.is_empty() && supported.len() < all.len(),
        "{supported:?}"
    );
    assert_eq!(words, json!(true));
    browser.evaluate("document.querySelector('#failure-table thead button').focus()");
    browser.press("Enter", 13);
    browser.press(" ", 32);
    browser.evaluate("document.querySelector('#failure-table thead button').click()");
    let state =
        browser.evaluate("document.querySelector('#failure-table thead th').getAttribute('aria-sort')");
    assert!(
        state == json!("ascending") || state == json!("descending"),
        "{state}"
    );
}

#[test]
#[ignore = "needs Chromium"]
fn a_heat_map_cell_leads_to_its_evidence() {
    let report = Report::new();
    let mut browser = Browser::start();
    browser.open(&report.address("index.html"));
    browser.evaluate(
        "document.querySelector('#function-table a[href=\"functions/sum.html#at-float16\"]').click()",
    );
    browser.wait("location.pathname.endsWith('/functions/sum.html') && document.readyState === 'complete'");
    let head = browser.evaluate("document.getElementById(location.hash.slice(1)).textContent");
    assert_eq!(head, json!("float16"));
    browser.evaluate("document.querySelector('#at-float16 + ul a').click()");
    browser.wait("location.pathname.includes('/cases/') && document.readyState === 'complete'");
    let open = browser.evaluate("document.getElementById(decodeURIComponent(location.hash.slice(1))).open");
    assert_eq!(open, json!(true), "the cell that was asked for is open");
}

#[test]
#[ignore = "needs Chromium"]
fn a_node_of_the_graph_leads_to_its_row() {
    let report = Report::new();
    let mut browser = Browser::start();
    browser.open(&report.address("cases/models.gru_shared.html"));
    let nodes = browser.evaluate("document.querySelectorAll('svg.graph a').length");
    assert_eq!(nodes, json!(5));
    browser.evaluate(
        "document.querySelectorAll('svg.graph a')[4].dispatchEvent(new MouseEvent('click', {bubbles: true}))",
    );
    browser.wait("document.querySelector('tr:target') !== null");
    let row = browser.evaluate("document.querySelector('tr:target th').textContent");
    let node = browser.evaluate("document.querySelectorAll('svg.graph a text')[4].textContent");
    assert_eq!(row, node);
}

#[test]
#[ignore = "needs Chromium"]
fn what_a_hostile_case_says_is_text() {
    let report = Report::new();
    let mut browser = Browser::start();
    for page in [
        "index.html",
        "cases.html",
        "cases/hostile.html",
        "cases/tutorial.sequential.html",
    ] {
        browser.open(&report.address(page));
        let scripts = browser.evaluate("[...document.scripts].every(it => it.src.endsWith('/script.js'))");
        assert_eq!(scripts, json!(true), "{page}");
        assert_eq!(browser.evaluate("document.images.length"), json!(0), "{page}");
    }
    for page in ["cases/hostile.html", "cases/tutorial.sequential.html"] {
        browser.open(&report.address(page));
        let shown = browser.evaluate("document.body.textContent");
        assert!(shown.as_str().expect("text").contains(HOSTILE), "{page}");
    }
    assert!(browser.errors.is_empty(), "{:#?}", browser.errors);
}

#[test]
#[ignore = "needs Chromium"]
fn everyone_can_use_the_pages() {
    let axe = std::fs::read_to_string(tool("axe.min.js")).expect("readable");
    let report = Report::new();
    let mut browser = Browser::start();
    for (scheme, width) in [("light", 1280), ("dark", 1280), ("light", 360)] {
        browser.look(scheme, width);
        for page in PAGES {
            browser.open(&report.address(page));
            browser.evaluate("document.querySelectorAll('details').forEach(it => it.open = true)");
            browser.evaluate(&format!("{axe}; true"));
            let found = browser.evaluate(
                "axe.run().then(it => it.violations.map(one => ({id: one.id, impact: one.impact, \
                 nodes: one.nodes.slice(0, 3).map(node => node.html + ' ' + node.failureSummary)})))",
            );
            let serious: Vec<&Value> = found
                .as_array()
                .expect("a list")
                .iter()
                .filter(|one| one["impact"] == "serious" || one["impact"] == "critical")
                .collect();
            assert!(serious.is_empty(), "{page}, {scheme}, {width}: {serious:#?}");
            let wider = browser
                .evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
            assert_eq!(wider, json!(0), "{page} is wider than {width}");
        }
    }
}

/// All pages below a folder.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("listed").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|it| it == "html" || it == "svg") {
            found.push(path);
        }
    }
    found
}

/// The report of the whole suite where there is one, and the one made here.
fn reports(report: &Report) -> Vec<PathBuf> {
    let whole = Path::new(env!("CARGO_MANIFEST_DIR")).join("reports");
    let mut found = vec![report.path("reports")];
    found.extend(whole.join("index.html").exists().then_some(whole));
    found
}

#[test]
#[ignore = "needs Java"]
fn every_page_is_valid_html() {
    let jar = tool("vnu.jar");
    let report = Report::new();
    for folder in reports(&report) {
        let output = Command::new("java")
            .args(["-Xss8m", "-jar"])
            .arg(&jar)
            .args(["--errors-only", "--skip-non-html"])
            .arg(&folder)
            .output()
            .expect("Java: apt-get install default-jre-headless");
        let said = String::from_utf8_lossy(&output.stderr);
        let first: Vec<&str> = said.lines().take(10).collect();
        assert!(output.status.success(), "{}", first.join("\n"));
    }
    // The validator does find what is wrong.
    let broken = report.path("broken.html");
    std::fs::write(
        &broken,
        "<!doctype html><html lang=en><title>a</title><p><table></p>",
    )
    .expect("written");
    let output = Command::new("java")
        .arg("-jar")
        .arg(&jar)
        .arg(&broken)
        .output()
        .expect("Java");
    assert!(!output.status.success());
}

/// The values of an attribute in a page of ours, which quotes all of them.
fn attributes<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let marker = format!(" {name}=\"");
    let parts = text.split(marker.as_str()).skip(1);
    parts.filter_map(|part| part.split('"').next()).collect()
}

#[test]
#[ignore = "made for the whole report, after a run"]
fn every_link_resolves() {
    let report = Report::new();
    let mut links = 0;
    for folder in reports(&report) {
        let mut anchors: std::collections::HashMap<PathBuf, BTreeSet<String>> = Default::default();
        let files = pages(&folder);
        for file in &files {
            let text = std::fs::read_to_string(file).expect("readable");
            let ids = attributes(&text, "id");
            let unique: BTreeSet<String> = ids.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(ids.len(), unique.len(), "{} has an id twice", file.display());
            anchors.insert(file.canonicalize().expect("there"), unique);
        }
        for file in &files {
            let text = std::fs::read_to_string(file).expect("readable");
            for link in attributes(&text, "href") {
                links += 1;
                let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
                let target = match path {
                    "" => file.clone(),
                    path => file.parent().expect("a folder").join(path),
                };
                let target = target.canonicalize();
                let target = target.unwrap_or_else(|_| panic!("{}: {link}", file.display()));
                let known = anchors.get(&target).is_some_and(|ids| ids.contains(anchor));
                assert!(anchor.is_empty() || known, "{}: {link}", file.display());
            }
        }
    }
    assert!(links > 100, "{links} links");
}
