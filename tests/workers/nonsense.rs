//! Either end of a worker's socket gone wrong: what answers nonsense, or nothing, costs the cell that asked; what asks
//! nonsense gets an answer, or the worker's end.
//!
//! `ASSAY_FUZZ=1000000` tries a thousandth of so many streams at each end, each with processes of its own.

use crate::roots::{self, repository, root_with};
use fastrand::Rng;
use mlx_assay::case::cell::Cell;
use mlx_assay::case::check;
use mlx_assay::harness::flight::{self, Pace};
use mlx_assay::harness::pool::Workers;
use mlx_assay::harness::protocol::{frame, take, Answer, Request};
use mlx_assay::harness::seam::Runner;
use mlx_assay::scorecard::outcome::{Ending, Outcome};
use mlx_assay::under_test::backend;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The first cell of a root.
fn cell(root: &Path) -> Cell {
    let suite = check::suite(root, &backend().names).expect("cases");
    let mut cell = suite.cells[0].clone();
    cell.limits.seconds = Some(1);
    cell
}

/// How the first cell of a case ends where `script` stands in for the worker; its input is the socket.
fn ending(script: &str) -> Ending {
    let root = root_with(&["tutorial/sequential.yaml"]);
    run_with(root.path(), script, &cell(root.path())).evidence.ending
}

fn run_with(root: &Path, script: &str, cell: &Cell) -> Outcome {
    let program = roots::script(root, script);
    Workers::new(program, Arc::clone(&backend().runner)).run(cell)
}

fn streams(by_default: u64) -> u64 {
    let asked = std::env::var("ASSAY_FUZZ").ok();
    asked.map_or(by_default, |text| {
        text.parse::<u64>().expect("ASSAY_FUZZ is a number") / 1000
    })
}

/// Frames, some of them bent.
fn bent(whole: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    let count = rng.usize(1..4);
    let mut bytes: Vec<u8> = (0..count)
        .flat_map(|_| whole[rng.usize(..whole.len())].clone())
        .collect();
    for _ in 0..rng.usize(..4) {
        // As often in a head, where a length stands, as anywhere.
        let at = match rng.bool() {
            true => rng.usize(..bytes.len().min(4)),
            false => rng.usize(..bytes.len()),
        };
        match rng.usize(..4) {
            0 => bytes[at] = rng.u8(..),
            1 => bytes.insert(at, rng.u8(..)),
            2 => drop(bytes.remove(at)),
            _ => bytes.truncate(at),
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}

#[test]
fn whatever_it_answers_is_an_outcome_soon() {
    let root = root_with(&["tutorial/sequential.yaml"]);
    let cell = cell(root.path());
    let mut outcome = backend().runner.run(&cell);
    let mut answer = |name: &str, fit| {
        outcome.cell = name.to_owned();
        frame(&Answer::Ran {
            outcome: Box::new(outcome.clone()),
            printed: 0,
            fit,
        })
        .expect("framed")
    };
    let whole = [
        answer(&cell.id, true),
        answer(&cell.id, false),
        answer("another", true),
        frame(&Answer::Failed {
            message: "none".into(),
        })
        .expect("framed"),
    ];
    let mut rng = Rng::with_seed(9);
    let bytes = root.path().join("bytes");
    let (mut traced, mut crashed, count) = (0, 0, streams(60));
    for _ in 0..count {
        std::fs::write(&bytes, bent(&whole, &mut rng)).expect("written");
        let start = Instant::now();
        let outcome = run_with(root.path(), "cat \"${0%/*}/bytes\" >&0", &cell);
        assert!(start.elapsed() < Duration::from_secs(5));
        assert_eq!(outcome.cell, cell.id);
        match outcome.evidence.ending {
            Ending::Traced => traced += 1,
            Ending::Crashed { .. } => crashed += 1,
            Ending::Invalid { .. } => {}
            other => panic!("{other}"),
        }
    }
    println!("{count} streams, {traced} came to a trace, {crashed} to a crash");
    assert!(traced > 0 && crashed > 0);
}

#[test]
#[cfg(target_os = "linux")]
fn whatever_it_is_asked_a_worker_answers_or_ends_soon() {
    let root = root_with(&["tutorial/sequential.yaml"]);
    let cell = cell(root.path());
    let request = |cell: &str, text: Option<&str>| {
        frame(&Request {
            cell: cell.to_owned(),
            file: "cases/tutorial/sequential.yaml".to_owned(),
            text: text.map(str::to_owned),
            pace: Pace::Lazy,
        })
        .expect("framed")
    };
    let text = &*cell.case.text;
    let whole = [
        request(&cell.id, Some(text)),
        request(&cell.id, Some(&text.replace("shape", "shade"))),
        request(&cell.id, Some("")),
        request("another", Some(text)),
        request(&cell.id, None),
    ];
    let mut rng = Rng::with_seed(10);
    let (mut ran, mut failed, mut ended, count) = (0, 0, 0, streams(60));
    for stream in 0..count {
        let (mut socket, theirs) = UnixStream::pair().expect("a socket");
        socket
            .set_read_timeout(Some(Duration::from_secs(20)))
            .expect("bounded");
        let flight = flight::file().expect("a file");
        let mut worker = Command::new(env!("CARGO_BIN_EXE_assay"))
            .arg("worker")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::from(flight))
            .stderr(Stdio::null())
            // It ends with its whole group.
            .process_group(0)
            .spawn()
            .expect("the binary starts");
        socket.write_all(&bent(&whole, &mut rng)).expect("sent");
        // One that is right at the end: it is answered, or swallowed by a length that was bent.
        let _ = socket.write_all(&whole[0]);
        let memory = || {
            let status = std::fs::read_to_string(format!("/proc/{}/status", worker.id())).unwrap_or_default();
            let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            peak.and_then(|it| it.trim().trim_end_matches(" kB").parse::<u64>().ok())
                .unwrap_or(0)
        };
        let (mut buffer, mut chunk) = (Vec::new(), [0; 1 << 16]);
        let start = Instant::now();
        loop {
            while let Some(answer) = take::<Answer>(&mut buffer).expect("an answer") {
                match answer {
                    Answer::Ran { .. } => ran += 1,
                    Answer::Failed { .. } => failed += 1,
                }
            }
            assert!(memory() < 1 << 20, "stream {stream} takes {} kB", memory());
            // What waits for the rest of a frame is asked nothing more: its end is told by closing the socket.
            if start.elapsed() > Duration::from_millis(200) {
                break;
            }
            socket
                .set_read_timeout(Some(Duration::from_millis(100)))
                .expect("bounded");
            match socket.read(&mut chunk) {
                Ok(0) => {
                    ended += 1;
                    break;
                }
                Ok(read) => buffer.extend_from_slice(&chunk[..read]),
                Err(_) => {}
            }
        }
        drop(socket);
        let start = Instant::now();
        while worker.try_wait().expect("watched").is_none() {
            assert!(
                start.elapsed() < Duration::from_secs(10),
                "stream {stream}: the worker goes on"
            );
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    println!("{count} streams, {ran} cells ran, {failed} were refused, {ended} workers ended by themselves");
    assert!(ran > 0 && failed > 0 && ended > 0);
}

#[test]
fn whatever_it_answers_is_the_end_of_it_and_of_one_cell() {
    let nonsense = "a crash: nonsense on the worker's own socket; not where it was";
    for (script, wanted) in [
        // A length beyond all frames.
        ("printf '\\377\\377\\377\\377' >&0; sleep 30", "nonsense"),
        // A frame that is no JSON, and one that is no answer.
        ("printf '\\004\\000\\000\\000oops' >&0; sleep 30", "nonsense"),
        ("printf '\\002\\000\\000\\000{}' >&0; sleep 30", "nonsense"),
        ("exit 7", "exit status 7"),
        ("kill -SEGV $$", "SIGSEGV"),
        // Half a frame and then silence; silence; nothing but its own socket closed.
        ("printf '\\004\\000' >&0; sleep 30", "no end after 1 s"),
        ("sleep 30", "no end after 1 s"),
        ("exec 0<&-; sleep 30", "SIGKILL"),
    ] {
        let ending = ending(script).to_string();
        assert!(
            ending.contains(wanted),
            "{script}: {ending}, not {wanted} ({nonsense})"
        );
    }
}

#[test]
fn a_worker_that_cannot_be_started_is_the_suites_own_fault() {
    let backend = backend();
    let suite = check::suite(repository(), &backend.names).expect("cases");
    let workers = Workers::new("/nowhere/assay", Arc::clone(&backend.runner));
    let ending = workers.run(&suite.cells[0]).evidence.ending;
    assert!(
        matches!(&ending, Ending::Invalid { message } if message.contains("/nowhere/assay")),
        "{ending}"
    );
}
