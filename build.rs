//! Stops the build where mlx-sys is not the one whose calls can be watched, and reads what mlx-rs offers.
//!
//! A dependent's workspace decides which mlx-sys it gets, and `[patch]` of this one does not reach it. Without this
//! check its build would end in errors about items that the published crate does not have, or, off macOS, in that
//! crate's own build.

#[path = "build/surface.rs"]
mod surface;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    println!("cargo:rerun-if-changed=Cargo.lock");
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
