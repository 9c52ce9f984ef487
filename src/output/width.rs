//! Fits text to a width: wrapping, padding, cutting.

use crate::name::display_width;

/// Wraps a text at `width` columns, between words. A longer word gets a line of its own.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    // Measuring the line again for each word would take quadratic time in a list of a thousand threads.
    let mut used = 0;
    for word in text.split(' ') {
        let needed = measured(word);
        if !line.is_empty() && used + 1 + needed > width {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        if !line.is_empty() {
            line.push(' ');
            used += 1;
        }
        line.push_str(word);
        used += needed;
    }
    lines.push(line);
    lines
}

/// The width of a word; tests count what is measured.
fn measured(word: &str) -> usize {
    #[cfg(test)]
    MEASURED.set(MEASURED.get() + word.len());
    display_width(word)
}

#[cfg(test)]
thread_local! {
    /// The number of bytes whose width [`wrap`] has measured.
    static MEASURED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Adds blanks to a line.
pub(super) fn add_blanks(line: &mut String, mut count: usize) {
    const BLANKS: &str = "                                ";
    while count > 0 {
        let some = count.min(BLANKS.len());
        line.push_str(&BLANKS[..some]);
        count -= some;
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_measured_once() {
        let words = vec!["pool-thread"; 1000].join(" ");
        MEASURED.set(0);
        assert_eq!(wrap(&words, usize::MAX).len(), 1);
        assert_eq!(MEASURED.get(), 11 * 1000);
    }
}
