//! A flame graph as SVG, drawn by inferno.
//!
//! inferno takes lines of text (`main;work 3`), in which a name with a `;` or a number at its end
//! means something else than it says. So it is given tokens, `n012` for node 12, and lays them out;
//! afterwards one pass over its XML puts in what belongs there: names, numbers, colours, a legend.
//!
//! Around a function in focus there are two layouts: what it calls hangs down from it, and what leads
//! to it is laid out the same way and then turned upwards.

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

/// How the picture is to look.
#[derive(Clone, Debug, Default)]
pub struct SvgOptions {
    /// The root on top rather than at the bottom.
    pub icicle: bool,
    /// What colours say.
    pub color_by: ColorBy,
    /// The unit asked for; `None` for the one that fits.
    pub unit: Option<Unit>,
    /// How wide it is, in pixels, where no script fits it to the window; `None` for 1,200.
    pub width: Option<usize>,
}

/// Pixels of a picture without scripts; with them it fits the window.
const WIDTH: usize = 1200;

/// Pixels beside the frames.
const MARGINS: usize = 20;

/// A narrower picture has no room for its title.
const NARROWEST: usize = 300;

impl SvgOptions {
    /// Pixels that frames have.
    pub fn frames_width(&self) -> usize {
        self.width.unwrap_or(WIDTH).max(NARROWEST) - MARGINS
    }
}

/// Characters of the title that fit a window of 800 pixels.
const TITLE: usize = 56;

/// Writes a flame graph. Fails where the unit asked for is none of the metric's kind.
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
    // What a function in focus calls hangs below it.
    if options.icicle || !flame.callers.is_empty() {
        layout.direction = flamegraph::Direction::Inverted;
    }
    layout
}

/// Text that XML may hold, with control characters made visible.
fn printable(text: &str) -> String {
    clean(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

#[cfg(test)]
mod tests;
