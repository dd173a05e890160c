//! What a cell is about, and how near its values came: what the scorecard and the reports group cells by.

use serde::{Deserialize, Serialize};

/// What a cell is about; the same on every device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct About {
    /// The one function or layer that the cell calls: `sum`, `layer.linear`; `None` for a cell of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The element type that it is about: the axis's, or else the first array's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtype: Option<String>,
    /// What is expected of it, by place and without what: `outputs[0].shape`, `reference`; sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expects: Vec<String>,
}

/// How far a value lies from what it must be, against how far it may lie.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Distance {
    /// What was compared: `output 0`.
    pub what: String,
    /// The expectation that it was held to: `reference`, `outputs[0].values`.
    pub at: String,
    /// The share of the tolerance that does not depend on the element.
    pub absolute: f64,
    /// The share that grows with the expected element.
    pub relative: f64,
    /// The largest error over what its element may be off by; 0 where all are equal, above 1 where some lies outside,
    /// `None` where an element is off and may not be, or is no number.
    pub ratio: Option<f64>,
}

impl Distance {
    /// The tolerance as the scorecard spells it: `reference 1e-7 1e-5`, or `reference exact`.
    pub fn tolerance(&self) -> String {
        if self.absolute == 0.0 && self.relative == 0.0 {
            return format!("{} exact", self.at);
        }
        format!("{} {:e} {:e}", self.at, self.absolute, self.relative)
    }
}

/// The tolerance spelled so, as place, absolute and relative share; `None` for any other text.
pub fn spelled_tolerance(text: &str) -> Option<(&str, f64, f64)> {
    if let Some(at) = text.strip_suffix(" exact") {
        return Some((at, 0.0, 0.0));
    }
    let (rest, relative) = text.rsplit_once(' ')?;
    let (at, absolute) = rest.rsplit_once(' ')?;
    Some((at, absolute.parse().ok()?, relative.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tolerance_is_read_as_it_is_spelled() {
        for (absolute, relative) in [(0.0, 0.0), (1e-7, 1e-5), (8e-3, 0.0)] {
            let distance = Distance {
                what: "output 0".to_owned(),
                at: "outputs[0].values".to_owned(),
                absolute,
                relative,
                ratio: None,
            };
            let text = distance.tolerance();
            assert_eq!(
                spelled_tolerance(&text),
                Some(("outputs[0].values", absolute, relative)),
                "{text}"
            );
        }
        assert_eq!(spelled_tolerance("reference"), None);
    }
}
