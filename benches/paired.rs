//! Timing in pairs: A, B, A, B, …, and the ratio within each pair.
//!
//! These machines are shared and drift; two things timed one after the other drift together, so the median of the
//! pairs' ratios holds where absolute times do not. General benchmark libraries time each function on its own.

use std::time::{Duration, Instant};

/// What a run of pairs gave.
pub struct Paired {
    /// Median time of the first.
    pub first: Duration,
    /// Median time of the second.
    pub second: Duration,
    /// Median of second / first, pair by pair, with the quartiles around it.
    pub ratio: f64,
    /// Lower and upper quartile of the ratios.
    pub quartiles: (f64, f64),
    /// The second's tenth percentile over the first's: what is left when other work on the machine stands aside.
    pub undisturbed: f64,
}

/// Times `first` and `second` in `pairs` alternating pairs, after a tenth as many that do not count. What they return
/// is dropped after the clock has stopped: a record is there to be kept.
pub fn paired<A, B>(pairs: usize, mut first: impl FnMut() -> A, mut second: impl FnMut() -> B) -> Paired {
    let mut firsts = Vec::with_capacity(pairs);
    let mut seconds = Vec::with_capacity(pairs);
    let mut ratios = Vec::with_capacity(pairs);
    let warm = pairs.div_ceil(10);
    for pair in 0..pairs + warm {
        // Which comes first alternates too, so that neither always finds the other's warm caches.
        let (a, b) = if pair % 2 == 0 {
            let a = time(&mut first);
            (a, time(&mut second))
        } else {
            let b = time(&mut second);
            (time(&mut first), b)
        };
        if pair >= warm {
            firsts.push(a);
            seconds.push(b);
            ratios.push(b.as_secs_f64() / a.as_secs_f64());
        }
    }
    firsts.sort();
    seconds.sort();
    ratios.sort_by(f64::total_cmp);
    let undisturbed = seconds[pairs / 10].as_secs_f64() / firsts[pairs / 10].as_secs_f64();
    Paired {
        first: firsts[pairs / 2],
        second: seconds[pairs / 2],
        ratio: ratios[pairs / 2],
        quartiles: (ratios[pairs / 4], ratios[pairs * 3 / 4]),
        undisturbed,
    }
}

fn time<T>(f: &mut impl FnMut() -> T) -> Duration {
    let start = Instant::now();
    let made = std::hint::black_box(f());
    let elapsed = start.elapsed();
    drop(made);
    elapsed
}

/// One line: the name, both medians, the ratio and the bound it is held against.
pub fn report(name: &str, paired: &Paired, bound: Option<f64>) {
    let bound = bound.map_or(String::new(), |bound| {
        format!(
            "  (at most {bound:.2}: {})",
            if paired.ratio <= bound { "kept" } else { "EXCEEDED" }
        )
    });
    println!(
        "{name:<44} {:>9.1} µs -> {:>9.1} µs   ratio {:.3} [{:.3}, {:.3}], undisturbed {:.3}{bound}",
        paired.first.as_secs_f64() * 1e6,
        paired.second.as_secs_f64() * 1e6,
        paired.ratio,
        paired.quartiles.0,
        paired.quartiles.1,
        paired.undisturbed,
    );
}
