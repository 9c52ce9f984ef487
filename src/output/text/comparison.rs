//! Comparisons with a baseline: new value, old value and change in adjacent columns.

use crate::name::display_width;
use crate::output::headline;
use crate::output::text::Style;
use crate::output::text::header;
use crate::output::text::layout::LEAST_NAME;
use crate::output::text::table::{Emphasis, TextLine};
use crate::report::{Base, Header, Pair};
use crate::unit::{self, IncompatibleUnits, Scale};

/// The line of the old side: `base main.pb.gz · cpu 82.10s in 40.70s · rescaled × 1.050 (core)`.
pub(super) fn base_line(header: &Header, style: &Style) -> Result<Option<TextLine>, IncompatibleUnits> {
    let Some(base) = &header.base else { return Ok(None) };
    let scale = header::scale(&header.metric, header.total.max(base.total), style)?;
    let dot = style.glyphs.dot;
    let parts = headline::base(header, &scale.format(base.total));
    let rest = style.glyphs.plain(&parts.join(dot)).into_owned();
    let inputs = headline::base_inputs(header);
    let inputs = match style.width {
        Some(width) => {
            let taken = BASE.len() + display_width(dot) + display_width(&rest);
            header::shorten(&inputs, width.saturating_sub(taken).max(LEAST_NAME), style)
        }
        None => inputs,
    };
    Ok(Some(TextLine::new(format!("{BASE}{inputs}{dot}{rest}"), Emphasis::None)))
}

/// The word before the inputs of the old side.
const BASE: &str = "base ";

/// Titles of the columns of one value: its new, its old, what changed, and that in percent of the old
/// total.
pub(super) fn titles(value: &str, style: &Style) -> Vec<String> {
    [value, "OLD", "Δ", "Δ%"].iter().map(|title| style.glyphs.plain(title).into_owned()).collect()
}

/// Cells of one value.
pub(super) fn cells(scale: &Scale, base: &Base, new: i64, old: i64, style: &Style) -> Vec<String> {
    let delta = new - old;
    vec![
        scale.format(new),
        scale.format(old),
        style.glyphs.signed(scale.format_signed(delta)),
        style.glyphs.signed(unit::signed_share(delta, base.total)),
    ]
}

/// The suffix of a name with these values on the new and the old side.
pub(super) fn on_one_side(new: Pair, old: Pair) -> &'static str {
    match ((new.self_value, new.total), (old.self_value, old.total)) {
        ((0, 0), _) => " (removed)",
        (_, (0, 0)) => " (new)",
        _ => "",
    }
}
