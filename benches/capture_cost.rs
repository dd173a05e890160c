//! What capture costs, as ratios within one run: `cargo bench --bench capture_cost`; behind `--` the name of one part.
//!
//! The yardstick is the plain forward with compilation disabled, which runs the operations that a trace records.

mod models;
mod paired;

use std::error::Error;

use mlx_assay::capture::PayloadPolicy;
use mlx_assay::{trace, Session};
use mlx_rs::module::Module;
use mlx_rs::transforms::compile::{disable_compile, enable_compile};
use mlx_rs::{memory, ops, Array};
use models::{elementwise_1024, mlp100, TransformerCase};
use paired::{paired, report};

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo test --benches` builds and starts benches; there is nothing to measure then.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    println!("median of each in its pairs; ratio second / first, with quartiles\n");
    type Part = fn() -> Result<(), Box<dyn Error>>;
    let parts: [(&str, Part); 4] = [
        ("transformer", transformer),
        ("mlp100", mlp),
        ("elementwise_1024", elementwise),
        ("per_call", per_call),
    ];
    let chosen = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    for (name, part) in parts {
        if chosen.as_deref().is_none_or(|chosen| chosen == name) {
            part()?;
        }
    }
    Ok(())
}

fn transformer() -> Result<(), Box<dyn Error>> {
    let mut compiled = TransformerCase::new()?;
    let mut inlined = TransformerCase::new()?;
    let pairs = paired(
        200,
        || forward(&mut compiled),
        || {
            disable_compile();
            forward(&mut inlined);
            enable_compile();
        },
    );
    report("transformer: plain compiled -> inlined", &pairs, None);

    let mut plain = TransformerCase::new()?;
    let mut traced = TransformerCase::new()?;
    let pairs = paired(
        400,
        || {
            disable_compile();
            forward(&mut plain);
            enable_compile();
        },
        || {
            let (model, input) = traced.parts();
            let trace = bare().trace(model, input).expect("the Transformer runs");
            evaluate_outputs(&trace);
            trace
        },
    );
    report("transformer: plain inlined -> traced", &pairs, Some(1.05));
    let mut named = TransformerCase::new()?;
    let pairs = paired(
        200,
        || {
            disable_compile();
            forward(&mut plain);
            enable_compile();
        },
        || {
            let (model, input) = named.parts();
            let trace = trace(model, input).expect("the Transformer runs");
            evaluate_outputs(&trace);
            trace
        },
    );
    report(
        "transformer: plain inlined -> traced, with call stacks",
        &pairs,
        None,
    );
    Ok(())
}

/// A session that takes down no call stacks: what the bounds are for.
fn bare() -> Session {
    Session::new().call_stacks(false)
}

fn forward(case: &mut TransformerCase) {
    let (model, input) = case.parts();
    model
        .forward(input)
        .and_then(|y| y.eval())
        .expect("the Transformer runs");
}

fn evaluate_outputs(trace: &mlx_assay::Trace) {
    for output in trace.outputs() {
        let payload = trace.value(output.value()).payload().expect("payloads are kept");
        payload.eval().expect("the forward evaluates");
    }
}

fn mlp() -> Result<(), Box<dyn Error>> {
    let (mut compiled, x) = mlp100()?;
    let (mut inlined, _) = mlp100()?;
    let run =
        |model: &mut mlx_rs::nn::Sequential| model.forward(&x).and_then(|y| y.eval()).expect("mlp100 runs");
    let pairs = paired(
        200,
        || run(&mut compiled),
        || {
            disable_compile();
            run(&mut inlined);
            enable_compile();
        },
    );
    report("mlp100: plain compiled -> inlined", &pairs, None);

    let (mut traced, _) = mlp100()?;
    let pairs = paired(
        400,
        || {
            disable_compile();
            run(&mut inlined);
            enable_compile();
        },
        || {
            let trace = bare().trace(&mut traced, &x).expect("mlp100 runs");
            evaluate_outputs(&trace);
            trace
        },
    );
    report("mlp100: plain inlined -> traced", &pairs, Some(1.10));
    let pairs = paired(
        200,
        || {
            disable_compile();
            run(&mut inlined);
            enable_compile();
        },
        || {
            let trace = trace(&mut traced, &x).expect("mlp100 runs");
            evaluate_outputs(&trace);
            trace
        },
    );
    report("mlp100: plain inlined -> traced, with call stacks", &pairs, None);
    Ok(())
}

fn elementwise() -> Result<(), Box<dyn Error>> {
    let x = ops::ones::<f32>(&[1024, 1024])?;
    x.eval()?;
    let plain = || {
        elementwise_1024(&x)
            .and_then(|y| y.eval())
            .expect("additions run")
    };
    let traced = |policy| {
        let session = bare().payloads(policy);
        let (trace, y) = session.run(&x, || elementwise_1024(&x)).expect("additions run");
        y.eval().expect("additions run");
        (trace, y)
    };
    let pairs = paired(60, plain, || traced(PayloadPolicy::None));
    report("elementwise_1024: plain -> no payloads kept", &pairs, Some(1.2));
    let all = paired(30, plain, || traced(PayloadPolicy::All));
    report("elementwise_1024: plain -> all payloads kept", &all, None);

    let peak = |f: &dyn Fn()| {
        memory::clear_cache().expect("MLX has a cache");
        memory::reset_peak_memory().expect("MLX counts memory");
        f();
        memory::peak_memory().map_or(f64::NAN, |bytes| bytes as f64)
    };
    let base = peak(&|| plain());
    let none = peak(&|| drop(traced(PayloadPolicy::None)));
    println!(
        "elementwise_1024: peak memory, no payloads kept  {:.1} MiB -> {:.1} MiB   ratio {:.3}  (at most 1.20: {})",
        base / f64::from(1 << 20),
        none / f64::from(1 << 20),
        none / base,
        if none / base <= 1.2 { "kept" } else { "EXCEEDED" },
    );
    Ok(())
}

/// Graph building only, nothing evaluated: what one observed call costs.
fn per_call() -> Result<(), Box<dyn Error>> {
    const CALLS: usize = 1000;
    let x = ops::ones::<f32>(&[4, 4])?;
    x.eval()?;
    let build = || {
        let mut y = x.clone();
        for _ in 0..CALLS {
            y = ops::add(&y, &x).expect("additions build");
        }
        y
    };
    let pairs = paired(
        300,
        || {
            std::hint::black_box(build());
        },
        || {
            let traced = bare().run(&x, || Ok::<Array, mlx_rs::error::Exception>(build()));
            std::hint::black_box(traced.expect("additions build"));
        },
    );
    let cost = (pairs.second.as_secs_f64() - pairs.first.as_secs_f64()) / CALLS as f64 * 1e6;
    println!(
        "\nan observed call with the witness costs {cost:.2} µs more than a plain one  (at most 1.50: {})",
        if cost <= 1.5 { "kept" } else { "EXCEEDED" }
    );

    // Without an observer: the wrapper against the raw function, called the same way.
    let call = |f: unsafe extern "C" fn(
        *mut mlx_sys::mlx_array,
        mlx_sys::mlx_array,
        mlx_sys::mlx_array,
        mlx_sys::mlx_stream,
    ) -> i32| {
        // SAFETY: valid handles and the thread's default stream; what is made is freed.
        unsafe {
            let stream = mlx_sys::mlx_default_cpu_stream_new();
            for _ in 0..CALLS {
                let mut sum = mlx_sys::mlx_array_new();
                f(&mut sum, x.as_ptr(), x.as_ptr(), stream);
                mlx_sys::mlx_array_free(sum);
            }
            mlx_sys::mlx_stream_free(stream);
        }
    };
    let pairs = paired(400, || call(mlx_sys::raw::mlx_add), || call(mlx_sys::mlx_add));
    report("1,000 calls without an observer: raw -> wrapped", &pairs, None);
    Ok(())
}
