//! Stops the build where mlx-sys is not the one whose calls can be watched, names the sources that are built, and reads
//! what mlx-rs offers.
//!
//! A dependent's workspace decides which mlx-sys it gets, and `[patch]` of this one does not reach it. Without this
//! check its build would end in errors about items that the published crate does not have, or, off macOS, in that
//! crate's own build.

#[path = "build/surface.rs"]
mod surface;

use sha2::{Digest, Sha256};
use std::path::Path;

/// What a verdict depends on, beside the cases: folders and files, from the root.
const HARNESS: [&str; 5] = [
    "src",
    "crates/mlx-sys/build",
    "crates/mlx-sys/native",
    "crates/mlx-sys/src",
    "Cargo.lock",
];

/// What of it is the backend under test: what records, reads MLX's graph and validates.
const BACKEND: [&str; 7] = [
    "src/capability.rs",
    "src/capture",
    "src/graph",
    "src/validate",
    "crates/mlx-sys/build",
    "crates/mlx-sys/native",
    "crates/mlx-sys/src",
];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    println!("cargo:rustc-env=ASSAY_HARNESS={}", digest_of(&HARNESS));
    println!("cargo:rustc-env=ASSAY_BACKEND={}", digest_of(&BACKEND));
    write_surface();
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
fn digest_of(sources: &[&str]) -> String {
    let mut digest = Sha256::new();
    for source in sources {
        println!("cargo:rerun-if-changed={source}");
        add(Path::new(source), &mut digest);
    }
    let bytes = digest.finalize();
    bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
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

/// Writes what mlx-rs offers, for the coverage. A dependent's build may have no way to the sources: its coverage then
/// says that it counts against nothing, and a test of this repository fails.
fn write_surface() {
    let surface = surface::read().unwrap_or_else(|error| {
        println!("cargo::warning=the coverage has no list of mlx-rs's items: {error}");
        surface::Surface::default()
    });
    let mut text =
        String::from("/// Every public item of mlx-rs, sorted by path.\npub static ITEMS: &[Item] = &[\n");
    for (path, kind) in &surface.items {
        text.push_str(&format!("    Item {{ path: {path:?}, kind: {kind:?} }},\n"));
    }
    text.push_str(
        "];\n\n/// Every function of mlx-c that mlx-rs names, sorted.\npub static CALLED: &[&str] = &[\n",
    );
    for name in &surface.calls {
        text.push_str(&format!("    {name:?},\n"));
    }
    text.push_str("];\n");
    let folder = std::env::var_os("OUT_DIR")
        .map(std::path::PathBuf::from)
        .unwrap_or_default();
    if let Err(error) = std::fs::write(folder.join("surface.rs"), text) {
        println!(
            "cargo::error=cannot write surface.rs into {}: {error}",
            folder.display()
        );
    }
}
