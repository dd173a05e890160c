//! What can be wrong with cases, and how a person reads it: file, line, column, excerpt, and a way out.

use super::arguments::BindError;
use super::names::Signature;
use super::yaml::Mark;
use crate::vocabulary::DType;
use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode};
use std::fmt;
use std::sync::Arc;
use thiserror::Error;

/// The longest line, in bytes, that is shown as an excerpt.
const LONGEST_LINE: usize = 400;

/// One thing wrong with one file.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The file, relative to the root, with `/` between folders.
    pub file: String,
    /// Where in it.
    pub mark: Mark,
    /// What is wrong.
    pub fault: Fault,
    /// The file's text, for the excerpt; empty if it cannot be read.
    source: NamedSource<Arc<str>>,
}

/// What is wrong.
#[derive(Clone, Debug, Error, PartialEq)]
#[allow(missing_docs, reason = "each variant's message says what it is")]
pub enum Fault {
    // The file as such.
    #[error("cannot read the file: {message}")]
    Unreadable { message: String },
    #[error("the file is not UTF-8: byte {at} begins no character")]
    NotUtf8 { at: usize },
    #[error("the file has {bytes} bytes; a case may have {most}")]
    FileTooLarge { bytes: usize, most: usize },
    #[error("the file is empty")]
    Empty,
    #[error("a case ends in `.yaml`")]
    Extension,
    #[error("`{name}` cannot be part of a case's id")]
    FileName { name: String },
    #[error("the id `{id}` is taken by {other}")]
    DuplicateId { id: String, other: String },

    // YAML.
    #[error("this is not YAML: {message}")]
    Syntax { message: String },
    #[error("the file holds more than one document")]
    TwoDocuments,
    #[error("`{key}` is given twice, first on line {first}")]
    DuplicateKey { key: String, first: u32 },
    #[error("a key must be text")]
    KeyNotText,
    #[error("the file unfolds to more than {most} nodes")]
    TooManyNodes { most: usize },
    #[error("the file nests deeper than {most} levels")]
    TooDeep { most: usize },
    #[error("unknown key `{key}`")]
    UnknownKey { key: String, known: Vec<String> },
    #[error("unknown word `{word}`")]
    UnknownWord { word: String, known: Vec<String> },
    #[error("`{key}` is missing")]
    MissingKey { key: String },
    #[error("{message}")]
    Misfit { path: String, message: String },

    // What is computed.
    #[error("the case computes nothing")]
    NoProgram,
    #[error("the case computes two things: `{first}:` and `{second}:`")]
    TwoPrograms {
        first: &'static str,
        second: &'static str,
    },
    #[error("`{key}:` says something only beside `{beside}:`")]
    Misplaced { key: &'static str, beside: &'static str },
    #[error("no layer is called `{name}`")]
    UnknownLayer { name: String, known: Vec<String> },
    #[error("no function is called `{name}`")]
    UnknownFunction { name: String, known: Vec<String> },
    #[error("no layer of this case and no function is called `{name}`")]
    UnknownCallee { name: String, known: Vec<String> },
    #[error("the layer `{name}` would hide the function of that name")]
    LayerHidesFunction { name: String },
    #[error("`{}` has no parameter `{name}`", .signature.name)]
    UnknownParameter {
        signature: Signature,
        name: String,
        known: Vec<String>,
    },
    #[error("`{}` needs `{name}`", .signature.name)]
    MissingParameter {
        signature: Signature,
        name: String,
        wanted: &'static str,
    },
    #[error("`{name}` of `{}` must be {wanted}, but is {found}", .signature.name)]
    WrongArgument {
        signature: Signature,
        name: String,
        wanted: &'static str,
        found: String,
    },
    #[error("{error}")]
    Bind { error: BindError, signature: Signature },
    #[error("no value is called `{name}` at this step")]
    UnknownValue { name: String, known: Vec<String> },
    #[error("the name `{name}` is taken")]
    NameTaken { name: String },
    #[error("`{callee}` takes the inputs {wanted}, but the case gives {found}")]
    WrongInputs {
        callee: String,
        wanted: String,
        found: String,
    },
    #[error("an empty container computes nothing")]
    EmptyContainer,

    // Inputs.
    #[error("an extent of {extent} cannot be")]
    ImpossibleExtent { extent: i64 },
    #[error("the shape {shape} has {elements} elements; an array of a case may have {most}")]
    TooManyElements {
        shape: String,
        elements: String,
        most: u64,
    },
    #[error("an input needs `value:` or `shape:`")]
    NoElements,
    #[error("`value:` and `{other}:` both say what the elements are")]
    ValueAnd { other: &'static str },
    #[error("the lists of `{key}:` have different lengths")]
    Ragged { key: &'static str },
    #[error("{element} is not an element of {dtype}")]
    WrongElement { element: String, dtype: &'static str },
    #[error("the fill {fill} makes elements that are not of {dtype}")]
    FillMisfit { fill: String, dtype: &'static str },
    #[error("{count} shapes are given, but `{callee}` takes {operands} arrays")]
    ShapeCount {
        callee: String,
        count: usize,
        operands: usize,
    },

    // Matrix.
    #[error("the axis `{axis}` has no values")]
    EmptyAxis { axis: String },
    #[error("the axis `{axis}` has {value} twice")]
    RepeatedValue { axis: String, value: String },
    #[error("nothing uses the axis `{axis}`")]
    UnusedAxis { axis: String },
    #[error("`{axis}` is given both here and in `matrix:`")]
    AxisTwice { axis: String },
    #[error("no axis is called `{axis}`")]
    UnknownAxis { axis: String, known: Vec<String> },
    #[error("the axis `{axis}` has no value {value}")]
    UnknownAxisValue {
        axis: String,
        value: String,
        known: Vec<String>,
    },
    #[error("{value} of the axis `{axis}` is not {wanted}")]
    WrongAxisValue {
        axis: String,
        value: String,
        wanted: String,
    },
    #[error("this selects no cell")]
    SelectsNothing,
    #[error("`exclude:` leaves no cell")]
    NoCells,
    #[error("the matrix has {cells} cells; a case may have {most}")]
    TooManyCells { cells: String, most: usize },
    #[error("two cells have the id `{id}`")]
    CellsAlike { id: String },

    // Expectations.
    #[error("the case expects nothing")]
    ExpectsNothing,
    #[error("the cell `{cell}` meets no expectation")]
    CellExpectsNothing { cell: String },
    #[error("no capability is called `{id}`")]
    UnknownCapability { id: String, known: Vec<String> },
    #[error("no recorded function of mlx-c is called `{name}`")]
    UnknownObserved { name: String, known: Vec<String> },
    #[error("`{label}` is no op's label")]
    NotALabel { label: String },
    #[error("`{id}` is covered twice")]
    CoveredTwice { id: String },
    #[error("a tolerance needs `because:`")]
    ToleranceWithoutBecause,
    #[error("`{key}:` says something only beside `{beside}:`")]
    ExpectationMisplaced { key: &'static str, beside: &'static str },
    #[error("a tolerance of {found} cannot be")]
    ImpossibleTolerance { found: String },
    #[error("`{first}:` and `{second}:` cannot both come true")]
    Contradiction {
        first: &'static str,
        second: &'static str,
    },
    #[error("the reason `{reason}` never comes with `{decision}`")]
    ReasonMisfit {
        reason: &'static str,
        decision: &'static str,
    },
    #[error("the expected failure expires on {expires}, before it was opened on {opened}")]
    ExpiresBeforeOpened { opened: String, expires: String },
    #[error("two expected failures of `{check}` select the cell `{cell}`")]
    FailsTwice { check: &'static str, cell: String },
    #[error("`{key}:` must lie between {least} and {most}")]
    ImpossibleLimit {
        key: &'static str,
        least: u64,
        most: u64,
    },
    #[error("values are expected to fail, but nothing is expected of them")]
    FailOfNothing,
}

impl Fault {
    /// What to write instead, or how to go on.
    pub fn help(&self) -> Option<String> {
        let say = |text: &str| Some(text.to_owned());
        match self {
            Fault::Unreadable { .. } => say("check that it is a file and that it may be read"),
            Fault::NotUtf8 { .. } => say("save it as UTF-8; most editors do so by \"Save with encoding\""),
            Fault::FileTooLarge { .. } => say("give large inputs by `shape:` and `fill:`, or spread them over cases"),
            Fault::Empty => say("begin with `op:`, `model:` or `forward:`, and `expect:`; `assay new` writes a start"),
            Fault::Extension => say("rename the file so that it ends in `.yaml`; otherwise it would be left out silently"),
            Fault::FileName { .. } => say("use letters, digits, `_`, `-` and `.` in names of files and folders"),
            Fault::DuplicateId { .. } => say("rename one of the files"),
            Fault::Syntax { .. } => say(
                "look at the indentation (spaces, never tabs), the colons, and the brackets on this line and above",
            ),
            Fault::TwoDocuments => say("a file is one case; move what follows `---` into a file of its own"),
            Fault::DuplicateKey { .. } => say("keep one of them"),
            Fault::KeyNotText => say("write `key: value`, with a word before the colon"),
            Fault::TooManyNodes { .. } => say("aliases (`*name`) repeat what they stand for; write less of them"),
            Fault::TooDeep { .. } => say("say it with fewer levels"),
            Fault::UnknownKey { key, known } => choose(key, known, "key"),
            Fault::UnknownWord { word, known } => choose(word, known, "word"),
            Fault::MissingKey { key } => Some(format!("add `{key}:`")),
            Fault::Misfit { message, .. } => misfit_help(message),
            Fault::NoProgram => say("add `op:` (one function), `model:` (one layer) or `forward:` (steps)"),
            Fault::TwoPrograms { .. } => say("keep one; a second thing to compute is a second case"),
            Fault::Misplaced { beside, .. } => Some(format!("add `{beside}:`, or remove this")),
            Fault::UnknownLayer { name, known } => choose(name, known, "layer"),
            Fault::UnknownFunction { name, known } => choose(name, known, "function"),
            Fault::UnknownCallee { name, known } => choose(name, known, "name"),
            Fault::LayerHidesFunction { .. } => say("give the layer a name of its own"),
            Fault::UnknownParameter { name, known, signature } => {
                choose(name, known, "parameter").map(|help| format!("{help}; it is {signature}"))
            }
            Fault::MissingParameter { name, wanted, signature } => {
                Some(format!("add `{name}:` with {wanted}; it is {signature}"))
            }
            Fault::WrongArgument { name, wanted, signature, .. } => {
                Some(format!("write `{name}:` with {wanted}; it is {signature}"))
            }
            Fault::Bind { signature, .. } => {
                Some(format!("give arguments in order as a list, or by name as a map; it is {signature}"))
            }
            Fault::UnknownValue { name, known } => choose(name, known, "value"),
            Fault::NameTaken { .. } => say("each input, layer and step needs a name of its own"),
            Fault::WrongInputs { wanted, .. } => Some(format!("name the inputs {wanted}, in this order")),
            Fault::EmptyContainer => say("put at least one layer into it"),
            Fault::ImpossibleExtent { .. } => say("extents are 0 or more; `[]` is a scalar, `[0]` is an empty array"),
            Fault::TooManyElements { .. } => say("a smaller shape shows the same; what needs a large one is a benchmark"),
            Fault::NoElements => say("add `shape: [2, 3]` (with `fill:`, if not normal), or `value: [1.0, 2.0]`"),
            Fault::ValueAnd { other } => Some(format!("keep `value:` or `{other}:`")),
            Fault::Ragged { .. } => say("give every list at the same depth the same length"),
            Fault::WrongElement { .. } => say("change the element, or `dtype:`"),
            Fault::FillMisfit { .. } => say("narrow its range, or leave `fill:` out: `normal` fits every type"),
            Fault::ShapeCount { .. } => say("give one shape for each array, or a single one for all: `shape: [3, 4]`"),
            Fault::EmptyAxis { .. } => say("give it a value, or remove it"),
            Fault::RepeatedValue { .. } => say("keep it once"),
            Fault::UnusedAxis { axis } => {
                let meant = match nearest(axis, BY_THEMSELVES.into_iter()).first() {
                    Some(near) => format!("did you mean `{near}`, which binds by itself? if not, "),
                    None => String::new(),
                };
                Some(format!("{meant}write `${axis}` where its value belongs, or remove the axis"))
            }
            Fault::AxisTwice { .. } => say("keep the axis, or the single value"),
            Fault::UnknownAxis { axis, known } => choose(axis, known, "axis"),
            Fault::UnknownAxisValue { value, known, .. } => choose(value, known, "value"),
            Fault::WrongAxisValue { value, wanted, .. } => {
                let every = format!("every value of this axis must be {wanted}");
                let near = match wanted == "an element type" {
                    true => nearest(value, DType::ALL.iter().map(|it| it.name())),
                    false => Vec::new(),
                };
                Some(match near.first() {
                    Some(near) => format!("{every}; did you mean `{near}`?"),
                    None => every,
                })
            }
            Fault::SelectsNothing => say("each axis value exists, but no cell has them together; remove it, or correct it"),
            Fault::NoCells => say("exclude less"),
            Fault::TooManyCells { .. } => say("fewer values for an axis; or exclude combinations that show nothing new"),
            Fault::CellsAlike { .. } => say("two axis values are spelled alike; change one, or rename the case"),
            Fault::ExpectsNothing => say("add `expect: {state: passed}`, or what else must come out"),
            Fault::CellExpectsNothing { .. } => say("widen a `where:`, or add an expectation without one"),
            Fault::UnknownCapability { id, known } => choose(id, known, "capability"),
            Fault::UnknownObserved { name, known } => choose(name, known, "function"),
            Fault::NotALabel { label } => Some(format!(
                "a label is `{{name}}_{{n}}`, or `{{name}}_{{n}}:{{call}}`, as in `{label}_1`; `assay show` lists them; \
                 several ops are meant by `name {label}`, a module's by `module` and its address"
            )),
            Fault::CoveredTwice { .. } => say("name it once"),
            Fault::ToleranceWithoutBecause => say("say why in a few words: `because: float16 keeps 11 bits`"),
            Fault::ExpectationMisplaced { beside, .. } => Some(format!("add `{beside}:`, or remove this")),
            Fault::ImpossibleTolerance { .. } => say("a tolerance is a finite number, 0 or more"),
            Fault::Contradiction { .. } => say("keep one; cells that differ get expectations of their own, with `where:`"),
            Fault::ReasonMisfit { .. } => say("`docs/cases.md` lists the reasons by decision"),
            Fault::ExpiresBeforeOpened { .. } => say("set `expires:` to when somebody must look again"),
            Fault::FailsTwice { .. } => say("narrow a `where:` so that each cell has one"),
            Fault::ImpossibleLimit { key, .. } => Some(format!("correct it, or leave `{key}:` out for the suite's own limit")),
            Fault::FailOfNothing => say("add `reference: true` or outputs with `values:`, or write `check: record`"),
        }
    }
}

/// How to write what a misfit wants.
fn misfit_help(message: &str) -> Option<String> {
    let help = if message.starts_with("expected a list") {
        "write a list: `[a, b]`, or one item a line after `- `"
    } else if message.contains("found text") {
        "text in quotes stays text; numbers and true or false stand without"
    } else {
        "correct it; with `cases/schema.json` an editor says what fits while one types"
    };
    Some(help.to_owned())
}

/// The axes of an `op:` that bind by themselves.
const BY_THEMSELVES: [&str; 5] = ["dtype", "shape", "view", "fill", "args"];

/// Offers the nearest of the known names; lists them all where none is near and they are few enough to read.
fn choose(name: &str, known: &[String], what: &str) -> Option<String> {
    let list = |names: &[&str]| {
        names
            .iter()
            .map(|name| format!("`{name}`"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let near = nearest(name, known.iter().map(String::as_str));
    let all: Vec<&str> = known.iter().map(String::as_str).collect();
    match (near.as_slice(), known.len()) {
        (_, 0) => Some(format!("there is no {what} here")),
        ([], 1..=24) => Some(format!("there are {}", list(&all))),
        ([], _) => Some(format!("`cases/schema.json` lets an editor offer every {what}")),
        (near, count) if near.len() == count => Some(format!("did you mean {}?", list(near))),
        (near, 1..=8) => Some(format!("did you mean {}? there are {}", list(near), list(&all))),
        (near, _) => Some(format!("did you mean {}?", list(near))),
    }
}

/// At most three of `known` that a person may have meant by `name`, the likeliest first.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let lower = name.to_lowercase();
    let mut near: Vec<(f64, &str)> = known
        .map(|candidate| (likeness(&lower, candidate), candidate))
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let best = near.first().map_or(0.0, |(score, _)| *score);
    // What lies well behind the best is only noise beside it.
    near.retain(|(score, _)| *score >= 0.6 && *score >= best - 0.15);
    near.into_iter().take(3).map(|(_, candidate)| candidate).collect()
}

/// From 0 to 1: few slips of the keyboard, a shared beginning, or a part of the whole; whichever says most.
fn likeness(name: &str, candidate: &str) -> f64 {
    let candidate = candidate.to_lowercase();
    let slips = strsim::normalized_damerau_levenshtein(name, &candidate);
    let beginning = strsim::jaro_winkler(name, &candidate) - 0.2;
    let part = if name.len() >= 4 && candidate.contains(name) {
        0.7
    } else {
        0.0
    };
    slips.max(beginning).max(part)
}

impl Problem {
    /// A problem of `file`, whose text is `text`.
    pub fn new(file: &str, text: Arc<str>, mark: Mark, fault: Fault) -> Self {
        Self {
            file: file.to_owned(),
            mark,
            fault,
            source: NamedSource::new(file, text),
        }
    }

    /// `cases/ops/sum.yaml:3:7`.
    pub fn place(&self) -> String {
        format!(
            "{}:{}:{}",
            self.file,
            self.mark.position.line.max(1),
            self.mark.position.column.max(1)
        )
    }

    /// The problem as a person reads it, without colour.
    pub fn render(&self) -> String {
        let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
            .with_width(110)
            .with_context_lines(1)
            .with_links(false);
        let mut text = String::new();
        if self.source_code().is_some() && handler.render_report(&mut text, self).is_ok() {
            return text;
        }
        let place = if self.mark.position.line == 0 {
            self.file.clone()
        } else {
            self.place()
        };
        let help = self
            .fault
            .help()
            .map(|help| format!("  help: {help}\n"))
            .unwrap_or_default();
        format!("  × {self}\n   ╶─[{place}]\n{help}")
    }

    /// Byte offset and length of the mark in the text.
    fn span(&self) -> (usize, usize) {
        let text: &str = self.source.inner();
        let line_start = match self.mark.position.line {
            0 | 1 => 0,
            line => text
                .match_indices('\n')
                .nth(line as usize - 2)
                .map_or(text.len(), |(at, _)| at + 1),
        };
        let line = text[line_start..].split('\n').next().unwrap_or_default();
        let skip = self.mark.position.column.max(1) as usize - 1;
        let bytes = |chars: usize| line.char_indices().nth(chars).map_or(line.len(), |(at, _)| at);
        let from = bytes(skip);
        let to = bytes(skip + self.mark.length.max(1) as usize);
        (line_start + from, to.saturating_sub(from))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fault.fmt(f)
    }
}

impl std::error::Error for Problem {}

impl Diagnostic for Problem {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.fault
            .help()
            .map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        let (offset, _) = self.span();
        let text: &str = self.source.inner();
        let begin = text[..offset].rfind('\n').map_or(0, |at| at + 1);
        let line = text[begin..].split('\n').next().unwrap_or_default();
        // An excerpt of a line that nobody wrote by hand shows nothing.
        let readable = !text.is_empty() && line.len() <= LONGEST_LINE;
        readable.then_some(&self.source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let (offset, length) = self.span();
        let label = match &self.fault {
            Fault::Misfit { path, .. } if !path.is_empty() => Some(path.clone()),
            _ => Some("here".to_owned()),
        };
        Some(Box::new(std::iter::once(LabeledSpan::new(label, offset, length))))
    }
}
