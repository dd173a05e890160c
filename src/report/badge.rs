//! Badges: a label and a value in a small picture, for a repository's page.

use crate::scorecard::card::Scorecard;
use crate::scorecard::changes::Version;
use crate::scorecard::decision::Label as Decided;
use crate::scorecard::label::Standing;
use crate::vocabulary::Device;
use serde::Serialize;

/// One badge, in pixels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Badge {
    /// Where it lies among the pages.
    pub path: &'static str,
    name: &'static str,
    value: String,
    left: usize,
    right: usize,
    width: usize,
    tone: &'static str,
}

/// How wide a letter is drawn.
const LETTER: usize = 7;

/// The badges: label, supported capabilities, coverage.
pub fn badges(version: &Version, device: Device, label: &Standing) -> Vec<Badge> {
    let (supported, of) = version.card.supported(device);
    let (covered, names) = coverage(&version.card, device);
    let tone = match (label.label, label.holds()) {
        (Decided::Preview, _) => "open",
        (_, true) => "good",
        (_, false) => "bad",
    };
    let share = |part, of| if part == of { "good" } else { "open" };
    vec![
        badge("badges/label.svg", "mlx capture", label.phrase(), tone),
        badge(
            "badges/capabilities.svg",
            "capabilities",
            format!("{supported}/{of} supported"),
            share(supported, of),
        ),
        badge(
            "badges/coverage.svg",
            "coverage",
            format!("{covered}/{names}"),
            share(covered, names),
        ),
    ]
}

/// How many names of mlx-c and mlx-rs are covered, of those that are not left out.
pub fn coverage(card: &Scorecard, device: Device) -> (usize, usize) {
    let columns = card.surface.iter().filter_map(|row| row.devices.get(&device));
    columns.fold((0, 0), |(covered, all), it| {
        let here = it.covered.len();
        (covered + here, all + here + it.partial.len() + it.missing.len())
    })
}

fn badge(path: &'static str, name: &'static str, value: String, tone: &'static str) -> Badge {
    let left = name.chars().count() * LETTER + 12;
    let right = value.chars().count() * LETTER + 12;
    Badge {
        path,
        name,
        value,
        left,
        right,
        width: left + right,
        tone,
    }
}
