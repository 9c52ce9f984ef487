//! `--columns`: which columns the text of `top` and `tree` has.

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::cli::failure::hinted;
use crate::report::Column;

/// Which columns to show.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = None)]
pub(crate) struct ColumnArgs {
    /// Columns of text: a list of self, total, children, sum, file, line, package
    #[arg(long, value_name = "LIST", value_delimiter = ',', hide_possible_values = true)]
    columns: Vec<ColumnChoice>,
}

/// What `--columns` takes.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnChoice {
    #[value(name = "self")]
    SelfValue,
    Total,
    Children,
    Sum,
    File,
    Line,
    Package,
}

impl ColumnArgs {
    /// The columns asked for, each once; none for those that fit the view.
    pub(crate) fn columns(&self) -> Vec<Column> {
        let mut columns = Vec::new();
        for choice in &self.columns {
            let column = match choice {
                ColumnChoice::SelfValue => Column::SelfValue,
                ColumnChoice::Total => Column::Total,
                ColumnChoice::Children => Column::Children,
                ColumnChoice::Sum => Column::Sum,
                ColumnChoice::File => Column::File,
                ColumnChoice::Line => Column::Line,
                ColumnChoice::Package => Column::Package,
            };
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        columns
    }

    /// Refuses columns where the view has columns of its own.
    pub(crate) fn check(&self, compares: bool, metrics: usize, command: &str) -> Result<()> {
        let of_rows = [ColumnChoice::Sum, ColumnChoice::Line];
        if command == "tree" && self.columns.iter().any(|column| of_rows.contains(column)) {
            let message = "tree --columns: sum and line are columns of prof top";
            return Err(hinted(message, "tree has self, total, children, file, package"));
        }
        if self.columns.is_empty() || (!compares && metrics < 2) {
            return Ok(());
        }
        let why = if compares {
            "--base has columns of its own"
        } else {
            "several metrics have columns of their own"
        };
        Err(hinted(format!("{command} --columns: {why}"), "leave one of the two out"))
    }
}
