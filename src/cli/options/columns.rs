//! `--columns`: the columns that `top` and `tree` print.

use anyhow::Result;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use crate::cli::terminal::failure::hinted;
use crate::cli::terminal::words::in_words;
use crate::output::TextColumn;

/// The option that chooses the columns.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = None)]
pub(crate) struct ColumnArgs {
    /// Comma-separated columns to print
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    columns: Vec<TextColumn>,
}

/// The values of `--columns` of `tree`. Those that only `top` has are not listed, but understood, for a better error.
pub(crate) fn columns_of_trees() -> impl TypedValueParser<Value = TextColumn> {
    let value = |column: &TextColumn| Some(column.to_possible_value()?.hide(!column.is_of_trees()));
    let values = TextColumn::value_variants().iter().filter_map(value);
    PossibleValuesParser::new(values).try_map(|name| TextColumn::from_str(&name, false))
}

/// The names of columns in a sentence: `sum and line`.
fn listed(is_listed: impl Fn(TextColumn) -> bool) -> String {
    let columns = TextColumn::value_variants().iter().filter(|column| is_listed(**column));
    let name = |column: &TextColumn| Some(column.to_possible_value()?.get_name().to_string());
    in_words(&columns.filter_map(name).collect::<Vec<_>>())
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
        if command == "tree" && !self.columns.iter().all(|column| column.is_of_trees()) {
            let of_top = listed(|column| !column.is_of_trees());
            let message = format!("tree --columns: only prof top has the columns {of_top}");
            let of_trees = listed(TextColumn::is_of_trees);
            return Err(hinted(message, format!("the columns of tree are {of_trees}")));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_list_their_own_columns() {
        let parser = columns_of_trees();
        let values = parser.possible_values().unwrap().filter(|value| !value.is_hide_set());
        let names: Vec<String> = values.map(|value| value.get_name().to_string()).collect();
        assert_eq!(names, ["self", "total", "children", "file", "package"]);
        assert_eq!(listed(|column| !column.is_of_trees()), "sum and line");
    }
}
