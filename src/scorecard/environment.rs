//! What a device's column was run with.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Versions of what lies between a case and the silicon.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// MLX.
    pub mlx: String,
    /// mlx-c.
    pub mlx_c: String,
    /// mlx-rs.
    pub mlx_rs: String,
}

impl std::fmt::Display for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "MLX {}, mlx-c {}, mlx-rs {}",
            self.mlx, self.mlx_c, self.mlx_rs
        )
    }
}
