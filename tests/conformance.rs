//! The suite: every cell of `cases/` is a trial, and the scorecard is the last one.

fn main() -> std::process::ExitCode {
    mlx_assay::harness::conformance::main(&mlx_assay::under_test::backend())
}
