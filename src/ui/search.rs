//! What is searched for in names.

use regex::{Regex, RegexBuilder};

/// A search.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    text: String,
    pattern: Regex,
    /// The same, as a word of its own.
    word: Option<Regex>,
}

/// How well a name matches; the best is the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Match {
    /// Somewhere: `read` in `readAll`.
    Part,
    /// A whole word: `read` in `io.read`.
    Word,
    /// The whole name.
    Whole,
}

impl PartialEq for Search {
    fn eq(&self, other: &Search) -> bool {
        self.text == other.text
    }
}

impl Eq for Search {}

impl Search {
    /// A regular expression, or else the text itself. It ignores case unless it has a capital.
    pub(crate) fn new(text: &str) -> Option<Search> {
        let ignores_case = !text.chars().any(char::is_uppercase);
        let compiled = |pattern: &str| {
            RegexBuilder::new(pattern).case_insensitive(ignores_case).size_limit(1 << 20).build().ok()
        };
        let pattern = compiled(text).or_else(|| compiled(&regex::escape(text)))?;
        let word = compiled(&format!(r"(?:^|\W)(?:{})(?:\W|$)", pattern.as_str()));
        (!text.is_empty()).then(|| Search { text: text.to_string(), pattern, word })
    }

    /// Whether a text matches.
    pub(crate) fn finds(&self, text: &str) -> bool {
        self.pattern.is_match(text)
    }

    /// How well a text matches.
    pub(crate) fn rank(&self, text: &str) -> Option<Match> {
        let found = self.pattern.find(text)?;
        Some(match &self.word {
            _ if found.range() == (0..text.len()) => Match::Whole,
            Some(word) if word.is_match(text) => Match::Word,
            _ => Match::Part,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_names_match_best() {
        let rank = |text: &str, name: &str| Search::new(text).unwrap().rank(name);
        assert_eq!(rank("read", "read"), Some(Match::Whole));
        assert_eq!(rank("read", "io.Read"), Some(Match::Word));
        assert_eq!(rank("read", "readAll"), Some(Match::Part));
        assert_eq!(rank("Read", "io.read"), None, "capitals match only capitals");
        assert_eq!(rank("(", "f(x)"), Some(Match::Part), "not a regular expression, so the text itself");
    }
}
