//! Errors with a hint that says what to do next.

use std::io;

use terminal_size::{Width, terminal_size_of};

use crate::cli::terminal::words::one_of;
use crate::name::{clean, display_width, nearest};
use crate::output::{self, wrap};
use crate::source::without_passwords;

/// An error with a hint.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Hinted {
    message: String,
    hint: String,
}

/// Creates an error with a hint that says what to do next.
pub(crate) fn hinted(message: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
    Hinted { message: message.into(), hint: hint.into() }.into()
}

/// Creates an error with an optional hint.
pub(crate) fn with_hint(message: String, hint: Option<String>) -> anyhow::Error {
    match hint {
        Some(hint) => hinted(message, hint),
        None => anyhow::Error::msg(message),
    }
}

/// The error of a report that cannot be written. That of the destination is passed on as it is.
pub(crate) fn unwritten(error: output::Error) -> anyhow::Error {
    match error {
        output::Error::Io(error) => error.into(),
        output::Error::Units(error) => {
            hinted(format!("--unit: {error}"), format!("--unit takes {}", one_of(&error.suitable)))
        }
        error => anyhow::Error::msg(error.to_string()),
    }
}

/// The error for a name that is not one of those known, such as the formats. Suggests a similar one.
pub(crate) fn no_such(message: String, name: &str, what: &str, known: &[&str]) -> anyhow::Error {
    hinted(message, format!("{}the {what} are {}", meant(name, known), known.join(", ")))
}

/// The beginning of a hint, `did you mean NAME? `, if one of the `known` names is similar to `name`; otherwise
/// empty.
pub(crate) fn meant(name: &str, known: &[&str]) -> String {
    let near = nearest(name, known.iter().copied(), 1);
    near.first().map(|near| format!("did you mean {near}? ")).unwrap_or_default()
}

/// The error and its hint as they are printed. Control characters are removed, because names in them come
/// from the input.
pub(crate) fn describe(error: &anyhow::Error) -> String {
    let shown = |text: &str| shortened(&clean_lines(text));
    let hint = error.downcast_ref::<Hinted>().map(|error| format!("\nhint: {}", shown(&error.hint)));
    let mut causes: Vec<String> = error.chain().map(ToString::to_string).collect();
    // Some errors say all that their source does.
    causes.dedup();
    format!("error: {}{}", shown(&causes.join(": ")), hint.unwrap_or_default())
}

/// Words longer than this are cut in messages: a pattern of 40,000 characters would hide what is wrong with it.
const LONGEST_WORD: usize = 300;
/// Lines longer than this are cut in messages.
const LONGEST_LINE: usize = 2000;

/// A message whose very long words and lines are cut in the middle. The end stays, because messages quote an argument
/// first and say then what is wrong with it.
pub(crate) fn shortened(message: &str) -> String {
    // Addresses may hold passwords.
    let message = without_passwords(message);
    let line = |line: &str| {
        let words: Vec<String> = line.split(' ').map(|word| cut_middle(word, LONGEST_WORD)).collect();
        cut_middle(&words.join(" "), LONGEST_LINE)
    };
    message.split('\n').map(line).collect::<Vec<String>>().join("\n")
}

/// The start and the end of a text that has more than `limit` characters.
fn cut_middle(text: &str, limit: usize) -> String {
    let count = text.chars().count();
    if count <= limit {
        return text.to_string();
    }
    let start: String = text.chars().take(limit / 2).collect();
    let end: String = text.chars().skip(count - limit / 4).collect();
    format!("{start}…{end}")
}

/// A message wrapped between words at the width of the terminal, if standard error is one.
pub(crate) fn wrapped(message: &str) -> String {
    match terminal_size_of(io::stderr()) {
        Some((Width(width), _)) => wrapped_at(message, usize::from(width)),
        None => message.to_string(),
    }
}

/// Continuation lines are indented, so that each line of the message still reads as one.
fn wrapped_at(message: &str, width: usize) -> String {
    const INDENT: &str = "  ";
    let line = |line: &str| {
        if display_width(line) <= width {
            return line.to_string();
        }
        let text = line.trim_start();
        let start = &line[..line.len() - text.len()];
        let room = width.saturating_sub(start.len() + INDENT.len()).max(1);
        start.to_string() + &wrap(text, room).join(&format!("\n{start}{INDENT}"))
    };
    message.split('\n').map(line).collect::<Vec<String>>().join("\n")
}

/// [`clean`] for text of several lines.
fn clean_lines(text: &str) -> String {
    text.split('\n').map(clean).collect::<Vec<_>>().join("\n")
}

/// Whether the reader of our output has gone, as in `prof top | head`, which ends quietly.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(broken))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_words_and_lines_are_cut() {
        let long = "a".repeat(40_000);
        let message = format!("error: --show-stacks {long}: nothing matches\nhint: did you mean abc?");
        let (start, end) = ("a".repeat(150), "a".repeat(74));
        let want = format!("error: --show-stacks {start}…{end}: nothing matches\nhint: did you mean abc?");
        assert_eq!(shortened(&message), want);
        let spaced = format!("error: {}is not a metric", "a b ".repeat(10_000));
        let short = shortened(&spaced);
        assert_eq!(short.chars().count(), LONGEST_LINE / 2 + 1 + LONGEST_LINE / 4);
        assert!(short.starts_with("error: a b ") && short.ends_with(" b is not a metric"), "{short}");
        let usual = format!("error: {}: no such file", "folder/".repeat(40));
        assert_eq!(shortened(&usual), usual);
    }

    #[test]
    fn messages_are_wrapped_between_words() {
        let message =
            "error: no such file\nhint: name a profile (prof top cpu.pb.gz), or pipe one in\n    a b c d e f";
        let want = [
            "error: no such file",
            "hint: name a profile",
            "  (prof top",
            "  cpu.pb.gz), or pipe",
            "  one in",
            "    a b c d e f",
        ];
        assert_eq!(wrapped_at(message, 22), want.join("\n"));
        assert_eq!(wrapped_at(message, 60), message);
        assert_eq!(
            wrapped_at("hint: /a/path/longer/than/the/line", 10),
            "hint:\n  /a/path/longer/than/the/line"
        );
    }
}
