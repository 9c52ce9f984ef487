//! One file per output, from a report to bytes. Outputs see only reports, never profiles.

mod cell;
mod color;
mod command;
mod csv;
mod diff;
mod dot;
mod error;
mod headline;
mod html;
mod json;
mod label;
mod markdown;
mod names;
mod noise;
mod style;
mod svg;
mod table;
mod tables;
mod text;
mod width;

pub use color::ColorBy;
#[cfg(feature = "ui")]
pub(crate) use color::block_colors;
pub use csv::csv;
pub use diff::{
    cause_sentence, evidence_notes, github, github_budgets, junit, junit_budgets, summarise_causes,
};
pub use dot::dot;
pub use error::{ClassicError, Error};
#[cfg(feature = "cli")]
pub(crate) use headline::combined;
pub use html::{HtmlOptions, html, outliers_page, trend_page};
pub use json::json;
pub use markdown::markdown;
#[cfg(feature = "ui")]
pub(crate) use names::display_names;
pub use noise::noise_file;
pub use style::{Explain, Glyphs, Style, TextColumn};
pub use svg::{CLASSIC_PIXELS, SvgOptions, chart_svg, classic, heatmap_svg, outliers_svg, svg, trend_svg};
#[cfg(feature = "ui")]
pub(crate) use table::{Emphasis, ReportPart};
pub use text::text;
#[cfg(feature = "ui")]
pub(crate) use text::{ScreenLine, heading_parts, text_lines};
#[cfg(feature = "cli")]
pub(crate) use width::wrap;

use crate::report::MetricName;
use crate::unit::{IncompatibleUnits, Scale, Unit};

/// The script that fits labels into blocks, for the page and for pictures.
const FIT_LABEL: &str = include_str!("fit.js");

/// What needs a unit for values: it fails if the requested unit is of another kind than that of the metric.
pub(crate) type Scaled<T> = Result<T, IncompatibleUnits>;

/// How a column of a metric's values is written, the largest of which is `largest`, in the unit asked for
/// or in one that fits.
pub(crate) fn scale(metric: &MetricName, largest: i64, requested: Option<&Unit>) -> Scaled<Scale> {
    let scale = Scale::for_column(&Unit::parse(&metric.unit), metric.divisor, largest, requested)?;
    Ok(scale.with_resolution(metric.resolution.unwrap_or(0)))
}
