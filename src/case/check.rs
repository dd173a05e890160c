//! Reads all cases of a root and finds everything that is wrong with any of them, not the first thing only.

use super::cell::{CaseInfo, Cell};
use super::error::{Fault, Problem};
use super::expand::{expand, located_expectations};
use super::intervention::{is_label, Intervention, Place};
use super::load::{self, FindError, Source};
use super::names::Names;
use super::position::Path;
use super::schema::{CaseFile, Expectation};
use super::yaml::{self, FaultAt, Index};
use std::collections::BTreeMap;
use std::sync::Arc;

/// All cases of a root.
#[derive(Clone, Debug, Default)]
pub struct Suite {
    /// The cells of the cases with which nothing is wrong, in order of file, then of the matrix.
    pub cells: Vec<Cell>,
    /// How many files were read.
    pub files: usize,
    /// What is wrong, in order of file and line.
    pub problems: Vec<Problem>,
}

/// Reads every case below `root`.
pub fn suite(root: &std::path::Path, names: &Names) -> Result<Suite, FindError> {
    let (sources, problems) = load::find(root)?;
    Ok(of_sources(&sources, problems, names))
}

/// Reads only the file that the cell of this id is in; an empty suite if there is none.
pub fn of_cell(root: &std::path::Path, id: &str, names: &Names) -> Suite {
    of_sources(&load::named(root, id), Vec::new(), names)
}

fn of_sources(sources: &[Source], problems: Vec<Problem>, names: &Names) -> Suite {
    let mut suite = Suite {
        cells: Vec::new(),
        files: sources.len() + problems.len(),
        problems,
    };
    let mut ids: BTreeMap<String, String> = BTreeMap::new();
    for source in sources {
        match case(source, names) {
            Ok(cells) => {
                for cell in cells {
                    if let Some(other) = ids.insert(cell.id.clone(), source.file.clone()) {
                        let fault = Fault::DuplicateId {
                            id: cell.id.clone(),
                            other,
                        };
                        let mark = cell.case.index.value(&Path::root());
                        suite
                            .problems
                            .push(Problem::new(&source.file, source.text.clone(), mark, fault));
                    }
                    suite.cells.push(cell);
                }
            }
            Err(problems) => suite.problems.extend(problems),
        }
    }
    suite
        .problems
        .sort_by(|a, b| (&a.file, a.mark.position).cmp(&(&b.file, b.mark.position)));
    suite
}

/// The cells of one case, or everything that is wrong with it.
pub fn case(source: &Source, names: &Names) -> Result<Vec<Cell>, Vec<Problem>> {
    let problems = |faults: Vec<FaultAt>| {
        let problem = |it: FaultAt| Problem::new(&source.file, source.text.clone(), it.mark, it.fault);
        faults.into_iter().map(problem).collect::<Vec<_>>()
    };
    let yaml::Read {
        said: mut file,
        index,
        unknown: mut faults,
    } = yaml::read::<CaseFile>(&source.text).map_err(problems)?;
    locate(&mut file, &index);
    // What seems to be missing may be what is misspelt.
    let misspelt = !faults.is_empty();
    let speaks = |it: &FaultAt| !(misspelt && matches!(it.fault, Fault::ExpectsNothing | Fault::NoProgram));
    faults.extend(whole(&file, &index, names).into_iter().filter(&speaks));
    let info = CaseInfo {
        id: source.id.clone(),
        file: source.file.clone(),
        covers: file.covers.clone(),
        index,
        text: source.text.clone(),
    };
    let info = Arc::new(info);
    // Without one program there is nothing to expand, and its absence is said already.
    let expanded = match one_program(&file) {
        Ok(()) => expand(&info, &file, names),
        Err(fault) => Err(vec![FaultAt {
            mark: info.index.value(&Path::root()),
            fault,
        }]),
    };
    match expanded {
        Ok(cells) if faults.is_empty() => Ok(cells),
        Ok(_) => Err(problems(faults)),
        Err(found) => {
            faults.extend(found.into_iter().filter(&speaks));
            Err(problems(faults))
        }
    }
}

/// Tells every layer where it stands.
fn locate(file: &mut CaseFile, index: &Index) {
    let root = Path::root();
    if let Some(spec) = &mut file.model {
        spec.locate(index, &root.key("model"));
    }
    for (name, spec) in &mut file.layers {
        spec.locate(index, &root.key("layers").key(name));
    }
}

fn one_program(file: &CaseFile) -> Result<(), Fault> {
    let given = [
        ("op", file.op.is_some()),
        ("model", file.model.is_some()),
        ("forward", !file.forward.is_empty()),
    ];
    let mut given = given.iter().filter(|(_, given)| *given).map(|(key, _)| *key);
    match (given.next(), given.next()) {
        (None, _) => Err(Fault::NoProgram),
        (Some(first), Some(second)) => Err(Fault::TwoPrograms { first, second }),
        (Some(_), None) => Ok(()),
    }
}

/// What is wrong whatever the matrix says.
fn whole(file: &CaseFile, index: &Index, names: &Names) -> Vec<FaultAt> {
    let root = Path::root();
    let mut faults = Vec::new();
    let mut misplaced = |key: &'static str, given: bool, beside: &'static str, there: bool| {
        if given && !there {
            faults.push(FaultAt {
                fault: Fault::Misplaced { key, beside },
                mark: index.key(&root.key(key)),
            });
        }
    };
    let (op, forward) = (file.op.is_some(), !file.forward.is_empty());
    misplaced("dtype", file.dtype.is_some(), "op", op);
    misplaced("shape", file.shape.is_some(), "op", op);
    misplaced("view", file.view.is_some(), "op", op);
    misplaced("fill", file.fill.is_some(), "op", op);
    misplaced("args", file.args.is_some(), "op", op);
    misplaced("layers", !file.layers.is_empty(), "forward", forward);
    misplaced("outputs", !file.outputs.is_empty(), "forward", forward);
    misplaced(
        "exclude",
        !file.exclude.is_empty(),
        "matrix",
        !file.matrix.is_empty(),
    );

    for (place, id) in file.covers.iter().enumerate() {
        let mark = index.value(&root.key("covers").index(place));
        if !names.capabilities.iter().any(|capability| capability.id == id) {
            let known = names
                .capabilities
                .iter()
                .map(|capability| capability.id.to_owned())
                .collect();
            faults.push(FaultAt {
                fault: Fault::UnknownCapability {
                    id: id.clone(),
                    known,
                },
                mark,
            });
        } else if file.covers[..place].contains(id) {
            faults.push(FaultAt {
                fault: Fault::CoveredTwice { id: id.clone() },
                mark,
            });
        }
    }
    for (place, name) in file.session.hide.iter().enumerate() {
        if !names.observed.contains(&name.as_str()) {
            let fault = Fault::UnknownObserved {
                name: name.clone(),
                known: names.observed.iter().map(|it| (*it).to_owned()).collect(),
            };
            let mark = index.value(&root.key("session").key("hide").index(place));
            faults.push(FaultAt { fault, mark });
        }
    }
    let session = root.key("session");
    let labels = file
        .session
        .intervene
        .keys()
        .map(|label| (label, index.key(&session.key("intervene").key(label))))
        .chain(
            file.session
                .halt
                .iter()
                .map(|label| (label, index.value(&session.key("halt")))),
        )
        .chain(
            file.session
                .payloads
                .ops()
                .iter()
                .enumerate()
                .map(|(place, label)| {
                    (
                        label,
                        index.value(&session.key("payloads").key("ops").index(place)),
                    )
                }),
        );
    for (label, mark) in labels.filter(|(label, _)| Place::read(label).is_none()) {
        let fault = Fault::NotALabel { label: label.clone() };
        faults.push(FaultAt { fault, mark });
    }
    for (label, intervention) in &file.session.intervene {
        let Intervention::Call(function) = intervention else {
            continue;
        };
        if names.function(function).is_none() {
            let fault = Fault::UnknownCallee {
                name: function.clone(),
                known: names.functions.iter().map(|it| it.name.to_owned()).collect(),
            };
            let mark = index.value(&session.key("intervene").key(label));
            faults.push(FaultAt { fault, mark });
        }
    }
    let limits = root.key("limits");
    for (key, value, least, most) in [
        ("seconds", file.limits.seconds, 1, 3600),
        ("memory_mb", file.limits.memory_mb, 16, 1_000_000),
    ] {
        if value.is_some_and(|value| !(least..=most).contains(&value)) {
            let mark = index.value(&limits.key(key));
            faults.push(FaultAt {
                fault: Fault::ImpossibleLimit { key, least, most },
                mark,
            });
        }
    }
    if file.expect.items().is_empty() {
        faults.push(FaultAt {
            fault: Fault::ExpectsNothing,
            mark: index.value(&root),
        });
    }
    for (path, expectation) in located_expectations(file) {
        faults.extend(check_expectation(expectation, &path, index));
    }
    for (place, fail) in file.expected_fail.iter().enumerate() {
        if fail.expires < fail.opened {
            let fault = Fault::ExpiresBeforeOpened {
                opened: fail.opened.to_string(),
                expires: fail.expires.to_string(),
            };
            let mark = index.value(&root.key("expected_fail").index(place).key("expires"));
            faults.push(FaultAt { fault, mark });
        }
    }
    faults
}

fn check_expectation(expectation: &Expectation, path: &Path, index: &Index) -> Vec<FaultAt> {
    let mut faults = Vec::new();
    for (place, output) in expectation.outputs.iter().flatten().enumerate() {
        let at = path.key("outputs").index(place);
        let mut fault = |fault, key| {
            faults.push(FaultAt {
                fault,
                mark: index.key(&at.key(key)),
            })
        };
        if let Some(tolerance) = output.tolerance {
            let parts = [tolerance.absolute, tolerance.relative];
            if let Some(part) = parts.iter().find(|part| !part.is_finite() || **part < 0.0) {
                fault(
                    Fault::ImpossibleTolerance {
                        found: part.to_string(),
                    },
                    "tolerance",
                );
            }
            if output.values.is_none() {
                fault(
                    Fault::ExpectationMisplaced {
                        key: "tolerance",
                        beside: "values",
                    },
                    "tolerance",
                );
            }
            if output
                .because
                .as_deref()
                .is_none_or(|because| because.trim().is_empty())
            {
                fault(Fault::ToleranceWithoutBecause, "tolerance");
            }
        } else if output.because.is_some() {
            fault(
                Fault::ExpectationMisplaced {
                    key: "because",
                    beside: "tolerance",
                },
                "because",
            );
        }
    }
    let labels = expectation.parents.keys().map(|label| ("parents", label));
    let labels = labels.chain(expectation.decisions.keys().map(|label| ("decisions", label)));
    for (key, label) in labels.filter(|(_, label)| !is_label(label)) {
        let fault = Fault::NotALabel { label: label.clone() };
        let mark = index.key(&path.key(key).key(label));
        faults.push(FaultAt { fault, mark });
    }
    for (label, decision) in &expectation.decisions {
        if let Some(reason) = decision
            .reason
            .filter(|reason| reason.decision() != decision.decision)
        {
            let fault = Fault::ReasonMisfit {
                reason: reason.name(),
                decision: decision.decision.name(),
            };
            faults.push(FaultAt {
                fault,
                mark: index.value(&path.key("decisions").key(label).key(decision.decision.name())),
            });
        }
    }
    if let Some((first, second)) = contradiction(expectation) {
        let mark = index.key(&path.key(second));
        faults.push(FaultAt {
            fault: Fault::Contradiction { first, second },
            mark,
        });
    }
    faults
}

/// Whatever ends without a trace ends in one way, and nothing can be expected of a trace beside it.
fn contradiction(expectation: &Expectation) -> Option<(&'static str, &'static str)> {
    let mut endings = expectation.endings().map(|(key, _)| key);
    let ending = endings.next()?;
    if let Some(second) = endings.next() {
        return Some((ending, second));
    }
    // A forward that fails leaves what it recorded until then.
    let partial = ending == "error";
    let of_a_trace = [
        ("state", expectation.state.is_some()),
        ("ops", expectation.ops.is_some() && !partial),
        ("parents", !expectation.parents.is_empty() && !partial),
        ("notes", expectation.notes.is_some() && !partial),
        ("inside", !expectation.inside.is_empty()),
        ("backward", !expectation.backward.is_empty()),
        ("evaluations", expectation.evaluations.is_some()),
        ("paths", expectation.paths.is_some()),
        ("decisions", !expectation.decisions.is_empty()),
        ("modules", !expectation.modules.is_empty()),
        ("outputs", expectation.outputs.is_some()),
        ("reference", expectation.reference),
        ("dtype", expectation.dtype.is_some()),
    ];
    of_a_trace
        .iter()
        .find(|(_, given)| *given)
        .map(|(key, _)| (ending, *key))
}
