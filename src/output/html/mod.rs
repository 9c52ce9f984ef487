//! The interactive page: one self-contained file with the stacks and the scripts that count and draw
//! them. It makes no network requests.
//!
//! The page never builds HTML from names: they are part of the packed data, which is base64, and end up
//! on the canvas or in text nodes. Only the title is written into the HTML, escaped.

mod below;
mod bundle;
mod causes;
mod fallback;
mod outliers;
mod pack;
mod still;
mod times;
mod trend;

use std::io::Write;

pub use outliers::outliers_page;
pub use trend::trend_page;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use quick_xml::escape::escape;
use sha2::{Digest, Sha256};

use crate::name::clean;
use crate::output::color::ColorBy;
use crate::output::error::Error;
use crate::parallel;
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
    /// Whether the page has the times of its samples even if they make it much larger.
    pub embeds_times: bool,
    /// The requested unit, or `None` for a unit that fits. Metrics of another kind of unit ignore it.
    pub unit: Option<Unit>,
}

impl Default for HtmlOptions {
    fn default() -> Self {
        HtmlOptions {
            icicle: true,
            by_weight: true,
            direction: Direction::TopDown,
            color_by: ColorBy::default(),
            focus: Vec::new(),
            unit: None,
            embeds_times: false,
        }
    }
}

/// The template of the page. Words in braces are placeholders.
const PAGE: &str = include_str!("page.html");

/// The style of what is seen before the script runs. That of the page itself is compressed, as the script is.
const STATIC_STYLE: &str = include_str!("static.css");

/// Writes the page. Fails where the unit asked for is none of the first metric's kind.
pub fn html(page: &Page, options: &HtmlOptions, out: &mut dyn Write) -> Result<(), Error> {
    let scale = pack::scale(page, options, page.default_metric)?;
    let below = below::below_names(page);
    let data = || pack::pack(page, &below, options);
    let below_shown = below.get(page.default_metric).map_or(&[][..], |below| below);
    let (data, fallback) = parallel::both(data, || fallback::fallback(page, below_shown, &scale));
    let (data, times) = (data?, times::times(page)?);
    let left_out = if options.embeds_times || times::fits(&times, &data) { 0 } else { times.len() };
    let title = clean(&page.title);
    let has_times = left_out == 0 && !times.is_empty();
    let (start, script) = (bundle::start(), bundle::script(has_times, !page.sources.is_empty()));
    let style = bundle::style();
    let (data, more_data) = pieces(&data);
    let (times, more_times) = pieces(if has_times { &times } else { "" });
    for piece in PAGE.split_inclusive(['{', '}']) {
        match piece {
            "title}" => write!(out, "{}", escape(&*title))?,
            "static}" => out.write_all(fallback.as_bytes())?,
            "static-style}" => out.write_all(STATIC_STYLE.as_bytes())?,
            "static-style-hash}" => out.write_all(hash(STATIC_STYLE).as_bytes())?,
            "style}" => out.write_all(pack::deflated(style.as_bytes())?.as_bytes())?,
            "style-hash}" => out.write_all(hash(&style).as_bytes())?,
            "start}" => out.write_all(start.as_bytes())?,
            "start-hash}" => out.write_all(hash(&start).as_bytes())?,
            "script}" => out.write_all(pack::deflated(script.as_bytes())?.as_bytes())?,
            "script-hash}" => out.write_all(hash(&script).as_bytes())?,
            "times}" => out.write_all(times.as_bytes())?,
            "more-times}" => out.write_all(more_times.as_bytes())?,
            "times-left-out}" => write!(out, "{left_out}")?,
            "data}" => out.write_all(data.as_bytes())?,
            "more-data}" => out.write_all(more_data.as_bytes())?,
            text => out.write_all(text.trim_end_matches('{').as_bytes())?,
        }
    }
    Ok(out.flush()?)
}

/// Browsers take half the time to read a long text if it is cut into pieces of so many letters, which hold whole bytes, and if
/// these are comments.
const PIECE: usize = 1 << 18;

/// The first piece of a text in base64, and all others as comments.
fn pieces(text: &str) -> (&str, String) {
    let (first, rest) = text.split_at(text.len().min(PIECE));
    // Base64 is ASCII.
    let mut comments = String::new();
    for piece in rest.as_bytes().chunks(PIECE) {
        comments += "\n<!--";
        comments += &String::from_utf8_lossy(piece);
        comments += "-->";
    }
    (first, comments)
}

/// The form in which a content security policy names a script or a style: only this text is allowed to run.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

#[cfg(test)]
mod tests;
