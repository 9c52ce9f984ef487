//! The interactive page: one self-contained file with the stacks and the scripts that count and draw
//! them. It makes no network requests.
//!
//! The page never builds HTML from names: they are part of the packed data, which is base64, and end up
//! on the canvas or in text nodes. Only the title is written into the HTML, escaped.

mod pack;

use std::io::Write;

use quick_xml::escape::escape;

use crate::name::clean;
use crate::output::FIT_LABEL;
use crate::output::color::ColorBy;
use crate::output::error::Error;
use crate::report::{Direction, Page};
use crate::unit::Unit;

/// Initial settings of the page. All of them can be changed in the page.
#[derive(Clone, Debug)]
pub struct HtmlOptions {
    /// Whether the root is at the top instead of at the bottom.
    pub icicle: bool,
    /// Whether siblings are sorted by weight instead of by name.
    pub by_weight: bool,
    /// Whether the graph is top-down or bottom-up.
    pub direction: Direction,
    /// What the colours stand for.
    pub color_by: ColorBy,
    /// Patterns of the functions in focus, combined with "or". Empty for the whole graph.
    pub focus: Vec<String>,
    /// The requested unit, or `None` for a unit that fits. Metrics of another kind of unit ignore it.
    pub unit: Option<Unit>,
}

impl Default for HtmlOptions {
    fn default() -> Self {
        HtmlOptions {
            icicle: false,
            by_weight: false,
            direction: Direction::TopDown,
            color_by: ColorBy::default(),
            focus: Vec::new(),
            unit: None,
        }
    }
}

/// The template of the page. Words in braces are placeholders.
const PAGE: &str = include_str!("page.html");

const STYLE: &str = include_str!("page.css");

/// The scripts, in the order in which they depend on each other.
const SCRIPTS: [&str; 8] = [
    include_str!("data.js"),
    include_str!("count.js"),
    FIT_LABEL,
    include_str!("draw.js"),
    include_str!("state.js"),
    include_str!("picture.js"),
    include_str!("table.js"),
    include_str!("page.js"),
];

/// Writes the page. Fails where the unit asked for is none of the first metric's kind.
pub fn html(page: &Page, options: &HtmlOptions, out: &mut dyn Write) -> Result<(), Error> {
    let data = pack::pack(page, options)?;
    let title = clean(&page.title);
    for piece in PAGE.split_inclusive(['{', '}']) {
        match piece {
            "title}" => write!(out, "{}", escape(&*title))?,
            "style}" => out.write_all(STYLE.as_bytes())?,
            "script}" => SCRIPTS.iter().try_for_each(|script| out.write_all(script.as_bytes()))?,
            "data}" => out.write_all(data.as_bytes())?,
            text => out.write_all(text.trim_end_matches('{').as_bytes())?,
        }
    }
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests;
