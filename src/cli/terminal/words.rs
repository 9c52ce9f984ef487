//! Lists of words in sentences.

use std::borrow::Borrow;

/// Words in a sentence: `self, total and children`.
pub(crate) fn in_words<W: Borrow<str>>(words: &[W]) -> String {
    joined(words, "and")
}

/// Words of which one is to be chosen: `ms, s or h`.
pub(crate) fn one_of<W: Borrow<str>>(words: &[W]) -> String {
    joined(words, "or")
}

fn joined<W: Borrow<str>>(words: &[W], before_last: &str) -> String {
    match words.split_last() {
        Some((last, others @ [_, ..])) => format!("{} {before_last} {}", others.join(", "), last.borrow()),
        _ => words.concat(),
    }
}
