//! `assay`: parses the command line and dispatches.

fn main() -> std::process::ExitCode {
    // Here and not in the library, which is then not built anew whenever a run writes the scorecard.
    mlx_assay::report::doctor::embed(include_str!("../scorecards/mlx.json"));
    mlx_assay::cli::main(&mlx_assay::under_test::backend())
}
