//! The C++ compiler: which it is, compiling and linking with it.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use cc::{BuildMessage, BuildMessageKind, BuildMessageLogger};

use crate::error::BuildError;
use crate::link;
use crate::mlx::Mlx;
use crate::native::{Sources, COMPAT};
use crate::target::{Family, Target};

/// What a capture costs is made here: below this, the walk through MLX's graph is not inlined.
const OPT_LEVEL: u32 = 2;

pub struct Compiler {
    build: cc::Build,
    tool: cc::Tool,
    messages: Arc<Messages>,
    /// What distinguishes this compiler's output from another's: its path, version and options.
    pub identity: String,
}

impl Compiler {
    pub fn find(sources: &Sources, target: &Target) -> Result<Self, BuildError> {
        let messages = Arc::new(Messages::default());
        let mut build = cc::Build::new();
        build
            .cpp(true)
            .std("c++20")
            // All profiles share one library.
            .opt_level(OPT_LEVEL)
            .debug(false)
            .force_frame_pointer(false)
            .inherit_rustflags(false)
            .pic(true)
            // mlx-c's warnings are not ours to act on.
            .warnings(false)
            .cargo_warnings(false)
            .message_logger(Some(messages.clone()));
        if target.os == "macos" {
            // The oldest system that has MLX; cc would take rustc's default, which lacks `std::format`.
            build.flag("-mmacosx-version-min=14.0");
        }
        let missing = |detail: String| BuildError::NoCompiler { detail };
        // Taken before the include path, so that two checkouts of this crate share what they compile: what the path
        // leads to is known by content.
        let tool = build
            .try_get_compiler()
            .map_err(|error| missing(error.to_string()))?;
        let version = Command::new(tool.path()).arg("--version").output();
        let version = version.map_err(|error| missing(format!("{}: {error}", tool.path().display())))?;
        let identity = format!(
            "{} {} {:?} {}",
            target.triple,
            tool.path().display(),
            tool.args(),
            String::from_utf8_lossy(&version.stdout),
        );
        build
            .flag("-include")
            .flag(sources.native_dir.join(COMPAT))
            .includes(sources.mlx.include_dirs())
            .include(sources.mlx_c_root)
            .include(sources.native_dir);
        Ok(Compiler {
            build,
            tool,
            messages,
            identity,
        })
    }

    /// Compiles `files`, each into an object file in `folder`.
    pub fn compile(&self, files: &[PathBuf], folder: &Path) -> Result<(), BuildError> {
        let result = self
            .build
            .clone()
            .files(files)
            .out_dir(folder)
            .try_compile_intermediates();
        result.map(drop).map_err(|error| {
            let said = self.messages.said();
            BuildError::Compile {
                detail: if said.is_empty() { error.to_string() } else { said },
            }
        })
    }

    /// Links `objects` into `output`, which will be moved to `home`.
    pub fn link(
        &self,
        objects: &[PathBuf],
        output: &Path,
        home: &Path,
        mlx: &Mlx,
        family: Family,
    ) -> Result<(), BuildError> {
        let mut command = self.tool.to_command();
        command
            .arg("-o")
            .arg(output)
            .args(objects)
            .arg(mlx.library(family));
        command.args(link::options(home, &mlx.library_dir(), family));
        let failed = |detail: String| BuildError::Link {
            library: home.to_path_buf(),
            detail,
        };
        let result = command.output().map_err(|error| failed(error.to_string()))?;
        if !result.status.success() {
            return Err(failed(String::from_utf8_lossy(&result.stderr).trim().to_owned()));
        }
        if !output.is_file() {
            return Err(failed(format!(
                "`{}` reported success and wrote nothing",
                self.tool.path().display()
            )));
        }
        Ok(())
    }
}

/// What the compiler said, for the error; cc's own errors tell only the command.
#[derive(Default)]
struct Messages {
    lines: Mutex<Vec<String>>,
}

impl Messages {
    /// More lines than these are the consequences of the first.
    const SHOWN: usize = 30;

    fn said(&self) -> String {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let shown = lines
            .iter()
            .take(Self::SHOWN)
            .map(String::as_str)
            .collect::<Vec<_>>();
        shown.join("\n")
    }
}

impl BuildMessageLogger for Messages {
    fn log(&self, kind: BuildMessageKind, message: BuildMessage<'_>, _extra: &dyn Any) {
        if matches!(kind, BuildMessageKind::StderrForwarding) {
            self.lines
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(message.to_string());
        }
    }
}
