//! YAML, behind one file: read with serde_yaml, positions from saphyr-parser's events.
//!
//! serde_yaml is no longer maintained and gives no positions inside lists, nor does it notice duplicate keys in a
//! struct. So the text is scanned once for an [`Index`] from path to line and column, which also rejects duplicate
//! keys and aliases that would unfold without bound; then serde_yaml reads the values, and serde_path_to_error says
//! at which path one does not fit. Reading goes by way of serde_yaml's own value, because errors from there carry
//! nothing but the message.

use super::error::Fault;
use super::position::{Path, Position, Step};
use super::value::Value;
use saphyr_parser::{Event, Marker, Parser, Span};
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, HashMap};

/// The largest file that is read, in bytes. A case that needs more says less than it thinks.
pub const MAX_BYTES: usize = 256 * 1024;

/// The most nodes a file may have once its aliases are unfolded.
pub const MAX_NODES: usize = 200_000;

/// The deepest nesting; what lies deeper was not written by a person.
const MAX_DEPTH: usize = 64;

/// Where everything in a file stands.
#[derive(Clone, Debug, Default)]
pub struct Index {
    nodes: BTreeMap<Path, Node>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    /// Where the key stands, for an entry of a map.
    key: Option<Mark>,
    value: Mark,
}

/// A place in a file and how many characters it covers on its line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// The first character.
    pub position: Position,
    /// How many characters, at least 1.
    pub length: u32,
}

/// Something wrong in a file, and where.
#[derive(Clone, Debug)]
pub struct FaultAt {
    /// What is wrong.
    pub fault: Fault,
    /// Where.
    pub mark: Mark,
}

impl Index {
    /// Where the value at `path` stands, or else what holds it.
    pub fn value(&self, path: &Path) -> Mark {
        self.nearest(path).map(|node| node.value).unwrap_or_default()
    }

    /// Where the key at `path` stands; for an item of a list its value, and else what holds it.
    pub fn key(&self, path: &Path) -> Mark {
        self.nearest(path)
            .map(|node| node.key.unwrap_or(node.value))
            .unwrap_or_default()
    }

    /// Where the layer `name` stands that is written at `path`: as the key of its arguments, or alone.
    pub fn layer(&self, path: &Path, name: &str) -> Mark {
        let inside = path.key(name);
        if self.contains(&inside) {
            self.key(&inside)
        } else {
            self.value(path)
        }
    }

    /// As [`key`](Self::key), without the length.
    pub fn key_position(&self, path: &Path) -> Position {
        self.key(path).position
    }

    /// Whether something stands at exactly this path.
    pub fn contains(&self, path: &Path) -> bool {
        self.nodes.contains_key(path)
    }

    fn nearest(&self, path: &Path) -> Option<&Node> {
        let mut path = path.clone();
        loop {
            if let Some(node) = self.nodes.get(&path) {
                return Some(node);
            }
            path = path.parent()?;
        }
    }
}

/// What was read of a file.
#[derive(Debug)]
pub struct Read<T> {
    /// What it says, unknown keys left out.
    pub said: T,
    /// Where everything in it stands.
    pub index: Index,
    /// Its unknown keys. What else is wrong can still be looked for without them.
    pub unknown: Vec<FaultAt>,
}

/// Reads `text` as a `T`, and where everything in it stands.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<Read<T>, Vec<FaultAt>> {
    if text.len() > MAX_BYTES {
        return Err(vec![FaultAt {
            fault: Fault::FileTooLarge {
                bytes: text.len(),
                most: MAX_BYTES,
            },
            mark: start(),
        }]);
    }
    let index = index(text)?;
    let mut plain: serde_yaml::Value = serde_yaml::from_str(text).map_err(|error| vec![syntax(&error)])?;
    if plain.is_null() {
        return Err(vec![FaultAt {
            fault: Fault::Empty,
            mark: start(),
        }]);
    }
    let mut unknown = Vec::new();
    loop {
        let error = match serde_path_to_error::deserialize(plain.clone()) {
            Ok(said) => return Ok(Read { said, index, unknown }),
            Err(error) => error,
        };
        let fault = misfit(&index, error.path(), &error.inner().to_string());
        let removed = match &fault.fault {
            Fault::UnknownKey { key, .. } => remove(&mut plain, &own_path(error.path()), key),
            _ => None,
        };
        unknown.push(fault);
        // Each turn takes a key away, so the loop ends.
        if removed.is_none() {
            return Err(unknown);
        }
    }
}

/// Takes an unknown key out of a tree; `path` leads to the key, or to the map that has it.
fn remove(tree: &mut serde_yaml::Value, path: &Path, key: &str) -> Option<serde_yaml::Value> {
    let mut steps = path.0.as_slice();
    if let [before @ .., Step::Key(last)] = steps {
        if last == key {
            steps = before;
        }
    }
    let mut at = tree;
    for step in steps {
        at = match step {
            Step::Key(key) => at.get_mut(key.as_str())?,
            Step::Index(place) => at.get_mut(*place)?,
        };
    }
    at.as_mapping_mut()?.remove(key)
}

/// Reads a plain value, such as a point of a matrix axis, as a `T`; the message says why it does not fit.
pub fn convert<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    let plain = serde_yaml::to_value(value).map_err(|error| error.to_string())?;
    serde_yaml::from_value(plain).map_err(|error| error.to_string())
}

fn start() -> Mark {
    Mark {
        position: Position { line: 1, column: 1 },
        length: 1,
    }
}

fn syntax(error: &serde_yaml::Error) -> FaultAt {
    let mark = error.location().map_or_else(start, |location| Mark {
        position: Position {
            line: location.line() as u32,
            column: location.column() as u32,
        },
        length: 1,
    });
    let mut message = error.to_string();
    if message.contains("more than one document") {
        return FaultAt {
            fault: Fault::TwoDocuments,
            mark,
        };
    }
    if let Some(place) = message.rfind(" at line ") {
        message.truncate(place);
    }
    FaultAt {
        fault: Fault::Syntax { message },
        mark,
    }
}

/// Turns serde's message into a fault that names what is known. The wording is serde's own and stable; whatever is
/// worded otherwise stays as it is.
fn misfit(index: &Index, path: &serde_path_to_error::Path, message: &str) -> FaultAt {
    let path = own_path(path);
    if let Some((word, known)) = unknown(message, "unknown field ") {
        let key = match path.0.last() {
            Some(Step::Key(last)) if *last == word => path,
            _ => path.key(&word),
        };
        return FaultAt {
            mark: index.key(&key),
            fault: Fault::UnknownKey { key: word, known },
        };
    }
    let mark = index.value(&path);
    if let Some((word, known)) = unknown(message, "unknown variant ") {
        return FaultAt {
            mark,
            fault: Fault::UnknownWord { word, known },
        };
    }
    if let Some(key) = message
        .strip_prefix("missing field `")
        .and_then(|rest| rest.strip_suffix('`'))
    {
        return FaultAt {
            mark: index.key(&path),
            fault: Fault::MissingKey { key: key.to_owned() },
        };
    }
    FaultAt {
        mark,
        fault: Fault::Misfit {
            path: path.to_string(),
            message: plain_words(message),
        },
    }
}

/// Serde's `invalid type: string "a", expected a sequence` in words that a contributor uses.
fn plain_words(message: &str) -> String {
    let split = ["invalid type: ", "invalid value: ", "invalid length "]
        .iter()
        .find_map(|prefix| message.strip_prefix(prefix))
        .and_then(|rest| rest.split_once(", expected "));
    let Some((found, expected)) = split else {
        return message.to_owned();
    };
    let expected = match expected {
        "a sequence" => "a list",
        "u32" | "u64" => "a whole number, 0 or more",
        "i32" | "i64" => "a whole number",
        "f64" => "a number",
        "a string" => "text",
        "a boolean" => "true or false",
        other => other.strip_prefix("struct ").map_or(other, |_| "a map"),
    };
    let mut found = found.replace('`', "");
    for (theirs, ours) in [
        ("string ", "text "),
        ("sequence", "a list"),
        ("boolean ", ""),
        ("unit value", "nothing"),
    ] {
        found = found.replacen(theirs, ours, 1);
    }
    format!("expected {expected}, found {found}")
}

/// Splits `unknown field `a`, expected one of `b`, `c`` into the word and the known ones.
fn unknown(message: &str, prefix: &str) -> Option<(String, Vec<String>)> {
    let (word, rest) = message.strip_prefix(prefix)?.strip_prefix('`')?.split_once('`')?;
    let known = rest.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    Some((word.to_owned(), known))
}

fn own_path(path: &serde_path_to_error::Path) -> Path {
    use serde_path_to_error::Segment;
    let mut steps = Vec::new();
    for segment in path.iter() {
        match segment {
            Segment::Seq { index } => steps.push(Step::Index(*index)),
            Segment::Map { key } => steps.push(Step::Key(key.clone())),
            Segment::Enum { variant } => steps.push(Step::Key(variant.clone())),
            Segment::Unknown => break,
        }
    }
    Path(steps)
}

/// A collection that is being read.
struct Open {
    path: Path,
    kind: OpenKind,
    anchor: usize,
    /// Nodes inside, aliases unfolded.
    nodes: usize,
}

enum OpenKind {
    List {
        next: usize,
    },
    /// The key whose value comes next; `None` where a key comes next.
    Map {
        key: Option<(Step, Mark)>,
        seen: HashMap<String, Position>,
    },
}

/// Scans the text's events. It keeps its own stack, so that no depth of nesting overflows the thread's.
fn index(text: &str) -> Result<Index, Vec<FaultAt>> {
    let mut index = Index::default();
    let mut faults = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut anchors: HashMap<usize, usize> = HashMap::new();
    let mut total = 0usize;
    for event in Parser::new_from_str(text) {
        let (event, span) = match event {
            Ok(pair) => pair,
            Err(error) => {
                // The scanner has a limit of its own, which brackets reach before they become events.
                let fault = match error.info() {
                    info if info.contains("recursion limit") => Fault::TooDeep { most: MAX_DEPTH },
                    info => Fault::Syntax {
                        message: info.to_owned(),
                    },
                };
                let mark = Mark {
                    position: position(error.marker()),
                    length: 1,
                };
                faults.push(FaultAt { fault, mark });
                return Err(faults);
            }
        };
        let size = match &event {
            Event::Alias(anchor) => anchors.get(anchor).copied().unwrap_or(1),
            Event::Scalar(..) | Event::SequenceStart(..) | Event::MappingStart(..) => 1,
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(closed) = open.pop() {
                    anchors.insert(closed.anchor, closed.nodes);
                    if let Some(parent) = open.last_mut() {
                        parent.nodes = parent.nodes.saturating_add(closed.nodes);
                    }
                }
                continue;
            }
            _ => continue,
        };
        total = total.saturating_add(size);
        let mark = mark(&event, &span);
        if total > MAX_NODES {
            return Err(vec![FaultAt {
                fault: Fault::TooManyNodes { most: MAX_NODES },
                mark,
            }]);
        }
        if open.len() >= MAX_DEPTH {
            return Err(vec![FaultAt {
                fault: Fault::TooDeep { most: MAX_DEPTH },
                mark,
            }]);
        }
        let place = enter(&mut open, &event, mark, &mut faults);
        if let Some((path, key)) = &place {
            index.nodes.insert(
                path.clone(),
                Node {
                    key: *key,
                    value: mark,
                },
            );
        }
        let path = place.map(|(path, _)| path).unwrap_or_default();
        match event {
            Event::SequenceStart(anchor, _) => open.push(Open {
                path,
                kind: OpenKind::List { next: 0 },
                anchor,
                nodes: 1,
            }),
            Event::MappingStart(anchor, _) => open.push(Open {
                path,
                kind: OpenKind::Map {
                    key: None,
                    seen: HashMap::new(),
                },
                anchor,
                nodes: 1,
            }),
            Event::Scalar(_, _, anchor, _) => {
                anchors.insert(anchor, 1);
                count(&mut open, 1);
            }
            _ => count(&mut open, size),
        }
    }
    if faults.is_empty() {
        Ok(index)
    } else {
        Err(faults)
    }
}

fn count(open: &mut [Open], size: usize) {
    if let Some(parent) = open.last_mut() {
        parent.nodes = parent.nodes.saturating_add(size);
    }
}

/// The path of the node that begins, with its key's mark; `None` if the node is itself a key.
fn enter(
    open: &mut [Open],
    event: &Event<'_>,
    mark: Mark,
    faults: &mut Vec<FaultAt>,
) -> Option<(Path, Option<Mark>)> {
    let Some(parent) = open.last_mut() else {
        return Some((Path::root(), None));
    };
    match &mut parent.kind {
        OpenKind::List { next } => {
            let path = parent.path.index(*next);
            *next += 1;
            Some((path, None))
        }
        OpenKind::Map { key, seen } => match key.take() {
            Some((Step::Key(name), key_mark)) => Some((parent.path.key(&name), Some(key_mark))),
            Some((Step::Index(_), key_mark)) => Some((parent.path.clone(), Some(key_mark))),
            None => {
                let name = match event {
                    Event::Scalar(text, ..) => text.to_string(),
                    _ => {
                        faults.push(FaultAt {
                            fault: Fault::KeyNotText,
                            mark,
                        });
                        String::new()
                    }
                };
                if let Some(first) = seen.insert(name.clone(), mark.position) {
                    faults.push(FaultAt {
                        fault: Fault::DuplicateKey {
                            key: name.clone(),
                            first: first.line,
                        },
                        mark,
                    });
                }
                *key = Some((Step::Key(name), mark));
                None
            }
        },
    }
}

fn position(marker: &Marker) -> Position {
    Position {
        line: marker.line() as u32,
        column: marker.col() as u32 + 1,
    }
}

fn mark(event: &Event<'_>, span: &Span) -> Mark {
    let length = match event {
        Event::Scalar(..) | Event::Alias(_) if span.start.line() == span.end.line() => {
            span.end.col().saturating_sub(span.start.col())
        }
        _ => 1,
    };
    Mark {
        position: position(&span.start),
        length: length.max(1) as u32,
    }
}
