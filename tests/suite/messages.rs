//! What a contributor reads when a case is wrong: each message is a snapshot.

use crate::names::{read, NAMES};
use mlx_assay::case::check;
use mlx_assay::case::error::Problem;
use proptest::prelude::*;

/// Mistakes, each with a name.
const MISTAKES: &[(&str, &str)] = &[
    ("indentation", "inputs:\n  x: {shape: [3]}\n model: gelu\nexpect: {state: passed}\n"),
    ("unknown key", "inputs: {x: {shape: [3]}}\nmodel: gelu\nexpcet: {state: passed}\n"),
    ("unknown key inside", "inputs: {x: {shape: [3], dtpye: int8}}\nmodel: gelu\nexpect: {}\n"),
    ("wrong type", "inputs: {x: {shape: [3]}}\nmodel: gelu\nexpect:\n  ops: linear\n"),
    ("text for a number", "inputs: {x: {shape: [3]}}\nseed: \"7\"\nmodel: gelu\nexpect: {}\n"),
    ("negative extent", "inputs:\n  x: {shape: [3, -1]}\nmodel: gelu\nexpect: {}\n"),
    ("too many elements", "inputs:\n  x: {shape: [1000000, 1000000]}\nmodel: gelu\nexpect: {}\n"),
    ("duplicate key", "seed: 1\ninputs: {x: {shape: [3]}}\nmodel: gelu\nseed: 2\nexpect: {}\n"),
    ("unknown layer", "inputs: {x: {shape: [3]}}\nmodel:\n  sequential:\n    - linaer: {input: 3, output: 2}\nexpect: {}\n"),
    ("unknown function", "op: smu\nshape: [3]\nexpect: {}\n"),
    ("unknown callee", "inputs: {x: {shape: [3]}}\nforward: [{y: {pwoer: [x, 2.0]}}]\nexpect: {}\n"),
    ("unknown parameter", "inputs: {x: {shape: [3]}}\nmodel: {linear: {input: 3, ouput: 2}}\nexpect: {}\n"),
    ("wrong argument", "inputs: {x: {shape: [3]}}\nmodel: {linear: {input: 3, output: two}}\nexpect: {}\n"),
    ("arguments beside a layer", "inputs: {x: {shape: [3]}}\nmodel:\n  sequential:\n    - linear:\n      input: 3\nexpect: {}\n"),
    ("unknown value", "inputs: {x: {shape: [3]}}\nforward:\n  - y: {sum: z}\nexpect: {}\n"),
    ("too many arguments", "inputs: {x: {shape: [3]}}\nforward:\n  - y: {power: [x, x, x]}\nexpect: {}\n"),
    ("wrong inputs", "inputs: {x: {shape: [3]}}\nmodel: {transformer: {dims: 8}}\nexpect: {}\n"),
    ("two programs", "op: sum\nshape: [3]\nmodel: gelu\nexpect: {}\n"),
    ("nothing computed", "inputs: {x: {shape: [3]}}\nexpect: {}\n"),
    ("nothing expected", "inputs: {x: {shape: [3]}}\nmodel: gelu\n"),
    ("ragged", "inputs:\n  x: {value: [[1.0, 2.0], [3.0]]}\nmodel: gelu\nexpect: {}\n"),
    ("element of another type", "inputs:\n  x: {dtype: uint8, value: [1, 300]}\nmodel: gelu\nexpect: {}\n"),
    ("unknown fill", "inputs:\n  x: {shape: [3], fill: gaussian}\nmodel: gelu\nexpect: {}\n"),
    ("fill of another type", "inputs:\n  x: {dtype: uint8, shape: [3], fill: {integers: [0, 300]}}\nmodel: gelu\nexpect: {}\n"),
    ("unused axis", "matrix: {dtpye: [int8]}\nop: sum\nshape: [3]\nexpect: {}\n"),
    ("unknown axis", "inputs: {x: {shape: $shpae}}\nmatrix: {shape: [[3]]}\nmodel: gelu\nexpect: {}\n"),
    ("exclude of nothing", "op: sum\nmatrix:\n  dtype: [int8, bool]\n  shape: [[3]]\nexclude:\n  - {dtype: int16}\nexpect: {}\n"),
    ("where of nothing", "op: sum\nmatrix:\n  dtype: [int8, bool]\n  shape: [[3], [4]]\nexclude: [{dtype: bool, shape: [4]}]\nexpect:\n  - {}\n  - {where: {dtype: bool, shape: [4]}, state: failed}\n"),
    ("tolerance without because", "inputs: {x: {value: 1.0}}\nmodel: gelu\nexpect:\n  outputs:\n    - {values: 0.84, tolerance: {absolute: 0.01}}\n"),
    ("a tab", "inputs:\n\tx: {shape: [3]}\nmodel: gelu\nexpect: {}\n"),
    ("a bracket left open", "inputs: {x: {shape: [3}}\nmodel: gelu\nexpect: {}\n"),
    ("a date that cannot be", "inputs: {x: {value: 1.0}}\nmodel: gelu\nexpect: {outputs: [{values: 1.0}]}\nexpected_fail:\n  - {check: value, because: a, issue: b, opened: 2026-02-30, expires: 2027-01-01}\n"),
    ("expired before it was opened", "inputs: {x: {value: 1.0}}\nmodel: gelu\nexpect: {outputs: [{values: 1.0}]}\nexpected_fail:\n  - {check: value, because: a, issue: b, opened: 2027-02-01, expires: 2027-01-01}\n"),
    ("hiding what does not exist", "inputs: {x: {shape: [3]}}\nsession: {hide: [mlx_linalg_nrom]}\nmodel: gelu\nexpect: {}\n"),
    ("intervening in no op", "inputs: {x: {shape: [3]}}\nsession: {intervene: {gelu: 0.0}}\nmodel: gelu\nexpect: {}\n"),
    ("intervening by a word", "inputs: {x: {shape: [3]}}\nsession: {intervene: {gelu_1: zero}}\nmodel: gelu\nexpect: {}\n"),
    ("halting nowhere", "inputs: {x: {shape: [3]}}\nsession: {halt: gelu}\nmodel: gelu\nexpect: {}\n"),
    ("a decision on no op", "inputs: {x: {shape: [3]}}\nmodel: gelu\nexpect: {decisions: {gelu: verified}}\n"),
    ("a refusal and a state", "inputs: {x: {shape: [3]}}\nmodel: gelu\nexpect: {refusal: unwrapped_op_in_capture, state: passed}\n"),
    ("unknown state", "inputs: {x: {shape: [3]}}\nmodel: gelu\nexpect: {state: green}\n"),
    ("unknown capability", "covers: [forward.module]\ninputs: {x: {shape: [3]}}\nmodel: gelu\nexpect: {}\n"),
    ("unknown reason", "inputs: {x: {shape: [3]}}\nmodel: gelu\nexpect: {decisions: {gelu_1: {unproven: insensitive}}}\n"),
    ("reason of another decision", "inputs: {x: {shape: [3]}}\nmodel: gelu\nexpect: {decisions: {gelu_1: {failed: operand_not_read}}}\n"),
    ("unknown need", "inputs: {x: {shape: [3]}}\nrequires: [gpu]\nmodel: gelu\nexpect: {state: passed}\n"),
    ("two places", "inputs: {x: {shape: [3]}}\nrequires: [cpu, metal]\nmodel: gelu\nexpect: {state: passed}\n"),
    ("unknown need by name", "inputs: {x: {shape: [3]}}\nrequires: {gpu: yes}\nmodel: gelu\nexpect: {state: passed}\n"),
    ("no such data of the host", "inputs: {x: {value: [1], as: tuple}}\nmodel: gelu\nexpect: {state: passed}\n"),
    ("an inside without a trace", "inputs: {x: {shape: [3]}}\nmodel: gelu\nexpect: {error: no, inside: {grad_1: [input]}}\n"),
    ("refusal and state", "inputs: {x: {shape: [3]}}\nmodel: gelu\nexpect: {refusal: nested_capture, state: failed}\n"),
    ("expired before opened", "inputs: {x: {value: 1.0}}\nmodel: gelu\nexpect: {outputs: [{values: 1.0}]}\nexpected_fail:\n  - {check: value, because: a, issue: b, opened: 2026-11-29, expires: 2026-01-01}\n"),
    ("no such day", "inputs: {x: {value: 1.0}}\nmodel: gelu\nexpect: {outputs: [{values: 1.0}]}\nexpected_fail:\n  - {check: value, because: a, issue: b, opened: 2026-02-30, expires: 2027-01-01}\n"),
    ("fails that are no text", "inputs: {x: {value: 1.0}}\nmodel: gelu\nexpect: {outputs: [{values: 1.0}]}\nexpected_fail:\n  - {check: value, fails: {values: expect}, because: a, issue: b, opened: 2026-11-29, expires: 2027-06-01}\n"),
    ("missing because", "inputs: {x: {value: 1.0}}\nmodel: gelu\nexpect: {outputs: [{values: 1.0}]}\nexpected_fail:\n  - {check: value, issue: b, opened: 2026-11-29, expires: 2027-01-01}\n"),
    ("empty", "# nothing yet\n"),
    ("two documents", "model: gelu\n---\nmodel: gelu\n"),
];

#[test]
fn every_mistake_says_where_and_what_to_do() {
    let mut all = String::new();
    for (name, text) in MISTAKES {
        let problems = read(text).expect_err(name);
        all.push_str(&format!(
            "━━ {name}\n{}\n",
            problems.iter().map(Problem::render).collect::<String>()
        ));
        for problem in &problems {
            assert!(
                problem.fault.help().is_some(),
                "{name}: `{problem}` says no way out"
            );
            assert!(
                problem.mark.position.line > 0,
                "{name}: `{problem}` stands nowhere"
            );
        }
    }
    insta::assert_snapshot!(all);
}

#[test]
fn all_problems_of_a_file_come_at_once() {
    let text = "covers: [nothing]\ninputs: {x: {shape: [-1]}, y: {value: [[1], 2]}}\nmodel: gelu\n";
    let problems = read(text).expect_err("five mistakes");
    let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "no capability is called `nothing`",
            "the case expects nothing",
            "an extent of -1 cannot be",
            "the lists of `value:` have different lengths",
            "`gelu` takes the inputs `x` alone, by any name, but the case gives `x`, `y`",
        ]
    );
}

#[test]
fn unknown_keys_do_not_hide_what_else_is_wrong() {
    let text = "extra: 1\ninputs: {x: {shape: [-1], dtpye: int8}}\nmodel: gleu\nexpect: {sate: passed}\n";
    let problems = read(text).expect_err("five mistakes");
    let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "unknown key `extra`",
            "unknown key `sate`",
            "unknown key `dtpye`",
            "an extent of -1 cannot be",
            "no layer is called `gleu`",
        ]
    );
}

#[test]
fn aliases_that_unfold_without_bound_are_refused_at_once() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let alias = format!("*a{}", level - 1);
        text.push_str(&format!("a{level}: &a{level} [{}]\n", vec![alias; 10].join(", ")));
    }
    let problems = read(&text).expect_err("a bomb");
    assert_eq!(
        problems[0].to_string(),
        "the file unfolds to more than 200000 nodes"
    );
}

#[test]
fn no_depth_of_nesting_overflows() {
    let brackets = "[".repeat(200_000);
    let indented: String = (0..400)
        .map(|depth| format!("{}a:\n", " ".repeat(depth)))
        .collect();
    for text in [format!("model: {brackets}"), indented] {
        let problems = read(&text).expect_err("too deep");
        assert_eq!(problems[0].to_string(), "the file nests deeper than 64 levels");
    }
}

#[test]
fn files_that_are_no_cases_are_problems_and_not_silence() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let folder = root.path().join("cases");
    std::fs::create_dir(&folder).expect("a folder for the test");
    std::fs::write(folder.join("latin.yaml"), b"# na\xefve\nmodel: gelu\n").expect("written");
    std::fs::write(folder.join("short.yml"), "model: gelu\n").expect("written");
    std::fs::write(folder.join("two words.yaml"), "model: gelu\n").expect("written");
    std::fs::write(folder.join("large.yaml"), "#".repeat(300_000)).expect("written");
    let suite = check::suite(root.path(), &NAMES).expect("the folder is there");
    assert_eq!((suite.cells.len(), suite.files), (0, 4));
    insta::assert_snapshot!(suite.problems.iter().map(Problem::render).collect::<String>());
}

#[test]
fn ids_that_collide_are_a_problem() {
    let root = tempfile::tempdir().expect("a folder for the test");
    std::fs::create_dir_all(root.path().join("cases/a")).expect("a folder for the test");
    let text = "op: sum\nmatrix: {dtype: [int8]}\nshape: [3]\nexpect: {}\n";
    std::fs::write(root.path().join("cases/a.yaml"), text).expect("written");
    std::fs::write(
        root.path().join("cases/a/int8.yaml"),
        "op: sum\nshape: [3]\nexpect: {}\n",
    )
    .expect("written");
    let suite = check::suite(root.path(), &NAMES).expect("the folder is there");
    let said: Vec<String> = suite.problems.iter().map(ToString::to_string).collect();
    assert_eq!(said, ["the id `a::int8` is taken by cases/a.yaml"]);
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn no_slip_of_the_keyboard_makes_the_reader_panic(
        mistake in 0..MISTAKES.len(), at in 0usize..200, typed in "[\\[\\]{}:,*&#$\"'\n -]{1,3}|[a-z0-9.]{1,3}",
    ) {
        let mut text = MISTAKES[mistake].1.to_owned();
        let at = at.min(text.len());
        text.insert_str(at, &typed);
        if let Err(problems) = read(&text) {
            prop_assert!(!problems.is_empty());
            for problem in &problems {
                prop_assert!(!problem.render().is_empty());
            }
        }
    }

    #[test]
    fn the_same_text_always_gives_the_same_cells(seed: u64) {
        let text = format!("seed: {seed}\n{}", crate::grammar::SUM);
        let spelled = |text: &str| format!("{:?}", crate::names::cells(text).iter().map(|it| (&it.id, &it.inputs)).collect::<Vec<_>>());
        prop_assert_eq!(spelled(&text), spelled(&text));
    }
}
