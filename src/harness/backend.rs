//! What the suite is run against, as data: the names a case may use, the device, the runner, and what `assay doctor`
//! reports.

use super::seam::Runner;
use crate::case::names::Names;
use crate::scorecard::environment::Environment;
use crate::vocabulary::Device;
use serde::Serialize;
use std::sync::Arc;

/// Everything that the suite needs to know of the backend under test.
#[derive(Clone)]
pub struct Backend {
    /// The names a case may use.
    pub names: Names,
    /// The device whose column of the scorecard a run speaks for.
    pub device: Device,
    /// The versions it runs with.
    pub environment: Environment,
    /// What runs a cell in this process; where a cell can end the process, that is a worker's.
    pub runner: Arc<dyn Runner>,
    /// What `assay doctor` reports, in order.
    pub facts: Vec<Fact>,
}

/// One line of `assay doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// What it is about: `mlx`, `mlx-rs`, `device`.
    pub name: String,
    /// What was found: a version, a path, a device.
    pub value: String,
    /// What to do, where something is not as it should be.
    pub remedy: Option<String>,
}

impl Fact {
    /// A fact that is as it should be.
    pub fn new(name: impl Into<String>, value: impl std::fmt::Display) -> Self {
        Self {
            name: name.into(),
            value: value.to_string(),
            remedy: None,
        }
    }

    /// A fact that is not as it should be, and what to do.
    pub fn wrong(name: impl Into<String>, value: impl std::fmt::Display, remedy: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: value.to_string(),
            remedy: Some(remedy.into()),
        }
    }
}
