//! SHA-256 over files and texts: what the pins are checked against and what cache entries are named by.

use std::fs::File;
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::error::BuildError;
use crate::files;

/// How much of a digest goes into a name: enough that two contents never meet, short enough to read.
const NAME_LENGTH: usize = 16;

pub fn of_file(path: &Path) -> Result<String, BuildError> {
    let read = |path: &Path| {
        let mut digest = Sha256::new();
        io::copy(&mut File::open(path)?, &mut Writer(&mut digest))?;
        Ok(hex(&digest.finalize()))
    };
    read(path).map_err(|source| BuildError::file("read", path, source))
}

/// A key made of named parts, such as `compiler` and its version.
#[derive(Default)]
pub struct Key {
    digest: Sha256,
}

impl Key {
    /// Adds a part. Lengths keep two parts from running into one another.
    pub fn part(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        let value = value.as_ref();
        self.digest.update(format!("{name}\0{}\0", value.len()));
        self.digest.update(value);
        self
    }

    /// Adds the names and contents of all files below `root` that `keep` admits.
    pub fn tree(mut self, name: &str, root: &Path, keep: impl Fn(&Path) -> bool) -> Result<Self, BuildError> {
        let mut files = files::below(root)?;
        files.retain(|file| keep(file));
        for file in files {
            let relative = file.strip_prefix(root).unwrap_or(&file);
            let content = of_file(&file)?;
            self = self.part(name, format!("{}\0{content}", relative.display()));
        }
        Ok(self)
    }

    pub fn finish(self) -> String {
        let mut text = hex(&self.digest.finalize());
        text.truncate(NAME_LENGTH);
        text
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `io::copy` wants a writer, which sha2's digest is only with a feature that nothing else here needs.
struct Writer<'a>(&'a mut Sha256);

impl io::Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
