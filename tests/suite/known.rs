//! What has become of known failures: what a run says of their entries, and what is written into the case.

use crate::names::{read, NAMES};
use crate::stand_in::observe;
use mlx_assay::case::cell::Cell;
use mlx_assay::case::load::Source;
use mlx_assay::harness::amend::amended;
use mlx_assay::harness::expect::conclude;
use mlx_assay::harness::flakes::{flakes, marked};
use mlx_assay::harness::known::{changed, open, Seen};
use mlx_assay::scorecard::cells::CellBook;
use mlx_assay::scorecard::outcome::{Ending, Outcome};
use mlx_assay::vocabulary::{Device, State};
use std::time::Duration;

/// A case of four cells, with this entry for three of them.
fn case(entry: &str) -> Vec<Cell> {
    let text = format!(
        "op: sum\nmatrix: {{dtype: [float32, int32, int16, bool], shape: [[3]]}}\nexpect: {{state: passed}}\n\
         expected_fail:\n  - {{where: {{dtype: [float32, int32, int16]}}, check: record, {entry}because: a, issue: b,\n     \
         opened: 2026-01-01, expires: 2027-01-01}}\n"
    );
    read(&text).expect("a case")
}

/// What a cell comes to by the word for its element type.
fn outcomes(cells: &[Cell], come_to: &[(&str, &str)]) -> Vec<Outcome> {
    let of = |(dtype, what): &(&str, &str)| {
        let cell = cells.iter().find(|cell| cell.id.contains(dtype)).expect("a cell");
        let mut observed = observe(cell);
        match *what {
            "passes" => {}
            "fails" => observed.evidence.state = Some(State::Failed),
            "errs" => observed.evidence.ending = Ending::error("what"),
            _ => {
                observed.evidence.ending = Ending::Skipped {
                    reason: what.to_string(),
                }
            }
        }
        conclude(cell, observed, Duration::ZERO)
    };
    come_to.iter().map(of).collect()
}

/// What is said of the entry.
fn said(entry: &str, come_to: &[(&str, &str)]) -> Vec<String> {
    let cells = case(entry);
    let outcomes = outcomes(&cells, come_to);
    let runs = [(Device::LinuxCpu, outcomes.as_slice())];
    let notices = open(&cells, seen(&runs, &CellBook::default()));
    notices.iter().map(ToString::to_string).collect()
}

fn seen<'a>(runs: &'a [(Device, &'a [Outcome])], recorded: &'a CellBook) -> Seen<'a> {
    Seen { runs, recorded }
}

const STATE: &str = "fails: state expect.state, ";

#[test]
fn what_is_said_of_an_entry() {
    let lines = [
        (
            "all fail",
            STATE,
            &[("float32", "fails"), ("int32", "fails"), ("int16", "fails")][..],
        ),
        (
            "all pass",
            STATE,
            &[("float32", "passes"), ("int32", "passes"), ("int16", "passes")],
        ),
        (
            "some pass",
            STATE,
            &[("float32", "passes"), ("int32", "fails"), ("int16", "fails")],
        ),
        (
            "all that ran pass",
            STATE,
            &[("float32", "passes"), ("int32", "passes")],
        ),
        (
            "one was skipped",
            STATE,
            &[("float32", "passes"), ("int32", "passes"), ("int16", "a GPU")],
        ),
        (
            "some that ran pass",
            STATE,
            &[("float32", "passes"), ("int32", "fails")],
        ),
        (
            "fails otherwise",
            STATE,
            &[("float32", "errs"), ("int32", "fails"), ("int16", "fails")],
        ),
        (
            "all fail otherwise",
            STATE,
            &[("float32", "errs"), ("int32", "errs"), ("int16", "errs")],
        ),
        (
            "all that ran fail otherwise",
            STATE,
            &[("float32", "errs"), ("int32", "errs")],
        ),
        (
            "names nothing",
            "",
            &[("float32", "errs"), ("int32", "fails"), ("int16", "passes")],
        ),
    ];
    let table: Vec<String> = lines
        .iter()
        .map(|(what, entry, come_to)| format!("{what}\n  {}\n", said(entry, come_to).join("\n  ")))
        .collect();
    insta::assert_snapshot!(table.concat());
}

#[test]
fn what_another_device_shows_stays_named() {
    let cells = case("fails: [error, ending expect.state, state expect.state], ");
    let here = outcomes(
        &cells,
        &[("float32", "fails"), ("int32", "fails"), ("int16", "fails")],
    );
    let there = outcomes(&case(""), &[("int16", "errs")]);
    let recorded = CellBook::updated(&CellBook::default(), Device::MacosMetal, &there);
    let mut outcomes = here;
    // Only what fails otherwise is looked at.
    outcomes[0].record = mlx_assay::scorecard::outcome::Verdict::ChangedFail;
    let runs = [(Device::LinuxCpu, outcomes.as_slice())];
    assert_eq!(changed(&cells, seen(&runs, &recorded)), []);
    assert_eq!(changed(&cells, seen(&runs, &CellBook::default())).len(), 1);
}

#[test]
fn a_case_is_amended_and_the_rest_is_left_to_a_person() {
    let cells = case("");
    let source = Source {
        id: "test".to_owned(),
        file: "cases/test.yaml".to_owned(),
        text: cells[0].case.text.clone(),
    };
    let outcomes = outcomes(
        &cells,
        &[("float32", "errs"), ("int32", "fails"), ("int16", "passes")],
    );
    let book = CellBook::default();
    let runs = [(Device::LinuxCpu, outcomes.as_slice())];
    let amended = amended(&source, &NAMES, seen(&runs, &book)).expect("a case");
    let by_hand: Vec<String> = amended
        .left
        .iter()
        .map(|(notice, why)| notice.by_hand(*why))
        .collect();
    insta::assert_snapshot!(format!("{}\n{}\n", amended.text, by_hand.join("\n")));
}

#[test]
fn an_entry_names_what_fails_on_any_of_several_devices_and_stays_while_one_needs_it() {
    let cells = case("");
    let source = Source {
        id: "test".to_owned(),
        file: "cases/test.yaml".to_owned(),
        text: cells[0].case.text.clone(),
    };
    let here = outcomes(
        &cells,
        &[("float32", "fails"), ("int32", "fails"), ("int16", "fails")],
    );
    let there = outcomes(
        &cells,
        &[("float32", "passes"), ("int32", "passes"), ("int16", "errs")],
    );
    let runs = [(Device::LinuxCpu, here.as_slice()), (Device::MacosMetal, &there)];
    // Nothing of either is recorded yet.
    let amended = amended(&source, &NAMES, seen(&runs, &CellBook::default())).expect("a case");
    let wanted = "fails: [ending expect.state, error, state expect.state]";
    assert!(amended.text.contains(wanted), "{}", amended.text);
    assert!(amended.left.is_empty(), "{:?}", amended.left);
}

#[test]
fn what_says_nothing_about_an_entry_is_not_asked() {
    let cells = case(STATE);
    let of = |what| outcomes(&cells, &["float32", "int16", "int32"].map(|dtype| (dtype, what)));
    let (passes, fails, skipped) = (of("passes"), of("fails"), of("a GPU"));
    let said = |runs: &[(Device, &[Outcome])], recorded: &CellBook| -> Vec<String> {
        let notices = open(&cells, Seen { runs, recorded });
        notices.iter().map(ToString::to_string).collect()
    };
    let (linux, mac) = (Device::LinuxCpu, Device::MacosMetal);
    let nothing = CellBook::default();
    let goes = said(&[(linux, &passes)], &nothing);
    assert!(
        goes.len() == 1 && goes[0].contains("nothing that expected_fail[0] excuses"),
        "{goes:?}"
    );
    // Where it cannot run it needs no entry.
    assert_eq!(said(&[(linux, &passes), (mac, &skipped)], &nothing), goes);
    assert_eq!(said(&[(mac, &skipped), (linux, &passes)], &nothing), goes);
    // Where it fails it does, be it in this run or an earlier one.
    assert!(said(&[(linux, &passes), (mac, &fails)], &nothing).is_empty());
    let recorded = CellBook::updated(&nothing, mac, &fails);
    assert!(said(&[(linux, &passes)], &recorded).is_empty());
    // Of an interrupted round what ran is compared.
    let found: Vec<String> = flakes(&passes, &fails[1..], 2)
        .into_iter()
        .map(|flake| flake.first.cell)
        .collect();
    assert_eq!(found, [passes[1].cell.clone(), passes[2].cell.clone()]);
    // What does not come out alike says nothing.
    let flaky = |outcomes: &[Outcome]| {
        let flakes = flakes(&passes, &fails, 2);
        assert_eq!(flakes.len(), 3);
        marked(outcomes.to_vec(), &flakes)
    };
    assert!(said(&[(linux, &flaky(&passes))], &nothing).is_empty());
    let mut changed = of("errs");
    assert_eq!(said(&[(linux, &changed)], &nothing).len(), 1);
    changed = flaky(&changed);
    assert!(said(&[(linux, &changed)], &nothing).is_empty());
}
