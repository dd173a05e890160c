//! `scorecards/mlx.decision.yaml`: the label, and who decided on it, when, why, and on which scorecard. A person writes
//! it; nothing here writes `stable`.

use super::lines::ReadError;
use super::text_file;
use serde::{Deserialize, Serialize};

/// The file, relative to the root.
pub const FILE: &str = "scorecards/mlx.decision.yaml";

/// What may be said of the backend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Label {
    /// Promises nothing.
    #[default]
    Preview,
    /// What the scorecard shows stays so.
    Stable,
}

impl Label {
    /// As files and people spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Label::Preview => "preview",
            Label::Stable => "stable",
        }
    }
}

/// A decision.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// What was decided.
    pub label: Label,
    /// Who did.
    pub who: String,
    /// When, as `2026-11-29`.
    pub when: String,
    /// Why.
    pub why: String,
    /// The revision of the repository whose scorecard was decided on.
    pub revision: String,
    /// That scorecard's digest.
    pub digest: String,
    /// What it was run from.
    pub digests: Digests,
}

/// What a run depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Digests {
    /// All cases' files.
    pub cases: String,
    /// The harness's sources.
    pub harness: String,
    /// The sources of the backend under test.
    pub backend: String,
}

impl Decision {
    /// Reads the content of `file`.
    pub fn read(file: &str, text: &str) -> Result<Self, ReadError> {
        let decision: Self = text_file::read(file, text)?;
        let fields = [
            ("who", &decision.who, "say who decided"),
            ("when", &decision.when, "say when, as in 2026-11-29"),
            ("why", &decision.why, "say why"),
            ("revision", &decision.revision, "`assay gate` prints it"),
            ("digest", &decision.digest, "`assay gate` prints it"),
        ];
        if let Some((field, _, message)) = fields.into_iter().find(|(_, value, _)| value.trim().is_empty()) {
            return Err(ReadError::Misfit {
                file: file.to_owned(),
                path: field.to_owned(),
                message: format!("is blank: {message}"),
            });
        }
        Ok(decision)
    }

    /// The decision to paste, with `who` and `why` left to whoever decides.
    pub fn to_paste(&self) -> String {
        let Self {
            when,
            revision,
            digest,
            digests,
            label,
            ..
        } = self;
        format!(
            "label: {}\nwho: \"\"\nwhen: {when}\nwhy: \"\"\nrevision: {revision}\ndigest: {digest}\n\
             digests: {{cases: {}, harness: {}, backend: {}}}\n",
            label.name(),
            digests.cases,
            digests.harness,
            digests.backend
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_to_paste_is_a_decision_once_who_and_why_are_said() {
        let decision = Decision {
            label: Label::Stable,
            when: "2026-11-29".to_owned(),
            revision: "0123".to_owned(),
            digest: "4567".to_owned(),
            ..Decision::default()
        };
        let text = decision.to_paste();
        let error = Decision::read("d.yaml", &text)
            .expect_err("who is blank")
            .to_string();
        assert!(error.contains("d.yaml at `who`: is blank"), "{error}");
        let text = text
            .replace("who: \"\"", "who: me")
            .replace("why: \"\"", "why: because");
        let read = Decision::read("d.yaml", &text).expect("a decision");
        assert_eq!((read.label, read.digest.as_str()), (Label::Stable, "4567"));
        let error = Decision::read("d.yaml", &format!("{text}whom: me\n")).expect_err("unknown");
        assert!(error.to_string().contains("unknown field `whom`"), "{error}");
    }
}
