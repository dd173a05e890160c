//! Stops the build where mlx-sys is not the one whose calls can be watched.
//!
//! A dependent's workspace decides which mlx-sys it gets, and `[patch]` of this one does not reach it. Without this
//! check its build would end in errors about items that the published crate does not have, or, off macOS, in that
//! crate's own build.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Published by crates/mlx-sys/build/publish.rs, and by it alone. Cargo runs this script again when it changes.
    if std::env::var_os("DEP_MLX_OBSERVABLE").is_some() {
        return;
    }
    let repository = match env!("CARGO_PKG_REPOSITORY") {
        "" => "<the repository of mlx-assay>",
        repository => repository,
    };
    for line in [
        "mlx-assay needs the mlx-sys that comes with it, whose calls can be watched, and got the published one.",
        "Add these two lines to the Cargo.toml of your workspace:",
        "",
        "[patch.crates-io]",
        &format!("mlx-sys = {{ git = \"{repository}\" }}"),
    ] {
        println!("cargo::error={line}");
    }
}
