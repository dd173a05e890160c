//! What a worker is asked and answers: frames of JSON, each behind its length.
//!
//! Whoever reads trusts nothing: a frame that is too long, no JSON, or the answer to another question is an error, and
//! never a panic, a wait without end, or memory without bound.

use super::flight::Pace;
use crate::scorecard::outcome::Outcome;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The longest frame, in bytes: far above any outcome, and little enough to hold.
pub const LONGEST: usize = 64 << 20;

/// The bytes of a frame's length.
const HEAD: usize = 4;

/// Run a cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Its id.
    pub cell: String,
    /// Its case's file, relative to the root.
    pub file: String,
    /// The file's text, where this worker has not been told it yet.
    pub text: Option<String>,
    /// When results are computed.
    pub pace: Pace,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Answer {
    /// The cell ran to its end.
    Ran {
        /// What it yielded.
        outcome: Box<Outcome>,
        /// How many bytes the worker has printed in its life: where this cell's output ends.
        printed: u64,
        /// Whether the worker is fit for another cell.
        fit: bool,
    },
    /// The worker could not run it.
    Failed {
        /// Why.
        message: String,
    },
}

/// Bytes that are no frame of the kind that is due.
#[derive(Debug, Error)]
pub enum ProtocolError {
    /// The length is beyond what any frame has.
    #[error("a frame of {length} bytes, where {LONGEST} are the most")]
    TooLong {
        /// The length claimed.
        length: usize,
    },
    /// The content is not what is due.
    #[error("a frame that is not what is due: {0}")]
    Misfit(#[from] serde_json::Error),
}

/// A frame around `content`.
///
/// # Errors
///
/// It cannot be spelled as JSON, or is too long.
pub fn frame<T: Serialize>(content: &T) -> Result<Vec<u8>, ProtocolError> {
    let mut bytes = vec![0; HEAD];
    serde_json::to_writer(&mut bytes, content)?;
    let length = bytes.len() - HEAD;
    match u32::try_from(length) {
        Ok(head) if length <= LONGEST => {
            bytes[..HEAD].copy_from_slice(&head.to_le_bytes());
            Ok(bytes)
        }
        _ => Err(ProtocolError::TooLong { length }),
    }
}

/// Takes the first frame out of `bytes`; `None` where it is not complete yet.
///
/// # Errors
///
/// The bytes cannot become a frame of `T`, whatever follows.
pub fn take<T: DeserializeOwned>(bytes: &mut Vec<u8>) -> Result<Option<T>, ProtocolError> {
    let Some(head) = bytes.first_chunk::<HEAD>() else {
        return Ok(None);
    };
    let length = u32::from_le_bytes(*head) as usize;
    if length > LONGEST {
        return Err(ProtocolError::TooLong { length });
    }
    let Some(content) = bytes.get(HEAD..HEAD + length) else {
        return Ok(None);
    };
    let content = serde_json::from_slice(content)?;
    bytes.drain(..HEAD + length);
    Ok(Some(content))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn request(cell: String, text: Option<String>) -> Request {
        Request {
            cell,
            file: "cases/a.yaml".into(),
            text,
            pace: Pace::Eager,
        }
    }

    proptest! {
        #[test]
        fn frames_come_out_as_they_went_in_however_they_are_cut(
            cells in prop::collection::vec((".{0,40}", prop::option::of(".{0,200}")), 1..4),
            cut in 1_usize..64,
        ) {
            let sent: Vec<Request> = cells.into_iter().map(|(cell, text)| request(cell, text)).collect();
            let stream: Vec<u8> = sent.iter().flat_map(|it| frame(it).expect("framed")).collect();
            let (mut buffer, mut received) = (Vec::new(), Vec::new());
            for piece in stream.chunks(cut) {
                buffer.extend_from_slice(piece);
                while let Some(request) = take::<Request>(&mut buffer).expect("a frame") {
                    received.push(request);
                }
            }
            prop_assert_eq!(received, sent);
            prop_assert!(buffer.is_empty());
        }

        #[test]
        fn any_bytes_are_a_frame_an_error_or_not_enough(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut buffer = bytes.clone();
            if let Ok(None) = take::<Answer>(&mut buffer) {
                prop_assert_eq!(buffer, bytes);
            }
        }
    }

    #[test]
    fn a_length_beyond_all_frames_is_an_error_at_once() {
        let mut bytes = u32::MAX.to_le_bytes().to_vec();
        assert!(matches!(
            take::<Answer>(&mut bytes),
            Err(ProtocolError::TooLong { .. })
        ));
    }
}
