//! The call graph: each function, and below it what calls it and what it calls.

use hashbrown::HashMap;

use crate::output::Scaled;
use crate::output::label::Label;
use crate::output::names::DisplayNames;
use crate::output::style::Style;
use crate::output::table::{Columns, Emphasis, Form, Group, Kind, Note, Table};
use crate::output::tables::values::{
    HasValues, RowSides, ValueColumns, Which, Wholes, add_shares, artefact_note, side_only,
};
use crate::report::{Graph, GraphEdge, GraphNode};
use crate::unit::{self};

/// A function, or a call.
#[derive(Clone, Copy)]
enum GraphLine<'r> {
    Node(&'r GraphNode),
    /// A call below the function that is called.
    Caller(&'r GraphEdge),
    /// A call below the function that calls.
    Callee(&'r GraphEdge),
}

impl<'r> GraphLine<'r> {
    fn node(&self) -> Option<&'r GraphNode> {
        match self {
            GraphLine::Node(node) => Some(node),
            GraphLine::Caller(_) | GraphLine::Callee(_) => None,
        }
    }

    fn edge(&self) -> Option<&'r GraphEdge> {
        match self {
            GraphLine::Node(_) => None,
            GraphLine::Caller(edge) | GraphLine::Callee(edge) => Some(edge),
        }
    }

    /// The total of a function, or the value of a call.
    fn value(&self) -> Option<i64> {
        self.node().map(|node| node.values.new.total).or_else(|| Some(self.edge()?.value))
    }

    fn old(&self) -> Option<i64> {
        match self.node() {
            Some(node) => Some(node.values.old?.total),
            None => self.edge()?.old,
        }
    }
}

/// The values of functions; those of calls have other keys.
impl HasValues for GraphLine<'_> {
    fn sides(&self) -> RowSides {
        self.node().map_or_else(RowSides::default, |node| node.values.into())
    }
}

/// The functions with their calls; for programs the functions, then the calls.
pub(super) fn table<'r>(graph: &'r Graph, form: Form, style: &'r Style) -> Scaled<Table<'r>> {
    let header = &graph.header;
    let values = ValueColumns::new(header, header.shown.max(header.old_sum()), style)?;
    let mut columns = Columns::new();
    let names = || graph.nodes.iter().map(|node| &node.name);
    columns.add("name", Kind::Name, |line: &GraphLine| line.node().map(|node| &*node.name));
    let shown = DisplayNames::of(header, names(), form, style);
    let title =
        format!("{}{}CALLERS{}CALLEES", header.by.title(), style.glyphs.called_by, style.glyphs.calls);
    columns.show(title, Kind::Name, move |line: &GraphLine| label(graph, line, &shown, style));
    let kind = Kind::Value(values.scale.clone());
    columns.show("TOTAL", kind.clone(), GraphLine::value);
    values.add_side(&mut columns, ["", ""], GraphLine::value, GraphLine::old);
    if header.base.is_none() {
        add_shares(&mut columns, Wholes::of(header), Group::Always, GraphLine::value);
    }
    values.raw(&mut columns, Which::Own).titled("SELF");
    values.raw(&mut columns, Which::Total);
    values.sides(&mut columns, &[], &[]);
    columns.add("caller", Kind::Text, |line| line.edge().map(|edge| &*edge.caller));
    columns.add("callee", Kind::Text, |line| line.edge().map(|edge| &*edge.callee));
    columns.add("value", kind.clone(), |line| line.edge().map(|edge| edge.value));
    if header.base.is_some() {
        columns.add("old.value", kind.clone(), |line| line.edge()?.old);
        columns.add("delta.value", kind, |line| line.edge()?.delta);
    }
    columns.add("bridged", Kind::Flag, |line| line.edge().map(|edge| edge.bridged));
    columns.emphasis(move |line| match line {
        GraphLine::Node(node) if header.is_highlighted(&node.name) => Emphasis::Marked,
        GraphLine::Node(_) => Emphasis::Bold,
        GraphLine::Caller(_) | GraphLine::Callee(_) => Emphasis::None,
    });
    let lines = if form == Form::Csv {
        let edges = graph.edges.iter().map(GraphLine::Callee);
        graph.nodes.iter().map(GraphLine::Node).chain(edges).collect()
    } else {
        lines(graph)
    };
    let mut table = columns.table(form, &[], move || lines.clone().into_iter(), []);
    table.below.extend(values.highlight_note(style));
    table.below.extend(left_out(graph).map(Note::faint));
    table.below.extend(artefact_note(header, names(), style));
    Ok(table)
}

/// Each function, and below it its callers and its callees.
fn lines(graph: &Graph) -> Vec<GraphLine<'_>> {
    let mut called_by: HashMap<&str, Vec<GraphLine>> = HashMap::new();
    let mut calls: HashMap<&str, Vec<GraphLine>> = HashMap::new();
    for edge in &graph.edges {
        called_by.entry(&edge.callee).or_default().push(GraphLine::Caller(edge));
        calls.entry(&edge.caller).or_default().push(GraphLine::Callee(edge));
    }
    let mut lines = Vec::new();
    for node in &graph.nodes {
        lines.push(GraphLine::Node(node));
        lines.extend(called_by.get(&*node.name).into_iter().flatten());
        lines.extend(calls.get(&*node.name).into_iter().flatten());
    }
    lines
}

/// `name`, `← caller` or `→ callee`, or `→ … → callee` where functions between were left out.
fn label<'r>(graph: &Graph, line: &GraphLine, names: &DisplayNames, style: &Style) -> Label<'r> {
    let glyphs = style.glyphs;
    let (edge, arrow, other) = match line {
        GraphLine::Node(node) => {
            let mark = if graph.header.is_highlighted(&node.name) { glyphs.marked } else { "" };
            let side = side_only(&graph.header, node.values.new, node.values.old);
            return Label::new(names.get(&node.name)).prefix(mark).suffix(side);
        }
        GraphLine::Caller(edge) => (edge, glyphs.called_by, &edge.caller),
        GraphLine::Callee(edge) => (edge, glyphs.calls, &edge.callee),
    };
    let between = if edge.bridged { format!("{}{arrow}", glyphs.ellipsis) } else { String::new() };
    let prefix = format!("  {}{between}", arrow.trim_start());
    Label::new(names.get(other)).prefix(prefix).suffix(side_only(&graph.header, edge.value, edge.old))
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
    let all = count(nodes + header.elided_rows);
    let mut parts = vec![format!("{} {noun}", count(nodes))];
    if header.elided_rows > 0 {
        // One is "the heaviest of 330 functions".
        let number = if nodes == 1 { String::new() } else { format!("{} ", count(nodes)) };
        parts = vec![match (graph.reordered, &header.base) {
            (true, _) => format!("the first {number}of {all} {noun}"),
            (false, None) => format!("the {number}heaviest of {all} {noun}"),
            (false, Some(_)) => format!("the {number}most changed of {all} {noun}"),
        }];
    }
    let all_edges = edges as u64 + graph.edges_elided;
    parts.push(match graph.edges_elided {
        0 if edges == 1 => "with the one call between them".to_string(),
        0 if all_edges == 0 => "no calls between them".to_string(),
        0 => format!("with the {} calls between them", count(all_edges)),
        _ => format!(
            "{} of {} calls between them, each at least {}%",
            count(edges as u64),
            count(all_edges),
            graph.min_edge
        ),
    });
    Some(parts.join(", "))
}
