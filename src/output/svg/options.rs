//! Options of the picture, its measures, and text that is valid in it.

use crate::name::clean;
use crate::output::color::ColorBy;
use crate::unit::Unit;

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
pub(super) const WIDTH: usize = 1200;

/// Pixels to the left and to the right of the frames.
pub(super) const MARGIN: usize = 10;

/// Minimum width in pixels. A narrower picture has no space for its title.
pub(super) const NARROWEST: usize = 300;

impl SvgOptions {
    /// The width of the frames in pixels.
    pub fn frames_width(&self) -> usize {
        self.width.unwrap_or(WIDTH).max(NARROWEST) - 2 * MARGIN
    }
}

/// Maximum number of characters of the title; fits a window of 800 pixels.
pub(super) const TITLE: usize = 56;

/// Text that is valid in XML, with control characters made visible.
pub(super) fn printable(text: &str) -> String {
    clean(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}
