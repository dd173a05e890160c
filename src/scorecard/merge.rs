//! Joins the outcomes of several runs: shards of one device, and devices.

use super::outcome::Outcome;
use super::outcomes::{Origin, Outcomes};
use crate::vocabulary::Device;
use std::collections::BTreeMap;
use thiserror::Error;

/// Outcomes that must not be joined.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MergeError {
    /// One is of other cases than this root's.
    #[error("{file} is about another {case} than the one here; check out the revision that it was made from, or run again")]
    OtherCase {
        /// The file of outcomes.
        file: String,
        /// The case.
        case: String,
    },
    /// One is of a case that this root does not have.
    #[error("{file} is about {case}, which is not here; check out the revision that it was made from, or run again")]
    NoCase {
        /// The file of outcomes.
        file: String,
        /// The case.
        case: String,
    },
    /// One is another harness's.
    #[error("{file} comes from another harness ({found}) than this one ({ours}); run again with this one, or merge with that one")]
    OtherHarness {
        /// The file of outcomes.
        file: String,
        /// Its harness.
        found: String,
        /// This one.
        ours: String,
    },
    /// Two of the same device come from different versions of MLX.
    #[error("{file} comes from {found}, but {other} from {theirs}; run both with the same")]
    OtherMlx {
        /// The file of outcomes.
        file: String,
        /// Its version.
        found: String,
        /// The other file.
        other: String,
        /// The other's version.
        theirs: String,
    },
    /// Two know a cell, and say something else.
    #[error("{file} and {other} do not agree about {cell} on {device}; run it again: assay run --repeat 20 {cell}")]
    Disagree {
        /// The file of outcomes.
        file: String,
        /// The other file.
        other: String,
        /// The cell.
        cell: String,
        /// The device.
        device: Device,
    },
}

/// Joins outcomes, each with the name of its file; by device, and there by cell.
///
/// `here` is what outcomes of this root would come from.
///
/// # Errors
///
/// They come from other cases, another harness, or contradict each other.
pub fn merge(
    here: &Origin,
    parts: Vec<(String, Outcomes)>,
) -> Result<BTreeMap<Device, Vec<Outcome>>, MergeError> {
    let mut versions: BTreeMap<Device, (String, String)> = BTreeMap::new();
    let mut cells: BTreeMap<Device, BTreeMap<String, (Outcome, String)>> = BTreeMap::new();
    for (file, Outcomes { origin, outcomes }) in parts {
        belongs(here, &file, &origin)?;
        let device = origin.device;
        let (other, theirs) = versions
            .entry(device)
            .or_insert_with(|| (file.clone(), origin.environment.to_string()));
        if *theirs != origin.environment.to_string() {
            return Err(MergeError::OtherMlx {
                file,
                found: origin.environment.to_string(),
                other: other.clone(),
                theirs: theirs.clone(),
            });
        }
        let known = cells.entry(device).or_default();
        for outcome in outcomes {
            match known.get(&outcome.cell) {
                Some((before, _)) if before.same_as(&outcome) => {}
                Some((_, other)) => {
                    return Err(MergeError::Disagree {
                        file,
                        other: other.clone(),
                        cell: outcome.cell,
                        device,
                    })
                }
                None => drop(known.insert(outcome.cell.clone(), (outcome, file.clone()))),
            }
        }
    }
    let outcomes = |known: BTreeMap<String, (Outcome, String)>| {
        known.into_values().map(|(outcome, _)| outcome).collect()
    };
    Ok(cells
        .into_iter()
        .map(|(device, known)| (device, outcomes(known)))
        .collect())
}

fn belongs(here: &Origin, file: &str, origin: &Origin) -> Result<(), MergeError> {
    if origin.harness != here.harness {
        return Err(MergeError::OtherHarness {
            file: file.to_owned(),
            found: origin.harness.clone(),
            ours: here.harness.clone(),
        });
    }
    for (case, digest) in &origin.files {
        let (file, case) = (file.to_owned(), case.clone());
        match here.files.get(&case) {
            Some(ours) if ours == digest => {}
            Some(_) => return Err(MergeError::OtherCase { file, case }),
            None => return Err(MergeError::NoCase { file, case }),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scorecard::environment::Environment;
    use crate::scorecard::outcome::{Evidence, Verdict};

    fn environment(mlx: &str) -> Environment {
        Environment {
            mlx: mlx.into(),
            ..Environment::default()
        }
    }

    fn origin(device: Device) -> Origin {
        Origin::new(
            device,
            environment("0.32.2"),
            [("cases/a.yaml".to_owned(), "1".to_owned())].into(),
        )
    }

    fn outcome(cell: &str, record: Verdict, millis: u64) -> Outcome {
        Outcome {
            cell: cell.into(),
            file: "cases/a.yaml".into(),
            line: 1,
            covers: vec![],
            record,
            value: None,
            findings: vec![],
            otherwise: vec![],
            rerun: None,
            evidence: Evidence::default(),
            about: Default::default(),
            distances: vec![],
            values: Default::default(),
            millis,
            output: String::new(),
        }
    }

    fn part(name: &str, device: Device, outcomes: Vec<Outcome>) -> (String, Outcomes) {
        let origin = origin(device);
        (name.to_owned(), Outcomes { origin, outcomes })
    }

    #[test]
    fn shards_and_devices_join() {
        let pass = |cell, millis| outcome(cell, Verdict::Pass, millis);
        let parts = vec![
            part("1", Device::LinuxCpu, vec![pass("b", 1)]),
            part("2", Device::LinuxCpu, vec![pass("a", 2), pass("b", 3)]),
            part("3", Device::MacosMetal, vec![pass("a", 4)]),
        ];
        let merged = merge(&origin(Device::LinuxCpu), parts).expect("merged");
        let cells: Vec<_> = merged[&Device::LinuxCpu]
            .iter()
            .map(|it| (it.cell.as_str(), it.millis))
            .collect();
        assert_eq!(cells, [("a", 2), ("b", 1)]);
        assert_eq!(merged[&Device::MacosMetal].len(), 1);
    }

    #[test]
    fn what_does_not_belong_together_is_refused_by_name() {
        let here = origin(Device::LinuxCpu);
        let refused = |parts| merge(&here, parts).expect_err("refused").to_string();
        let mut changed = part("other", Device::LinuxCpu, vec![]);
        changed.1.origin.files.insert("cases/a.yaml".into(), "2".into());
        let mut more = part("more", Device::LinuxCpu, vec![]);
        more.1.origin.files.insert("cases/b.yaml".into(), "1".into());
        let mut harness = part("old", Device::LinuxCpu, vec![]);
        harness.1.origin.harness = "0".into();
        let mut mlx = part("mlx", Device::LinuxCpu, vec![]);
        mlx.1.origin.environment = environment("0.33.0");
        let plain = || part("1", Device::LinuxCpu, vec![outcome("a", Verdict::Pass, 1)]);
        assert!(refused(vec![changed]).contains("another cases/a.yaml"));
        assert!(refused(vec![more]).contains("cases/b.yaml, which is not here"));
        assert!(refused(vec![harness]).contains("another harness (0)"));
        assert!(refused(vec![plain(), mlx])
            .contains("comes from MLX 0.33.0, mlx-c , mlx-rs , but 1 from MLX 0.32.2"));
        let disagreeing = part("2", Device::LinuxCpu, vec![outcome("a", Verdict::Fail, 1)]);
        assert!(refused(vec![plain(), disagreeing]).contains("do not agree about a"));
    }
}
