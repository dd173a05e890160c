//! A trace as a graph: placed by a library, drawn by a template.

use super::pages::links::plain;
use crate::scorecard::outcome::{ModuleRow, OpRow};
use crate::vocabulary::Reason;
use rust_sugiyama::configure::Config;
use rust_sugiyama::from_vertices_and_edges;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A drawing, in pixels.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Graph {
    width: i64,
    height: i64,
    /// What it shows, in words.
    alt: String,
    modules: Vec<Frame>,
    edges: Vec<Edge>,
    nodes: Vec<Node>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Frame {
    x: i64,
    y: i64,
    width: i64,
    height: i64,
    /// The module's address and class, and the parameters that its ops read.
    name: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Edge {
    x1: i64,
    y1: i64,
    x2: i64,
    y2: i64,
    middle: i64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct Node {
    label: String,
    /// The end of its row's anchor.
    anchor: String,
    x: i64,
    y: i64,
    /// The left edge.
    left: i64,
    top: i64,
    width: i64,
    /// What kind of row it is: `input`, `constant`, `op`.
    kind: &'static str,
    decision: &'static str,
}

/// The height of a node.
const HEIGHT: f64 = 28.0;

/// How wide a letter is drawn.
const LETTER: f64 = 7.6;

/// Between nodes.
const SPACE: f64 = 26.0;

/// Around the whole.
const MARGIN: f64 = 18.0;

/// Drawings beyond this many ops say nothing that the table does not.
const MOST_OPS: usize = 400;

/// The graph of these ops; `None` where there is nothing to draw, or too much.
pub fn graph(ops: &[OpRow], modules: &[ModuleRow]) -> Option<Graph> {
    if ops.is_empty() || ops.len() > MOST_OPS {
        return None;
    }
    let places: HashMap<&str, u32> = (0u32..)
        .zip(ops)
        .map(|(place, op)| (op.label.as_str(), place))
        .collect();
    let mut edges: BTreeSet<(u32, u32)> = BTreeSet::new();
    for (to, op) in (0u32..).zip(ops) {
        let parents = op.parents.iter().filter_map(|label| places.get(label.as_str()));
        // A mistaken record may name an op its own parent, which no layering can place.
        edges.extend(parents.filter(|from| **from < to).map(|from| (*from, to)));
    }
    let edges: Vec<(u32, u32)> = edges.into_iter().collect();
    let width = |op: &OpRow| op.label.chars().count() as f64 * LETTER + 18.0;
    let sizes: Vec<(u32, (f64, f64))> = (0u32..)
        .zip(ops)
        .map(|(place, op)| (place, (width(op), HEIGHT)))
        .collect();
    let centres = placed(&sizes, &edges);
    let mut found = drawn(ops, &sizes, &edges, &centres);
    for frame in &mut found.modules {
        let module = modules.iter().find(|module| module.address == frame.name);
        if let Some(module) = module {
            frame.name = format!(
                "{} {}: {}",
                module.address,
                module.class,
                module.parameters.join(", ")
            );
        }
    }
    Some(found)
}

/// The centre of each node, the first at the top left; parts that do not touch stand side by side.
fn placed(sizes: &[(u32, (f64, f64))], edges: &[(u32, u32)]) -> BTreeMap<u32, (f64, f64)> {
    let config = Config {
        vertex_spacing: SPACE,
        ..Config::default()
    };
    let mut centres = BTreeMap::new();
    let mut offset = MARGIN;
    for (part, ..) in from_vertices_and_edges(sizes, edges, &config) {
        let at = |number: usize| sizes.get(number).map_or((0.0, 0.0), |(_, size)| *size);
        let left = part
            .iter()
            .map(|(number, (x, _))| x - at(*number).0 / 2.0)
            .fold(f64::INFINITY, f64::min);
        let right = part
            .iter()
            .map(|(number, (x, _))| x + at(*number).0 / 2.0)
            .fold(f64::NEG_INFINITY, f64::max);
        let top = part.iter().map(|(_, (_, y))| *y).fold(f64::INFINITY, f64::min);
        for (number, (x, y)) in &part {
            let centre = (x - left + offset, (y - top).abs() + MARGIN + HEIGHT);
            centres.insert(u32::try_from(*number).unwrap_or(u32::MAX), centre);
        }
        offset += right - left + 2.0 * SPACE;
    }
    centres
}

fn drawn(
    ops: &[OpRow],
    sizes: &[(u32, (f64, f64))],
    edges: &[(u32, u32)],
    centres: &BTreeMap<u32, (f64, f64)>,
) -> Graph {
    let whole = |number: f64| number.round() as i64;
    let centre = |place: u32| centres.get(&place).copied().unwrap_or_default();
    let mut found = Graph::default();
    let (mut right, mut bottom) = (0.0_f64, 0.0_f64);
    let mut frames: BTreeMap<&str, [f64; 4]> = BTreeMap::new();
    for ((place, (width, _)), op) in sizes.iter().zip(ops) {
        let (x, y) = centre(*place);
        let [left, top] = [x - width / 2.0, y - HEIGHT / 2.0];
        right = right.max(x + width / 2.0);
        bottom = bottom.max(y + HEIGHT / 2.0);
        if let Some(module) = op.module.as_deref().filter(|it| !it.is_empty()) {
            let frame = frames
                .entry(module)
                .or_insert([left, top, x + width / 2.0, y + HEIGHT / 2.0]);
            *frame = [
                frame[0].min(left),
                frame[1].min(top),
                frame[2].max(x + width / 2.0),
                frame[3].max(y + HEIGHT / 2.0),
            ];
        }
        found.nodes.push(Node {
            label: op.label.clone(),
            anchor: plain(&op.label),
            x: whole(x),
            y: whole(y),
            left: whole(left),
            top: whole(top),
            width: whole(*width),
            kind: kind(op),
            decision: op.decision.map_or("none", |decision| decision.name()),
        });
    }
    for (name, [left, top, right, bottom]) in frames {
        found.modules.push(Frame {
            x: whole(left - 8.0),
            y: whole(top - 16.0),
            width: whole(right - left + 16.0),
            height: whole(bottom - top + 24.0),
            name: name.to_owned(),
        });
    }
    for (from, to) in edges {
        let ((x1, y1), (x2, y2)) = (centre(*from), centre(*to));
        let (y1, y2) = (y1 + HEIGHT / 2.0, y2 - HEIGHT / 2.0);
        found.edges.push(Edge {
            x1: whole(x1),
            y1: whole(y1),
            x2: whole(x2),
            y2: whole(y2),
            middle: whole((y1 + y2) / 2.0),
        });
    }
    found.width = whole(right + MARGIN);
    found.height = whole(bottom + MARGIN);
    found.alt = format!(
        "{} ops and {} edges, from {} to {}; the table below says the same",
        ops.len(),
        edges.len(),
        ops.first().map_or("", |op| op.label.as_str()),
        ops.last().map_or("", |op| op.label.as_str()),
    );
    found
}

/// Inputs and constants are told apart from what is computed.
fn kind(op: &OpRow) -> &'static str {
    match op.name.as_str() {
        "input" => "input",
        _ if op.reason == Some(Reason::ConstantProducerLeaf) => "constant",
        _ => "op",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scorecard::outcome::ArrayRow;

    fn op(label: &str, parents: &[&str]) -> OpRow {
        OpRow {
            parents: parents.iter().map(|it| (*it).to_owned()).collect(),
            ..OpRow::new(label, "add", ArrayRow::default())
        }
    }

    #[test]
    fn parents_stand_above_and_nodes_apart() {
        let ops = [
            op("input_1:1", &[]),
            op("exp_1:1", &["input_1:1"]),
            op("sin_1:1", &["input_1:1"]),
            op("add_1:1", &["exp_1:1", "sin_1:1", "add_1:1"]),
            op("alone_1:1", &[]),
        ];
        let found = graph(&ops, &[]).expect("drawn");
        let node = |label: &str| found.nodes.iter().find(|it| it.label == label).expect("there");
        assert!(node("input_1:1").y < node("exp_1:1").y && node("exp_1:1").y < node("add_1:1").y);
        let (exp, sin) = (node("exp_1:1"), node("sin_1:1"));
        assert_eq!(exp.y, sin.y);
        assert!(exp.left + exp.width < sin.left || sin.left + sin.width < exp.left);
        assert_eq!(found.edges.len(), 4, "an op is not drawn as its own parent");
        let inside = |it: &Node| it.left >= 0 && it.left + it.width <= found.width && it.y <= found.height;
        assert!(found.nodes.iter().all(inside));
    }
}
