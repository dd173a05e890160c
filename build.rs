//! Stops the build where mlx-sys is not the one whose calls can be watched, and names the sources that are built.
//!
//! A dependent's workspace decides which mlx-sys it gets, and `[patch]` of this one does not reach it. Without this
//! check its build would end in errors about items that the published crate does not have, or, off macOS, in that
//! crate's own build.

use sha2::{Digest, Sha256};
use std::path::Path;

/// What a verdict depends on, beside the cases: folders and files, from the root.
const SOURCES: [&str; 5] = [
    "src",
    "crates/mlx-sys/build",
    "crates/mlx-sys/native",
    "crates/mlx-sys/src",
    "Cargo.lock",
];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    name_sources();
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

/// Outcomes of two machines are only joined where both ran the same harness, which is its sources' digest: the binary's
/// own would differ from platform to platform.
fn name_sources() {
    let mut digest = Sha256::new();
    for source in SOURCES {
        println!("cargo:rerun-if-changed={source}");
        add(Path::new(source), &mut digest);
    }
    let bytes = digest.finalize();
    let text: String = bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    println!("cargo:rustc-env=ASSAY_HARNESS={text}");
}

/// Adds a file, or a folder's files in order of their names. What is not there, as in a packaged crate, is left out.
fn add(path: &Path, digest: &mut Sha256) {
    if let Ok(entries) = std::fs::read_dir(path) {
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        paths.iter().for_each(|path| add(path, digest));
    } else if let Ok(bytes) = std::fs::read(path) {
        digest.update(path.to_string_lossy().replace('\\', "/").as_bytes());
        digest.update((bytes.len() as u64).to_le_bytes());
        digest.update(&bytes);
    }
}
