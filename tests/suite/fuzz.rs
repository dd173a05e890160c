//! Whatever a case's file or a worker's socket holds: an answer or an error, soon, and without filling the memory.
//!
//! `ASSAY_FUZZ=1000000 cargo test --test suite fuzz` tries so many inputs; without it a few thousand.

use mlx_assay::case::check;
use mlx_assay::case::load::Source;
use mlx_assay::harness::flight::Pace;
use mlx_assay::harness::protocol::{frame, take, Answer, Request};
use mlx_assay::under_test::backend;
use std::path::Path;
use std::time::{Duration, Instant};

/// No input may take longer, on a machine that does something else beside.
const SOON: Duration = Duration::from_secs(5);

/// The process may not grow beyond this, in bytes.
const MEMORY: u64 = 1 << 30;

fn inputs(by_default: u64) -> u64 {
    let asked = std::env::var("ASSAY_FUZZ").ok();
    asked.map_or(by_default, |text| text.parse().expect("ASSAY_FUZZ is a number"))
}

/// SplitMix64: the same inputs each time, so that what fails fails again.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound.max(1) as u64) as usize
    }

    fn of<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }

    /// A place in a text, between two characters.
    fn place(&mut self, text: &str) -> usize {
        let mut place = self.below(text.len() + 1);
        while !text.is_char_boundary(place) {
            place -= 1;
        }
        place
    }
}

/// Words that mean something to the grammar, and what YAML does with them.
const WORDS: [&str; 40] = [
    "$",
    "$dtype",
    "&a ",
    "*a",
    "- ",
    ": ",
    "\n",
    "\t",
    "{",
    "}",
    "[",
    "]",
    "'",
    "\"",
    "|",
    ">",
    "---\n",
    "...",
    "null",
    "~",
    "-1",
    "1e999",
    ".nan",
    "9223372036854775808",
    "matrix: ",
    "where: ",
    "expect: ",
    "forward: ",
    "op: ",
    "shape: ",
    "[4096, 4096, 4096]",
    "limits: {seconds: 0}",
    "requires: {mlx: '>= x'}",
    "crash: ",
    "fill: special",
    "!!binary ",
    "<<: *a\n",
    "? ",
    "# ",
    "\u{feff}",
];

fn files(folder: &Path, texts: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, texts);
        } else if path.extension().is_some_and(|it| it == "yaml") {
            texts.push(std::fs::read_to_string(path).expect("a case"));
        }
    }
}

fn mutated(texts: &[String], numbers: &mut Numbers) -> String {
    let mut text = texts[numbers.below(texts.len())].clone();
    for _ in 0..=numbers.below(4) {
        let (a, b) = (numbers.place(&text), numbers.place(&text));
        let (from, to) = (a.min(b), a.max(b).min(a.min(b) + 40));
        let to = (to..=text.len())
            .find(|place| text.is_char_boundary(*place))
            .unwrap_or(from);
        match numbers.below(5) {
            0 => text.replace_range(from..to, ""),
            1 => text.insert_str(from, numbers.of(&WORDS)),
            2 => text.replace_range(from..to, numbers.of(&WORDS)),
            3 => {
                let again = text[from..to].to_owned();
                text.insert_str(a, &again);
            }
            _ => {
                let other = &texts[numbers.below(texts.len())];
                let (c, d) = (numbers.place(other), numbers.place(other));
                text.insert_str(from, &other[c.min(d)..c.max(d)]);
            }
        }
    }
    text
}

fn assert_small() {
    let Ok(text) = std::fs::read_to_string("/proc/self/status") else {
        return;
    };
    let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|it| it.trim().trim_end_matches(" kB").parse::<u64>().ok());
    assert!(
        kilobytes.unwrap_or(0) << 10 < MEMORY,
        "the process grew to {kilobytes:?} kB"
    );
}

#[test]
fn any_text_is_a_case_or_problems() {
    let backend = backend();
    let mut texts = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("cases"), &mut texts);
    texts.sort();
    let mut numbers = Numbers(7);
    let (mut cases, mut slowest) = (0_u64, Duration::ZERO);
    let count = inputs(3_000);
    for input in 0..count {
        let text = mutated(&texts, &mut numbers);
        let source = Source {
            id: "fuzz".into(),
            file: "cases/fuzz.yaml".into(),
            text: text.as_str().into(),
        };
        let start = Instant::now();
        match check::case(&source, &backend.names) {
            Ok(cells) => cases += u64::from(!cells.is_empty()),
            Err(problems) => {
                assert!(
                    !problems.is_empty(),
                    "input {input} is refused without a reason:\n{text}"
                );
                problems
                    .iter()
                    .for_each(|problem| assert!(!problem.render().is_empty()));
            }
        }
        slowest = slowest.max(start.elapsed());
        assert!(slowest < SOON, "input {input} took {slowest:?}:\n{text}");
    }
    println!("{count} texts, {cases} of them cases, the slowest took {slowest:?}");
    assert!(cases > 0, "the fuzzer reaches past the parser");
    assert_small();
}

#[test]
fn any_bytes_are_frames_or_an_error() {
    let mut numbers = Numbers(8);
    let request = |text: &str| Request {
        cell: "a::b".into(),
        file: "cases/a.yaml".into(),
        text: Some(text.to_owned()),
        pace: Pace::Lazy,
    };
    let whole: Vec<Vec<u8>> = ["", "op: sum\n", "\u{1f980}"]
        .map(|text| frame(&request(text)).expect("framed"))
        .into();
    let failed = frame(&Answer::Failed { message: "x".into() }).expect("framed");
    let (mut good, count) = (0_u64, inputs(100_000));
    for _ in 0..count {
        let mut bytes: Vec<u8> = Vec::new();
        for _ in 0..=numbers.below(2) {
            bytes.extend_from_slice(if numbers.below(2) == 0 {
                &failed
            } else {
                &whole[numbers.below(3)]
            });
        }
        for _ in 0..numbers.below(4) {
            let at = numbers.below(bytes.len());
            match numbers.below(3) {
                0 => bytes[at] = numbers.below(256) as u8,
                1 => bytes.truncate(at),
                _ => bytes.insert(at, numbers.below(256) as u8),
            }
            if bytes.is_empty() {
                break;
            }
        }
        let mut buffer = bytes.clone();
        while let Ok(Some(_)) = take::<Request>(&mut buffer) {
            good += 1;
        }
        let mut buffer = bytes;
        while let Ok(Some(_)) = take::<Answer>(&mut buffer) {
            good += 1;
        }
    }
    println!("{count} streams, {good} good frames");
    assert!(good > 0);
    assert_small();
}
