//! libclang, which bindgen loads: the system's if there is one, else the pinned wheel.

use std::path::PathBuf;
use std::process::Command;

use crate::cache::Cache;
use crate::error::BuildError;
use crate::pip;
use crate::wheel;

const VARIABLE: &str = "LIBCLANG_PATH";

/// Loads libclang into this process and returns the arguments it needs to find the headers of the C language.
pub fn load(cache: &Cache) -> Result<Vec<String>, BuildError> {
    println!("cargo:rerun-if-env-changed={VARIABLE}");
    // bindgen uses what is loaded; this is the very search that it would make itself.
    if let Err(detail) = clang_sys::load() {
        if let Some(path) = std::env::var_os(VARIABLE) {
            return Err(BuildError::WrongLibclang {
                path: path.to_string_lossy().into_owned(),
                detail,
            });
        }
        load_pinned(cache, detail)?;
    }
    if finds_builtin_headers(&[]) {
        return Ok(Vec::new());
    }
    Ok(compiler_headers())
}

fn load_pinned(cache: &Cache, search: String) -> Result<(), BuildError> {
    let wheel = wheel::libclang_for(std::env::consts::OS, std::env::consts::ARCH)
        .ok_or(BuildError::NoLibclang { detail: search })?;
    let entry = cache.entry(&pip::entry_name(&[wheel]), |folder| {
        pip::install(&[wheel], folder)
    })?;
    std::env::set_var(VARIABLE, native_folder(entry, wheel.version));
    clang_sys::load().map_err(|detail| BuildError::LibclangUnusable { detail })
}

fn native_folder(entry: PathBuf, version: &str) -> PathBuf {
    entry.join(format!("libclang-{version}.data/platlib/clang/native"))
}

/// Whether libclang finds the headers that belong to a compiler rather than to the system. The wheel has none, and
/// distributions put them in a package of their own.
fn finds_builtin_headers(arguments: &[String]) -> bool {
    bindgen::Builder::default()
        .header_contents(
            "probe.h",
            "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n",
        )
        .clang_args(arguments)
        .generate()
        .is_ok()
}

/// The C compiler's own headers, and on macOS the system's.
fn compiler_headers() -> Vec<String> {
    let says = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
        (output.status.success() && !text.is_empty()).then_some(text)
    };
    let mut arguments = Vec::new();
    let compiler = cc::Build::new().cargo_metadata(false).try_get_compiler();
    let compiler = compiler.map(|tool| tool.path().to_string_lossy().into_owned());
    if let Some(folder) = says(compiler.as_deref().unwrap_or("cc"), &["-print-file-name=include"]) {
        arguments.push(format!("-I{folder}"));
    }
    if cfg!(target_os = "macos") {
        if let Some(sdk) = says("xcrun", &["--sdk", "macosx", "--show-sdk-path"]) {
            arguments.extend(["-isysroot".to_owned(), sdk]);
        }
    }
    arguments
}
