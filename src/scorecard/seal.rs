//! Whether a scorecard is what a run wrote: its rows follow from its cells, and its digest from both files' content.

use super::card::{Ground, Scorecard};
use super::cells::CellBook;
use super::differing::{differing, Differing};
use super::lines::ReadError;
use sha2::{Digest, Sha256};

/// Puts the digest on a card.
pub fn seal(mut card: Scorecard, book: &CellBook) -> serde_json::Result<Scorecard> {
    card.digest = digest(&card, book)?;
    Ok(card)
}

/// The digest of both files' content, as 32 hexadecimal digits.
fn digest(card: &Scorecard, book: &CellBook) -> serde_json::Result<String> {
    let mut plain = card.clone();
    plain.digest = String::new();
    let mut digest = Sha256::new();
    digest.update(plain.write()?);
    digest.update(book.write()?);
    Ok(short(&digest.finalize()))
}

/// The first half of a digest, in hexadecimal digits.
pub fn short(bytes: &[u8]) -> String {
    bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// Refuses a card, the content of `file`, that a hand has changed, or that lies beside another run's cells.
pub fn check(file: &str, card: &Scorecard, book: &CellBook) -> Result<(), ReadError> {
    let edited = |field: String, message: String| {
        Err(ReadError::Edited {
            file: file.to_owned(),
            field,
            message,
        })
    };
    let derived = Scorecard::derived(&Ground::of(card), book);
    // The digest is looked at below.
    let spelled = |card: &Scorecard| {
        let mut spelled = serde_json::to_value(card)?;
        if let Some(fields) = spelled.as_object_mut() {
            fields.remove("digest");
        }
        serde_json::Result::Ok(spelled)
    };
    let (Ok(found), Ok(wanted)) = (spelled(card), spelled(&derived)) else {
        return edited(String::new(), "cannot be spelled as JSON".to_owned());
    };
    if let Some((field, what)) = differing(&found, &wanted) {
        let message = match what {
            Differing::Values(found, wanted) => format!("says {found}, but the cells come to {wanted}"),
            Differing::Lengths(found, wanted) => format!("says {found} rows, but the cells come to {wanted}"),
        };
        return edited(field, message);
    }
    match digest(card, book) {
        Ok(digest) if digest == card.digest => Ok(()),
        _ => edited(
            "digest".to_owned(),
            "is not that of the content of both files".to_owned(),
        ),
    }
}
