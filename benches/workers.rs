//! What isolation costs, as ratios within one run: `cargo bench --bench workers`.
//!
//! The same cells in this process, in one worker, and in as many as there are cores; a round of each in turn, so that
//! whatever else the machine does hits all three alike. Cells that may only run in a worker are left out.

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
    measure("whole suite", &all, cores, 5)?;
    measure("small cells", &small, cores, 15)?;
    Ok(())
}

fn measure(name: &str, cells: &[&Cell], cores: usize, rounds: usize) -> Result<(), Box<dyn Error>> {
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
    println!(
        "  with 1 worker      {:>6.0} a second, {:.2} times slower (at most 1.15)",
        rate(&one),
        ratio(&one, &here)
    );
    println!(
        "  with {cores} workers     {:>6.0} a second, {:.2} times faster (at least 1.7 on two cores)",
        rate(&many),
        ratio(&here, &many)
    );
    Ok(())
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
