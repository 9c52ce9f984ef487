//! Messages about a report.

use std::fmt;

use serde::Serialize;

/// Something that a reader should know. In JSON, it is its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
#[non_exhaustive]
pub struct Message {
    /// What it is about.
    #[serde(skip)]
    pub kind: MessageKind,
    /// A sentence without a full stop.
    pub text: String,
}

/// What a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// Something is wrong with the input, or with what was asked for.
    Warning,
    /// How to read what is shown.
    Note,
}

impl Message {
    /// A warning.
    pub fn warning(text: impl Into<String>) -> Self {
        Message { kind: MessageKind::Warning, text: text.into() }
    }

    /// A note.
    pub fn note(text: impl Into<String>) -> Self {
        Message { kind: MessageKind::Note, text: text.into() }
    }
}

impl MessageKind {
    /// The word that the message starts with.
    pub fn word(self) -> &'static str {
        match self {
            MessageKind::Warning => "warning",
            MessageKind::Note => "note",
        }
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
