//! Where in a YAML file something stands.

use serde::{Deserialize, Serialize};

/// A place in a file. Lines and columns count from 1; 0 means that the place is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// One step of the way from a file's root to a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// Into a map, by key.
    Key(String),
    /// Into a list, by place from 0.
    Index(usize),
}

/// The way from a file's root to a node; printed as `model.sequential[1]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(pub Vec<Step>);

impl Path {
    /// The file's root.
    pub fn root() -> Self {
        Self::default()
    }

    /// This path, one key deeper.
    pub fn key(&self, key: &str) -> Self {
        self.deeper(Step::Key(key.to_owned()))
    }

    /// This path, one list item deeper.
    pub fn index(&self, index: usize) -> Self {
        self.deeper(Step::Index(index))
    }

    /// The path of the node that holds this one; `None` at the root.
    pub fn parent(&self) -> Option<Self> {
        let (_, parent) = self.0.split_last()?;
        Some(Self(parent.to_vec()))
    }

    fn deeper(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (place, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if place == 0 => write!(f, "{key}")?,
                Step::Key(key) => write!(f, ".{key}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}
