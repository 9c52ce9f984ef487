//! What a file adds to the named sets, and the sets that it makes.

use std::sync::OnceLock;

use crate::pattern::{FrameNames, PatternError, Patterns};

/// Patterns that were added to one set.
#[derive(Debug)]
struct Added {
    name: String,
    patterns: Patterns,
    /// Whether `prof` has no set of this name.
    is_new: bool,
}

/// All of them, for as long as the program runs.
static ADDED: OnceLock<Vec<Added>> = OnceLock::new();

/// Patterns that cannot become part of a set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    /// The name does not begin with `@`, or has characters other than letters, digits, `-` and `_`.
    #[error("the name of a set is an @ and letters, digits, - or _, such as @tax: `{0}` is none")]
    Name(String),
    /// One of its patterns cannot be used.
    #[error("{0}: {1}")]
    Pattern(String, #[source] PatternError),
    /// Sets were added before.
    #[error("named sets can be added only once")]
    Again,
}

/// Adds patterns to the sets that are `known`, and makes the others.
pub(super) fn add(sets: Vec<(String, Vec<String>)>, known: &[&str]) -> Result<(), SetError> {
    let parsed = |(name, patterns): (String, Vec<String>)| parsed(name, &patterns, known);
    let added = sets.into_iter().map(parsed).collect::<Result<_, _>>()?;
    ADDED.set(added).map_err(|_| SetError::Again)
}

fn parsed(name: String, patterns: &[String], known: &[&str]) -> Result<Added, SetError> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    if !name.strip_prefix('@').is_some_and(|rest| !rest.is_empty() && rest.chars().all(is_letter)) {
        return Err(SetError::Name(name));
    }
    let parsed = Patterns::parse(patterns, false);
    let (patterns, _) = parsed.map_err(|error| SetError::Pattern(name.clone(), error))?;
    Ok(Added { is_new: !known.contains(&&*name), name, patterns })
}

fn added() -> &'static [Added] {
    ADDED.get().map_or(&[], Vec::as_slice)
}

/// The names of the sets that were made.
pub fn added_sets() -> impl Iterator<Item = &'static str> {
    added().iter().filter(|set| set.is_new).map(|set| &*set.name)
}

/// Whether a function is in a set because it was added: then it is that kind of work, rather than the program's own.
pub fn is_added(function: &str, file: &str) -> bool {
    let names = FrameNames { function, file, ..FrameNames::default() };
    added().iter().any(|set| set.patterns.matches(names))
}

/// Whether one of the patterns that were added to a set matches a function.
pub(super) fn contain(name: &str, function: &str, file: &str) -> bool {
    let names = FrameNames { function, file, ..FrameNames::default() };
    added().iter().any(|set| set.name == name && set.patterns.matches(names))
}
