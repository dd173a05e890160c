//! The backend under test, put together: the one place where the suite meets what traces a cell.

use std::ffi::CStr;
use std::sync::{Arc, LazyLock};

use mlx_sys::raw;

use crate::capability::CAPABILITIES;
use crate::case::names::Names;
use crate::harness::backend::{Backend, Fact};
use crate::harness::in_process::InProcess;
use crate::model::{functions, layers};
use crate::scorecard::environment::Environment;
use crate::vocabulary::Device;

/// The version of mlx-rs that the manifest pins; a test holds it against the lock file.
pub const MLX_RS_VERSION: &str = "0.33.0";

/// The version of mlx-c, which mlx-sys carries under its own number.
pub const MLX_C_VERSION: &str = "0.7.0";

/// The names of mlx-sys's table.
static OBSERVED: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut names: Vec<_> = mlx_sys::FUNCTIONS.iter().map(|function| function.name).collect();
    names.sort_unstable();
    names
});

/// The backend that the commands and the trials run against.
pub fn backend() -> Backend {
    Backend {
        names: Names {
            layers: layers::signatures(),
            functions: functions::signatures(),
            capabilities: CAPABILITIES,
            observed: &OBSERVED,
        },
        device: device(),
        environment: Environment {
            mlx: mlx_version(),
            mlx_c: MLX_C_VERSION.to_owned(),
            mlx_rs: MLX_RS_VERSION.to_owned(),
        },
        runner: Arc::new(InProcess),
        facts: facts(),
    }
}

/// The column of the scorecard that this build speaks for.
fn device() -> Device {
    if cfg!(target_os = "macos") {
        Device::MacosMetal
    } else if cfg!(any(feature = "cuda-12", feature = "cuda-13")) {
        Device::LinuxCuda
    } else {
        Device::LinuxCpu
    }
}

fn facts() -> Vec<Fact> {
    let operations = mlx_sys::FUNCTIONS
        .iter()
        .filter(|function| function.class == mlx_sys::function::Class::Operation)
        .count();
    vec![
        Fact::new("assay", env!("CARGO_PKG_VERSION")),
        Fact::new("mlx", mlx_version()),
        Fact::new("mlx-c", MLX_C_VERSION),
        Fact::new("mlx-rs", MLX_RS_VERSION),
        Fact::new(
            "observed",
            format!(
                "{} functions, {operations} of them operations",
                mlx_sys::FUNCTIONS.len()
            ),
        ),
        Fact::new("device", device()),
    ]
}

/// The version that the loaded MLX says it is.
fn mlx_version() -> String {
    // SAFETY: a fresh string, read while it lives and freed after.
    unsafe {
        let mut text = raw::mlx_string_new();
        let version = match raw::mlx_version(&mut text) {
            0 => CStr::from_ptr(raw::mlx_string_data(text))
                .to_string_lossy()
                .into_owned(),
            _ => "unknown".to_string(),
        };
        raw::mlx_string_free(text);
        version
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_versions_are_the_locked_ones() {
        let lock = include_str!("../Cargo.lock");
        assert!(lock.contains(&format!("name = \"mlx-sys\"\nversion = \"{MLX_C_VERSION}\"")));
        assert!(lock.contains(&format!("name = \"mlx-rs\"\nversion = \"{MLX_RS_VERSION}\"")));
    }
}
