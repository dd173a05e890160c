//! What the suite leaves out, each with a reason: `cases/excluded.yaml`.

use serde::Deserialize;
use std::collections::BTreeMap;
use thiserror::Error;

/// The file, relative to the root. It is no case: it lies beside the schema.
pub const FILE: &str = "excluded.yaml";

/// What is left out: name or path and reason.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Excluded {
    /// Operations of mlx-c.
    pub mlx_c: BTreeMap<String, String>,
    /// Items of mlx-rs; a name that ends in `*` means all that begin so.
    pub mlx_rs: BTreeMap<String, String>,
}

/// The file cannot be read as what it should be.
#[derive(Debug, Error)]
pub enum ExcludedError {
    /// It is not readable.
    #[error("cannot read {file}: {source}")]
    Unreadable {
        /// The file.
        file: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// It does not fit.
    #[error("{file}: {message}; it holds `mlx_c:` and `mlx_rs:`, each a map from a name to the reason it is left out for")]
    Misfit {
        /// The file.
        file: String,
        /// What does not fit, with line and column.
        message: String,
    },
    /// It leaves out what does not exist, or gives no reason.
    #[error("{file}: `{name}` {what}; remove the line, or mend the name")]
    Idle {
        /// The file.
        file: String,
        /// The name.
        name: String,
        /// What is wrong with it.
        what: &'static str,
    },
}

/// Reads the file below `root`; nothing is left out where there is none.
///
/// # Errors
///
/// It is not readable, or does not fit.
pub fn read(root: &std::path::Path) -> Result<Excluded, ExcludedError> {
    let file = FILE.to_owned();
    match std::fs::read_to_string(root.join(FILE)) {
        Ok(text) => serde_yaml::from_str(&text).map_err(|error| ExcludedError::Misfit {
            file,
            message: error.to_string(),
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Excluded::default()),
        Err(source) => Err(ExcludedError::Unreadable { file, source }),
    }
}

impl Excluded {
    /// Why an operation or item is left out, if it is.
    pub fn reason<'a>(names: &'a BTreeMap<String, String>, name: &str) -> Option<&'a str> {
        let by_start = || {
            let starts = names.iter().filter(|(key, _)| key.ends_with('*'));
            starts
                .into_iter()
                .find(|(key, _)| name.starts_with(key.trim_end_matches('*')))
        };
        names
            .get_key_value(name)
            .or_else(by_start)
            .map(|(_, reason)| reason.as_str())
    }

    /// Whether every line leaves out something that exists, for a reason.
    ///
    /// # Errors
    ///
    /// The first line that does not.
    pub fn check(&self, operations: &[&str], items: &[&str]) -> Result<(), ExcludedError> {
        for (names, known) in [(&self.mlx_c, operations), (&self.mlx_rs, items)] {
            for (name, reason) in names {
                let exists = match name.strip_suffix('*') {
                    Some(start) => known.iter().any(|it| it.starts_with(start)),
                    None => known.contains(&name.as_str()),
                };
                let what = match (exists, reason.trim().is_empty()) {
                    (false, _) => "does not exist",
                    (true, true) => "has no reason",
                    (true, false) => continue,
                };
                return Err(ExcludedError::Idle {
                    file: FILE.to_owned(),
                    name: name.clone(),
                    what,
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excluded(text: &str) -> Excluded {
        serde_yaml::from_str(text).expect("the test's file is right")
    }

    #[test]
    fn a_line_that_leaves_out_nothing_or_gives_no_reason_is_a_fault() {
        let (operations, items) = (["mlx_add"], ["Array::from_int", "Array::eval"]);
        let checked = |text: &str| {
            excluded(text)
                .check(&operations, &items)
                .map_err(|error| error.to_string())
        };
        assert_eq!(
            checked("mlx_rs: {'Array::from_*': made from the host's data}"),
            Ok(())
        );
        insta::assert_snapshot!(checked("mlx_c: {mlx_sub: gone}").unwrap_err(), @"excluded.yaml: `mlx_sub` does not exist; remove the line, or mend the name");
        insta::assert_snapshot!(checked("mlx_c: {mlx_add: ' '}").unwrap_err(), @"excluded.yaml: `mlx_add` has no reason; remove the line, or mend the name");
    }

    #[test]
    fn a_star_means_all_that_begin_so() {
        let names = excluded("mlx_rs: {'Array::from_*': host, 'Array::eval': evaluates}").mlx_rs;
        assert_eq!(Excluded::reason(&names, "Array::from_int"), Some("host"));
        assert_eq!(Excluded::reason(&names, "Array::eval"), Some("evaluates"));
        assert_eq!(Excluded::reason(&names, "Array::sum"), None);
    }
}
