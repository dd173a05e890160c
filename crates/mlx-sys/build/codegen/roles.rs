//! What an array operand means to a perturbation, from the override file `roles.toml`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::classify::{Class, Function, Kind};

/// The roles that a file may name; `value` is what no line overrides.
const ROLES: &[(&str, &str)] = &[
    ("value", "Value"),
    ("index", "Index"),
    ("count", "Count"),
    ("divisor", "Divisor"),
    ("key", "Key"),
    ("packed", "Packed"),
];

/// Why the roles could not be read or assigned.
#[derive(Debug, thiserror::Error)]
pub enum RolesError {
    #[error("reading the roles of operands {path}")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{path}: not a table of roles")]
    Parse { path: PathBuf, source: toml::de::Error },
    #[error(
        "roles.toml: {place} has role {role:?}; the roles are value, index, count, divisor, key, packed"
    )]
    UnknownRole { place: String, role: String },
    #[error("roles.toml: {place} matches no array operand of any operation")]
    Unmatched { place: String },
}

/// The override file.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Roles {
    /// Parameter name to role, in every function.
    parameters: BTreeMap<String, String>,
    /// Function to parameter name to role; wins over `parameters`.
    functions: BTreeMap<String, BTreeMap<String, String>>,
}

/// The role's variant name for each argument of each function.
pub type Assigned = Vec<Vec<&'static str>>;

impl Roles {
    pub fn load(path: &Path) -> Result<Self, RolesError> {
        let text = std::fs::read_to_string(path).map_err(|source| RolesError::Read {
            path: path.to_path_buf(),
            source,
        })?;
        toml::from_str(&text).map_err(|source| RolesError::Parse {
            path: path.to_path_buf(),
            source,
        })
    }

    /// One role for each argument; a line of the file that matches nothing is an error, since it is a typing
    /// mistake or mlx-c changed under it.
    pub fn assign(&self, functions: &[Function]) -> Result<Assigned, RolesError> {
        self.all_match(functions)?;
        functions
            .iter()
            .map(|function| {
                function
                    .arguments
                    .iter()
                    .map(|argument| {
                        let own = self.functions.get(&function.declaration.name);
                        let role = own
                            .and_then(|own| own.get(&argument.name))
                            .or_else(|| self.parameters.get(&argument.name))
                            .filter(|_| is_operand(argument.kind));
                        match role {
                            None => Ok("Value"),
                            Some(role) => variant(role).ok_or_else(|| RolesError::UnknownRole {
                                place: format!("{}.{}", function.declaration.name, argument.name),
                                role: role.clone(),
                            }),
                        }
                    })
                    .collect()
            })
            .collect()
    }

    fn all_match(&self, functions: &[Function]) -> Result<(), RolesError> {
        let has = |function: Option<&str>, parameter: &str| {
            functions
                .iter()
                .filter(|f| matches!(f.class, Class::Operation | Class::Other))
                .filter(|f| function.is_none_or(|name| f.declaration.name == name))
                .flat_map(|f| &f.arguments)
                .any(|a| a.name == parameter && is_operand(a.kind))
        };
        for parameter in self.parameters.keys() {
            if !has(None, parameter) {
                return Err(RolesError::Unmatched {
                    place: parameter.clone(),
                });
            }
        }
        for (function, parameters) in &self.functions {
            for parameter in parameters.keys() {
                if !has(Some(function), parameter) {
                    return Err(RolesError::Unmatched {
                        place: format!("{function}.{parameter}"),
                    });
                }
            }
        }
        Ok(())
    }
}

fn is_operand(kind: Kind) -> bool {
    matches!(kind, Kind::Array | Kind::Arrays | Kind::ArrayMap)
}

fn variant(role: &str) -> Option<&'static str> {
    ROLES
        .iter()
        .find(|(name, _)| *name == role)
        .map(|(_, variant)| *variant)
}
