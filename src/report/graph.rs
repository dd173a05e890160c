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
    /// The line, as SVG's `d`: it bends between rows only, where no node lies.
    path: String,
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

/// How wide a letter of a module's name is drawn.
const SMALL_LETTER: f64 = 6.1;

/// What lies between a module's ops and its frame: at the sides and below, and above, where its name stands.
const PADDING: (f64, f64) = (8.0, 16.0);

/// The width that a line takes where it passes a row.
const LANE: f64 = 4.0;

/// Drawings beyond this many ops say nothing that the table does not.
const MOST_OPS: usize = 400;

/// What is placed: ops, and the points of other rows that lines pass.
type Sizes = Vec<(u32, (f64, f64))>;

/// Which stands above which.
type Edges = Vec<(u32, u32)>;

/// Where the centre of each lies.
type Centres = BTreeMap<u32, (f64, f64)>;

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
    let edges: Edges = edges.into_iter().collect();
    let names: HashMap<&str, String> = modules
        .iter()
        .map(|it| {
            let mut name = format!("{} {}", it.address, it.class);
            if !it.parameters.is_empty() {
                name += &format!(": {}", it.parameters.join(", "));
            }
            (it.address.as_str(), name.trim_start().to_owned())
        })
        .collect();
    let frame = |op: &OpRow| {
        let address = op.module.as_deref().filter(|it| !it.is_empty())?;
        Some(names.get(address).map_or(address, String::as_str).to_owned())
    };
    let frames: Vec<Option<String>> = ops.iter().map(frame).collect();
    let sizes: Sizes = (0u32..)
        .zip(ops.iter().zip(&frames))
        .map(|(place, (op, frame))| {
            let framed = frame
                .as_deref()
                .map_or(0.0, |name| caption(name) + 2.0 * PADDING.0);
            (place, (width(op).max(framed), HEIGHT))
        })
        .collect();
    let (lines, centres) = routed(sizes, &edges);
    Some(drawn(ops, &frames, &edges, &lines, &centres))
}

fn width(op: &OpRow) -> f64 {
    op.label.chars().count() as f64 * LETTER + 18.0
}

/// How wide a module's name is drawn.
fn caption(name: &str) -> f64 {
    name.chars().count() as f64 * SMALL_LETTER
}

/// Places ops, and the points that each edge passes between its ends.
///
/// An edge over several rows would run across the ops there, so where there is one, everything is placed a
/// second time, with a lane left free in each row that an edge passes.
fn routed(mut sizes: Sizes, edges: &Edges) -> (Vec<Vec<u32>>, Centres) {
    let first = placed(&sizes, edges);
    let row = |place: &u32| first.get(place).map_or(0, |(_, y)| y.round() as i64);
    let rows: BTreeSet<i64> = first.keys().map(row).collect();
    let mut split = Edges::new();
    let mut lines = Vec::with_capacity(edges.len());
    for (from, to) in edges {
        let mut line = vec![*from];
        for _ in rows.range(row(from) + 1..row(to).max(row(from) + 1)) {
            let lane = sizes.len() as u32;
            sizes.push((lane, (LANE, HEIGHT)));
            line.push(lane);
        }
        line.push(*to);
        split.extend(line.windows(2).map(|pair| (pair[0], pair[1])));
        lines.push(line);
    }
    let centres = match split.len() == edges.len() {
        true => first,
        false => placed(&sizes, &split),
    };
    (lines, centres)
}

/// The centre of each node, the first at the top left; parts that do not touch stand side by side.
fn placed(sizes: &Sizes, edges: &Edges) -> Centres {
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
    frames: &[Option<String>],
    edges: &Edges,
    lines: &[Vec<u32>],
    centres: &Centres,
) -> Graph {
    let whole = |number: f64| number.round() as i64;
    let centre = |place: u32| centres.get(&place).copied().unwrap_or_default();
    let mut found = Graph::default();
    let (mut right, mut bottom) = (0.0_f64, 0.0_f64);
    for (place, op) in (0u32..).zip(ops) {
        let ((x, y), width) = (centre(place), width(op));
        right = right.max(x + width / 2.0);
        bottom = bottom.max(y + HEIGHT / 2.0);
        found.nodes.push(Node {
            label: op.label.clone(),
            anchor: plain(&op.label),
            x: whole(x),
            y: whole(y),
            left: whole(x - width / 2.0),
            top: whole(y - HEIGHT / 2.0),
            width: whole(width),
            kind: kind(op),
            decision: op.decision.map_or("none", |decision| decision.name()),
        });
    }
    for members in framed(frames, edges, &found.nodes) {
        let nodes = || members.iter().map(|place| &found.nodes[*place]);
        let name = frames[members[0]].clone().unwrap_or_default();
        let left = nodes().map(|it| it.left).min().unwrap_or(0);
        let end = nodes().map(|it| it.left + it.width).max().unwrap_or(0);
        let top = nodes().map(|it| it.top).min().unwrap_or(0);
        let low = nodes().map(|it| it.y).max().unwrap_or(0);
        // The name may be wider than what it names.
        let wide = (caption(&name).ceil() as i64).max(end - left);
        let (side, above) = (whole(PADDING.0), whole(PADDING.1));
        let frame = Frame {
            x: (left + end - wide) / 2 - side,
            y: top - above,
            width: wide + 2 * side,
            height: low + whole(HEIGHT) / 2 - top + above + side,
            name,
        };
        right = right.max((frame.x + frame.width) as f64);
        bottom = bottom.max((frame.y + frame.height) as f64);
        found.modules.push(frame);
    }
    for line in lines {
        let points: Vec<(f64, f64)> = line.iter().map(|place| centre(*place)).collect();
        found.edges.push(Edge { path: path(&points) });
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

/// A line from the first node's lower edge to the last one's upper edge, straight through each row that it passes.
fn path(points: &[(f64, f64)]) -> String {
    let whole = |number: f64| number.round() as i64;
    let mut path = String::new();
    for (place, pair) in points.windows(2).enumerate() {
        let [(x1, y1), (x2, y2)] = [pair[0], pair[1]];
        let (y1, y2) = (y1 + HEIGHT / 2.0, y2 - HEIGHT / 2.0);
        let (x1, y1, x2, y2, middle) = (whole(x1), whole(y1), whole(x2), whole(y2), whole((y1 + y2) / 2.0));
        path += &match place {
            0 => format!("M{x1} {y1}"),
            _ => format!("L{x1} {y1}"),
        };
        path += &format!("C{x1} {middle} {x2} {middle} {x2} {y2}");
    }
    path
}

/// Which ops stand in one frame: those of a module that follow on each other, as far as no other op lies between them.
fn framed(frames: &[Option<String>], edges: &Edges, nodes: &[Node]) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = Vec::new();
    for place in (0..frames.len()).filter(|place| frames[*place].is_some()) {
        let follows = |group: &&mut Vec<usize>| {
            frames[group[0]] == frames[place]
                && edges
                    .iter()
                    .any(|(from, to)| *to as usize == place && group.contains(&(*from as usize)))
                && is_clear(group, place, nodes)
        };
        match found.iter_mut().find(follows) {
            Some(group) => group.push(place),
            None => found.push(vec![place]),
        }
    }
    found
}

/// Whether a frame around a group and one more node would hold nothing else.
fn is_clear(group: &[usize], more: usize, nodes: &[Node]) -> bool {
    let members = || group.iter().chain([&more]).map(|place| &nodes[*place]);
    let left = members().map(|it| it.left).min();
    let right = members().map(|it| it.left + it.width).max();
    let (top, bottom) = (members().map(|it| it.y).min(), members().map(|it| it.y).max());
    let lies_between = |node: &Node| {
        Some(node.left + node.width) >= left
            && Some(node.left) <= right
            && (top..=bottom).contains(&Some(node.y))
    };
    let others = nodes.iter().enumerate();
    others
        .filter(|(place, _)| *place != more && !group.contains(place))
        .all(|(_, node)| !lies_between(node))
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

    fn module(address: &str) -> ModuleRow {
        ModuleRow {
            address: address.to_owned(),
            class: "Linear".to_owned(),
            parameters: vec!["bias".to_owned(), "weight".to_owned()],
            ..ModuleRow::default()
        }
    }

    fn inside(module: &str, label: &str, parents: &[&str]) -> OpRow {
        OpRow {
            module: Some(module.to_owned()),
            ..op(label, parents)
        }
    }

    #[test]
    fn an_edge_over_several_rows_runs_past_the_ops_there() {
        let mut ops = vec![op("input_1:1", &[])];
        for number in 1..6 {
            let before = ops[number - 1].label.clone();
            ops.push(op(&format!("a_very_long_name_{number}:1"), &[&before]));
        }
        ops.push(op(
            "add_1:1",
            &["a_very_long_name_5:1", "input_1:1", "a_very_long_name_2:1"],
        ));
        let found = graph(&ops, &[]).expect("drawn");
        assert_eq!(found.edges.len(), 8);
        let bends = |edge: &Edge| edge.path.matches('C').count();
        assert_eq!(found.edges.iter().map(bends).max(), Some(6), "{:?}", found.edges);
        for edge in found.edges.iter().filter(|edge| bends(edge) > 1) {
            // Straight through a row: from where a bend ended to where the next begins.
            for straight in edge.path.split('L').skip(1) {
                let numbers = straight
                    .split(['C', ' '])
                    .take(2)
                    .filter_map(|it| it.parse::<i64>().ok());
                let at: Vec<i64> = numbers.collect();
                let hit = |node: &&Node| {
                    (node.left..=node.left + node.width).contains(&at[0]) && (at[1] - node.y).abs() <= 14
                };
                assert!(!found.nodes.iter().any(|node| hit(&node)), "{edge:?}");
            }
        }
    }

    #[test]
    fn a_module_is_framed_once_a_call_and_never_around_what_is_not_its_own() {
        let ops = [
            op("input_1:1", &[]),
            inside("one", "linear_1:1", &["input_1:1"]),
            op("exp_1:1", &["linear_1:1"]),
            inside("one", "linear_1:2", &["exp_1:1"]),
            inside("two", "matmul_1:1", &["linear_1:2"]),
            inside("two", "add_1:1", &["matmul_1:1"]),
        ];
        let found = graph(&ops, &[module("one"), module("two")]).expect("drawn");
        let names: Vec<&str> = found.modules.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "one Linear: bias, weight",
                "one Linear: bias, weight",
                "two Linear: bias, weight"
            ]
        );
        let holds = |frame: &Frame, node: &Node| {
            (frame.x..=frame.x + frame.width).contains(&node.x)
                && (frame.y..=frame.y + frame.height).contains(&node.y)
        };
        let held: Vec<usize> = found
            .modules
            .iter()
            .map(|frame| found.nodes.iter().filter(|node| holds(frame, node)).count())
            .collect();
        assert_eq!(held, [1, 1, 2]);
        for frame in &found.modules {
            assert!(
                frame.x >= 0
                    && frame.x + frame.width <= found.width
                    && frame.y + frame.height <= found.height
            );
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
