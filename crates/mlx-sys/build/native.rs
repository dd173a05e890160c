//! The C layer: mlx-c and this crate's own C++ files, in one shared library.
//!
//! The library is named, in itself and so in all that links to it, by its absolute path in the cache, and it knows where
//! libmlx lies. Binaries therefore start from anywhere, without a loader path: also installed and downstream ones, whose
//! link options a build script cannot influence.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache::Cache;
use crate::digest::Key;
use crate::error::BuildError;
use crate::files;
use crate::mlx::Mlx;
use crate::target::{Family, Target};

/// The header that is included before everything else.
pub const COMPAT: &str = "compat.h";

/// Thin wrappers gain nothing from more, and the build is twice as long at 2.
const OPT_LEVEL: u32 = 1;

/// Sets of sources as the compiler sees them.
pub struct Sources<'a> {
    pub mlx: &'a Mlx,
    pub mlx_c_root: &'a Path,
    /// This crate's own C++ files.
    pub native_dir: &'a Path,
}

/// Builds the library, unless the cache has it, and returns its path.
pub fn build(sources: &Sources, target: &Target, cache: &Cache) -> Result<PathBuf, BuildError> {
    let family = target.family()?;
    let compiler = Compiler::find(sources, target)?;

    // mlx-c takes a minute to compile and never changes, this crate's own files take seconds and do: apart, so that an
    // edit here costs only those.
    let mlx_c = sources.mlx_c_root.join("mlx/c");
    let objects_key = Key::default()
        .part("compiler", &compiler.identity)
        .part("mlx", &sources.mlx.identity)
        .part("compat", files::read(&sources.native_dir.join(COMPAT))?)
        .tree("mlx-c", &mlx_c, |_| true)?
        .finish();
    let objects = cache.entry(&format!("mlx-c-objects-{objects_key}"), |folder| {
        compiler.compile(&files::with_extension(&mlx_c, "cpp")?, folder)
    })?;

    let file_name = family.shared_library("mlxc");
    let key = Key::default()
        .part("objects", &objects_key)
        .tree("native", sources.native_dir, |_| true)?
        // The library holds both paths, so it is worth nothing in another place.
        .part("root", cache.root().as_os_str().as_encoded_bytes())
        .part("libmlx", sources.mlx.root.as_os_str().as_encoded_bytes())
        .finish();
    let name = format!("mlxc-{key}");
    let library = cache.path(&name).join(&file_name);
    cache.entry(&name, |folder| {
        let own = folder.join("objects");
        fs::create_dir_all(&own).map_err(|source| BuildError::file("create", &own, source))?;
        compiler.compile(&files::with_extension(sources.native_dir, "cpp")?, &own)?;
        let all = [
            files::with_extension(&objects, "o")?,
            files::with_extension(&own, "o")?,
        ]
        .concat();
        compiler.link(&all, &folder.join(&file_name), &library, sources.mlx, family)?;
        fs::remove_dir_all(&own).map_err(|source| BuildError::file("remove", &own, source))
    })?;
    Ok(library)
}

struct Compiler {
    build: cc::Build,
    tool: cc::Tool,
    identity: String,
}

impl Compiler {
    fn find(sources: &Sources, target: &Target) -> Result<Self, BuildError> {
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
            .flag("-w")
            .flag("-include")
            .flag(sources.native_dir.join(COMPAT))
            .includes(sources.mlx.include_dirs())
            .include(sources.mlx_c_root)
            .include(sources.native_dir);
        if target.os == "macos" {
            // The oldest system that has MLX; cc would take rustc's default, which lacks `std::format`.
            build.flag("-mmacosx-version-min=14.0");
        }
        let tool = build.try_get_compiler().map_err(|error| BuildError::NoCompiler {
            detail: error.to_string(),
        })?;
        let version = Command::new(tool.path())
            .arg("--version")
            .output()
            .map_err(|error| BuildError::NoCompiler {
                detail: format!("{}: {error}", tool.path().display()),
            })?;
        let identity = format!(
            "{} {} {:?} {}",
            target.triple,
            tool.path().display(),
            tool.args(),
            String::from_utf8_lossy(&version.stdout),
        );
        Ok(Compiler {
            build,
            tool,
            identity,
        })
    }

    /// Compiles `files`, each into an object file in `folder`.
    fn compile(&self, files: &[PathBuf], folder: &Path) -> Result<(), BuildError> {
        self.build
            .clone()
            .files(files)
            .out_dir(folder)
            .try_compile_intermediates()
            .map(drop)
            .map_err(|error| BuildError::Compile {
                detail: error.to_string(),
            })
    }

    /// Links `objects` into `output`, which will be moved to `home`.
    fn link(
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
        command.args(link_options(home, &mlx.library_dir(), family));
        let failed = |detail: String| BuildError::Link {
            library: home.to_path_buf(),
            detail,
        };
        let result = command.output().map_err(|error| failed(error.to_string()))?;
        if result.status.success() {
            return Ok(());
        }
        Err(failed(String::from_utf8_lossy(&result.stderr).trim().to_owned()))
    }
}

/// The linker options that give a library its name and tell it where libmlx is. Each goes through `-Xlinker`, because
/// `-Wl` would split a path at its commas.
pub fn link_options(home: &Path, mlx_library_dir: &Path, family: Family) -> Vec<std::ffi::OsString> {
    let linker: Vec<&OsStr> = match family {
        Family::Elf => vec![
            OsStr::new("-soname"),
            home.as_os_str(),
            // The old kind of rpath: it comes before LD_LIBRARY_PATH, where another version of MLX may lie.
            OsStr::new("--disable-new-dtags"),
            OsStr::new("-rpath"),
            mlx_library_dir.as_os_str(),
            // A symbol that neither mlx-c nor MLX has is an error here, not at the first call.
            OsStr::new("--no-undefined"),
        ],
        Family::Apple => {
            vec![
                OsStr::new("-install_name"),
                home.as_os_str(),
                OsStr::new("-rpath"),
                mlx_library_dir.as_os_str(),
            ]
        }
    };
    let kind = match family {
        Family::Elf => "-shared",
        Family::Apple => "-dynamiclib",
    };
    let options = linker
        .into_iter()
        .flat_map(|option| [OsStr::new("-Xlinker"), option]);
    std::iter::once(OsStr::new(kind))
        .chain(options)
        .map(OsStr::to_os_string)
        .collect()
}
