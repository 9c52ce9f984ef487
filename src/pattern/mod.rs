//! Patterns, which select functions, files, mappings and packages on the command line.
//!
//! A pattern is a regular expression that may match anywhere in any of a frame's names. Prefixes such
//! as `file:` restrict it to one kind of name. `…` matches any text, so that shortened names can be
//! copied from the screen. `@idle` is a built-in set of functions. `exact:NAME` is no regular expression: it matches
//! only what is displayed as NAME.
//!
//! ```
//! use prof::pattern::{FrameNames, Pattern};
//! let (pattern, note) = Pattern::parse("gob.(*Decoder).Dec…", false)?;
//! assert!(note.is_some(), "`(*` is not a valid regular expression, so the text is matched literally");
//! let names = FrameNames { function: "encoding/gob.(*Decoder).Decode", ..FrameNames::default() };
//! assert!(pattern.matches(names));
//! # Ok::<(), prof::pattern::PatternError>(())
//! ```

mod added;
mod sets;
mod words;

use regex::{Regex, RegexBuilder};

pub use added::{SetError, added_sets, is_added};
use sets::Set;
pub use sets::{PAGE_SETS, contains, is_collector, is_idle_processor, is_own, is_runtime, sets, waits};

/// The names of one frame; empty where one is unknown.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrameNames<'a> {
    /// The function's full name.
    pub function: &'a str,
    /// The function's name as the screen shows it.
    pub short: &'a str,
    /// The source file.
    pub file: &'a str,
    /// The file of the binary or library.
    pub mapping: &'a str,
    /// The package; only patterns with the prefix `package:` are compared with it.
    pub package: &'a str,
}

/// Which of a frame's names a pattern is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aspect {
    /// Function (full or short), file and mapping.
    Any,
    /// `function:`
    Function,
    /// `file:`
    File,
    /// `mapping:`
    Mapping,
    /// `package:`
    Package,
    /// `exact:`, the whole name as it is displayed
    Exact,
}

/// One compiled pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    aspect: Aspect,
    test: Test,
    /// The longest word of a literal pattern; `None` for other patterns.
    literal_word: Option<String>,
}

#[derive(Clone, Debug)]
enum Test {
    /// The name itself.
    Exact(String),
    Regex(Regex),
    Set(&'static Set),
    /// A set that a file made, by name.
    Added(&'static str),
}

/// A pattern that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// It is empty, or has only a prefix, so it would match everything.
    #[error("the pattern `{}` is empty", pattern.escape_debug())]
    Empty {
        /// What was typed.
        pattern: String,
    },
    /// It would take too much memory when compiled, such as `(a{999}){999}`.
    #[error("the pattern `{}` is too large as a regular expression", pattern.escape_debug())]
    TooLarge {
        /// What was typed.
        pattern: String,
    },
}

/// Adds patterns to named sets, and makes those that do not exist, such as `@tax`. Fails if sets were added before: what a set
/// contains does not change while the program runs.
pub fn add_sets(added: Vec<(String, Vec<String>)>) -> Result<(), SetError> {
    added::add(added, &sets::sets().collect::<Vec<_>>())
}

/// The memory limit for one compiled regular expression, in bytes: more than any sensible pattern needs,
/// but small enough for many of them.
const SIZE_LIMIT: usize = 4 << 20;

impl Pattern {
    /// Parses a pattern. With `fixed` (`-F`), the whole text is literal, including prefixes, `…` and `@`.
    /// A text that is not a valid regular expression is matched literally (see [`Pattern::literal_of`]),
    /// and a note is returned as well. Fails if the pattern is empty or would take too much memory.
    pub fn parse(text: &str, fixed: bool) -> Result<(Pattern, Option<String>), PatternError> {
        if fixed {
            let regex = compile(text, &regex::escape(text))?.map_err(|_| too_large(text))?;
            return Ok((Pattern::new(text, Aspect::Any, Test::Regex(regex), Some(text)), None));
        }
        let (aspect, body) = split_aspect(text);
        if aspect == Aspect::Exact {
            return Ok((Pattern::exact(text, body)?, None));
        }
        if let Some(set) = sets::named(body) {
            return Ok((Pattern::new(text, aspect, Test::Set(set), None), None));
        }
        if let Some(set) = added_sets().find(|set| *set == body) {
            return Ok((Pattern::new(text, aspect, Test::Added(set), None), None));
        }
        let fault = match compile(body, &body.replace('…', ".*"))? {
            Ok(regex) => return Ok((Pattern::new(text, aspect, Test::Regex(regex), None), None)),
            Err(fault) => fault,
        };
        let note = format!(
            "`{}` is not a valid regular expression ({fault}); matching it literally",
            body.escape_debug()
        );
        Ok((Pattern::literal_of(text)?, Some(note)))
    }

    /// What [`regex_fault`] says of the pattern after its prefix; `None` for a pattern that is literal anyway.
    pub fn fault(text: &str, fixed: bool) -> Option<String> {
        let (aspect, body) = split_aspect(text);
        if fixed || aspect == Aspect::Exact { None } else { regex_fault(body) }
    }

    /// The pattern that matches `text` literally, except for its prefix and `…`. This is worth trying if
    /// `text` matches nothing as a regular expression: `gpq.(*GPQ[…]).DeQueue` is a valid one, but does
    /// not match itself. `..`, which terminals without `…` show instead, matches any text too. The number
    /// of files in `__init__ (31 files)` is not part of the name. An exact pattern is literal already. Fails like
    /// [`Pattern::parse`].
    pub fn literal_of(text: &str) -> Result<Pattern, PatternError> {
        let (aspect, body) = split_aspect(text);
        if aspect == Aspect::Exact {
            return Pattern::exact(text, body);
        }
        let name = without_file_count(body);
        let regex = match name {
            Some(name) => format!("{}|{}$", literally(body), literally(name)),
            None => literally(body),
        };
        let regex = compile(body, &regex)?.map_err(|_| too_large(text))?;
        Ok(Pattern::new(text, aspect, Test::Regex(regex), Some(name.unwrap_or(body))))
    }

    fn exact(text: &str, name: &str) -> Result<Pattern, PatternError> {
        match name {
            "" => Err(PatternError::Empty { pattern: text.to_owned() }),
            name => Ok(Pattern::new(text, Aspect::Exact, Test::Exact(name.to_owned()), None)),
        }
    }

    fn new(text: &str, aspect: Aspect, test: Test, literal: Option<&str>) -> Pattern {
        // A backslash may be part of an escaped character.
        let word_of = |text: &str| if text.contains('\\') { "" } else { longest_word(text) }.to_owned();
        Pattern { text: text.to_owned(), aspect, test, literal_word: literal.map(word_of) }
    }

    /// The pattern as it was typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The pattern as typed, without its prefix.
    pub fn body(&self) -> &str {
        split_aspect(&self.text).1
    }

    /// The name that is the only one that it matches, if it is exact.
    pub fn exact_name(&self) -> Option<&str> {
        match &self.test {
            Test::Exact(name) => Some(name),
            _ => None,
        }
    }

    /// Which names it is compared with.
    pub fn aspect(&self) -> Aspect {
        self.aspect
    }

    /// Whether it is about files, mappings or packages rather than functions.
    pub(crate) fn is_of_places(&self) -> bool {
        matches!(self.aspect, Aspect::File | Aspect::Mapping | Aspect::Package)
    }

    /// Whether the pattern matches a frame with these names.
    pub fn matches(&self, names: FrameNames<'_>) -> bool {
        let regex = match &self.test {
            Test::Exact(name) => return names.function == name,
            Test::Set(set) => return set.contains(names.function, names.file),
            Test::Added(set) => return added::contain(set, names.function, names.file),
            Test::Regex(regex) => regex,
        };
        let is = |name: &str| !name.is_empty() && regex.is_match(name);
        // An empty function name can be searched for: `^$` matches it.
        let function = || regex.is_match(names.function) || is(names.short);
        match self.aspect {
            Aspect::Any => function() || is(names.file) || is(names.mapping),
            Aspect::Function | Aspect::Exact => function(),
            Aspect::File => is(names.file),
            Aspect::Mapping => is(names.mapping),
            Aspect::Package => is(names.package),
        }
    }

    /// Whether the pattern matches a function that is displayed as `name`, which includes its place.
    /// Literal patterns are also compared with the shortened names that `forms` returns, since any of
    /// them may have been copied.
    pub fn matches_displayed(&self, name: &str, forms: fn(&str) -> Vec<String>) -> bool {
        if let Test::Exact(exact) = &self.test {
            return name == exact;
        }
        let (Test::Regex(regex), Aspect::Any | Aspect::Function) = (&self.test, self.aspect) else {
            return false;
        };
        // Shortening removes whole words and changes none, so most names need not be shortened.
        let may_be_short = self.literal_word.as_ref().is_some_and(|word| name.contains(word));
        regex.is_match(name) || (may_be_short && forms(name).iter().any(|form| regex.is_match(form)))
    }

    /// Whether the pattern matches all code of the binary or library `mapping`.
    pub fn matches_mapping(&self, mapping: &str) -> bool {
        match (&self.test, self.aspect) {
            (Test::Regex(regex), Aspect::Any | Aspect::Mapping) => {
                !mapping.is_empty() && regex.is_match(mapping)
            }
            _ => false,
        }
    }
}

/// The patterns of one option; a frame matches if any of them does.
#[derive(Clone, Debug, Default)]
pub struct Patterns(Vec<Pattern>);

impl Patterns {
    /// Parses all patterns; the notes are in the same order. Fails at the first one that
    /// [`Pattern::parse`] rejects.
    pub fn parse<S: AsRef<str>>(texts: &[S], fixed: bool) -> Result<(Patterns, Vec<String>), PatternError> {
        let mut notes = Vec::new();
        let mut patterns = Vec::with_capacity(texts.len());
        for text in texts {
            let (pattern, note) = Pattern::parse(text.as_ref(), fixed)?;
            patterns.push(pattern);
            notes.extend(note);
        }
        Ok((Patterns(patterns), notes))
    }

    /// Whether there are no patterns because the option was not given.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The patterns one by one, for example to report those that match nothing.
    pub fn iter(&self) -> std::slice::Iter<'_, Pattern> {
        self.0.iter()
    }

    /// Whether any of them matches a frame with these names.
    pub fn matches(&self, names: FrameNames<'_>) -> bool {
        self.0.iter().any(|pattern| pattern.matches(names))
    }

    /// Whether any of them matches a function that is displayed as `name`; see
    /// [`Pattern::matches_displayed`].
    pub fn match_displayed(&self, name: &str, forms: fn(&str) -> Vec<String>) -> bool {
        self.0.iter().any(|pattern| pattern.matches_displayed(name, forms))
    }
}

impl FromIterator<Pattern> for Patterns {
    fn from_iter<I: IntoIterator<Item = Pattern>>(patterns: I) -> Patterns {
        Patterns(patterns.into_iter().collect())
    }
}

impl<'a> IntoIterator for &'a Patterns {
    type Item = &'a Pattern;
    type IntoIter = std::slice::Iter<'a, Pattern>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Removes the number of files that the flat view appends to a name: `__init__` for `__init__ (31 files)`.
/// `None` if there is none.
pub fn without_file_count(shown: &str) -> Option<&str> {
    let (name, count) = shown.strip_suffix(" files)")?.rsplit_once(" (")?;
    (!count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit())).then_some(name)
}

fn longest_word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric()).max_by_key(|word| word.len()).unwrap_or_default()
}

/// The pattern that matches names with this text in them, whatever the text is.
pub fn containing(text: &str) -> String {
    // Outside a class, these would make it a named set or a prefix.
    literal(text).replace('@', "[@]").replace(':', "[:]")
}

/// The pattern that matches only the function with this name. `^NAME$` would also match those whose short name it is.
pub fn exactly(name: &str) -> String {
    let text = format!("exact:{name}");
    // The empty name, and one such as `:main`, which would look like the name `exact::main`.
    if name.is_empty() || split_aspect(&text).0 != Aspect::Exact { whole(name) } else { text }
}

/// The pattern that matches only this file, package or mapping: `kind` is the prefix, such as `file`.
pub fn exactly_of(kind: &str, name: &str) -> String {
    format!("{kind}:{}", whole(name))
}

/// A regular expression that matches a whole name.
fn whole(name: &str) -> String {
    format!("^{}$", literal(name))
}

/// A regular expression for a text, in which an ellipsis stands for itself.
fn literal(text: &str) -> String {
    regex::escape(text).replace('…', r"\x{2026}")
}

/// A regular expression that matches a text literally, except for ellipses.
fn literally(text: &str) -> String {
    let text = text.replace("..", "…");
    text.split('…').map(regex::escape).collect::<Vec<String>>().join(".*")
}

/// Whether a text is the name of a set, such as `@gc`.
pub(crate) fn is_set(text: &str) -> bool {
    sets::named(text).is_some() || added_sets().any(|set| set == text)
}

/// Splits off the prefix. `file::open` is a C++ name and `file:///srv/app.mjs` a URL, so they have none.
pub(crate) fn split_aspect(text: &str) -> (Aspect, &str) {
    let prefixes = [
        ("function:", Aspect::Function),
        ("file:", Aspect::File),
        ("mapping:", Aspect::Mapping),
        ("package:", Aspect::Package),
        ("exact:", Aspect::Exact),
    ];
    let is_name = |body: &str| body.starts_with(':') || body.starts_with("//");
    for (prefix, aspect) in prefixes {
        if let Some(body) = text.strip_prefix(prefix).filter(|body| !is_name(body)) {
            return (aspect, body);
        }
    }
    (Aspect::Any, text)
}

/// Why a text is not a valid regular expression, such as `unclosed group at character 2`; `None` if it is one.
pub fn regex_fault(text: &str) -> Option<String> {
    compile(text, &text.replace('…', ".*")).ok()?.err()
}

/// The regular expression for `text`; otherwise what is wrong with it.
fn compile(text: &str, regex: &str) -> Result<Result<Regex, String>, PatternError> {
    if text.is_empty() {
        return Err(PatternError::Empty { pattern: text.to_owned() });
    }
    match RegexBuilder::new(regex).size_limit(SIZE_LIMIT).build() {
        Ok(regex) => Ok(Ok(regex)),
        Err(regex::Error::CompiledTooBig(_)) => Err(too_large(text)),
        Err(error) => Ok(Err(fault(&error.to_string(), text == regex))),
    }
}

/// What is wrong with a regular expression, in one line, and where if `has_place`: an ellipsis moves what follows it.
///
/// ```text
/// regex parse error:
///     a(b                 → unclosed group at character 2
///      ^
/// error: unclosed group
/// ```
fn fault(error: &str, has_place: bool) -> String {
    const INDENT: usize = 4;
    let why = error.lines().find_map(|line| line.strip_prefix("error: ")).unwrap_or("syntax error");
    // The mark is below the expression, unless that has several lines.
    let mark = error.lines().nth(2).filter(|_| has_place && error.lines().count() == 4);
    match mark.and_then(|mark| mark.find('^')) {
        Some(column) => format!("{why} at character {}", (column + 1).saturating_sub(INDENT)),
        None => why.to_string(),
    }
}

fn too_large(text: &str) -> PatternError {
    PatternError::TooLarge { pattern: text.to_owned() }
}

#[cfg(test)]
mod tests;
