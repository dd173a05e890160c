//! What isolation costs, as ratios within one run: `cargo bench --bench workers`.
//!
//! The same cells in this process, in one worker, and in as many as there are cores; a round of each in turn, so that
//! whatever else the machine does hits all three alike. Cells that may only run in a worker are left out of these, and
//! measured with all others at the end. It fails where the whole suite costs more than it may.

use mlx_assay::case::cell::Cell;
use mlx_assay::case::check;
use mlx_assay::harness::plan::Chunks;
use mlx_assay::harness::pool::Workers;
use mlx_assay::harness::seam::Runner;
use mlx_assay::under_test::backend;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo test --benches` builds and starts benches; there is nothing to measure then.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    // What a case makes panic is told in its outcome; a worker prints nothing of it either.
    std::panic::set_hook(Box::new(|_| {}));
    let backend = backend();
    let suite = check::suite(Path::new(env!("CARGO_MANIFEST_DIR")), &backend.names)?;
    let all: Vec<&Cell> = suite.cells.iter().filter(|cell| !cell.isolate).collect();
    let small: Vec<&Cell> = all
        .iter()
        .copied()
        .filter(|cell| cell.id.starts_with("ops::elementwise"))
        .collect();
    let cores = std::thread::available_parallelism()?.get();
    let (slower, faster) = measure("whole suite", &all, cores, 5)?;
    let mut too_slow = Vec::new();
    if slower > SLOWER {
        too_slow.push(format!(
            "one worker is {slower:.2} times slower, {SLOWER} at most"
        ));
    }
    if cores > 1 && faster < FASTER {
        too_slow.push(format!(
            "{cores} workers are {faster:.2} times faster, {FASTER} at least"
        ));
    }
    // So few take little longer than starting workers and telling them the files does; 2,000 a second are aimed at.
    measure("small cells", &small, cores, 15)?;
    every_cell(&suite.cells, cores, 3)?;
    match too_slow.is_empty() {
        true => Ok(()),
        false => Err(too_slow.join("; ").into()),
    }
}

/// How much slower the suite may run in one worker than in this process.
const SLOWER: f64 = 1.15;

/// How much faster it must run in as many workers as there are cores, two at least.
const FASTER: f64 = 1.7;

/// All cells, those too that crash, hang or fill the memory: most of that time is spent waiting for their deadlines.
fn every_cell(cells: &[Cell], cores: usize, rounds: usize) -> Result<(), Box<dyn Error>> {
    let backend = backend();
    let cells: Vec<&Cell> = cells.iter().collect();
    let mut many = Vec::new();
    for _ in 0..rounds {
        let workers = Workers::new(env!("CARGO_BIN_EXE_assay"), Arc::clone(&backend.runner));
        many.push(seconds(&cells, &workers, cores)?);
    }
    let isolated = cells.iter().filter(|cell| cell.isolate).count();
    println!(
        "every cell: {} cells, {isolated} of them isolated, median of {rounds} rounds",
        cells.len()
    );
    println!(
        "  with {cores} workers     {:>6.0} a second",
        cells.len() as f64 / median(many)
    );
    Ok(())
}

/// Measures and prints; how many times slower one worker is than this process, and how many times faster all are.
fn measure(name: &str, cells: &[&Cell], cores: usize, rounds: usize) -> Result<(f64, f64), Box<dyn Error>> {
    let backend = backend();
    let program = env!("CARGO_BIN_EXE_assay");
    let (mut here, mut one, mut many) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        here.push(seconds(cells, backend.runner.as_ref(), 1)?);
        // New workers each time: starting them, and telling them every file, is part of the cost.
        one.push(seconds(
            cells,
            &Workers::new(program, Arc::clone(&backend.runner)),
            1,
        )?);
        many.push(seconds(
            cells,
            &Workers::new(program, Arc::clone(&backend.runner)),
            cores,
        )?);
    }
    let ratio = |a: &[f64], b: &[f64]| median(a.iter().zip(b).map(|(a, b)| a / b).collect());
    let rate = |seconds: &[f64]| cells.len() as f64 / median(seconds.to_vec());
    println!("{name}: {} cells, median of {rounds} rounds", cells.len());
    println!("  in this process    {:>6.0} a second", rate(&here));
    let (slower, faster) = (ratio(&one, &here), ratio(&here, &many));
    println!(
        "  with 1 worker      {:>6.0} a second, {slower:.2} times slower",
        rate(&one)
    );
    println!(
        "  with {cores} workers     {:>6.0} a second, {faster:.2} times faster",
        rate(&many)
    );
    Ok((slower, faster))
}

fn seconds(cells: &[&Cell], runner: &dyn Runner, threads: usize) -> Result<f64, Box<dyn Error>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let start = Instant::now();
    let chunks = Chunks::new(cells, threads);
    pool.broadcast(|_| {
        while let Some(chunk) = chunks.next() {
            runner.run_all(chunk, &|_, _| {});
        }
    });
    Ok(start.elapsed().as_secs_f64())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
