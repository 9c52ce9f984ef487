//! Why an address cannot be fetched.

/// Why an address cannot be fetched, and what to do about it.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
#[error("{message}")]
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

/// What each address answered, or the first address that could not be fetched.
pub(super) type Fetched = Result<Vec<(String, Vec<u8>)>, (String, FetchError)>;
