//! The interactive page: one file, without network, that holds the stacks and the program to work
//! with them.
//!
//! The page never builds markup from text: every name goes through the packed data, which is base64,
//! and from there to the canvas or into text nodes. Only the title stands in the markup, escaped.

mod pack;

use std::io::{self, Write};

use quick_xml::escape::escape;

use crate::name::clean;
use crate::output::color::ColorBy;
use crate::report::{Direction, Page};
use crate::unit::{IncompatibleUnits, Unit};

/// How the page is to look when it is opened; people can change all of it there.
#[derive(Clone, Debug)]
pub struct HtmlOptions {
    /// The root on top rather than at the bottom.
    pub icicle: bool,
    /// Siblings by weight rather than by name.
    pub by_weight: bool,
    /// Callees on their callers, or the inverted graph.
    pub direction: Direction,
    /// What colours say.
    pub color_by: ColorBy,
    /// Patterns of the functions in focus; any of them is. Empty for the whole graph.
    pub focus: Vec<String>,
    /// The unit asked for; `None` for the one that fits. Metrics of another kind keep their own.
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

/// The page; the words in braces are replaced.
const PAGE: &str = include_str!("page.html");

const STYLE: &str = include_str!("page.css");

/// The program, in the order of its layers: data, counting, drawing, the page.
const SCRIPTS: [&str; 7] = [
    include_str!("data.js"),
    include_str!("count.js"),
    include_str!("draw.js"),
    include_str!("state.js"),
    include_str!("picture.js"),
    include_str!("table.js"),
    include_str!("page.js"),
];

/// Writes the page. Fails where the unit asked for is none of the first metric's kind.
pub fn html(
    page: &Page,
    options: &HtmlOptions,
    out: &mut dyn Write,
) -> io::Result<Result<(), IncompatibleUnits>> {
    let data = match pack::pack(page, options)? {
        Ok(data) => data,
        Err(error) => return Ok(Err(error)),
    };
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
    out.flush().map(Ok)
}

#[cfg(test)]
mod tests;
