//! `graph`: the call graph with one node per function, reduced to its heaviest part.

use std::cmp::Reverse;

use crate::profile::{Column, Profile};
use crate::report::{Graph, GraphEdge, GraphNode, Pair};
use crate::tree::{CallEdge, KeyId, Subject, call_edges};
use crate::view::flame::packages;
use crate::view::groups::all_groups;
use crate::view::values::{CountedKeys, RowValues};
use crate::view::{Scope, Sort, SortKey, threshold};

/// Options for `graph`.
#[derive(Clone, Debug)]
pub struct GraphOptions {
    /// Metric and nodes.
    pub scope: Scope,
    /// The order of nodes. The first ones are kept.
    pub sort: Sort,
    /// The maximum number of nodes; `None` for all.
    pub max_nodes: Option<usize>,
    /// Edges with a smaller share of the shown total are left out, in percent.
    pub min_edge: f64,
    /// Whether nodes have the groups that give them their colours in a picture.
    pub grouped: bool,
}

impl GraphOptions {
    /// The whole graph.
    pub fn new(scope: Scope) -> Self {
        let sort = Sort::by(SortKey::Total);
        GraphOptions { scope, sort, max_nodes: None, min_edge: 0.0, grouped: true }
    }
}

/// The heaviest nodes of the call graph, and the edges between them. If two of them are connected only
/// through nodes that were left out, a bridging edge connects them.
pub fn graph(profile: &Profile, options: &GraphOptions) -> Graph {
    let (subject, mut header) = options.scope.open(profile, "prof.graph.v1");
    header.warnings.extend(options.scope.note_of_bounds(&subject));
    let row_values = RowValues::new(&header);
    let counted = CountedKeys::new(&subject, &row_values);
    let has_value = |&key: &KeyId| [counted.new_pair(key), counted.old_pair(key)] != [Pair::default(); 2];
    let mut keys: Vec<KeyId> = subject.keys.ids().filter(has_value).collect();
    let cut = counted.cut(&mut keys, &options.sort, options.max_nodes);
    header.elided = cut.iter().map(|&key| counted.new_pair(key).self_value).sum();
    header.elided_rows = cut.len() as u64;

    let kept = Column::marking(keys.iter().copied(), subject.keys.len());
    let all = edges(&subject, &kept);
    let between = all.len();
    let smallest = threshold(header.shown, options.min_edge);
    let heavy: Vec<CallEdge> = all.into_iter().filter(|edge| weight(edge) >= smallest).collect();
    let edges_elided = (between - heavy.len()) as u64;
    let edges = without_detours(heavy, subject.keys.len());

    let package_of = packages(&subject);
    let (groups, group_of) = if options.grouped {
        all_groups(&subject)
    } else {
        (Vec::new(), Column::filled(0, subject.keys.len()))
    };
    let node = |&key: &KeyId| GraphNode {
        file: subject.keys.get(key).file.clone(),
        package: package_of[key].clone(),
        group: group_of[key],
        name: subject.keys.name(key).clone(),
        values: counted.pairs(key),
        artefact: row_values.is_artefact(subject.keys.name(key)),
    };
    let edge = |edge: &CallEdge| {
        let old = row_values.compares().then(|| row_values.old(Some(0), Some(old_value(edge))).total);
        GraphEdge {
            caller: subject.keys.name(edge.caller).clone(),
            callee: subject.keys.name(edge.callee).clone(),
            value: edge.values[0],
            old,
            delta: old.map(|old| edge.values[0] - old),
            bridged: edge.bridged,
        }
    };
    Graph {
        header,
        nodes: keys.iter().map(node).collect(),
        reordered: !options.sort.is_by_weight(row_values.compares()),
        edges: edges.iter().map(edge).collect(),
        edges_elided,
        min_edge: options.min_edge,
        groups,
    }
}

/// The edges between the kept nodes, the heaviest first.
fn edges(subject: &Subject<'_>, kept: &Column<KeyId, bool>) -> Vec<CallEdge> {
    let mut edges = call_edges(subject, kept);
    edges.retain(|edge| weight(edge) != 0);
    let name = |key: KeyId| subject.keys.name(key);
    edges.sort_by(|a, b| {
        let heaviest = |edge: &CallEdge| Reverse((weight(edge), edge.values[0].unsigned_abs()));
        heaviest(a)
            .cmp(&heaviest(b))
            .then_with(|| (name(a.caller), name(a.callee)).cmp(&(name(b.caller), name(b.callee))))
    });
    edges
}

/// The value of an edge on the side where it is greater.
fn weight(edge: &CallEdge) -> u64 {
    edge.values[0].unsigned_abs().max(old_value(edge).unsigned_abs())
}

/// The value of an edge on the old side; 0 without one.
fn old_value(edge: &CallEdge) -> i64 {
    edge.values.get(1).copied().unwrap_or(0)
}

/// Leaves out bridging edges whose ends are already connected by other edges, starting with the lightest:
/// they would cross the picture and add little information.
fn without_detours(mut edges: Vec<CallEdge>, keys: usize) -> Vec<CallEdge> {
    let mut callees: Column<KeyId, Vec<KeyId>> = Column::filled(Vec::new(), keys);
    for edge in &edges {
        callees[edge.caller].push(edge.callee);
    }
    for index in (0..edges.len()).rev() {
        let (caller, callee) = (edges[index].caller, edges[index].callee);
        if edges[index].bridged && leads_by_others(&callees, caller, callee) {
            callees[caller].retain(|&other| other != callee);
            edges.remove(index);
        }
    }
    edges
}

/// Whether `callee` can be reached from `caller` over several edges.
fn leads_by_others(callees: &Column<KeyId, Vec<KeyId>>, caller: KeyId, callee: KeyId) -> bool {
    let mut seen = Column::<KeyId, bool>::filled(false, callees.len());
    seen[caller] = true;
    let mut work: Vec<KeyId> = callees[caller].iter().copied().filter(|&next| next != callee).collect();
    while let Some(key) = work.pop() {
        if key == callee {
            return true;
        }
        if !std::mem::replace(&mut seen[key], true) {
            work.extend(&callees[key]);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::from_notation;

    fn drawn(graph: &Graph) -> (Vec<String>, Vec<String>) {
        let node = |node: &GraphNode| {
            let mark = if graph.header.is_highlighted(&node.name) { "!" } else { "" };
            format!("{} {}/{}{mark}", node.name, node.values.new.self_value, node.values.new.total)
        };
        let edge = |edge: &GraphEdge| {
            let line = if edge.bridged { "~" } else { ">" };
            format!("{}{line}{} {}", edge.caller, edge.callee, edge.value)
        };
        (graph.nodes.iter().map(node).collect(), graph.edges.iter().map(edge).collect())
    }

    #[test]
    fn the_whole_graph() {
        let profile = from_notation("main;a;a;a 4\nmain;a;b;a 3\nmain;a;b 2\nmain;b 1");
        let graph = graph(&profile, &GraphOptions::new(Scope::metric(0)));
        let (nodes, edges) = drawn(&graph);
        assert_eq!(nodes, ["main 0/10", "a 7/9", "b 3/6"]);
        assert_eq!(edges, ["main>a 9", "a>b 5", "b>a 3", "main>b 1"]);
        assert_eq!((graph.header.elided, graph.edges_elided), (0, 0));
    }

    #[test]
    fn cut_nodes_are_bridged_and_light_edges_cut() {
        let profile = from_notation("main;x;hot 60\nmain;y;hot 39\nmain;hot;z;w 1\nmain;q;warm 41");
        let options = GraphOptions { max_nodes: Some(3), ..GraphOptions::new(Scope::metric(0)) };
        let drawing = graph(&profile, &options);
        let (nodes, edges) = drawn(&drawing);
        assert_eq!(nodes, ["main 0/141", "hot 99/100", "x 0/60"]);
        // main also calls hot directly once, so this edge is not a bridging one.
        assert_eq!(edges, ["main>x 60", "x>hot 60", "main>hot 40"]);
        assert_eq!((drawing.header.elided, drawing.header.elided_rows), (42, 5));
        let profile = from_notation("main;x;hot 60\nmain;y;hot 39\nmain;q;warm 41");
        let (_, edges) = drawn(&graph(&profile, &options));
        assert_eq!(edges, ["main>x 60", "x>hot 60"], "main~hot 39 is left out: x leads there");
        let options = GraphOptions { min_edge: 50.0, ..GraphOptions::new(Scope::metric(0)) };
        let graph = graph(&profile, &options);
        assert_eq!((graph.edges.len(), graph.edges_elided), (0, 6));
    }

    #[test]
    fn highlighting_reports_its_share() {
        let profile = from_notation("main;a 3\nmain;b 2\nmain;ab 1");
        let (patterns, _) = crate::pattern::Patterns::parse(&["a$|^b"], false).unwrap();
        let marks = crate::transform::Marks::new(&profile, &patterns);
        let marking = crate::view::Marking { pattern: "a$|^b".into(), marks };
        let scope = Scope { highlight: Some(marking), ..Scope::metric(0) };
        let graph = graph(&profile, &GraphOptions::new(scope));
        assert_eq!(drawn(&graph).0, ["main 0/6", "a 3/3!", "b 2/2!", "ab 1/1"]);
        assert_eq!(graph.header.highlight.unwrap().total, 5);
    }

    #[test]
    fn an_old_side_has_nodes_and_edges_of_its_own() {
        let mut options = GraphOptions::new(Scope::metric(0));
        options.sort = Sort::by(SortKey::Delta);
        let normalize = crate::report::Rescaling { method: "per", ratio: 2.0, reason: None };
        let base = crate::view::BaseSide { metric: 1, normalize, ..Default::default() };
        options.scope.base = Some(base);
        let graph = graph(&from_notation("main;a 7 1\nmain;gone;a 0 2\nmain;new 1 0"), &options);
        let nodes: Vec<String> = graph
            .nodes
            .iter()
            .map(|node| {
                format!(
                    "{} {} {} {:+}",
                    node.name,
                    node.values.new.total,
                    node.values.old.unwrap().total,
                    node.values.delta.unwrap().total
                )
            })
            .collect();
        assert_eq!(nodes, ["gone 0 4 -4", "main 8 6 +2", "a 7 6 +1", "new 1 0 +1"]);
        let edges: Vec<String> = graph
            .edges
            .iter()
            .map(|edge| {
                format!("{}>{} {} {:?} {:?}", edge.caller, edge.callee, edge.value, edge.old, edge.delta)
            })
            .collect();
        let expected = [
            "main>a 7 Some(2) Some(5)",
            "gone>a 0 Some(4) Some(-4)",
            "main>gone 0 Some(4) Some(-4)",
            "main>new 1 Some(0) Some(1)",
        ];
        assert_eq!(edges, expected);
    }
}
