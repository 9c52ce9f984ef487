//! Errors from reading a profile.

use std::fmt::{self, Display};
use std::io;

use crate::profile::TooLarge;

/// Why an input could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Reading failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The input is malformed.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// The profile exceeds the memory limit.
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    /// The format was not recognized.
    #[error("not a profile in any known format")]
    Unrecognized {
        /// What the input seems to be and how to convert it, if known.
        hint: Option<String>,
    },
    /// Samples cannot be weighed by the number of running threads.
    #[error("no latency: {0}")]
    NoLatency(String),
    /// There is no sum of the times on processors and waiting.
    #[error("no wall time: {0}")]
    NoWall(String),
}

/// A malformed input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{format}: {message}{place}")]
pub struct ParseError {
    /// The format's name, such as `pprof` or `gzip`.
    pub format: &'static str,
    /// The position in the (decompressed) input.
    pub place: Place,
    /// What is wrong, without a final full stop.
    pub message: String,
}

/// A position in an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Offset in the decompressed input, or in the compressed input if the compressed stream itself is
    /// truncated.
    Byte(u64),
    /// Line number from 1.
    Line(u64),
    /// No particular position.
    Whole,
}

/// As it follows a message.
impl Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Byte(byte) => write!(f, " (byte {byte})"),
            Place::Line(line) => write!(f, " (line {line})"),
            Place::Whole => Ok(()),
        }
    }
}

impl ParseError {
    /// An error at a byte offset.
    pub fn at_byte(format: &'static str, byte: u64, message: impl Into<String>) -> Self {
        ParseError { format, place: Place::Byte(byte), message: short(message.into()) }
    }

    /// An error on a line, counted from 1.
    pub fn at_line(format: &'static str, line: u64, message: impl Into<String>) -> Self {
        ParseError { format, place: Place::Line(line), message: short(message.into()) }
    }

    /// An error without a position.
    pub fn whole(format: &'static str, message: impl Into<String>) -> Self {
        ParseError { format, place: Place::Whole, message: short(message.into()) }
    }
}

/// The message for a version that no reader knows: `unsupported version 7; versions 3 to 6 are supported`.
pub(super) fn unsupported_version<V: Display>(version: impl Display, oldest: V, newest: V) -> String {
    let (oldest, newest) = (oldest.to_string(), newest.to_string());
    if oldest == newest {
        format!("unsupported version {version}; only version {newest} is supported")
    } else {
        format!("unsupported version {version}; versions {oldest} to {newest} are supported")
    }
}

/// Shortens a message: messages quote the input, where a single line may be a megabyte long.
fn short(message: String) -> String {
    if message.len() <= MAX_LENGTH {
        return message;
    }
    let start = message.floor_char_boundary(MAX_LENGTH / 2);
    let end = message.ceil_char_boundary(message.len() - MAX_LENGTH / 4);
    format!("{}…{}", &message[..start], &message[end..])
}

/// Maximum length of a message in bytes.
const MAX_LENGTH: usize = 400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_quote_long_input_are_shortened() {
        let error = ParseError::at_line("x", 3, format!("`{}` is not a number", "ä".repeat(1000)));
        assert!(error.message.len() < 320 && error.message.ends_with("ä` is not a number"), "{error}");
        assert_eq!(ParseError::whole("x", "no").message, "no");
    }
}
