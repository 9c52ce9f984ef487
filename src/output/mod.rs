//! One file an output: from a report to bytes. Outputs see reports only, never profiles.

mod csv;
mod json;
mod markdown;
mod rows;
mod text;

pub use csv::csv;
pub use json::json;
pub use markdown::markdown;
pub use text::{Glyphs, Style, text};
