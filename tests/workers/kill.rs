//! A run that is killed at any moment leaves a scorecard that is whole, and no process.

use crate::roots::{assay, command, copy, marked, root_with, whole_root};
use mlx_assay::scorecard::changes::Version;
use mlx_assay::scorecard::store::{Store, CARD, CELLS};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// How many times a run is killed.
const KILLS: u32 = 50;

/// Moments from SplitMix64, so that a failure comes again.
struct Moments(u64);

impl Moments {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((mixed ^ (mixed >> 27)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

fn bytes(root: &Path) -> [Vec<u8>; 2] {
    [CARD, CELLS].map(|file| std::fs::read(root.join(file)).expect("a scorecard"))
}

fn put(root: &Path, [card, cells]: &[Vec<u8>; 2]) {
    std::fs::write(root.join(CARD), card).expect("written");
    std::fs::write(root.join(CELLS), cells).expect("written");
}

/// Starts `assay` with a mark in its environment, which its workers then have too.
fn start_marked(root: &Path, arguments: &[&str], mark: &str, output: fn() -> Stdio) -> Child {
    let (name, value) = mark.split_once('=').expect("a mark");
    let mut run = command(root, arguments);
    run.env(name, value).stdout(output()).stderr(output());
    run.spawn().expect("the binary starts")
}

/// The files below a folder.
fn files(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        match entry.path() {
            path if path.is_dir() => files(&path, found),
            path => found.push(path.display().to_string()),
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_killed_run_leaves_the_old_scorecard_or_the_new_one_and_no_worker() {
    let root = whole_root();
    let path = root.path();
    assay(path, &["run"]);
    let old = bytes(path);
    // One more case, so that the next run has something to write.
    copy(
        &crate::roots::repository().join("cases/layers/linear.yaml"),
        &path.join("cases/layers/linear.yaml"),
    );
    let start = Instant::now();
    assay(path, &["run"]);
    let whole = start.elapsed();
    let new = bytes(path);
    assert_ne!(old, new, "the runs write the scorecard");
    let store = Store::new(path);
    let version = |it: &[Vec<u8>; 2]| -> Version {
        put(path, it);
        store.committed().expect("readable")
    };
    let (old_version, new_version) = (version(&old), version(&new));

    let mut moments = Moments(1);
    let (mut kept, mut replaced) = (0, 0);
    for kill in 0..KILLS {
        put(path, &old);
        let mark = format!("ASSAY_KILLED={}-{kill}", std::process::id());
        let mut run = start_marked(path, &["run"], &mark, Stdio::null);
        // Half of them in the last tenth, where the files are written.
        let share = match kill % 2 {
            0 => moments.next() * 1.05,
            _ => 0.9 + moments.next() * 0.15,
        };
        std::thread::sleep(whole.mul_f64(share));
        run.kill().expect("killed");
        run.wait().expect("waited for");
        let found = bytes(path);
        for (place, file) in [CARD, CELLS].iter().enumerate() {
            assert!(
                found[place] == old[place] || found[place] == new[place],
                "{file} is broken after kill {kill}"
            );
        }
        let version = store.committed().expect("readable after a kill");
        match version {
            version if version == old_version => kept += 1,
            version if version == new_version => replaced += 1,
            _ => panic!("the two files are of different runs after kill {kill}"),
        }
        let asked = Instant::now();
        while !marked(&mark).is_empty() {
            assert!(
                asked.elapsed() < Duration::from_secs(5),
                "a worker outlives kill {kill}"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    println!("{kept} kills left the old scorecard, {replaced} the new one");
    assert!(kept > 0);
    // The outcomes of the latest kill are still there; those of the others went with the next run.
    let folder = std::fs::read_dir(path.join("target/assay")).expect("a folder");
    let running = folder
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("running."));
    assert!(running.count() <= 1);
    // Nor does anything else stay that did not come to its place.
    assay(path, &["run"]);
    let mut left = Vec::new();
    files(path, &mut left);
    left.retain(|name| name.ends_with(".part") || name.contains("running."));
    assert!(left.is_empty(), "{left:?}");
}

/// A root with a cell that goes on for longer than any test.
fn root_with_a_loop() -> tempfile::TempDir {
    let root = root_with(&["tutorial", "faults/loop.yaml", "evaluation"]);
    let file = root.path().join("cases/faults/loop.yaml");
    let text = std::fs::read_to_string(&file)
        .expect("a case")
        .replace("seconds: 1", "seconds: 100");
    std::fs::write(&file, text).expect("written");
    root
}

#[test]
#[cfg(target_os = "linux")]
fn a_worker_in_a_loop_does_not_outlive_a_killed_run() {
    let root = root_with_a_loop();
    let mark = format!("ASSAY_LOOPED={}", std::process::id());
    let mut run = start_marked(root.path(), &["run", "loop"], &mark, Stdio::null);
    let start = Instant::now();
    // The run itself, and the worker.
    while marked(&mark).len() < 2 {
        assert!(start.elapsed() < Duration::from_secs(20), "no worker starts");
        std::thread::sleep(Duration::from_millis(10));
    }
    // Now it is in its loop.
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(marked(&mark).len(), 2);
    run.kill().expect("killed");
    run.wait().expect("waited for");
    let start = Instant::now();
    while !marked(&mark).is_empty() {
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", marked(&mark));
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_interrupt_ends_the_workers_and_keeps_what_is_known() {
    let root = root_with_a_loop();
    let mark = format!("ASSAY_INTERRUPTED={}", std::process::id());
    let run = start_marked(root.path(), &["run"], &mark, Stdio::piped);
    std::thread::sleep(Duration::from_millis(1500));
    let id = run.id().to_string();
    let sent = std::process::Command::new("kill")
        .args(["-INT", &id])
        .status()
        .expect("sent");
    assert!(sent.success());
    let output = run.wait_with_output().expect("waited for");
    let text = crate::roots::said(&output);
    assert_eq!(output.status.code(), Some(130), "{text}");
    let known = crate::roots::outcomes(root.path());
    assert!(
        !known.is_empty() && known.iter().all(|it| it.cell != "faults::loop"),
        "{text}"
    );
    assert!(text.contains("scorecard not updated"), "{text}");
    assert!(marked(&mark).is_empty());
}

#[test]
fn two_runs_at_once_do_not_disturb_each_other() {
    let root = whole_root();
    let spawn = || {
        let mut run = command(root.path(), &["run"]);
        run.stdout(Stdio::piped()).stderr(Stdio::piped());
        run.spawn().expect("the binary starts")
    };
    let runs = [spawn(), spawn(), spawn()];
    for run in runs {
        let output = run.wait_with_output().expect("waited for");
        assert_eq!(output.status.code(), Some(0), "{}", crate::roots::said(&output));
    }
    let store = Store::new(root.path());
    assert_ne!(store.committed().expect("readable"), Version::default());
    let left = std::fs::read_dir(root.path().join("target/assay")).expect("a folder");
    let left: Vec<String> = left
        .flatten()
        .map(|it| it.file_name().to_string_lossy().into_owned())
        .collect();
    assert!(
        left.iter()
            .all(|name| !name.contains("part") && !name.contains("running")),
        "{left:?}"
    );
}
