//! Which files there should be, and the draft that each begins as.

use super::recipe::{self, Recipe, Views};
use crate::case::names::Signature;
use crate::vocabulary::DType;
use std::fmt::Write;

/// What one file is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A function of a family.
    Function {
        /// The family.
        family: &'static str,
        /// The function.
        signature: Signature,
    },
    /// A layer.
    Layer {
        /// The layer.
        signature: Signature,
    },
}

/// The folder of all layers' files, and the word for them on the command line.
pub const LAYERS: &str = "layers";

impl Subject {
    /// The family: a folder.
    pub fn family(&self) -> &'static str {
        match self {
            Subject::Function { family, .. } => family,
            Subject::Layer { .. } => LAYERS,
        }
    }

    /// The signature.
    pub fn signature(&self) -> &Signature {
        match self {
            Subject::Function { signature, .. } | Subject::Layer { signature } => signature,
        }
    }

    /// The case's id.
    pub fn id(&self) -> String {
        let name = self.signature().name;
        let own = name.split_once('.').map_or(name, |(module, own)| match module {
            // Two modules share a family.
            "random_state" | "windows" => name,
            _ => own,
        });
        format!("surface::{}::{}", self.family(), own.replace('.', "_"))
    }

    /// The file, relative to the root.
    pub fn file(&self) -> String {
        format!("cases/{}.yaml", self.id().replace("::", "/"))
    }

    /// What it is asked.
    pub fn recipe(&self) -> Recipe {
        match self {
            Subject::Function { signature, .. } => recipe::function(signature),
            Subject::Layer { signature } => recipe::layer(signature),
        }
    }
}

/// What is computed, over what: the part of the file that asking does not change.
pub fn head(subject: &Subject) -> String {
    let recipe = subject.recipe();
    let signature = subject.signature();
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "# yaml-language-server: $schema=../../schema.json");
    let _ = writeln!(text, "# {signature}");
    if !recipe.note.is_empty() {
        let _ = writeln!(text, "# {}", recipe.note);
    }
    let mut axes: Vec<(&str, Vec<String>)> = Vec::new();
    let own = |items: &[&str]| items.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let dtypes = match recipe.dtypes {
        // Numbers written down are no truth values.
        [] => std::iter::once("float32")
            .chain(
                DType::ALL
                    .iter()
                    .map(|it| it.name())
                    .filter(|it| *it != "float32"),
            )
            .filter(|it| *it != "bool" || !recipe.inputs.contains("dtype: $dtype, value:"))
            .map(str::to_owned)
            .collect(),
        some => own(some),
    };
    let (layer, function) = match subject {
        Subject::Layer { .. } => (true, false),
        Subject::Function { .. } => (false, true),
    };
    let inputs = match (recipe.inputs, layer) {
        ("", true) => "{x: {dtype: $dtype, shape: $shape, view: $view}}",
        (inputs, _) => inputs,
    };
    let uses = |axis: &str| {
        inputs.contains(axis)
            || recipe.args.iter().any(|it| it.contains(axis))
            || (function && inputs.is_empty())
    };
    let arrays = !recipe.shapes.is_empty() || !inputs.is_empty();
    if uses("$dtype") && (arrays || recipe.args.iter().any(|it| it.contains("$dtype"))) {
        axes.push(("dtype", dtypes));
    }
    if !recipe.shapes.is_empty() && uses("$shape") {
        axes.push(("shape", own(recipe.shapes)));
    }
    if recipe.views == Views::All && arrays && uses("$view") {
        axes.push(("view", own(&["plain", "transposed", "strided", "reversed"])));
    }
    if recipe.fills.len() > 1 {
        axes.push(("fill", own(recipe.fills)));
    }
    match subject {
        Subject::Function { .. } => {
            let _ = writeln!(text, "op: {}", signature.name);
            if let [one] = recipe.fills {
                let _ = writeln!(text, "fill: {one}");
            }
            match recipe.args {
                [] | ["{}"] => {}
                [one] => {
                    let _ = writeln!(text, "args: {one}");
                }
                several => axes.push(("args", own(several))),
            }
        }
        Subject::Layer { .. } => match recipe.args {
            [] | ["{}"] => {
                let _ = writeln!(text, "model: {}", signature.name);
            }
            [one] => {
                let _ = writeln!(text, "model: {{{}: {one}}}", signature.name);
            }
            several => {
                let _ = writeln!(text, "model: {{{}: $settings}}", signature.name);
                axes.push(("settings", own(several)));
            }
        },
    }
    if !inputs.is_empty() {
        let _ = writeln!(text, "inputs: {inputs}");
    }
    if !recipe.unordered.is_empty() {
        let _ = writeln!(text, "unordered: {}", recipe.unordered);
    }
    if !axes.is_empty() {
        let _ = writeln!(text, "matrix:");
        for (axis, values) in &axes {
            text.push_str(&list(&format!("  {axis}: "), values));
        }
    }
    if axes.len() > 1 {
        let _ = writeln!(text, "vary: one");
    }
    text
}

/// `key: [a, b]`, over several lines where one is too long.
pub(super) fn list(key: &str, items: &[String]) -> String {
    let one = format!("{key}[{}]\n", items.join(", "));
    if one.len() <= 120 {
        return one;
    }
    let indent = " ".repeat(key.len() - key.trim_start().len() + 2);
    let mut text = format!("{key}[");
    let mut line = String::new();
    for item in items {
        if line.is_empty() || indent.len() + line.len() + item.len() + 2 > 110 {
            text.push_str(line.trim_end());
            text.push_str(&format!("\n{indent}"));
            line.clear();
        }
        line.push_str(&format!("{item}, "));
    }
    text.push_str(line.trim_end_matches(", "));
    text.push_str(&format!("\n{}]\n", &indent[2..]));
    text
}
