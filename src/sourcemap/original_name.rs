//! What a function is called in the line of the source where it starts, for maps without names.

use std::sync::LazyLock;

use regex::Regex;

use crate::sourcemap::mappings::Position;
use crate::sourcemap::script::is_part_of_word;

static CLASS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\bclass\s+([\p{L}_$][\p{L}\p{N}_$]*)").ok());

/// Words before the name of a function.
const MODIFIERS: [&str; 18] = [
    "export",
    "default",
    "async",
    "function",
    "class",
    "const",
    "let",
    "var",
    "static",
    "public",
    "private",
    "protected",
    "readonly",
    "override",
    "abstract",
    "get",
    "set",
    "declare",
];

/// Words that are no names.
const KEYWORDS: [&str; 14] = [
    "return", "new", "if", "for", "while", "switch", "await", "yield", "typeof", "void", "throw", "case",
    "catch", "super",
];

/// `const price: Rule = async (item`, up to the parameters; the same of a property.
static ASSIGNED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"([\p{L}_$][\p{L}\p{N}_$]*)\s*[?!]?\s*(?::\s*[^=:;{}()]+)?=\s*(?:async\b\s*)?(?:function\b\s*\*?\s*)?$")
        .ok()
});
static PROPERTY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"([\p{L}_$][\p{L}\p{N}_$]*)\s*:\s*(?:async\b\s*)?(?:function\b\s*\*?\s*)?$").ok()
});

/// The name of the function that starts at a position of a source, or whose parameters do. That of a constructor is its class.
pub(super) fn name_at(text: &str, start: Position) -> Option<String> {
    let line = text.lines().nth(start.line as usize)?;
    let at = byte_at(line, start.column)?;
    let name = named_after(&line[at..]).or_else(|| assigned_to(&line[..at]))?;
    if name != "constructor" {
        return Some(name);
    }
    let above = text.lines().take(start.line as usize + 1).collect::<Vec<_>>().into_iter().rev();
    let class = |line: &str| Some(CLASS.as_ref()?.captures(line)?.get(1)?.as_str().to_string());
    above.take(MOST_LINES).find_map(class).or(Some(name))
}

/// The name in front of a function: `const price: Rule = async `.
fn assigned_to(before: &str) -> Option<String> {
    let found = |regex: &Option<Regex>| Some(regex.as_ref()?.captures(before)?.get(1)?.as_str().to_string());
    found(&ASSIGNED).or_else(|| found(&PROPERTY))
}

/// How far above a constructor its class is searched.
const MOST_LINES: usize = 1000;

/// The name in `export async function burn(`, `burn(`, `burn<T>(` or `const burn =`.
fn named_after(text: &str) -> Option<String> {
    let mut rest = text;
    let mut was_declared = false;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '*', '#']);
        let end = rest.find(|c| !is_part_of_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let follows = after.trim_start();
        if MODIFIERS.contains(&word) && !follows.starts_with('(') {
            was_declared |= ["function", "class", "const", "let", "var"].contains(&word);
            rest = after;
            continue;
        }
        let is_name = !word.is_empty()
            && !word.starts_with(|c: char| c.is_ascii_digit())
            && !KEYWORDS.contains(&word)
            && !MODIFIERS.contains(&word);
        // `(items) => …`, and `items => …`: parameters.
        let is_arrow = follows.starts_with("=>");
        let is_named =
            was_declared || follows.starts_with(['(', '<']) || (follows.starts_with('=') && !is_arrow);
        return (is_name && is_named && !is_arrow).then(|| word.to_string());
    }
}

/// Whether a line contains an identifier.
pub(super) fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        !before.ends_with(is_part_of_word) && !after.starts_with(is_part_of_word)
    })
}

/// The byte at which a column starts, counted in UTF-16 code units.
fn byte_at(line: &str, column: u32) -> Option<usize> {
    let mut units = 0;
    for (at, c) in line.char_indices() {
        if units >= column as usize {
            return Some(at);
        }
        units += c.len_utf16();
    }
    (units >= column as usize).then_some(line.len())
}
