//! `--columns`: which columns the text of `top` and `tree` has.

use anyhow::Result;
use clap::Args;

use crate::cli::failure::hinted;
use crate::report::TextColumn;

/// Which columns to show.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = None)]
pub(crate) struct ColumnArgs {
    /// Columns of text: a list of self, total, children, sum, file, line, package
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = column)]
    columns: Vec<TextColumn>,
}

/// Reads one of the words that `--columns` takes.
fn column(text: &str) -> Result<TextColumn, String> {
    match text {
        "self" => Ok(TextColumn::SelfValue),
        "total" => Ok(TextColumn::Total),
        "children" => Ok(TextColumn::Children),
        "sum" => Ok(TextColumn::Sum),
        "file" => Ok(TextColumn::File),
        "line" => Ok(TextColumn::Line),
        "package" => Ok(TextColumn::Package),
        _ => Err("expected self, total, children, sum, file, line or package".to_string()),
    }
}

impl ColumnArgs {
    /// The columns asked for, each once; none for those that fit the view.
    pub(crate) fn columns(&self) -> Vec<TextColumn> {
        let mut columns = Vec::new();
        for &column in &self.columns {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        columns
    }

    /// Refuses columns where the view has columns of its own.
    pub(crate) fn check(&self, compares: bool, metrics: usize, command: &str) -> Result<()> {
        let of_rows = [TextColumn::Sum, TextColumn::Line];
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
