//! A range of versions, as `requires.mlx:` writes it.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use semver::{Version, VersionReq};
use serde::{de, Deserialize, Deserializer};
use std::fmt;

/// Versions that fit: `">= 0.33"`, or `">= 0.32, < 0.34"`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versions(VersionReq);

impl Versions {
    /// Whether a version fits; text that is no version never does.
    pub fn fit(&self, version: &str) -> bool {
        // A build from between two releases counts as the next one, which it is called after.
        let release = version
            .split(['-', '+', '.'])
            .take(3)
            .collect::<Vec<_>>()
            .join(".");
        Version::parse(&release).is_ok_and(|version| self.0.matches(&version))
    }
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for Versions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong = |error| {
            de::Error::custom(format!(
                "`{text}` is no range of versions ({error}); write one as in \">= 0.33\" or \">= 0.32, < 0.34\""
            ))
        };
        VersionReq::parse(&text).map(Versions).map_err(wrong)
    }
}

impl JsonSchema for Versions {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Versions".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"type": "string", "examples": [">= 0.33"]})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(range: &str, version: &str) -> bool {
        let range: Versions = serde_json::from_value(range.into()).expect("a range");
        range.fit(version)
    }

    #[test]
    fn versions_fit_a_range() {
        assert!(fits(">= 0.32", "0.32.2") && fits(">= 0.32, < 0.34", "0.33.0"));
        assert!(!fits(">= 0.33", "0.32.2") && !fits(">= 0.1", "unknown"));
        assert!(fits(">= 0.33", "0.33.0.dev20260101"));
        assert!(serde_json::from_value::<Versions>("newest".into()).is_err());
    }
}
