//! `--columns`: the columns that `top` and `tree` print.

use anyhow::Result;
use clap::Args;

use crate::cli::terminal::failure::hinted;
use crate::output::TextColumn;

/// The option that chooses the columns.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = None)]
pub(crate) struct ColumnArgs {
    /// Comma-separated columns to print: self, total, children, sum (running total of the self share), file, line, package
    #[arg(long, value_name = "LIST", value_delimiter = ',', hide_possible_values = true)]
    columns: Vec<TextColumn>,
}

impl ColumnArgs {
    /// The columns given, without duplicates; none for the view's default.
    pub(crate) fn columns(&self) -> Vec<TextColumn> {
        let mut columns = Vec::new();
        for &column in &self.columns {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        columns
    }

    /// Fails if columns were given for a view whose columns are fixed.
    pub(crate) fn check(&self, compares: bool, metrics: usize, command: &str) -> Result<()> {
        let of_rows = [TextColumn::Sum, TextColumn::Line];
        if command == "tree" && self.columns.iter().any(|column| of_rows.contains(column)) {
            let message = "tree --columns: only prof top has the columns sum and line";
            return Err(hinted(message, "the columns of tree are self, total, children, file and package"));
        }
        if self.columns.is_empty() || (!compares && metrics < 2) {
            return Ok(());
        }
        let why = if compares {
            "the columns of --base are fixed"
        } else {
            "the columns for several metrics are fixed"
        };
        Err(hinted(format!("{command} --columns: {why}"), "use one or the other"))
    }
}
