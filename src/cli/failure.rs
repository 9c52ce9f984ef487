//! Errors with a hint at what to do next.

use std::fmt;
use std::io;

use crate::name::{clean, nearest};

/// An error that carries a hint.
#[derive(Debug)]
pub(crate) struct Hinted {
    message: String,
    hint: String,
}

impl fmt::Display for Hinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Hinted {}

/// An error whose hint says what to do next.
pub(crate) fn hinted(message: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
    Hinted { message: message.into(), hint: hint.into() }.into()
}

/// Adds a hint to an error, where there is one to give.
pub(crate) fn with_hint(message: String, hint: Option<String>) -> anyhow::Error {
    match hint {
        Some(hint) => hinted(message, hint),
        None => anyhow::Error::msg(message),
    }
}

/// Asks whether the name next to `name` was meant, in front of what else a hint says; empty where none is
/// near.
pub(crate) fn meant(name: &str, known: &[&str]) -> String {
    let near = nearest(name, known.iter().copied(), 1);
    near.first().map(|near| format!("did you mean {near}? ")).unwrap_or_default()
}

/// The error and its hint, as they are printed: names in them come from the input.
pub(crate) fn describe(error: &anyhow::Error) -> String {
    let hint = error.downcast_ref::<Hinted>().map(|error| format!("\nhint: {}", clean_lines(&error.hint)));
    format!("error: {}{}", clean_lines(&format!("{error:#}")), hint.unwrap_or_default())
}

/// [`clean`] for text that may have several lines, which stay so.
fn clean_lines(text: &str) -> String {
    text.split('\n').map(clean).collect::<Vec<_>>().join("\n")
}

/// Whether the error is that the reader of our output has gone: `prof top | head` ends quietly.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(broken))
}
