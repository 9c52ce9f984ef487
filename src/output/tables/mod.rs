//! The tables of each view: the only place that knows its columns. `output/table.rs` explains how to describe one.

mod top;
mod tree;
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
        _ => None,
    }
}
