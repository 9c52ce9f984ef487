//! The call graph as text: each function, and below it what calls it and what it calls.

use hashbrown::HashMap;

use crate::name::{display_width, fit};
use crate::output::text::Style;
use crate::output::text::comparison;
use crate::output::text::header;
use crate::output::text::layout::Layout;
use crate::output::text::names::DisplayNames;
use crate::output::text::table::{Emphasis, Grid, TextLine, TextTable};
use crate::report::{Graph, GraphEdge, GraphNode, Name, Pair};
use crate::unit::{self, IncompatibleUnits, Scale};

/// The header, the nodes with their edges, and what was left out.
pub(super) fn lines(graph: &Graph, style: &Style) -> Result<Vec<TextLine>, IncompatibleUnits> {
    let mut lines = header::lines(&graph.header, style)?;
    let largest = graph.header.shown.max(graph.header.old_sum());
    let scale = header::scale(&graph.header.metric, largest, style)?;
    let names = DisplayNames::of(&graph.header, graph.nodes.iter().map(|node| &node.name), style);
    let drawing = GraphText { graph, style, scale, names };
    lines.extend(drawing.lines());
    lines.extend(drawing.notes().into_iter().map(|note| TextLine::new(note, Emphasis::Faint)));
    Ok(lines)
}

struct GraphText<'g> {
    graph: &'g Graph,
    style: &'g Style,
    scale: Scale,
    names: DisplayNames,
}

/// A line before it is laid out.
struct GraphLine<'g> {
    numbers: Vec<String>,
    prefix: String,
    name: &'g str,
    /// Whether it is on one side of a comparison only.
    side: &'static str,
    emphasis: Emphasis,
}

impl GraphText<'_> {
    fn lines(&self) -> Vec<TextLine> {
        let mut called_by: HashMap<&str, Vec<&GraphEdge>> = HashMap::new();
        let mut calls: HashMap<&str, Vec<&GraphEdge>> = HashMap::new();
        for edge in &self.graph.edges {
            called_by.entry(&edge.callee).or_default().push(edge);
            calls.entry(&edge.caller).or_default().push(edge);
        }
        let glyphs = self.style.glyphs;
        let mut drawn = Vec::new();
        for node in &self.graph.nodes {
            let name = &*node.name;
            drawn.push(self.node(node));
            let callers = called_by.get(name).into_iter().flatten();
            drawn.extend(callers.map(|edge| self.edge(edge, glyphs.called_by, &edge.caller)));
            let callees = calls.get(name).into_iter().flatten();
            drawn.extend(callees.map(|edge| self.edge(edge, glyphs.calls, &edge.callee)));
        }
        let title = format!("FUNCTION{}CALLERS{}CALLEES", glyphs.called_by, glyphs.calls);
        let mut titles = self.value_titles();
        titles.push("SELF".to_string());
        let numbers: Vec<Vec<String>> = drawn.iter().map(|line| line.numbers.clone()).collect();
        let layout = Layout::new(&titles, &Grid::new(&titles, &numbers), &[], self.style);
        let mut columns = TextTable::new(layout.keep(titles).into_iter().chain([title]));
        for line in drawn {
            let name = match layout.room {
                Some(room) => {
                    let taken = display_width(&line.prefix) + line.side.len();
                    fit(line.name, room.saturating_sub(taken), self.style.glyphs.ellipsis)
                }
                None => line.name.to_string(),
            };
            let rest = format!("{}{name}{}", line.prefix, line.side);
            columns.row(layout.keep(line.numbers), rest, line.emphasis);
        }
        let mut lines = columns.lines();
        lines.extend(layout.note());
        lines
    }

    fn is_filtered(&self) -> bool {
        !self.graph.header.filters.is_empty()
    }

    fn value_titles(&self) -> Vec<String> {
        if self.graph.header.base.is_some() {
            return comparison::titles("TOTAL", self.style);
        }
        let shares: &[&str] = if self.is_filtered() { &["%ALL", "%SHOWN"] } else { &["%"] };
        ["TOTAL"].iter().chain(shares).map(ToString::to_string).collect()
    }

    /// A value and its shares; in a comparison its old value and the change.
    fn value(&self, value: i64, old: Option<i64>) -> Vec<String> {
        let header = &self.graph.header;
        if let Some(base) = &header.base {
            return comparison::cells(&self.scale, base, value, old.unwrap_or(0), self.style);
        }
        let mut cells = vec![self.scale.format(value), unit::share(value, header.total)];
        if self.is_filtered() {
            cells.push(unit::share(value, header.shown));
        }
        cells
    }

    fn node<'g>(&'g self, node: &'g GraphNode) -> GraphLine<'g> {
        let mut numbers = self.value(node.total, node.old.map(|old| old.total));
        numbers.push(self.scale.format(node.self_value));
        let is_marked = self.graph.header.is_highlighted(&node.name);
        let emphasis = if is_marked { Emphasis::Marked } else { Emphasis::Bold };
        let mark = if is_marked { self.style.glyphs.marked.to_string() } else { String::new() };
        let new = Pair { self_value: node.self_value, total: node.total };
        let side = node.old.map_or("", |old| comparison::on_one_side(new, old));
        GraphLine { numbers, prefix: mark, name: self.names.get(&node.name), side, emphasis }
    }

    /// `← caller` or `→ callee`, or `→ … → callee` where functions between were left out.
    fn edge<'g>(&'g self, edge: &'g GraphEdge, arrow: &str, other: &'g Name) -> GraphLine<'g> {
        let mut numbers = self.value(edge.value, edge.old);
        numbers.push(String::new());
        let between =
            if edge.bridged { format!("{}{arrow}", self.style.glyphs.ellipsis) } else { String::new() };
        let prefix = format!("  {}{between}", arrow.trim_start());
        let pair = |total| Pair { self_value: 0, total };
        let side = edge.old.map_or("", |old| comparison::on_one_side(pair(edge.value), pair(old)));
        GraphLine { numbers, prefix, name: self.names.get(other), side, emphasis: Emphasis::None }
    }

    fn notes(&self) -> Vec<String> {
        let graph = self.graph;
        let mut notes = Vec::new();
        notes.extend(header::highlight_note(&graph.header, &self.scale, self.style));
        notes.extend(left_out(graph));
        notes
    }
}

/// What was left out: `80 of 1,071 functions (the heaviest), 143 edges (each at least 0.1%)`.
pub(in crate::output) fn left_out(graph: &Graph) -> Option<String> {
    let (header, edges) = (&graph.header, graph.edges.len());
    if header.elided_rows == 0 && graph.edges_elided == 0 {
        return None;
    }
    let count = |count: u64| unit::group_thousands(count.into());
    let nodes = graph.nodes.len() as u64;
    let noun = header.by.several;
    let which = if header.base.is_some() { "most changed" } else { "heaviest" };
    let mut parts = vec![format!("{} {noun}", count(nodes))];
    if header.elided_rows > 0 {
        parts = vec![format!("the {} {which} of {} {noun}", count(nodes), count(nodes + header.elided_rows))];
    }
    let all_edges = edges as u64 + graph.edges_elided;
    parts.push(match graph.edges_elided {
        0 if edges == 1 => "the one call between them".to_string(),
        0 if all_edges == 0 => "no calls between them".to_string(),
        0 => format!("all {} calls between them", count(all_edges)),
        _ => format!(
            "{} of {} calls between them, each at least {}%",
            count(edges as u64),
            count(all_edges),
            graph.min_edge
        ),
    });
    Some(parts.join(", "))
}
