//! What can go wrong, said so that the reader knows what was being done, with what, and what to do about it.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error("cargo did not set `{name}` for the build script")]
    MissingCargoVariable { name: &'static str },

    #[error("{variable} is the relative path `{}`", path.display())]
    RelativePath { variable: &'static str, path: PathBuf },

    #[error("there is no prebuilt MLX for the target `{target}`")]
    UnsupportedTarget { target: String },

    #[error(
        "the features `cuda-12` and `cuda-13` of mlx-sys are both on, and one program can load only one MLX"
    )]
    TwoCudaVersions,

    #[error("there is no MLX for CUDA for the target `{target}`")]
    NoCuda { target: String },

    #[error("prebuilt MLX needs glibc {needed} or newer, and this system has {found}")]
    GlibcTooOld { found: String, needed: &'static str },

    #[error("`{python}` could not be run to fetch {what}: {detail}")]
    PythonMissing {
        python: String,
        what: String,
        detail: String,
    },

    #[error("`{python}` has no pip, which is needed to fetch {what}")]
    PipMissing { python: String, what: String },

    #[error("pip could not reach a package index to fetch {what}: {detail}")]
    Unreachable { what: String, detail: String },

    #[error("pip found no {what}: {detail}")]
    WheelNotFound { what: String, detail: String },

    #[error("pip failed while fetching {what}: {detail}")]
    PipFailed { what: String, detail: String },

    #[error("the wheel of {what} is not the one pinned here: expected sha256 {expected}, found {found}")]
    WrongHash {
        what: String,
        expected: &'static str,
        found: String,
    },

    #[error("could not unpack `{}`: {detail}", wheel.display())]
    Unpack { wheel: PathBuf, detail: String },

    #[error("could not {action} `{}`", path.display())]
    File {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },

    #[error("{origin} names `{}`, which lacks `{missing}`", root.display())]
    IncompleteMlx {
        origin: &'static str,
        root: PathBuf,
        missing: String,
    },

    #[error("`{}` does not tell MLX's version", path.display())]
    UnreadableVersion { path: PathBuf },

    #[error("MLX in `{}` is version {found}, and mlx-c was written for {expected}", root.display())]
    WrongMlxVersion {
        root: PathBuf,
        found: String,
        expected: &'static str,
    },

    #[error("could not locate the published mlx-sys {version}, which carries mlx-c's sources: {detail}")]
    MlxCNotLocated { version: &'static str, detail: String },

    #[error("mlx-c's sources are not in `{}`: it lacks `{missing}`", root.display())]
    IncompleteMlxC { root: PathBuf, missing: String },

    #[error("no C++ compiler for MLX's C layer: {detail}")]
    NoCompiler { detail: String },

    #[error("could not compile MLX's C layer: {detail}")]
    Compile { detail: String },

    #[error("could not link MLX's C layer into `{}`: {detail}", library.display())]
    Link { library: PathBuf, detail: String },

    #[error("LIBCLANG_PATH is `{path}`, where no usable libclang is: {detail}")]
    WrongLibclang { path: String, detail: String },

    #[error("no libclang was found, and none is pinned for this machine: {detail}")]
    NoLibclang { detail: String },

    #[error("the libclang fetched from PyPI could not be loaded: {detail}")]
    LibclangUnusable { detail: String },

    #[error("bindgen could not read mlx-c's headers: {detail}")]
    Bindings { detail: String },

    #[error("could not generate the observable functions")]
    Codegen(#[from] crate::codegen::CodegenError),
}

impl BuildError {
    pub fn file(action: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        BuildError::File {
            action,
            path: path.into(),
            source,
        }
    }

    /// What to install, set or report.
    pub fn remedy(&self) -> &'static str {
        match self {
            BuildError::MissingCargoVariable { .. } => "run the build through cargo",
            BuildError::RelativePath { .. } => {
                "use an absolute path: cargo runs build scripts in the package's own folder"
            }
            BuildError::UnsupportedTarget { .. } => {
                "prebuilt MLX exists for Linux with glibc (x86-64, aarch64) and for macOS on Apple silicon; \
                 elsewhere build MLX 0.32.2 as a shared library and set MLX_ROOT to where it is installed"
            }
            BuildError::TwoCudaVersions => "turn on one of the two",
            BuildError::NoCuda { .. } => "turn the features `cuda-12` and `cuda-13` of mlx-sys off",
            BuildError::GlibcTooOld { .. } => {
                "use a newer distribution, or build MLX 0.32.2 as a shared library here and set MLX_ROOT to \
                 where it is installed"
            }
            BuildError::PythonMissing { .. } => {
                "install Python 3 with pip (Debian: apt-get install python3-pip), or set PYTHON to an \
                 interpreter; to do without, set MLX_ROOT to an installed MLX 0.32.2 and install libclang"
            }
            BuildError::PipMissing { .. } => {
                "install pip (Debian: apt-get install python3-pip; elsewhere: python3 -m ensurepip), or set \
                 PYTHON to an interpreter that has it; to do without, set MLX_ROOT to an installed MLX 0.32.2 \
                 and install libclang"
            }
            BuildError::Unreachable { .. } => {
                "check the network and pip's configuration; offline, set PIP_FIND_LINKS to a folder that holds \
                 the wheel, or set MLX_ROOT to an installed MLX 0.32.2 and install libclang"
            }
            BuildError::WheelNotFound { .. } => {
                "check which index pip uses (`pip config list`); set PIP_FIND_LINKS to a folder that holds the \
                 wheel, or set MLX_ROOT to an installed MLX 0.32.2 and install libclang"
            }
            BuildError::PipFailed { .. } => {
                "run the same `pip download` by hand to see all of its output; PYTHON chooses the interpreter, \
                 and MLX_ROOT with an installed libclang does without pip"
            }
            BuildError::WrongHash { .. } => {
                "do not use that file: clear pip's cache (`pip cache purge`), check which index pip uses \
                 (`pip config list`) and build again"
            }
            BuildError::Unpack { .. } => "check that the disk has room and build again",
            BuildError::File { .. } => {
                "check the path and its permissions; MLX_SYS_CACHE chooses another folder for the native libraries"
            }
            BuildError::IncompleteMlx { .. } => {
                "MLX_ROOT must name the folder of an installed MLX 0.32.2 that holds include/mlx and a shared \
                 library in lib (in a Python environment: site-packages/mlx); if the folder is mlx-sys's own \
                 cache, delete it and build again"
            }
            BuildError::UnreadableVersion { .. } => {
                "set MLX_ROOT to the folder of an installed MLX 0.32.2, or unset it to use the prebuilt one"
            }
            BuildError::WrongMlxVersion { .. } => {
                "set MLX_ROOT to an MLX of that version, or unset it to use the prebuilt one"
            }
            BuildError::MlxCNotLocated { .. } => {
                "the first build needs crates.io or a vendored copy (`cargo vendor --sync \
                 crates/mlx-sys/upstream/Cargo.toml`); without either set MLX_C_ROOT to mlx-c's sources"
            }
            BuildError::IncompleteMlxC { .. } => {
                "set MLX_C_ROOT to the folder that holds mlx/c (in the published mlx-sys 0.7.0: src/mlx-c), or \
                 unset it"
            }
            BuildError::NoCompiler { .. } => {
                "install one that knows C++20 (Debian: apt-get install g++; macOS: xcode-select --install), or \
                 set CXX"
            }
            BuildError::Compile { .. } => "CXX chooses another compiler; it must know C++20, as GCC 11 and Clang 14 do",
            BuildError::Link { .. } => "CXX chooses the compiler that also links",
            BuildError::WrongLibclang { .. } => {
                "set LIBCLANG_PATH to the folder that holds libclang, or unset it to use an installed or fetched one"
            }
            BuildError::NoLibclang { .. } => {
                "install libclang (Debian: apt-get install libclang-dev; macOS: xcode-select --install), or set \
                 LIBCLANG_PATH to the folder that holds it"
            }
            BuildError::LibclangUnusable { .. } => {
                "install libclang (Debian: apt-get install libclang-dev; macOS: xcode-select --install) and set \
                 LIBCLANG_PATH to the folder that holds it"
            }
            BuildError::Bindings { .. } => {
                "check that a C compiler's headers are installed (Debian: apt-get install gcc libc6-dev); \
                 LIBCLANG_PATH chooses another libclang"
            }
            BuildError::Codegen(_) => {
                "the error above names the place; mlx-sys 0.7.0's own mlx-c needs no change, so unset MLX_C_ROOT if it is set"
            }
        }
    }
}
