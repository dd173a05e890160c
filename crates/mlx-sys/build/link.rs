//! How the C layer is linked.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::target::Family;

/// The linker options that give a library its name and tell it where libmlx is. Each goes through `-Xlinker`, because
/// `-Wl` would split a path at its commas.
pub fn options(home: &Path, mlx_library_dir: &Path, family: Family) -> Vec<OsString> {
    let home = home.as_os_str();
    let mlx = mlx_library_dir.as_os_str();
    let (kind, linker): (&str, Vec<&OsStr>) = match family {
        Family::Elf => (
            "-shared",
            vec![
                "-soname".as_ref(),
                home,
                // The old kind of rpath: it comes before LD_LIBRARY_PATH, where another version of MLX may lie.
                "--disable-new-dtags".as_ref(),
                "-rpath".as_ref(),
                mlx,
                // A symbol that neither mlx-c nor MLX has is an error here, not at the first call.
                "--no-undefined".as_ref(),
            ],
        ),
        Family::Apple => (
            "-dynamiclib",
            vec!["-install_name".as_ref(), home, "-rpath".as_ref(), mlx],
        ),
    };
    let linker = linker
        .into_iter()
        .flat_map(|option| ["-Xlinker".as_ref(), option]);
    std::iter::once(OsStr::new(kind))
        .chain(linker)
        .map(OsStr::to_os_string)
        .collect()
}
