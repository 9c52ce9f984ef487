//! A flame graph as SVG: the project's own picture, or the classic one drawn by inferno.
//!
//! The picture is written in one pass: `layout` says where the blocks are, `wording` and `legend` what the texts say, and
//! `picture` writes them. With a function in focus there are two trees, whose roots are the same row: callees are drawn
//! downwards from it, and callers upwards.

mod classic;
mod layout;
mod legend;
mod picture;
mod wording;

use std::io::{self, Write};

pub use classic::{CLASSIC_PIXELS, ClassicError, classic};

use crate::name::clean;
use crate::output::color::ColorBy;
use crate::output::svg::picture::Picture;
use crate::output::svg::wording::Wording;
use crate::report::Flame;
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

/// Pixels to the left and to the right of the frames.
const MARGIN: usize = 10;

/// Minimum width in pixels. A narrower picture has no space for its title.
const NARROWEST: usize = 300;

impl SvgOptions {
    /// The width of the frames in pixels.
    pub fn frames_width(&self) -> usize {
        self.width.unwrap_or(WIDTH).max(NARROWEST) - 2 * MARGIN
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
    Picture::new(flame, options, wording, out).write().map(Ok)
}

/// Text that is valid in XML, with control characters made visible.
fn printable(text: &str) -> String {
    clean(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

#[cfg(test)]
mod tests;
