//! Why an address cannot be fetched.

use std::fmt;

/// Why an address cannot be fetched, and what to do about it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FetchError {
    /// What happened. User names and passwords of addresses are not in it.
    pub message: String,
    /// What to do next, if that is known.
    pub hint: Option<String>,
}

impl FetchError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        FetchError { message: super::without_passwords(&message.into()), hint: None }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(super::without_passwords(&hint.into()));
        self
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for FetchError {}
