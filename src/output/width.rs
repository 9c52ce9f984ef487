//! Fits text to a width: wrapping, padding, cutting.

use crate::name::display_width;

/// Wraps a text at `width` columns, between words. A longer word gets a line of its own.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && display_width(&line) + 1 + display_width(word) > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

/// Pads a text with blanks to a width.
pub(super) fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(display_width(text))))
}

/// Cuts the end of a text that is too long. Names lose their middle instead; code is read from the left.
pub(super) fn cut(text: &str, width: usize, ellipsis: &str) -> String {
    if display_width(text) <= width {
        return text.to_string();
    }
    let mut left = width.saturating_sub(display_width(ellipsis));
    let mut fits = |c: &char| {
        let needed = display_width(c.encode_utf8(&mut [0; 4]));
        left.checked_sub(needed).map(|rest| left = rest).is_some()
    };
    let kept: String = text.chars().take_while(|c| fits(c)).collect();
    format!("{kept}{ellipsis}")
}
