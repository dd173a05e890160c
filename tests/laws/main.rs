//! Laws of validation, on random programs over the dispatch tables: a true record never fails, and a record with a
//! fault never passes.
//!
//! Without more ado these are the same 2,000 programs every time, since MLX may hang on one that nobody has met yet, and
//! such a find belongs to whoever looks for it. `MLX_ASSAY_PROGRAMS=N` tries N others each time. A counterexample,
//! shrunk, is written as a case below `cases/regressions/`: it stays there, with what it must expect.

mod program;
mod risks;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use mlx_assay::case::{check, load};
use mlx_assay::harness::backend::Backend;
use mlx_assay::scorecard::outcome::{Ending, Fate, Outcome};
use mlx_assay::vocabulary::State;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

use program::{draws, source, Draw, Program};

/// How many new programs are asked for, if any are.
fn asked() -> Option<u32> {
    let count = std::env::var("MLX_ASSAY_PROGRAMS").ok()?;
    Some(count.parse().expect("MLX_ASSAY_PROGRAMS is a number"))
}

/// Runs a program as a case: captured twice, validated, one fault seeded that its id chooses.
fn run(backend: &Backend, id: &str, text: &str) -> Outcome {
    let cells = check::case(&source(id, text), &backend.names);
    let cells = cells.unwrap_or_else(|problems| {
        let problems: String = problems.iter().map(|it| it.render()).collect();
        panic!("the program is no case:\n{problems}\n{text}")
    });
    backend.runner.run(&cells[0])
}

/// The law that an outcome breaks.
fn broken(outcome: &Outcome) -> Option<String> {
    let evidence = &outcome.evidence;
    if evidence.ending != Ending::Traced {
        return Some(format!("it did not end well: {:?}", evidence.ending));
    }
    if evidence.state == Some(State::Failed) {
        return Some(format!("a true record failed: {}", evidence.message));
    }
    match &evidence.mutant {
        Some(mutant) => match mutant.fate {
            Fate::Killed(_) => None,
            Fate::Misnamed(reason) => Some(format!("{} at {} is named {reason}", mutant.name, mutant.op)),
            Fate::Survived => Some(format!("{} at {} survived", mutant.name, mutant.op)),
        },
        None => None,
    }
}

/// The id of a program: its text chooses its fault.
fn id(text: &str) -> String {
    format!("regressions::{}", &load::digest(text)[..12])
}

/// Where the program is written that runs at the moment, so that one that ends the process is not lost.
fn running() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("law.yaml")
}

#[test]
fn a_true_record_never_fails_and_one_with_a_fault_never_passes() {
    let backend = mlx_assay::under_test::backend();
    let config = Config {
        cases: asked().unwrap_or(2_000),
        failure_persistence: None,
        // A long program shrinks slowly.
        max_shrink_iters: 1_000,
        ..Config::default()
    };
    let mut runner = match asked() {
        Some(_) => TestRunner::new(config),
        None => TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha)),
    };
    let tally = RefCell::new(BTreeMap::<String, usize>::new());
    let called = RefCell::new(BTreeSet::<&'static str>::new());
    let count = |what: String| *tally.borrow_mut().entry(what).or_default() += 1;
    // Panics of mlx-rs while a program is put together are no news.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let law = |seed: u64, draws: &[Draw]| {
        let program = Program::new(&backend.names, seed, draws);
        if program.is_empty() {
            return (program, None);
        }
        let text = program.text(seed, "", "{state: passed}");
        std::fs::write(running(), &text).expect("the target folder can be written");
        let outcome = run(&backend, &id(&text), &text);
        (program, Some(outcome))
    };
    let outcome = runner.run(&(0..64_u64, draws(40)), |(seed, draws)| {
        let (program, outcome) = law(seed, &draws);
        let Some(outcome) = outcome else {
            count("programs without a step".to_string());
            return Ok(());
        };
        called.borrow_mut().extend(&program.functions);
        let tens = program.functions.len() / 10 * 10;
        count(format!("programs of {tens:2} to {:2} steps", tens + 9));
        if let Some(state) = outcome.evidence.state {
            count(format!("state {state}"));
        }
        if let Some(mutant) = &outcome.evidence.mutant {
            count(format!("mutant {} {:?}", mutant.name, mutant.fate));
        }
        match broken(&outcome) {
            Some(law) => Err(TestCaseError::fail(law)),
            None => Ok(()),
        }
    });
    for (what, count) in tally.borrow().iter() {
        println!("{count:6} {what}");
    }
    println!("{:6} functions called", called.borrow().len());
    let found = match outcome {
        Ok(()) => None,
        Err(TestError::Fail(why, (seed, mut draws))) => {
            // Steps that have nothing to do with it were made simple; now they go.
            for place in (0..draws.len()).rev() {
                let mut fewer = draws.clone();
                fewer.remove(place);
                if law(seed, &fewer).1.as_ref().and_then(broken).is_some() {
                    draws = fewer;
                }
            }
            let file = kept(&law(seed, &draws).0, seed, why.message());
            Some(format!("{why}\nthe program, shrunk, is now {}", file.display()))
        }
        Err(TestError::Abort(why)) => Some(why.to_string()),
    };
    std::panic::set_hook(hook);
    if let Some(found) = found {
        panic!("{found}");
    }
}

/// Writes a counterexample as a case; the test's name for the faults that it had is in its note.
fn kept(program: &Program, seed: u64, law: &str) -> PathBuf {
    let note = format!("note: {law:?}\n");
    let text = program.text(seed, &note, "{state: passed}");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/regressions");
    let name = id(&program.text(seed, "", "{state: passed}")).replace("regressions::", "law_");
    let file = folder.join(format!("{name}.yaml"));
    std::fs::create_dir_all(&folder).expect("the folder of regressions can be made");
    std::fs::write(&file, text).expect("the counterexample can be written");
    file
}
