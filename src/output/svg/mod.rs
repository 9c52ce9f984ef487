//! A flame graph as SVG, drawn by inferno.
//!
//! inferno reads lines of text (`main;work 3`) and would misread a name that contains a `;` or ends with
//! a number. So it gets tokens instead, for example `n012` for node 12, and only computes the layout.
//! Then one pass over its XML fills in names, numbers and colours and adds a legend.
//!
//! With a function in focus there are two layouts. The callees are drawn downwards from it. The callers
//! are laid out the same way and then flipped upwards.

mod blocks;
mod legend;
mod rewrite;
mod tokens;
mod wording;

use std::io::{self, Write};

use inferno::flamegraph::color::{BackgroundColor, Color as Rgb};
use inferno::flamegraph::{self, Options};

use crate::name::{clean, fit};
use crate::output::color::ColorBy;
use crate::output::svg::wording::Wording;
use crate::report::{Flame, FlameNode};
use crate::unit::{IncompatibleUnits, Unit};

/// Options for the SVG.
#[derive(Clone, Debug, Default)]
pub struct SvgOptions {
    /// Whether the root is at the top instead of at the bottom.
    pub icicle: bool,
    /// What the colours stand for.
    pub color_by: ColorBy,
    /// The requested unit, or `None` for a unit that fits.
    pub unit: Option<Unit>,
    /// The width in pixels for viewers without scripts; `None` for 1,200. With scripts, the picture fits
    /// the window.
    pub width: Option<usize>,
}

/// Default width in pixels for viewers without scripts.
const WIDTH: usize = 1200;

/// Pixels to the left and right of the frames.
const MARGINS: usize = 20;

/// Minimum width in pixels. A narrower picture has no space for its title.
const NARROWEST: usize = 300;

impl SvgOptions {
    /// The width of the frames in pixels.
    pub fn frames_width(&self) -> usize {
        self.width.unwrap_or(WIDTH).max(NARROWEST) - MARGINS
    }
}

/// Maximum number of characters of the title; fits a window of 800 pixels.
const TITLE: usize = 56;

/// Writes a flame graph. Fails if the requested unit is of another kind than the metric's unit.
pub fn svg(
    flame: &Flame,
    options: &SvgOptions,
    out: &mut dyn Write,
) -> io::Result<Result<(), IncompatibleUnits>> {
    let wording = match Wording::new(flame, options.unit.as_ref()) {
        Ok(wording) => wording,
        Err(error) => return Ok(Err(error)),
    };
    let mut layout = layout(flame, options, &wording);
    let mut draw = |nodes: &[FlameNode]| {
        let mut drawn = Vec::new();
        let lines = tokens::lines(nodes);
        flamegraph::from_lines(&mut layout, lines.iter().map(String::as_str), &mut drawn)?;
        String::from_utf8(drawn).map_err(io::Error::other)
    };
    let drawn = draw(&flame.nodes)?;
    let callers =
        if flame.callers.is_empty() { Vec::new() } else { blocks::callers(&draw(&flame.callers)?)? };
    rewrite::rewrite(&drawn, &callers, flame, options, &wording, out).map(Ok)
}

fn layout(flame: &Flame, options: &SvgOptions, wording: &Wording<'_>) -> Options<'static> {
    let mut layout = Options::default();
    layout.title = fit(&printable(&flame.title), TITLE, "…");
    layout.subtitle = Some(wording.subtitle());
    layout.image_width = options.width.map(|width| width.max(NARROWEST));
    layout.bgcolors = Some(BackgroundColor::Flat(Rgb { r: 255, g: 255, b: 255 }));
    layout.name_type = String::new();
    layout.min_width = 0.0;
    layout.no_sort = true;
    layout.deterministic = true;
    layout.text_truncate_direction = flamegraph::TextTruncateDirection::Right;
    // The callees of a focus are drawn below it.
    if options.icicle || !flame.callers.is_empty() {
        layout.direction = flamegraph::Direction::Inverted;
    }
    layout
}

/// Text that is valid in XML, with control characters made visible.
fn printable(text: &str) -> String {
    clean(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

#[cfg(test)]
mod tests;
