//! A flame graph as SVG: the project's own picture, or the classic one drawn by inferno.
//!
//! The picture is written in one pass: `layout` says where the blocks are, `wording` and `legend` what the texts say, and
//! `picture` writes them. With a function in focus there are two trees, whose roots are the same row: callees are drawn
//! downwards from it, and callers upwards.

mod chart;
mod classic;
mod heatmap;
mod layout;
mod legend;
mod options;
pub(super) mod outliers;
mod picture;
pub(super) mod trend;
mod wording;

use std::io::Write;

pub use chart::chart_svg;
pub use classic::{CLASSIC_PIXELS, classic};
pub use heatmap::heatmap_svg;
pub use options::SvgOptions;
pub use outliers::outliers_svg;
pub use trend::trend_svg;

use crate::output::error::Error;
use crate::output::svg::picture::Picture;
use crate::output::svg::wording::Wording;
use crate::report::Flame;

/// Writes a flame graph. Fails if the requested unit is of another kind than the metric's unit.
pub fn svg(flame: &Flame, options: &SvgOptions, out: &mut dyn Write) -> Result<(), Error> {
    let wording = Wording::new(flame, options.unit.as_ref())?;
    Ok(Picture::new(flame, options, wording, out).write()?)
}

#[cfg(test)]
mod tests;
