//! Markdown tables, for comments and documents: written for people, as the text is.

mod hot;

use std::io::{self, Write};

use crate::name::{clean, display_width, split_shown};
use crate::output::diff::comment;
use crate::output::rows::ReportTable;
use crate::output::table::{Cell, Column, Form, Kind, NameSpace, Note, Row, Table};
use crate::output::tables::tables;
use crate::output::text::{Style, artefact_words, cell_text, file_cell, heading, overlap_note, short_file};
use crate::report::{Header, MetricName, Report};
use crate::unit::{self, IncompatibleUnits, Unit};

/// Writes a report as a table below its header; a `diff` becomes a comment ready to post. Of the style, only the unit
/// and the columns matter. Fails if the unit does not fit the metric.
pub fn markdown(
    report: &Report,
    style: &Style,
    out: &mut dyn Write,
) -> io::Result<Result<(), IncompatibleUnits>> {
    let unit = style.unit.as_ref();
    if let Report::Diff(diff) = report {
        return comment(diff, out).map(Ok);
    }
    let style = Style { unit: unit.cloned(), columns: style.columns.clone(), ..Style::plain() };
    if let Some(tables) = tables(report, Form::Markdown, &style) {
        return match (report.header().map(|header| heading(header, &style)).transpose(), tables) {
            (Ok(heading), Ok(tables)) => write(&heading.unwrap_or_default(), &tables, &style, out).map(Ok),
            (Err(error), _) | (_, Err(error)) => Ok(Err(error)),
        };
    }
    let rows = ReportTable::of(report);
    let (titles, mut cells) = (&rows.columns, rows.cells().collect::<Vec<_>>());
    if let Report::Hot(found) = report {
        hot::write_words(found, titles, &mut cells);
    }
    let Some(header) = report.header() else {
        return write_table(titles, &cells, out).map(Ok);
    };
    let style = Style { unit: unit.cloned(), ..Style::plain() };
    let (lines, (titles, cells)) = match (heading(header, &style), readable(header, unit, titles, &cells)) {
        (Ok(lines), Ok(table)) => (lines, table),
        (Err(error), _) | (_, Err(error)) => return Ok(Err(error)),
    };
    // The backslash keeps the line break, which Markdown would drop.
    let lines: Vec<String> = lines.iter().map(|line| escape(line)).collect();
    writeln!(out, "{}\n", lines.join("\\\n"))?;
    if let Report::Hot(found) = report
        && let Err(error) = hot::path(found, unit, out)?
    {
        return Ok(Err(error));
    }
    write_table(&titles, &cells, out)?;
    if header.elided_rows > 0 {
        writeln!(out, "\n… {} more rows", unit::group_thousands(header.elided_rows.into()))?;
    }
    let is_marked = match report {
        Report::Top(top) => top.rows.iter().any(|row| row.artefact),
        Report::Tree(tree) => tree.rows.iter().any(|row| row.artefact),
        _ => false,
    };
    if let Some(note) = artefact_words(header, &style).filter(|_| is_marked) {
        writeln!(out, "\n{}", escape(&note))?;
    }
    if let Report::Focus(focus) = report
        && let Some(note) = overlap_note(focus)
    {
        writeln!(out, "\n{}", escape(&note))?;
    }
    Ok(Ok(()))
}

/// Writes the header and the tables, each between the lines above and below it.
fn write(heading: &[String], tables: &[Table], style: &Style, out: &mut dyn Write) -> io::Result<()> {
    let mut is_first = true;
    let mut paragraph = |text: String| {
        let gap = if std::mem::take(&mut is_first) { "" } else { "\n" };
        writeln!(out, "{gap}{}", text.trim_end())
    };
    if !heading.is_empty() {
        // The backslash keeps the line break, which Markdown would drop.
        paragraph(heading.iter().map(|line| escape(line)).collect::<Vec<_>>().join("\\\n"))?;
    }
    for table in tables {
        let notes = |notes: &[Note]| notes.iter().map(|note| escape(&note.text)).collect::<Vec<_>>();
        notes(&table.above).into_iter().try_for_each(&mut paragraph)?;
        if !table.columns.is_empty() {
            let mut rows = Vec::new();
            Cells::of(table, style).write(&mut rows)?;
            paragraph(String::from_utf8_lossy(&rows).into_owned())?;
        }
        notes(&table.below).into_iter().try_for_each(&mut paragraph)?;
    }
    Ok(())
}

/// The titles and cells of a table in Markdown.
pub(super) struct Cells {
    pub(super) titles: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    /// The columns that are aligned to the right.
    right: Vec<usize>,
}

impl Cells {
    /// Those of a table, but no columns without any text.
    pub(super) fn of(table: &Table, style: &Style) -> Self {
        let has_places = table.columns.iter().any(|column| matches!(column.kind, Kind::File));
        let space = NameSpace { room: None, line: usize::MAX, has_places };
        let text = |(cell, column): (&Cell, &Column)| match cell {
            Cell::Label(label) => label.lines(space, style.glyphs.ellipsis).join(" "),
            cell => cell_text(cell, &column.kind, style.glyphs),
        };
        let cells = |row: &Row| -> Vec<String> {
            let texts = row.cells.iter().zip(&table.columns).map(text);
            texts.map(|text| escape(text.trim())).collect()
        };
        let mut rows: Vec<Vec<String>> = table.rows().map(|row| cells(&row)).collect();
        rows.extend(table.closing.iter().map(cells));
        let shown: Vec<usize> =
            (0..table.columns.len()).filter(|&index| rows.iter().any(|row| !row[index].is_empty())).collect();
        let columns: Vec<&Column> = shown.iter().map(|&index| &table.columns[index]).collect();
        let is_right = |kind: &Kind| kind.is_number() && !matches!(kind, Kind::Key);
        let keep = |row: Vec<String>| shown.iter().map(|&index| row[index].clone()).collect();
        Cells {
            titles: columns.iter().map(|column| escape(column.title.trim())).collect(),
            right: (0..columns.len()).filter(|&index| is_right(&columns[index].kind)).collect(),
            rows: rows.into_iter().map(keep).collect(),
        }
    }

    /// Writes the table.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        table(&self.titles, &self.rows, &self.right, out)
    }
}

fn write_table(titles: &[String], cells: &[Vec<String>], out: &mut dyn Write) -> io::Result<()> {
    let is_number = |index: &usize| {
        let looks = |cell: &str| {
            let is_one_word = !cell.contains(' ');
            cell.is_empty()
                || is_one_word && cell.starts_with(|c: char| c.is_ascii_digit() || "+-−<".contains(c))
        };
        cells.iter().any(|row| !row[*index].is_empty()) && cells.iter().all(|row| looks(&row[*index]))
    };
    let right: Vec<usize> = (0..titles.len()).filter(is_number).collect();
    let escaped = |row: &Vec<String>| row.iter().map(|cell| escape(cell)).collect::<Vec<String>>();
    table(
        &titles.iter().map(|title| escape(title)).collect::<Vec<_>>(),
        &cells.iter().map(escaped).collect::<Vec<_>>(),
        &right,
        out,
    )
}

/// The deepest level that is drawn as dots; deeper ones are numbered.
const MOST_DOTS: usize = 40;

/// Columns that only programs need.
const FOR_PROGRAMS: [&str; 8] =
    ["function", "candidate", "artefact", "parent", "depth", "bridged", "files", "elided_rows"];

/// The table for people: values with units and shares, the names of a tree indented, and no empty columns.
fn readable(
    header: &Header,
    unit: Option<&Unit>,
    titles: &[String],
    cells: &[Vec<String>],
) -> Result<(Vec<String>, Vec<Vec<String>>), IncompatibleUnits> {
    let mut columns: Vec<(String, Vec<String>)> = Vec::new();
    let column = |index: usize| cells.iter().map(move |row| row[index].as_str());
    for (index, title) in titles.iter().enumerate() {
        let is_of_function = title == "line" && header.schema == "prof.top.v1" && header.by.is_function();
        if let Some(cells) = without_repeated_places(header, titles, cells, index) {
            columns.extend(cells.iter().any(|cell| !cell.is_empty()).then(|| (title.clone(), cells)));
            continue;
        }
        if FOR_PROGRAMS.contains(&title.as_str()) || is_of_function || column(index).all(str::is_empty) {
            continue;
        }
        if title == "text" {
            // Cells of a table do not keep tabs.
            columns.push((title.clone(), column(index).map(|text| text.replace('\t', "    ")).collect()));
            continue;
        }
        // The value of a label may be a number too, but is not a value of the metric.
        let is_of_label = title == "value" && header.schema == "prof.labels.v1";
        let Some((metric, total)) = metric_of(header, title).filter(|_| !is_of_label) else {
            columns.push((title.clone(), column(index).map(str::to_string).collect()));
            continue;
        };
        let values: Vec<Option<i64>> = column(index).map(|cell| cell.parse().ok()).collect();
        let scale = crate::output::scale(metric, total, unit)?;
        let is_change = title.starts_with("delta");
        let value = |value: &Option<i64>| match *value {
            Some(value) if is_change => scale.format_signed(value).replacen('-', "−", 1),
            Some(value) => scale.format(value),
            None => String::new(),
        };
        columns.push((title.clone(), values.iter().map(value).collect()));
        // What one call costs is no part of a total.
        let is_part = !is_change && !title.starts_with("old") && !title.starts_with("per_call");
        if is_part && title != "children" {
            let share =
                |value: &Option<i64>| value.map(|value| unit::share(value, total)).unwrap_or_default();
            columns.push(("%".to_string(), values.iter().map(share).collect()));
        }
    }
    if let Some(depth) = titles.iter().position(|title| title == "depth") {
        let depths: Vec<usize> = column(depth).map(|cell| cell.parse().unwrap_or(0)).collect();
        for (_, names) in columns.iter_mut().filter(|(title, _)| title == "name") {
            for (name, depth) in names.iter_mut().zip(&depths) {
                name.insert_str(0, &indent(*depth));
            }
        }
    }
    let rows =
        (0..cells.len()).map(|row| columns.iter().map(|(_, cells)| cells[row].clone()).collect()).collect();
    Ok((columns.into_iter().map(|(title, _)| title).collect(), rows))
}

/// The cells of the columns of names and files, where a table has both: the place that a name ends in moves to
/// the column of files. `None` for other columns.
fn without_repeated_places(
    header: &Header,
    titles: &[String],
    cells: &[Vec<String>],
    column: usize,
) -> Option<Vec<String>> {
    let [name, file] = ["name", "file"].map(|title| titles.iter().position(|other| other == title));
    let (name, file) = (name?, file?);
    let text = |row: &Vec<String>| match header.by.one {
        _ if column == name => {
            split_shown(&row[name]).map_or(&*row[name], |(function, _)| function).to_string()
        }
        "function" => file_cell(&row[name], &row[file]),
        // The names are the files.
        "file" => String::new(),
        _ => short_file(&row[file]),
    };
    [name, file].contains(&column).then(|| cells.iter().map(text).collect())
}

/// One dot per level. Deeper levels are numbered: a chain of 20,000 calls would be a gigabyte of dots.
fn indent(depth: usize) -> String {
    let dots = "· ".repeat(depth.min(MOST_DOTS));
    if depth > MOST_DOTS { format!("{dots}… {depth} · ") } else { dots }
}

/// The metric of a column, and the total that its shares refer to.
fn metric_of<'h>(header: &'h Header, title: &str) -> Option<(&'h MetricName, i64)> {
    if let Some((name, _)) = title.strip_prefix("values.").and_then(|rest| rest.rsplit_once('.')) {
        let metric = header.metrics.iter().find(|metric| metric.metric.name == name)?;
        return Some((&metric.metric, metric.total));
    }
    if header.schema == "prof.traces.v1" {
        // In `traces`, the columns of values are named after the metrics.
        let several = header.metrics.iter().map(|metric| (&metric.metric, metric.total));
        let mut all = std::iter::once((&header.metric, header.total)).chain(several);
        let is_side = matches!(title, "old" | "delta") && header.base.is_some();
        return all.find(|(metric, _)| metric.name == title || is_side);
    }
    let last = title.rsplit('.').next().unwrap_or(title);
    let is_value = matches!(last, "self" | "total" | "children" | "value" | "old" | "delta");
    (is_value && !title.starts_with("events")).then_some((&header.metric, header.total))
}

/// Writes a table of cells that are already escaped; the columns in `right` are right-aligned.
pub(super) fn table(
    titles: &[String],
    rows: &[Vec<String>],
    right: &[usize],
    out: &mut dyn Write,
) -> io::Result<()> {
    let widths: Vec<usize> = (0..titles.len())
        .map(|index| {
            let cells = rows.iter().map(|row| display_width(&row[index]));
            cells.chain([display_width(&titles[index]), LEAST]).max().unwrap_or(LEAST).min(MOST)
        })
        .collect();
    let line = |cells: &[String], out: &mut dyn Write| {
        let padded = cells.iter().zip(&widths).enumerate().map(|(index, (cell, width))| {
            let blanks = " ".repeat(width.saturating_sub(display_width(cell)));
            if right.contains(&index) { format!("{blanks}{cell}") } else { format!("{cell}{blanks}") }
        });
        writeln!(out, "| {} |", padded.collect::<Vec<_>>().join(" | "))
    };
    line(titles, out)?;
    let rule = widths.iter().enumerate().map(|(index, width)| {
        if right.contains(&index) { format!("{}:", "-".repeat(width + 1)) } else { "-".repeat(width + 2) }
    });
    writeln!(out, "|{}|", rule.collect::<Vec<_>>().join("|"))?;
    rows.iter().try_for_each(|row| line(row, out))
}

/// The minimum width of a column.
const LEAST: usize = 1;

/// Columns are padded up to this width, so that one name of 15,000 characters does not widen every row.
const MOST: usize = 120;

/// Escapes the characters that are markup in Markdown or HTML.
pub(super) fn escape(cell: &str) -> String {
    let mut escaped = String::with_capacity(cell.len());
    for c in clean(cell).chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '~' | '#' => {
                escaped.push('\\');
                escaped.push(c);
            }
            _ => escaped.push(c),
        }
    }
    escaped
}
