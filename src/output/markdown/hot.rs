//! The parts of `hot` that differ from other tables in Markdown: the heaviest path, chains and callers.

use std::io::{self, Write};

use crate::output::markdown::{escape, readable, write_table};
use crate::output::text::shares_of_callers;
use crate::report::Hot;
use crate::unit::{IncompatibleUnits, Unit};

/// Writes the heaviest path as a table of its own.
pub(super) fn path(
    hot: &Hot,
    unit: Option<&Unit>,
    out: &mut dyn Write,
) -> io::Result<Result<(), IncompatibleUnits>> {
    let mut titles = vec!["name", "total", "self"];
    titles.extend(hot.header.base.iter().flat_map(|_| ["old.total", "delta.total"]));
    let titles: Vec<String> = titles.into_iter().map(String::from).collect();
    let mut cells = Vec::new();
    for step in &hot.path {
        let mut row = vec![step.name.to_string(), step.total.to_string(), step.self_value.to_string()];
        let sides = step.old.iter().chain(&step.delta).map(|pair| pair.total.to_string());
        row.extend(sides);
        cells.push(row);
    }
    match readable(&hot.header, unit, &titles, &cells) {
        Ok((titles, cells)) => {
            writeln!(
                out,
                "{}\n",
                escape("heaviest path: each row has at least half the total of the row above")
            )?;
            write_table(&titles, &cells, out)?;
            writeln!(out, "\nrepeated sequences\n")?;
            Ok(Ok(()))
        }
        Err(error) => Ok(Err(error)),
    }
}

/// Replaces the raw values of sequences by chains and shares of callers.
pub(super) fn write_words(hot: &Hot, titles: &[String], cells: &mut [Vec<String>]) {
    for (sequence, row) in hot.sequences.iter().zip(cells) {
        for (title, cell) in titles.iter().zip(row) {
            match title.as_str() {
                "frames" => *cell = sequence.frames.join(" → "),
                "callers" => {
                    let callers = shares_of_callers(sequence);
                    let text = |(name, share): &(&str, String)| format!("{share} {name}");
                    *cell = callers.iter().map(text).collect::<Vec<_>>().join(" · ");
                }
                _ => {}
            }
        }
    }
}
