//! `info` as Markdown: the inputs if there are several, and the metrics.

use std::io::{self, Write};

use crate::kind;
use crate::output::headline;
use crate::output::markdown::{escape, table};
use crate::output::text::{input_cells, input_titles, total_of_metric};
use crate::report::Info;
use crate::unit;

/// Writes a table of the inputs if there are several, and one of the metrics.
pub(super) fn write(info: &Info, out: &mut dyn Write) -> io::Result<()> {
    if info.inputs.len() > 1 {
        inputs(info, out)?;
        let combined = info.combined.as_ref().map(headline::combined).unwrap_or_default();
        writeln!(out, "\n{}\n", escape(&combined))?;
    }
    metrics(info, out)
}

fn inputs(info: &Info, out: &mut dyn Write) -> io::Result<()> {
    let titles: Vec<String> = input_titles(info).iter().map(|title| escape(&title.to_lowercase())).collect();
    let rows = input_cells(info).into_iter().zip(&info.inputs).map(|(mut cells, input)| {
        cells.push(input.name.clone());
        cells.iter().map(|cell| escape(cell)).collect()
    });
    let rows: Vec<Vec<String>> = rows.collect();
    // Names, formats and dates are text.
    let right: Vec<usize> = (0..titles.len() - 2).filter(|&index| titles[index] != "recorded").collect();
    table(&titles, &rows, &right, out)
}

fn metrics(info: &Info, out: &mut dyn Write) -> io::Result<()> {
    let titles =
        ["metric", "unit", "total", "rows", "default", "a wide block (flame graph)"].map(String::from);
    let mut rows = Vec::new();
    for metric in &info.metrics {
        let total = total_of_metric(metric);
        let width = kind::of_metric(&metric.name).map_or("", |kind| kind.width);
        let samples = unit::group_thousands(metric.samples.into());
        let default = if metric.default { "●" } else { "" };
        let cells = [&metric.name, &metric.unit, &total, &samples, default, width];
        rows.push(cells.iter().map(|cell| escape(cell)).collect::<Vec<String>>());
    }
    table(&titles, &rows, &[2, 3], out)
}
