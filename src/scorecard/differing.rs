//! The first place where two JSON values differ.

use serde_json::Value::{self, Array, Object};

/// What stands at a place where two values differ.
#[derive(Debug, PartialEq)]
pub(super) enum Differing<'a> {
    /// Two values.
    Values(&'a Value, &'a Value),
    /// Lists of so many items.
    Lengths(usize, usize),
}

/// What does not stand there at all.
static NOTHING: Value = Value::Null;

/// The way to the first place where two values differ, and what stands there.
pub(super) fn differing<'a>(one: &'a Value, other: &'a Value) -> Option<(String, Differing<'a>)> {
    below("", one, other)
}

fn below<'a>(path: &str, one: &'a Value, other: &'a Value) -> Option<(String, Differing<'a>)> {
    match (one, other) {
        _ if one == other => None,
        (Object(a), Object(b)) => {
            let mut keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            keys.find_map(|key| {
                let path = match path {
                    "" => key.clone(),
                    path => format!("{path}.{key}"),
                };
                below(
                    &path,
                    a.get(key).unwrap_or(&NOTHING),
                    b.get(key).unwrap_or(&NOTHING),
                )
            })
        }
        (Array(a), Array(b)) if a.len() == b.len() => {
            let mut pairs = a.iter().zip(b).enumerate();
            pairs.find_map(|(at, (a, b))| below(&format!("{path}[{at}]"), a, b))
        }
        (Array(a), Array(b)) => Some((path.to_owned(), Differing::Lengths(a.len(), b.len()))),
        _ => Some((path.to_owned(), Differing::Values(one, other))),
    }
}
