//! The tables of each view: the only place that knows its columns. `output/table.rs` explains how to describe one.

mod assembly;
mod budgets;
mod by_side;
pub(super) mod diff;
mod findings;
mod focus;
pub(super) mod graph;
mod hot;
mod info;
pub(super) mod labels;
mod lint;
pub(super) mod outliers;
mod server;
mod source;
mod timeline;
pub(super) mod top;
mod traces;
mod tree;
pub(super) mod trend;
mod types;
mod values;

use crate::output::Scaled;
use crate::output::diff::words::PerRun;
use crate::output::style::Style;
use crate::output::table::{Form, Table};
use crate::report::Report;

/// The tables of a report; none for pictures. Fails if the requested unit does not fit the metric.
pub(super) fn tables<'r>(report: &'r Report, form: Form, style: &'r Style) -> Scaled<Vec<Table<'r>>> {
    let table = match report {
        Report::Top(top) => top::table(top, form, style)?,
        Report::Tree(tree) => tree::table(tree, form, style)?,
        Report::Graph(graph) => graph::table(graph, form, style)?,
        Report::Labels(labels) => labels::table(labels, form, style)?,
        Report::Outliers(found) => outliers::table(found, form, style),
        Report::Lint(lint) => lint::table(lint, form, style),
        Report::Traces(traces) => traces::table(traces, form, style)?,
        Report::Types(types) => types::table(types, form, style),
        Report::Trend(report) => trend::table(report, form, style)?,
        Report::Timeline(timeline) => return timeline::tables(timeline, form, style),
        Report::Server(server) => server::table(server, form, style),
        Report::Diff(diff) => {
            let per_run = PerRun::new(diff, style.unit.as_ref())?;
            diff::table(diff, diff.rows.iter().collect(), form, per_run)
        }
        Report::Budgets(budgets) => budgets::table(budgets, form, style),
        Report::BySide(all) => return by_side::tables(all, form, style),
        Report::Focus(focus) => return focus::tables(focus, form, style),
        Report::Findings(findings) => return findings::tables(findings, form, style),
        Report::Hot(hot) => return hot::tables(hot, form, style),
        Report::Source(source) => return source::tables(source, form, style),
        Report::Assembly(assembly) => return assembly::tables(assembly, form, style),
        Report::Info(info) => return Ok(info::tables(info, form, style)),
        Report::Flame(_) | Report::Chart(_) | Report::Heatmap(_) | Report::Page(_) => return Ok(Vec::new()),
    };
    Ok(vec![table])
}
