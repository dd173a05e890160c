//! The suite: every cell of `cases/` is a trial, and the scorecard is the last one.

use std::path::PathBuf;

fn main() -> std::process::ExitCode {
    // An archive of cargo-nextest runs elsewhere than where it was built, and says where.
    let program = std::env::var_os("NEXTEST_BIN_EXE_assay");
    let program = program.map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_assay")), PathBuf::from);
    mlx_assay::harness::conformance::main(&mlx_assay::under_test::backend(), &program)
}
