//! `assay`: parses the command line and dispatches.

fn main() -> std::process::ExitCode {
    mlx_assay::cli::main(&mlx_assay::under_test::backend())
}
