//! Small YAML files that people write beside the scorecard: read with unknown fields refused by name, and the line.

use super::lines::ReadError;
use serde::de::DeserializeOwned;

/// Reads `text`, the content of `file`.
pub fn read<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, ReadError> {
    let plain = serde_yaml::Deserializer::from_str(text);
    serde_path_to_error::deserialize(plain).map_err(|error| ReadError::Misfit {
        file: file.to_owned(),
        path: error.path().to_string(),
        message: error.inner().to_string(),
    })
}
