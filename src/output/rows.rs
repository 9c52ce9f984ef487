//! Reports as plain rows of cells, for the outputs that know nothing but tables.

use std::iter;

use serde::Serialize;
use serde_json::{Value, json};

use crate::report::{
    Focus, Graph, GraphEdge, GraphNode, HotSequence, LabelKey, LabelShare, LabelText, Report, SourceFunction,
    SourceLine, Trace, TypeRow,
};

/// A report as a table. Its rows are made as they are asked for: a tree has millions of them.
pub(super) struct ReportTable<'r> {
    report: &'r Report,
    /// The names of the columns, in the order of the keys of the report in JSON. What a key holds that is
    /// itself an object becomes one column for each of its keys: `old.self`, `old.total`.
    pub(super) columns: Vec<String>,
}

impl<'r> ReportTable<'r> {
    pub(super) fn of(report: &'r Report) -> Self {
        let mut columns: Vec<String> = Vec::new();
        for (name, _) in objects(report).flat_map(flatten) {
            if !columns.contains(&name) {
                columns.push(name);
            }
        }
        ReportTable { report, columns }
    }

    /// A cell for each column, row by row.
    pub(super) fn cells(&self) -> impl Iterator<Item = Vec<String>> {
        objects(self.report).map(|row| {
            let mut cells = vec![String::new(); self.columns.len()];
            for (name, value) in flatten(row) {
                if let Some(column) = self.columns.iter().position(|column| *column == name) {
                    cells[column] = cell(value);
                }
            }
            cells
        })
    }
}

fn objects(report: &Report) -> Box<dyn Iterator<Item = Value> + '_> {
    match report {
        Report::Top(top) => each(&top.rows),
        Report::Tree(tree) => each(&tree.rows),
        Report::Focus(focus) => Box::new(focus_rows(focus).into_iter()),
        Report::Graph(graph) => Box::new(graph_rows(graph).into_iter()),
        Report::Hot(hot) => Box::new(hot.sequences.iter().map(sequence_row)),
        Report::Source(source) => Box::new(source.functions.iter().flat_map(line_rows)),
        Report::Labels(labels) => Box::new(labels.keys.iter().flat_map(label_rows)),
        Report::Traces(traces) => Box::new(traces.traces.iter().map(trace_row)),
        Report::Types(types) => Box::new(types.types.iter().map(type_row)),
        Report::Info(info) => each(&info.metrics),
        Report::Diff(diff) => each(&diff.rows),
        // Pictures have no rows, and other reports have typed tables.
        _ => Box::new(iter::empty()),
    }
}

/// Rows whose keys are those of the report itself.
fn each<R: Serialize>(rows: &[R]) -> Box<dyn Iterator<Item = Value> + '_> {
    Box::new(rows.iter().map(|row| serde_json::to_value(row).unwrap_or(Value::Null)))
}

/// The lines of a function, each with its name and file.
fn line_rows(function: &SourceFunction) -> Vec<Value> {
    let row = |line: &SourceLine| {
        let mut row = json!({
            "name": function.name, "file": function.file, "line": line.line,
            "self": line.self_value, "total": line.total,
        });
        if let (Some(old), Some(delta)) = (&line.old, &line.delta) {
            (row["old"], row["delta"]) = (json!(old), json!(delta));
        }
        row["text"] = json!(line.text);
        row
    };
    function.lines.iter().map(row).collect()
}

fn label_rows(key: &LabelKey) -> Vec<Value> {
    let row = |share: &LabelShare| {
        let mut row =
            json!({ "key": key.key, "value": share.value, "unit": share.unit, "total": share.total });
        if let (Some(old), Some(delta)) = (share.old, share.delta) {
            (row["old"], row["delta"]) = (json!(old), json!(delta));
        }
        row
    };
    key.values.iter().map(row).collect()
}

/// A stack, its frames joined as in collapsed stacks.
fn trace_row(trace: &Trace) -> Value {
    let mut row = json!({ "frames": trace.frames.join(";") });
    for (metric, value) in &trace.values {
        row[&**metric] = json!(value);
    }
    if let ([(_, old)], [(_, delta)]) = (&trace.old[..], &trace.delta[..]) {
        (row["old"], row["delta"]) = (json!(old), json!(delta));
    }
    let labels: Vec<String> = trace
        .labels
        .iter()
        .map(|(key, value)| match value {
            LabelText::Text(text) => format!("{key}={text}"),
            LabelText::Number(number) => format!("{key}={number}"),
        })
        .collect();
    row["labels"] = json!(labels.join(" "));
    row
}

fn type_row(row: &TypeRow) -> Value {
    json!({
        "name": row.name, "unit": row.unit, "companion": row.companion,
        "languages": row.languages.join(", "), "when": row.when, "width": row.width,
    })
}

/// Callers, the function, its self, callees: one row each.
fn focus_rows(focus: &Focus) -> Vec<Value> {
    let row = |role: &str, name: &str, value: i64, old: Option<i64>| {
        let mut row = json!({ "role": role, "name": name, "value": value });
        if let Some(old) = old {
            (row["old"], row["delta"]) = (json!(old), json!(value - old));
        }
        row
    };
    let callers = focus.callers.iter().map(|caller| row("caller", &caller.name, caller.value, caller.old));
    let own = [
        row("function", &focus.name, focus.total, focus.old.map(|old| old.total)),
        row("self", &focus.name, focus.self_value, focus.old.map(|old| old.self_value)),
    ];
    let callees = focus.callees.iter().map(|callee| row("callee", &callee.name, callee.value, callee.old));
    callers.chain(own).chain(callees).collect()
}

/// The nodes, then the edges.
fn graph_rows(graph: &Graph) -> Vec<Value> {
    let node = |node: &GraphNode| {
        let mut row = json!({ "name": node.name, "self": node.self_value, "total": node.total });
        if let (Some(old), Some(delta)) = (&node.old, &node.delta) {
            (row["old"], row["delta"]) = (json!(old), json!(delta));
        }
        row
    };
    let edge = |edge: &GraphEdge| {
        let mut row = json!({ "caller": edge.caller, "callee": edge.callee, "value": edge.value });
        if let (Some(old), Some(delta)) = (edge.old, edge.delta) {
            (row["old"], row["delta"]) = (json!({ "value": old }), json!({ "value": delta }));
        }
        row["bridged"] = json!(edge.bridged);
        row
    };
    graph.nodes.iter().map(node).chain(graph.edges.iter().map(edge)).collect()
}

/// A sequence, its frames joined as in collapsed stacks.
fn sequence_row(sequence: &HotSequence) -> Value {
    let callers: Vec<String> =
        sequence.callers.iter().map(|caller| format!("{} {}", caller.name, caller.value)).collect();
    let mut row = json!({
        "frames": sequence.frames.join(";"),
        "total": sequence.total,
        "self": sequence.self_value,
    });
    if let (Some(old), Some(delta)) = (&sequence.old, &sequence.delta) {
        (row["old"], row["delta"]) = (json!(old), json!(delta));
    }
    row["contexts"] = json!(sequence.contexts);
    row["callers"] = json!(callers.join(";"));
    row
}

fn flatten(row: Value) -> Vec<(String, Value)> {
    let mut cells = Vec::new();
    let Value::Object(fields) = row else { return cells };
    for (name, value) in fields {
        if value.is_object() {
            cells.extend(flatten(value).into_iter().map(|(inner, value)| (format!("{name}.{inner}"), value)));
        } else {
            cells.push((name, value));
        }
    }
    cells
}

fn cell(value: Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text,
        other => other.to_string(),
    }
}
