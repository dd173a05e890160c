//! Whether a scorecard is what a run wrote: its rows follow from its cells, and its digest from both files' content.

use super::card::{Ground, Scorecard};
use super::cells::CellBook;
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
    let spelled = |card: &Scorecard| serde_json::to_value(card);
    let (Ok(found), Ok(wanted)) = (spelled(card), spelled(&derived)) else {
        return edited(String::new(), "cannot be spelled as JSON".to_owned());
    };
    if let Some((field, found, wanted)) = difference("", &found, &wanted) {
        return edited(field, format!("says {found}, but the cells come to {wanted}"));
    }
    match digest(card, book) {
        Ok(digest) if digest == card.digest => Ok(()),
        _ => edited(
            "digest".to_owned(),
            "is not that of the content of both files".to_owned(),
        ),
    }
}

/// The first place where two values differ, and what stands there. The digest is not looked at.
fn difference(
    path: &str,
    found: &serde_json::Value,
    wanted: &serde_json::Value,
) -> Option<(String, String, String)> {
    use serde_json::Value::{Array, Object};
    match (found, wanted) {
        _ if found == wanted || path == "digest" => None,
        (Object(a), Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            let null = serde_json::Value::Null;
            keys.filter_map(|key| {
                let path = match path {
                    "" => key.clone(),
                    path => format!("{path}.{key}"),
                };
                difference(&path, a.get(key).unwrap_or(&null), b.get(key).unwrap_or(&null))
            })
            .next()
        }
        (Array(a), Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .enumerate()
            .find_map(|(at, (a, b))| difference(&format!("{path}[{at}]"), a, b)),
        (Array(a), Array(b)) => Some((path.to_owned(), format!("{} rows", a.len()), b.len().to_string())),
        _ => Some((path.to_owned(), found.to_string(), wanted.to_string())),
    }
}
