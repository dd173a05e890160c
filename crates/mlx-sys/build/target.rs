//! Which MLX a target gets.

use std::process::Command;

use crate::error::BuildError;
use crate::nvidia;
use crate::wheel::{self, Wheel};

/// The object format's family: it decides file names and linker options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    Elf,
    Apple,
}

impl Family {
    pub fn shared_library(self, name: &str) -> String {
        match self {
            Family::Elf => format!("lib{name}.so"),
            Family::Apple => format!("lib{name}.dylib"),
        }
    }
}

/// Which NVIDIA wheel, if any, the crate's features ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cuda {
    None,
    V12,
    V13,
}

impl Cuda {
    pub fn from_features(cuda_12: bool, cuda_13: bool) -> Result<Self, BuildError> {
        match (cuda_12, cuda_13) {
            (false, false) => Ok(Cuda::None),
            (true, false) => Ok(Cuda::V12),
            (false, true) => Ok(Cuda::V13),
            (true, true) => Err(BuildError::TwoCudaVersions),
        }
    }
}

/// The machine the crate is built for, as cargo describes it.
#[derive(Debug, Clone)]
pub struct Target {
    pub triple: String,
    pub os: String,
    pub arch: String,
    /// The C library: `gnu`, `musl` or empty.
    pub env: String,
    pub cuda: Cuda,
}

impl Target {
    pub fn from_cargo() -> Result<Self, BuildError> {
        let feature = |name: &str| std::env::var_os(name).is_some();
        Ok(Target {
            triple: cargo_variable("TARGET")?,
            os: cargo_variable("CARGO_CFG_TARGET_OS")?,
            arch: cargo_variable("CARGO_CFG_TARGET_ARCH")?,
            env: std::env::var("CARGO_CFG_TARGET_ENV").unwrap_or_default(),
            cuda: Cuda::from_features(feature("CARGO_FEATURE_CUDA_12"), feature("CARGO_FEATURE_CUDA_13"))?,
        })
    }

    pub fn family(&self) -> Result<Family, BuildError> {
        match self.os.as_str() {
            "macos" => Ok(Family::Apple),
            // Any ELF system will do for an MLX that its user built (MLX_ROOT).
            "linux" | "freebsd" => Ok(Family::Elf),
            _ => Err(self.unsupported()),
        }
    }

    /// The wheels this target needs, the one that carries MLX first. `macos` is the version of the building machine's
    /// system, where it has one: newer wheels carry kernels that older systems cannot load.
    pub fn wheels(&self, macos: Option<u32>) -> Result<Vec<Wheel>, BuildError> {
        let (mlx, libraries): (Wheel, &[Wheel]) = match (self.os.as_str(), self.arch.as_str(), self.cuda) {
            ("linux", _, _) if self.env != "gnu" => return Err(self.unsupported()),
            ("linux", "x86_64", Cuda::None) => (wheel::MLX_CPU_LINUX_X86_64, &[]),
            ("linux", "x86_64", Cuda::V12) => {
                (wheel::MLX_CUDA_12_LINUX_X86_64, &nvidia::CUDA_12_LINUX_X86_64)
            }
            ("linux", "x86_64", Cuda::V13) => {
                (wheel::MLX_CUDA_13_LINUX_X86_64, &nvidia::CUDA_13_LINUX_X86_64)
            }
            ("linux", "aarch64", Cuda::None) => (wheel::MLX_CPU_LINUX_AARCH64, &[]),
            ("linux", "aarch64", Cuda::V12) => {
                (wheel::MLX_CUDA_12_LINUX_AARCH64, &nvidia::CUDA_12_LINUX_AARCH64)
            }
            ("linux", "aarch64", Cuda::V13) => {
                (wheel::MLX_CUDA_13_LINUX_AARCH64, &nvidia::CUDA_13_LINUX_AARCH64)
            }
            ("macos", "aarch64", Cuda::None) => match macos {
                Some(26..) => (wheel::MLX_METAL_MACOS_26, &[]),
                Some(15..) => (wheel::MLX_METAL_MACOS_15, &[]),
                _ => (wheel::MLX_METAL_MACOS_14, &[]),
            },
            (_, _, Cuda::V12 | Cuda::V13) => {
                return Err(BuildError::NoCuda {
                    target: self.triple.clone(),
                })
            }
            _ => return Err(self.unsupported()),
        };
        Ok(std::iter::once(mlx).chain(libraries.iter().copied()).collect())
    }

    fn unsupported(&self) -> BuildError {
        BuildError::UnsupportedTarget {
            target: self.triple.clone(),
        }
    }
}

/// The glibc that the Linux wheels were built for (`manylinux_2_35`).
const GLIBC_NEEDED: (u32, u32) = (2, 35);
const GLIBC_NEEDED_TEXT: &str = "2.35";

/// Fails if this system's glibc is known to be too old for the wheels, which the linker would say only in terms of
/// symbol versions. `getconf_output` is what `getconf GNU_LIBC_VERSION` prints: `glibc 2.36`.
pub fn check_glibc(getconf_output: &str) -> Result<(), BuildError> {
    let Some(found) = getconf_output.trim().strip_prefix("glibc ") else {
        return Ok(());
    };
    let mut parts = found.split('.').map(str::parse::<u32>);
    match (parts.next(), parts.next()) {
        (Some(Ok(major)), Some(Ok(minor))) if (major, minor) < GLIBC_NEEDED => Err(BuildError::GlibcTooOld {
            found: found.to_owned(),
            needed: GLIBC_NEEDED_TEXT,
        }),
        _ => Ok(()),
    }
}

/// `getconf GNU_LIBC_VERSION`, or nothing where there is no such command.
pub fn host_glibc() -> String {
    output_of(Command::new("getconf").arg("GNU_LIBC_VERSION")).unwrap_or_default()
}

/// The major version of the building machine's macOS.
pub fn host_macos() -> Option<u32> {
    output_of(Command::new("sw_vers").arg("-productVersion"))
        .as_deref()
        .and_then(macos_major)
}

/// The major version in what `sw_vers -productVersion` prints: `15.3.1`.
pub fn macos_major(product_version: &str) -> Option<u32> {
    product_version.trim().split('.').next()?.parse().ok()
}

fn output_of(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()
}

fn cargo_variable(name: &'static str) -> Result<String, BuildError> {
    std::env::var(name).map_err(|_| BuildError::MissingCargoVariable { name })
}
