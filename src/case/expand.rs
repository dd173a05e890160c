//! From a case to its cells: one for each point of the matrix, complete and checked.

use super::cell::{CaseInfo, Cell, Located};
use super::error::Fault;
use super::matrix::{self, Point};
use super::names::Names;
use super::position::Path;
use super::program;
use super::resolve::{self, Bindings};
use super::schema::{CaseFile, Check, Expectation, ExpectedFail};
use super::yaml::FaultAt;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The cells of a case, or everything that keeps it from having any.
///
/// The same file and names always give the same cells in the same order.
pub fn expand(case: &Arc<CaseInfo>, file: &CaseFile, names: &Names) -> Result<Vec<Cell>, Vec<FaultAt>> {
    let points = matrix::points(&file.matrix, file.vary, &file.exclude, &case.index)?;
    let used = RefCell::new(BTreeSet::new());
    let mut faults = Vec::new();
    let mut cells = Vec::new();
    for point in &points {
        let bindings = Bindings {
            point,
            index: &case.index,
            used: &used,
        };
        let (inputs, mut wrong) = resolve::inputs(&file.inputs, file.seed, &bindings);
        let resolved = match program::resolve(file, inputs, names, &bindings) {
            Ok(resolved) if wrong.is_empty() => Ok(resolved),
            Ok(_) => Err(wrong),
            Err(found) => {
                wrong.extend(found);
                Err(wrong)
            }
        };
        match resolved {
            Ok(resolved) => cells.push(cell(case, file, point, resolved)),
            // The same fault at many points is one fault.
            Err(found) => found.into_iter().for_each(|fault| push_new(&mut faults, fault)),
        }
    }
    if faults.is_empty() {
        faults.extend(unused_axes(case, file, &used.into_inner()));
        faults.extend(check_selections(case, file, &points));
        faults.extend(check_cells(&cells, case, file));
    }
    if faults.is_empty() {
        Ok(cells)
    } else {
        Err(faults)
    }
}

fn push_new(faults: &mut Vec<FaultAt>, fault: FaultAt) {
    if !faults
        .iter()
        .any(|known| known.mark == fault.mark && known.fault == fault.fault)
    {
        faults.push(fault);
    }
}

fn cell(case: &Arc<CaseInfo>, file: &CaseFile, point: &Point, resolved: program::Resolved) -> Cell {
    let name = matrix::name(&file.matrix, point);
    let id = if name.is_empty() {
        case.id.clone()
    } else {
        format!("{}::{name}", case.id)
    };
    let expect: Vec<Located<Expectation>> = located_expectations(file)
        .filter(|(_, expectation)| matrix::selects(&expectation.cells, point))
        .map(|(path, item)| Located {
            path,
            item: item.clone(),
        })
        .collect();
    let expected_fail = located_fails(file)
        .filter(|(_, fail)| matrix::selects(&fail.cells, point))
        .map(|(path, item)| Located {
            path,
            item: item.clone(),
        })
        .collect();
    Cell {
        id,
        case: Arc::clone(case),
        axes: point.clone(),
        seed: file.seed,
        inputs: resolved.inputs,
        program: resolved.program,
        session: file.session.clone(),
        requires: file.requires.clone(),
        limits: file.limits,
        isolate: file.isolate || expect.iter().any(|it| it.item.claims_ruin()),
        unordered: file.unordered.is_some(),
        expect,
        expected_fail,
    }
}

/// The expectations of a case and the way to each.
pub(crate) fn located_expectations(file: &CaseFile) -> impl Iterator<Item = (Path, &Expectation)> {
    let at = Path::root().key("expect");
    let many = matches!(file.expect, super::schema::Expectations::Many(_));
    file.expect
        .items()
        .iter()
        .enumerate()
        .map(move |(place, expectation)| {
            let path = if many { at.index(place) } else { at.clone() };
            (path, expectation)
        })
}

fn located_fails(file: &CaseFile) -> impl Iterator<Item = (Path, &ExpectedFail)> {
    let at = Path::root().key("expected_fail");
    file.expected_fail
        .iter()
        .enumerate()
        .map(move |(place, fail)| (at.index(place), fail))
}

fn unused_axes(case: &CaseInfo, file: &CaseFile, used: &BTreeSet<String>) -> Vec<FaultAt> {
    let at = Path::root().key("matrix");
    let unused = file.matrix.keys().filter(|axis| !used.contains(*axis));
    unused
        .map(|axis| FaultAt {
            fault: Fault::UnusedAxis { axis: axis.clone() },
            mark: case.index.key(&at.key(axis)),
        })
        .collect()
}

/// Every `where:` names axes and values that exist, and some cell.
fn check_selections(case: &CaseInfo, file: &CaseFile, points: &[Point]) -> Vec<FaultAt> {
    let expectations = located_expectations(file).map(|(path, item)| (path, &item.cells));
    let fails = located_fails(file).map(|(path, item)| (path, &item.cells));
    expectations
        .chain(fails)
        .filter(|(_, selection)| !selection.is_empty())
        .flat_map(|(path, selection)| {
            matrix::check_selection(selection, &file.matrix, points, &path.key("where"), &case.index)
        })
        .collect()
}

/// What only shows once the cells are there: names that collide, cells that expect nothing or fail twice.
fn check_cells(cells: &[Cell], case: &CaseInfo, file: &CaseFile) -> Vec<FaultAt> {
    let mut faults = Vec::new();
    let mut ids = BTreeSet::new();
    for cell in cells {
        if !ids.insert(cell.id.as_str()) {
            let mark = case.index.key(&Path::root().key("matrix"));
            faults.push(FaultAt {
                fault: Fault::CellsAlike { id: cell.id.clone() },
                mark,
            });
        }
        // A case that expects nothing at all is a fault of the file, and said once.
        if cell.expect.is_empty() && !file.expect.items().is_empty() {
            let mark = case.index.key(&Path::root().key("expect"));
            push_kind(
                &mut faults,
                FaultAt {
                    fault: Fault::CellExpectsNothing {
                        cell: cell.id.clone(),
                    },
                    mark,
                },
            );
        }
        for check in [Check::Record, Check::Value] {
            let mut fails = cell.expected_fail.iter().filter(|fail| fail.item.check == check);
            let (first, second) = (fails.next(), fails.next());
            if let Some(second) = second {
                let fault = Fault::FailsTwice {
                    check: check.name(),
                    cell: cell.id.clone(),
                };
                push_kind(
                    &mut faults,
                    FaultAt {
                        fault,
                        mark: case.index.value(&second.path),
                    },
                );
            }
            let of_values = first
                .filter(|_| check == Check::Value && !cell.expect.iter().any(|it| it.item.claims_values()));
            if let Some(first) = of_values {
                let mark = case.index.value(&first.path.key("check"));
                push_new(
                    &mut faults,
                    FaultAt {
                        fault: Fault::FailOfNothing,
                        mark,
                    },
                );
            }
        }
    }
    faults
}

/// One fault per place is enough where each cell would add its own name.
fn push_kind(faults: &mut Vec<FaultAt>, fault: FaultAt) {
    let alike = |known: &FaultAt| {
        known.mark == fault.mark
            && std::mem::discriminant(&known.fault) == std::mem::discriminant(&fault.fault)
    };
    if !faults.iter().any(alike) {
        faults.push(fault);
    }
}
