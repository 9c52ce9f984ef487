//! A series of profiles as a picture: a chart per function, one below the other.

use std::io::Write;

use quick_xml::escape::escape;

use crate::name::clean;
use crate::output::error::Error;
use crate::output::style::Style;
use crate::output::svg::options::printable;
use crate::output::tables::trend::{change, costs, heading, rounded, since, word};
use crate::report::{Trend, TrendRow, TrendVerdict};
use crate::unit::{Scale, Unit, timestamp_minutes};

/// The size of the picture, and of the chart of a function, in pixels.
const WIDTH: f64 = 1000.0;
const HEADER: f64 = 56.0;
const MARGIN: f64 = 16.0;
const TEXT: f64 = 34.0;
const CHART: f64 = 64.0;
const GAP: f64 = 22.0;

const STYLE: &str = "text{font:13px ui-monospace,Menlo,Consolas,monospace;fill:#222}\
.title{font-size:16px;font-weight:bold}.faint{fill:#666}\
.axis{stroke:#ccc}.series{fill:none;stroke:#8a94a6;stroke-width:1.2}\
.level{stroke-width:2.5}.step{stroke-dasharray:3 3}\
.point{fill:#8a94a6;fill-opacity:.35}.point:hover{fill:#222;fill-opacity:1}\
.leak,.regressed{stroke:#c0392b}.improved{stroke:#1e8449}.none{stroke:#5d6d7e}";

/// Draws the functions of a series. Fails if the requested unit is of another kind than the metric's unit.
pub fn trend_svg(trend: &Trend, unit: Option<&Unit>, out: &mut dyn Write) -> Result<(), Error> {
    let style = Style { unit: unit.cloned(), ..Style::plain() };
    let heading = heading(trend, &style)?;
    let height = HEADER + trend.rows.len() as f64 * (TEXT + CHART + GAP) + MARGIN;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\">\n\
         <style>{STYLE}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text class=\"title\" x=\"{MARGIN}\" y=\"26\">Trend</text>\n\
         <text class=\"faint\" x=\"{MARGIN}\" y=\"45\">{}</text>",
        escape(printable(&heading))
    )?;
    let charts = Charts::new(trend, unit);
    for (number, row) in trend.rows.iter().enumerate() {
        let top = HEADER + number as f64 * (TEXT + CHART + GAP);
        charts.write(row, top, out)?;
    }
    if trend.rows.is_empty() {
        writeln!(
            out,
            "<text x=\"{MARGIN}\" y=\"{HEADER}\">no function has enough of the total to be tested</text>"
        )?;
    }
    writeln!(out, "</svg>")?;
    Ok(())
}

/// Draws one function in a picture of its own, whose points say what they are when the mouse is over them.
pub(in crate::output) fn trend_chart(
    trend: &Trend,
    row: &TrendRow,
    unit: Option<&Unit>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let height = TEXT + CHART + MARGIN;
    write!(out, "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\"><style>{STYLE}</style>")?;
    let charts = Charts::new(trend, unit);
    charts.write(row, MARGIN / 2.0, out)?;
    charts.write_points(row, MARGIN / 2.0, out)?;
    Ok(writeln!(out, "</svg>")?)
}

/// How far to the right each profile is: by its time if profiles are in the order of their times, else by its number.
fn places(trend: &Trend) -> Vec<f64> {
    let times: Option<Vec<i64>> = trend.series.iter().map(|point| point.time_ns).collect();
    let times = times.filter(|_| trend.order == "time");
    let times = times.unwrap_or_else(|| (0..trend.series.len() as i64).collect());
    let (Some(first), Some(last)) = (times.first(), times.last()) else { return Vec::new() };
    let span = (i128::from(*last) - i128::from(*first)).max(1) as f64;
    let place = |time: &i64| {
        let part = (i128::from(*time) - i128::from(*first)) as f64 / span;
        MARGIN + part * (WIDTH - 2.0 * MARGIN)
    };
    times.iter().map(place).collect()
}

/// The charts of a series.
struct Charts<'t> {
    trend: &'t Trend,
    unit: Option<&'t Unit>,
    /// How far to the right each profile is.
    places: Vec<f64>,
}

impl<'t> Charts<'t> {
    fn new(trend: &'t Trend, unit: Option<&'t Unit>) -> Self {
        Charts { trend, unit, places: places(trend) }
    }

    /// The largest value in the chart of a function, and the scale of its numbers.
    fn scale(&self, row: &TrendRow, costs: &[f64]) -> Result<(f64, Scale), Error> {
        let largest = costs.iter().copied().fold(row.last.max(row.first), f64::max);
        let metric = &self.trend.header.metric;
        let scale =
            Scale::for_column(&Unit::parse(&metric.unit), metric.divisor, rounded(largest), self.unit)?;
        Ok((largest, scale))
    }

    /// The chart of a function: its name and verdict, its values, its levels, and where these change.
    fn write(&self, row: &TrendRow, top: f64, out: &mut dyn Write) -> Result<(), Error> {
        let places = &self.places;
        let costs = costs(row, &self.trend.series);
        let (largest, scale) = self.scale(row, &costs)?;
        let bottom = top + TEXT + CHART;
        let up = |cost: f64| height_of(cost, largest, bottom);
        let class = row.verdict.word();
        let mut words = vec![word(row.verdict).to_string()];
        words.push(format!("{} to {}", scale.format(rounded(row.first)), scale.format(rounded(row.last))));
        words.extend(change(row, &scale));
        words.extend(row.step.as_ref().map(since));
        words.retain(|word| !word.is_empty());
        let weight = if row.verdict.is_failure() { " font-weight=\"bold\"" } else { "" };
        writeln!(
            out,
            "<g><title>{name}</title>\n<text x=\"{MARGIN}\" y=\"{}\"{weight}>{name}</text>\n\
             <text class=\"faint\" x=\"{MARGIN}\" y=\"{}\">{}</text>\n\
             <line class=\"axis\" x1=\"{MARGIN}\" x2=\"{}\" y1=\"{bottom}\" y2=\"{bottom}\"/>",
            top + 12.0,
            top + 28.0,
            escape(printable(&words.join(" · "))),
            WIDTH - MARGIN,
            name = escape(printable(&clean(&row.name))),
        )?;
        let points: Vec<String> =
            places.iter().zip(&costs).map(|(place, cost)| format!("{place:.1},{:.1}", up(*cost))).collect();
        writeln!(out, "<polyline class=\"series\" points=\"{}\"/>", points.join(" "))?;
        let mut line = |kind: &str, [x1, y1, x2, y2]: [f64; 4]| {
            writeln!(
                out,
                "<line class=\"{kind} {class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>"
            )
        };
        let (Some(&left), Some(&right)) = (places.first(), places.last()) else {
            return Ok(writeln!(out, "</g>")?);
        };
        if row.verdict == TrendVerdict::Leak {
            line("level", [left, up(row.first), right, up(row.last)])?;
        } else {
            let ends: Vec<usize> =
                [0].into_iter().chain(row.steps.iter().copied()).chain([costs.len()]).collect();
            for part in ends.windows(2) {
                let values = &costs[part[0]..part[1]];
                let level = up(values.iter().sum::<f64>() / values.len().max(1) as f64);
                line("level", [places[part[0]], level, places[part[1] - 1], level])?;
            }
            for &at in &row.steps {
                line("step", [places[at], bottom - CHART, places[at], bottom])?;
            }
        }
        Ok(writeln!(out, "</g>")?)
    }

    /// A point for each profile, which says its name, its time and its value.
    fn write_points(&self, row: &TrendRow, top: f64, out: &mut dyn Write) -> Result<(), Error> {
        let costs = costs(row, &self.trend.series);
        let (largest, scale) = self.scale(row, &costs)?;
        let bottom = top + TEXT + CHART;
        for ((place, cost), point) in self.places.iter().zip(&costs).zip(&self.trend.series) {
            let mut words = vec![clean(&point.input).into_owned()];
            words.extend(point.time_ns.map(timestamp_minutes));
            words.push(scale.format(rounded(*cost)));
            write!(
                out,
                "<circle cx=\"{place:.1}\" cy=\"{:.1}\" r=\"3\" class=\"point\"><title>{}</title></circle>",
                height_of(*cost, largest, bottom),
                escape(printable(&words.join(" · ")))
            )?;
        }
        Ok(())
    }
}

/// How far down a cost is in a chart that ends at `bottom`.
fn height_of(cost: f64, largest: f64, bottom: f64) -> f64 {
    bottom - if largest > 0.0 { cost.max(0.0) / largest * CHART } else { 0.0 }
}
