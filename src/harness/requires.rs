//! Whether a cell can run here: decided before anything runs, so that a list already shows it.

use super::backend::Backend;
use crate::case::cell::Cell;
use crate::vocabulary::{Device, Os};

/// What a case may ask about the place where it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Here {
    /// The device.
    pub device: Device,
    /// The operating system.
    pub os: Os,
    /// MLX's version; empty where none is known, which no range of versions fits.
    pub mlx: String,
}

impl From<Device> for Here {
    fn from(device: Device) -> Self {
        let os = match device {
            Device::LinuxCpu | Device::LinuxCuda => Os::Linux,
            Device::MacosMetal => Os::Macos,
        };
        Self {
            device,
            os,
            mlx: String::new(),
        }
    }
}

impl From<&Backend> for Here {
    fn from(backend: &Backend) -> Self {
        Self {
            mlx: backend.environment.mlx.clone(),
            ..Self::from(backend.device)
        }
    }
}

impl Here {
    /// What the cell needs and does not find; `None` if it can run.
    pub fn lacks(&self, cell: &Cell) -> Option<String> {
        let needs = &cell.requires;
        if let Some(device) = needs.device.filter(|device| *device != self.device.kind()) {
            return Some(format!("it needs the device {device}"));
        }
        if let Some(os) = needs.os.filter(|os| *os != self.os) {
            return Some(format!("it needs the system {os}"));
        }
        let versions = needs.mlx.as_ref().filter(|versions| !versions.fit(&self.mlx))?;
        Some(format!("it needs MLX {versions}, and this is {}", self.mlx))
    }
}
