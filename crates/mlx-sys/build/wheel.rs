//! The wheels this crate uses, pinned by version and content.

/// A wheel on a Python package index. Its content is fixed by `sha256`; the rest only says how to find it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wheel {
    pub distribution: &'static str,
    pub version: &'static str,
    /// The platform tag to ask pip for.
    pub platform: &'static str,
    pub sha256: &'static str,
}

impl Wheel {
    /// The wheel in words, for messages.
    pub fn describe(&self) -> String {
        format!("{} {} for {}", self.distribution, self.version, self.platform)
    }
}

/// The version of MLX that mlx-c, as carried by mlx-sys 0.7.0, was written for.
pub const MLX_VERSION: &str = "0.32.2";

const LIBCLANG_VERSION: &str = "18.1.1";

const fn mlx(distribution: &'static str, platform: &'static str, sha256: &'static str) -> Wheel {
    Wheel {
        distribution,
        version: MLX_VERSION,
        platform,
        sha256,
    }
}

const fn libclang(platform: &'static str, sha256: &'static str) -> Wheel {
    Wheel {
        distribution: "libclang",
        version: LIBCLANG_VERSION,
        platform,
        sha256,
    }
}

pub const MLX_CPU_LINUX_X86_64: Wheel = mlx(
    "mlx-cpu",
    "manylinux_2_35_x86_64",
    "fc5d31b90fc4f457b2f9614ed45651a567d22a6a11a03d114a90a4e10bdd8878",
);
pub const MLX_CPU_LINUX_AARCH64: Wheel = mlx(
    "mlx-cpu",
    "manylinux_2_35_aarch64",
    "d0f94625588b51a878786dd51cec5617894ce586cf3c94645ce1b64e24c27c0b",
);
pub const MLX_CUDA_12_LINUX_X86_64: Wheel = mlx(
    "mlx-cuda-12",
    "manylinux_2_35_x86_64",
    "35445ead9724855826f310b9085d57137d0a2c5381cc293cb6d86b03bb4feadf",
);
pub const MLX_CUDA_12_LINUX_AARCH64: Wheel = mlx(
    "mlx-cuda-12",
    "manylinux_2_35_aarch64",
    "c794c697dcd28e00a51ce8813189ece1a8c62559de7cc5e27803cc591f55df05",
);
pub const MLX_CUDA_13_LINUX_X86_64: Wheel = mlx(
    "mlx-cuda-13",
    "manylinux_2_35_x86_64",
    "335094ccd1c0c6dc3e09c8caba207c8180602bacc0c38ba20c1d81e9456ab394",
);
pub const MLX_CUDA_13_LINUX_AARCH64: Wheel = mlx(
    "mlx-cuda-13",
    "manylinux_2_35_aarch64",
    "49b1a25df9021f3b519a534fd39a32a5cdbf93a1b265a31e59671c2d9fc9f4a2",
);
pub const MLX_METAL_MACOS_14: Wheel = mlx(
    "mlx-metal",
    "macosx_14_0_arm64",
    "3825fff379dbc107dd3413e564a06caeaa24819910ec49c0439e454c06a1b9b8",
);
pub const MLX_METAL_MACOS_15: Wheel = mlx(
    "mlx-metal",
    "macosx_15_0_arm64",
    "55a369250d220b2cf10213a87a2ac1b1a420608c5b35b1df4e7147ac8e32f121",
);
pub const MLX_METAL_MACOS_26: Wheel = mlx(
    "mlx-metal",
    "macosx_26_0_arm64",
    "e6abeac9ac5265830c9c1541b6f96e9be37a85c2446763a46ad466c63a3837ab",
);

pub const LIBCLANG_LINUX_X86_64: Wheel = libclang(
    "manylinux2010_x86_64",
    "c533091d8a3bbf7460a00cb6c1a71da93bffe148f172c7d03b1c31fbf8aa2a0b",
);
pub const LIBCLANG_LINUX_AARCH64: Wheel = libclang(
    "manylinux2014_aarch64",
    "54dda940a4a0491a9d1532bf071ea3ef26e6dbaf03b5000ed94dd7174e8f9592",
);
pub const LIBCLANG_MACOS_ARM64: Wheel = libclang(
    "macosx_11_0_arm64",
    "0b2e143f0fac830156feb56f9231ff8338c20aecfe72b4ffe96f19e5a1dbb69a",
);

/// The libclang for the machine that builds, by `std::env::consts::{OS, ARCH}`.
pub fn libclang_for(os: &str, arch: &str) -> Option<Wheel> {
    match (os, arch) {
        ("linux", "x86_64") => Some(LIBCLANG_LINUX_X86_64),
        ("linux", "aarch64") => Some(LIBCLANG_LINUX_AARCH64),
        ("macos", "aarch64") => Some(LIBCLANG_MACOS_ARM64),
        _ => None,
    }
}
