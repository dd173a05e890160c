//! What validation costs, as ratios within one run: `cargo bench --bench validation_cost`.
//!
//! The floor is replays with no bookkeeping: each call by both routes, and once for each operand. Validation does one more
//! for most calls, in which the graph meets the function; the second line holds it against the same replays.

mod models;
mod paired;

use std::error::Error;

use mlx_assay::validate::{validate, Floor};
use mlx_assay::{Session, Trace};
use mlx_rs::module::Module;
use mlx_rs::transforms::compile::{disable_compile, enable_compile};
use mlx_rs::{ops, Array};
use models::{elementwise_1024, mlp100, TransformerCase};
use paired::{paired, report};

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo test --benches` builds and starts benches; there is nothing to measure then.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    println!("median of each in its pairs; ratio second / first, with quartiles\n");
    let mut case = TransformerCase::new()?;
    let (model, input) = case.parts();
    let record = Session::new().call_stacks(false).trace(model, input)?;
    against_floor("transformer", &record)?;
    let mut plain = TransformerCase::new()?;
    against_plain("transformer", &record, None, || {
        let (model, input) = plain.parts();
        model
            .forward(input)
            .and_then(|y| y.eval())
            .expect("the Transformer runs");
    });

    let (mut model, x) = mlp100()?;
    let record = Session::new().call_stacks(false).trace(&mut model, &x)?;
    against_floor("mlp100", &record)?;
    against_plain("mlp100", &record, Some(8.0), || {
        model.forward(&x).and_then(|y| y.eval()).expect("mlp100 runs");
    });

    growth()?;
    // What the other bench measures.
    let _ = elementwise_1024;
    Ok(())
}

fn against_floor(name: &str, record: &Trace) -> Result<(), Box<dyn Error>> {
    let mut floor = Floor::new(record)?;
    let status = validate(record);
    println!(
        "{name}: {} calls, {}; floor {} replays, validation {} replays and {} perturbations",
        record.calls().len(),
        status.state(),
        floor.replays(),
        status.work().replays,
        status.work().perturbations
    );
    let pairs = paired(60, || floor.run().expect("the floor runs"), || validate(record));
    report(&format!("{name}: floor -> validation"), &pairs, Some(1.3));
    let mut same = Floor::with_meetings(record)?;
    let pairs = paired(60, || same.run().expect("the floor runs"), || validate(record));
    report(&format!("{name}: same replays -> validation"), &pairs, Some(1.3));
    Ok(())
}

fn against_plain(name: &str, record: &Trace, bound: Option<f64>, mut plain: impl FnMut()) {
    let pairs = paired(
        60,
        || {
            disable_compile();
            plain();
            enable_compile();
        },
        || validate(record),
    );
    report(&format!("{name}: plain inlined -> validation"), &pairs, bound);
}

/// The time per op of a long trace against that of a short one.
fn growth() -> Result<(), Box<dyn Error>> {
    let x = ops::ones::<f32>(&[4, 4])?;
    x.eval()?;
    let record = |calls: usize| {
        let run = Session::new().call_stacks(false).run(&x, || {
            let mut y = x.clone();
            for _ in 0..calls {
                // Stays finite over any number of steps.
                y = ops::multiply(&ops::add(&y, &x)?, Array::from_f32(0.5))?;
            }
            Ok::<Array, mlx_rs::error::Exception>(y)
        });
        run.expect("additions run").0
    };
    let (short, long) = (record(33), record(3333));
    let per_op = |trace: &Trace, times: usize| {
        let start = std::time::Instant::now();
        for _ in 0..times {
            validate(trace);
        }
        start.elapsed().as_secs_f64() / times as f64 / trace.calls().len() as f64 * 1e6
    };
    per_op(&short, 20);
    let mut ratios: Vec<f64> = (0..7).map(|_| per_op(&long, 1) / per_op(&short, 100)).collect();
    ratios.sort_by(f64::total_cmp);
    println!(
        "time per call, {} calls against {}: ratio {:.3}  (at most 1.10: {})",
        long.calls().len(),
        short.calls().len(),
        ratios[3],
        if ratios[3] <= 1.1 { "kept" } else { "EXCEEDED" }
    );
    Ok(())
}
