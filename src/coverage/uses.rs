//! Which items of mlx-rs a call of the dispatch tables uses, read from the entry's own text.

use super::surface::{Item, ITEMS};
use crate::case::value::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

static BY_NAME: LazyLock<HashMap<&'static str, Vec<&'static Item>>> = LazyLock::new(|| {
    let mut found: HashMap<&str, Vec<&Item>> = HashMap::new();
    for item in ITEMS {
        found.entry(item.name()).or_default().push(item);
    }
    found
});

/// The items that an entry's text mentions: paths, methods, and types or their builders.
pub fn mentioned(name: &str, text: &str) -> BTreeSet<&'static str> {
    let words = words(text);
    let mut found = BTreeSet::new();
    for (place, word) in words.iter().enumerate() {
        let before = |back: usize| place.checked_sub(back).map_or("", |at| words[at]);
        let plain = word.strip_suffix("Builder").unwrap_or(word);
        for item in BY_NAME.get(plain).into_iter().flatten() {
            let fits = match item.kind {
                "layer" | "loss" | "optimizer" => true,
                "operator" => false,
                _ if *word != plain => false,
                "method" => match before(1) {
                    "." => item.path.starts_with("Array::") || before(2) == "state",
                    "::" => item.path.starts_with(&format!("{}::", before(2))),
                    _ => false,
                },
                _ => match before(1) {
                    // `indexing::take` is `ops::indexing::take`; a function of the root stands behind `mlx_rs`.
                    "::" => {
                        item.module() == before(2)
                            || item.module().ends_with(&format!("::{}", before(2)))
                            || (before(2) == "mlx_rs" && item.module() == "mlx_rs")
                    }
                    "." => item.path.starts_with("ops::indexing::try_"),
                    // Imported by its own name.
                    _ => words.get(place + 1) == Some(&"(") && item.module() == "optimizers",
                },
            };
            if fits {
                found.insert(item.path);
            }
        }
    }
    if let Some(operator) = name.strip_prefix("operator.") {
        let camel: String = operator.split('_').map(capitalized).collect();
        found.extend(
            ITEMS
                .iter()
                .map(|item| item.path)
                .filter(|path| *path == format!("Array as {camel}")),
        );
    }
    found
}

/// Of the items mentioned those that a call with these arguments reaches: a form over axes only where it names axes.
pub fn reached(
    mentioned: &BTreeSet<&'static str>,
    arguments: &BTreeMap<&str, Value>,
) -> BTreeSet<&'static str> {
    let given = |name: &str| {
        arguments
            .get(name)
            .is_some_and(|value| !matches!(value, Value::Null))
    };
    let axes = given("axes") || given("axes_a");
    let has = |path: &str| mentioned.contains(path);
    let reached = mentioned.iter().copied().filter(|path| {
        if let Some(base) = path.strip_suffix("_axes") {
            return axes || !has(base);
        }
        if let Some(base) = path.strip_suffix("_axis") {
            return !axes && (given("axis") || !(has(base) || has(&format!("{base}_axes"))));
        }
        if path.ends_with("_with_options") {
            return arguments.len() > 1;
        }
        let several = axes && has(&format!("{path}_axes"));
        let one = given("axis") && has(&format!("{path}_axis"));
        let options = arguments.len() > 1 && has(&format!("{path}_with_options"));
        !(several || one || options)
    });
    reached.collect()
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_ascii_uppercase().to_string() + letters.as_str()
    })
}

/// Identifiers, `::`, and every other letter by itself.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if first.is_alphanumeric() || first == '_' => rest
                .find(|it: char| !(it.is_alphanumeric() || it == '_'))
                .unwrap_or(rest.len()),
            ':' if rest.starts_with("::") => 2,
            _ => first.len_utf8(),
        };
        let (word, after) = rest.split_at(length);
        if !word.trim().is_empty() {
            words.push(word);
        }
        rest = after;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::functions;

    fn of(name: &str, arguments: &[(&'static str, Value)]) -> Vec<&'static str> {
        let function = functions::function(name).expect("it exists");
        let arguments = arguments.iter().cloned().collect();
        reached(&mentioned(name, function.text), &arguments)
            .into_iter()
            .collect()
    }

    #[test]
    fn a_form_is_reached_by_the_arguments_that_choose_it() {
        assert_eq!(of("sum", &[]), ["ops::sum"]);
        assert_eq!(of("sum", &[("axes", Value::List(vec![]))]), ["ops::sum_axes"]);
        assert_eq!(of("sum", &[("axis", Value::Int(0))]), ["ops::sum_axis"]);
        assert_eq!(of("array.sum", &[("axis", Value::Int(0))]), ["Array::sum_axis"]);
    }

    #[test]
    fn methods_operators_types_and_imported_functions_are_found() {
        assert_eq!(of("as_dtype", &[]), ["Array::as_dtype"]);
        assert_eq!(of("operator.add_assign", &[]), ["Array as AddAssign"]);
        assert_eq!(of("loss.cross_entropy", &[]), ["losses::CrossEntropy"]);
        assert_eq!(of("optimizer.sgd", &[]), ["optimizers::Sgd"]);
        assert_eq!(
            of("optimizer.clip_grad_norm", &[]),
            ["optimizers::clip_grad_norm"]
        );
        assert_eq!(of("getitem", &[]), ["ops::indexing::try_index"]);
        assert_eq!(of("windows.hann", &[]), ["ops::windows::hann"]);
    }
}
