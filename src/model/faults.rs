//! Programs that end, hang or spoil the process that runs them: what the harness must survive.
//!
//! They only run where that has been allowed, which a worker process does and nobody else: elsewhere building one is an
//! error. Each computes something first, so that a report can name the op before the fault.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mlx_rs::error::Exception;
use mlx_rs::module::{Module, ModuleParamMut, ModuleParamRef, ModuleParameters};
use mlx_rs::nested::NestedHashMap;
use mlx_rs::{linalg, ops, transforms, Array, Device, DeviceType};

use super::programs::without_parameters;
use crate::graph;

static ALLOWED: AtomicBool = AtomicBool::new(false);

/// Allows faults in this process from here on: it is a worker, and expected to end.
pub fn allow_faults() {
    ALLOWED.store(true, Ordering::Relaxed);
}

/// Whether faults are allowed in this process.
pub fn faults_allowed() -> bool {
    ALLOWED.load(Ordering::Relaxed)
}

/// A program with a fault, by its name in a case.
#[derive(Debug)]
pub struct Fault {
    act: Act,
}

/// What a fault does with the array that was computed before it.
type Act = fn(&Array) -> Result<Array, Exception>;

/// Why there is no such fault here.
#[derive(Debug, thiserror::Error)]
pub enum FaultError {
    /// This process is no worker.
    #[error("faults only run in a worker process")]
    NotAllowed,
    /// No fault has this name.
    #[error("no fault is called `{name}`; there are {}", names())]
    Unknown {
        /// The name.
        name: String,
    },
}

/// Every fault, by name.
const FAULTS: &[(&str, Act)] = &[
    ("abort", |_| std::process::abort()),
    ("deep_clone", |x| Ok(x.deep_clone())),
    ("exit", |_| std::process::exit(255)),
    ("first_handler", first_handler),
    ("flake", |_| flake()),
    ("killed", |_| killed()),
    ("loop", |_| endless()),
    ("lost_task", |_| lost_task()),
    ("memory", |_| memory()),
    ("negative_shape", |_| {
        Ok(Array::from_slice(&[0.0_f32; 6], &[-2, -3]))
    }),
    ("noise", noise),
    ("overflow", |x| ops::multiply(x, Array::from_f32(deep(0)))),
    ("panic", |_| panic!("on purpose")),
    ("panic_in_closure", panic_in_closure),
    ("pending", pending),
    ("short_slice", |_| {
        Ok(Array::from_slice::<f32>(&[], &[65_536, 65_536]))
    }),
];

fn names() -> String {
    let names: Vec<&str> = FAULTS.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}

impl Fault {
    /// The fault of this name.
    ///
    /// # Errors
    ///
    /// See [`FaultError`].
    pub fn new(name: &str) -> Result<Self, FaultError> {
        if !faults_allowed() {
            return Err(FaultError::NotAllowed);
        }
        let found = FAULTS.iter().find(|(known, _)| *known == name);
        found
            .map(|(_, act)| Self { act: *act })
            .ok_or_else(|| FaultError::Unknown {
                name: name.to_string(),
            })
    }
}

impl Module<&Array> for Fault {
    type Output = Array;
    type Error = Exception;

    fn forward(&mut self, x: &Array) -> Result<Array, Exception> {
        (self.act)(&ops::exp(x)?)
    }

    fn training_mode(&mut self, _mode: bool) {}
}

without_parameters!(Fault);

/// Ends by somebody else's hand.
fn killed() -> ! {
    // Where there is no `kill` the loop below is a timeout, which fails the case as it should.
    let _ = Command::new("kill")
        .args(["-KILL", &std::process::id().to_string()])
        .status();
    endless()
}

fn endless() -> ! {
    loop {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Fails in another way each time.
fn flake() -> Result<Array, Exception> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    Err(Exception::custom(format!("at {:?}", now.unwrap_or_default())))
}

/// Fails evaluations until MLX has lost count of one of its tasks.
///
/// MLX counts every tenth thing that it asks of its thread. If an earlier one has failed by then, asking throws, and nobody
/// takes that one off the count. When the failure is heard is a race: mostly at once, since a thread that is woken on the
/// same processor runs first; on a processor that others use too, anywhere among what is asked after it. So one evaluation
/// asks for nothing more and the next for much, below what MLX would wait at.
fn lost_task() -> Result<Array, Exception> {
    let singular = Array::from_slice(&[1.0_f32; 4], &[2, 2]);
    let start = Instant::now();
    while start.elapsed() < LOSING {
        for more in [0, 40] {
            let mut fails = linalg::inv(&singular)?;
            for _ in 0..more {
                fails = ops::negative(&fails)?;
            }
            let failed = fails.eval();
            // What ends well waits for whatever is still under way.
            let waited = ops::negative(&singular)?.eval();
            if failed.is_err() && waited.is_ok() && graph::active_tasks() > 0 {
                return Err(Exception::custom("a task was lost"));
            }
        }
    }
    Err(Exception::custom("no task was lost"))
}

/// How long a task is tried to be lost: thousands of times what it takes.
const LOSING: Duration = Duration::from_secs(20);

/// Takes memory, and writes to it, until somebody ends it.
fn memory() -> ! {
    let mut taken: Vec<Vec<u8>> = Vec::new();
    loop {
        taken.push(vec![1; 16 << 20]);
    }
}

/// Prints what could be taken for the worker's own words.
fn noise(x: &Array) -> Result<Array, Exception> {
    println!("\u{4}\0\0\0null {{\"ran\": null}}\r");
    eprintln!("{}", "noise ".repeat(1000));
    ops::negative(x)
}

/// Recurses until the stack ends; the sum after the call keeps it from becoming a loop.
fn deep(level: u64) -> f32 {
    let room = std::hint::black_box([level; 64]);
    if room[0] == u64::MAX {
        return 0.0;
    }
    deep(level + 1) + room[0] as f32
}

/// Panics below C: mlx-rs carries the panic over it.
fn panic_in_closure(x: &Array) -> Result<Array, Exception> {
    let mut gradient =
        transforms::grad(|_: &Array| -> Result<Array, Exception> { panic!("on purpose, below C") });
    gradient(x)
}

/// Leaves an error with MLX: an evaluation that nobody waits for fails after this returned.
fn pending(x: &Array) -> Result<Array, Exception> {
    // A product that takes MLX a while, so that the failure comes after `async_eval` looked for it.
    let long = ops::ones::<f32>(&[SLOW, SLOW])?.matmul(ops::ones::<f32>(&[SLOW, SLOW])?)?;
    let equal_rows = linalg::inv(&long)?;
    transforms::async_eval([&equal_rows])?;
    Ok(x.clone())
}

/// The extent of a product that takes tens of milliseconds.
const SLOW: i32 = 800;

/// Meets mlx-c's own handler of errors, which ends the process: the one in place before mlx-rs's first operation.
fn first_handler(x: &Array) -> Result<Array, Exception> {
    // SAFETY: no handler, so no data that would have to live.
    unsafe { mlx_sys::mlx_set_error_handler(None, std::ptr::null_mut(), None) };
    Device::set_default(&Device::new(DeviceType::Gpu, 0));
    ops::negative(x)
}
