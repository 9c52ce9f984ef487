//! The tables of each view: the only place that knows its columns. `output/table.rs` explains how to describe one.

pub(super) mod diff;
mod info;
mod labels;
mod top;
mod tree;
mod types;
mod values;

use crate::output::table::{Form, Table};
use crate::output::text::Style;
use crate::report::Report;
use crate::unit::IncompatibleUnits;

/// The tables of a report. Fails if the requested unit does not fit the metric.
pub(super) fn tables<'r>(
    report: &'r Report,
    form: Form,
    style: &'r Style,
) -> Option<Result<Vec<Table<'r>>, IncompatibleUnits>> {
    match report {
        Report::Top(report) => Some(top::table(report, form, style).map(|table| vec![table])),
        Report::Tree(report) => Some(tree::table(report, form, style).map(|table| vec![table])),
        Report::Labels(report) => Some(labels::table(report, form, style).map(|table| vec![table])),
        Report::Types(report) => Some(Ok(vec![types::table(report, form, style)])),
        Report::Info(report) => Some(Ok(info::tables(report, form, style))),
        Report::Diff(report) if form == Form::Csv => {
            Some(Ok(vec![diff::table(report, report.rows.iter().collect(), form)]))
        }
        _ => None,
    }
}
