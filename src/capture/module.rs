//! Module records: which module lies at which address, what it owns, how often it ran.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::scope::{Scope, ScopeKind};
use super::value::ValueId;

/// What a trace knows of one module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleRecord {
    pub(crate) address: String,
    pub(crate) class: Option<String>,
    pub(crate) calls: u32,
    pub(crate) parameters: Vec<(String, ValueId)>,
}

impl ModuleRecord {
    /// Its address in the model: `layers.0`; empty for the model itself.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Its class: `Linear`, `list`; `None` where only its parameters are known.
    pub fn class(&self) -> Option<&str> {
        self.class.as_deref()
    }

    /// How often its forward ran.
    pub fn calls(&self) -> u32 {
        self.calls
    }

    /// Its own parameters by name, sorted.
    pub fn parameters(&self) -> &[(String, ValueId)] {
        &self.parameters
    }
}

/// A type's name without its path and arguments: `mlx_rs::nn::linear::Linear` is `Linear`.
pub fn class_name<M: ?Sized>() -> String {
    let full = std::any::type_name::<M>()
        .trim_start_matches('&')
        .trim_start_matches("mut ");
    let plain = full.split('<').next().unwrap_or(full);
    plain.rsplit("::").next().unwrap_or(plain).to_string()
}

/// Modules by address: those that a scope entered or a parameter names, with all that lie above.
pub(super) fn module_records(
    declared: &[(String, String)],
    scopes: &[Scope],
    parameters: &[(Arc<str>, ValueId)],
) -> Vec<ModuleRecord> {
    let mut records: BTreeMap<Vec<AddressStep>, ModuleRecord> = BTreeMap::new();
    let mut record = |address: &str| -> Vec<AddressStep> {
        let steps: Vec<AddressStep> = address
            .split('.')
            .filter(|s| !s.is_empty())
            .map(AddressStep::new)
            .collect();
        for length in 0..=steps.len() {
            let key = steps[..length].to_vec();
            let address = key.iter().map(AddressStep::as_str).collect::<Vec<_>>().join(".");
            records.entry(key).or_insert_with(|| ModuleRecord {
                address,
                class: None,
                calls: 0,
                parameters: Vec::new(),
            });
        }
        steps
    };
    record("");
    let classes: Vec<_> = declared
        .iter()
        .map(|(address, class)| (record(address), class))
        .collect();
    let scoped: Vec<_> = scopes
        .iter()
        .filter_map(|scope| match &scope.kind {
            _ if scope.anonymous => None,
            ScopeKind::Module(class) | ScopeKind::Container(class) => Some((record(&scope.address), class)),
            ScopeKind::Function(_) => None,
        })
        .collect();
    let owned: Vec<_> = parameters
        .iter()
        .map(|(address, value)| {
            let (module, name) = address.rsplit_once('.').unwrap_or(("", address));
            (record(module), name.to_string(), *value)
        })
        .collect();
    for (key, class) in scoped {
        if let Some(record) = records.get_mut(&key) {
            record.class = Some(class.clone());
            record.calls += 1;
        }
    }
    for (key, name, value) in owned {
        if let Some(record) = records.get_mut(&key) {
            record.parameters.push((name, value));
        }
    }
    for (key, class) in classes {
        if let Some(record) = records.get_mut(&key) {
            record.class.get_or_insert(class.clone());
            // The model itself ran, whether or not a scope says so.
            if key.is_empty() {
                record.calls = record.calls.max(1);
            }
        }
    }
    records.into_values().collect()
}

/// One step of an address; numbers sort as numbers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum AddressStep {
    Number(u64, String),
    Name(String),
}

impl AddressStep {
    fn new(step: &str) -> Self {
        match step.parse() {
            Ok(number) => Self::Number(number, step.to_string()),
            Err(_) => Self::Name(step.to_string()),
        }
    }

    fn as_str(&self) -> &str {
        match self {
            Self::Number(_, step) | Self::Name(step) => step,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::class_name;

    #[test]
    fn class_names_have_no_paths_or_arguments() {
        assert_eq!(class_name::<mlx_rs::nn::Linear>(), "Linear");
        assert_eq!(class_name::<Vec<mlx_rs::nn::Linear>>(), "Vec");
        assert_eq!(class_name::<&mut mlx_rs::nn::Gelu>(), "Gelu");
    }
}
