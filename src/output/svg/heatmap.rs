//! A heat map of time as SVG: a column per second, and in it a cell for each fiftieth, the first at the bottom.

use std::io::Write;

use quick_xml::escape::escape;

use crate::name::fit;
use crate::output::color::{Color, HOT, PALE, mix};
use crate::output::error::Error;
use crate::output::headline;
use crate::output::svg::options::{MARGIN, NARROWEST, SvgOptions, TITLE, WIDTH, printable};
use crate::output::svg::picture::{MOMENT, script};
use crate::report::{Heatmap, HeatmapCell};
use crate::unit::{Scale, Unit, group_thousands, moment, plural, round_step};

const STYLE: &str = include_str!("heatmap.css");
const SCRIPT: &str = include_str!("heatmap.js");

/// Pixels above the cells, for the texts below them, and left of them for the offsets.
const HEADER: f64 = 84.0;
const FOOTER: f64 = 66.0;
const OFFSETS: f64 = 64.0;

/// The height of a cell, and the largest width.
const CELL: f64 = 8.0;
const WIDEST: f64 = 24.0;

/// The darkest cells.
const DARKEST: Color = Color::new(0x8c_1d18);

/// The least distance between two times of the axis, in pixels.
const TICKS: f64 = 90.0;

/// Writes a heat map. Fails if the requested unit is of another kind than the metric's unit.
pub fn heatmap_svg(heatmap: &Heatmap, options: &SvgOptions, out: &mut dyn Write) -> Result<(), Error> {
    let header = &heatmap.header;
    let scale = crate::output::scale(&header.metric, header.shown, options.unit.as_ref())?;
    let cell_scale = Scale::for_column(
        &Unit::parse(&header.metric.unit),
        header.metric.divisor,
        heatmap.largest,
        options.unit.as_ref(),
    )?;
    let width = options.width.unwrap_or(WIDTH).max(NARROWEST);
    let room = width as f64 - OFFSETS - MARGIN as f64;
    let cell_width = (room / f64::from(heatmap.columns.max(1))).min(WIDEST);
    let cells_height = CELL * f64::from(heatmap.rows);
    let height = HEADER + cells_height + FOOTER;
    let total = format!("{} {}", header.metric.name, scale.format(header.shown));
    let mut subtitle = headline::recording(&total, &header.recording, true);
    subtitle.extend(header.filters.iter().cloned());
    let title = printable(&heatmap.title);
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"heatmap\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" data-from=\"{}\" data-row=\"{}\" data-rows=\"{}\" data-columns=\"{}\" \
         data-left=\"{OFFSETS}\" data-top=\"{HEADER}\" data-width=\"{cell_width:.4}\" data-height=\"{CELL}\">\n\
         <title>{}</title>\n<style>\n{STYLE}</style>\n<rect class=\"background\" width=\"100%\" height=\"100%\"/>\n\
         <text class=\"title\" x=\"50%\" y=\"24\">{}</text>\n<text class=\"subtitle\" x=\"50%\" y=\"46\">{}</text>\n\
         <text class=\"details\" x=\"{OFFSETS}\" y=\"70\"></text>",
        heatmap.from_ns,
        heatmap.row_ns,
        heatmap.rows,
        heatmap.columns,
        escape(&*title),
        escape(fit(&title, TITLE, "…")),
        escape(printable(&subtitle.join(" · "))),
    )?;
    axes(heatmap, cell_width, cells_height, out)?;
    writeln!(
        out,
        "<g class=\"cells\" transform=\"translate({OFFSETS},{HEADER})\">\n<rect class=\"empty\" width=\"{:.2}\" height=\"{cells_height}\"/>",
        cell_width * f64::from(heatmap.columns)
    )?;
    for cell in &heatmap.cells {
        let x = cell_width * f64::from(cell.column);
        let y = CELL * f64::from(heatmap.rows - 1 - cell.row);
        let from = start_of(heatmap, cell);
        let noun = plural(cell.samples, "sample", "samples");
        writeln!(
            out,
            "<rect x=\"{x:.2}\" y=\"{y}\" width=\"{:.2}\" height=\"{CELL}\" fill=\"{}\"><title>{} in {} {noun}\n--from {} --to {}</title></rect>",
            cell_width,
            color(cell.value, heatmap.largest),
            cell_scale.format(cell.value),
            group_thousands(cell.samples.into()),
            moment(from),
            moment(from.saturating_add(heatmap.row_ns)),
        )?;
    }
    writeln!(out, "</g>\n<rect class=\"selected\" height=\"0\" width=\"0\"/>")?;
    let note = format!(
        "a column is {}, from bottom to top, and a cell {}; the darkest cells have {} of {}",
        moment(heatmap.column_ns),
        moment(heatmap.row_ns),
        cell_scale.format(heatmap.largest),
        header.metric.name,
    );
    let y = HEADER + cells_height + 38.0;
    writeln!(out, "<text class=\"note\" x=\"{OFFSETS}\" y=\"{y}\">{}</text>", escape(printable(&note)))?;
    let usage =
        "drag over cells to select a range of time; --from and --to show the same range in every view";
    writeln!(out, "<text class=\"note\" x=\"{OFFSETS}\" y=\"{}\">{usage}</text>", y + 18.0)?;
    script(&[MOMENT, SCRIPT], out)?;
    writeln!(out, "</svg>")?;
    Ok(out.flush()?)
}

/// Where a cell begins.
fn start_of(heatmap: &Heatmap, cell: &HeatmapCell) -> i64 {
    let columns = heatmap.column_ns.saturating_mul(cell.column.into());
    heatmap.from_ns.saturating_add(columns).saturating_add(heatmap.row_ns.saturating_mul(cell.row.into()))
}

/// The times of columns below the cells, and the offsets left of them.
fn axes(heatmap: &Heatmap, cell_width: f64, height: f64, out: &mut dyn Write) -> Result<(), Error> {
    // So many columns from one time to the next.
    let step = round_step(|step| cell_width * step as f64 >= TICKS || step > heatmap.columns.into());
    let y = HEADER + height + 16.0;
    for column in (0..=heatmap.columns).step_by(step as usize) {
        let at = heatmap.from_ns.saturating_add(heatmap.column_ns.saturating_mul(column.into()));
        let x = OFFSETS + cell_width * f64::from(column);
        writeln!(out, "<text class=\"time\" x=\"{x:.1}\" y=\"{y}\">{}</text>", moment(at))?;
    }
    for row in [0, heatmap.rows / 2, heatmap.rows] {
        let y = HEADER + height - CELL * f64::from(row) + 4.0;
        let offset = moment(heatmap.row_ns.saturating_mul(row.into()));
        writeln!(out, "<text class=\"offset\" x=\"{}\" y=\"{y}\">+{offset}</text>", OFFSETS - 6.0)?;
    }
    Ok(())
}

/// From pale to dark: linear in the value, so that twice as dark is about twice as much.
fn color(value: i64, largest: i64) -> Color {
    let part = value.unsigned_abs() as f64 / largest.max(1) as f64;
    if part < 0.5 { mix(PALE, HOT, part * 2.0) } else { mix(HOT, DARKEST, part * 2.0 - 1.0) }
}
