//! Why filters cannot be applied.

use std::error::Error;

use crate::pattern::PatternError;
use crate::profile::TooLarge;

/// Why a filter cannot be applied. The message names the filter as it is typed on the command line.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct FilterError {
    message: String,
    hint: Option<String>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl FilterError {
    pub(super) fn new(message: impl Into<String>, hint: Option<String>) -> Self {
        FilterError { message: message.into(), hint, source: None }
    }

    pub(super) fn hinted(message: impl Into<String>, hint: impl Into<String>) -> Self {
        FilterError::new(message, Some(hint.into()))
    }

    /// The error for a metric whose values `--what-if` makes too large.
    pub(crate) fn too_large(metric: &str) -> Self {
        let message = format!("--what-if: the values of {metric} would not fit in 64 bits");
        FilterError::hinted(message, "round the factors to fewer digits")
    }

    /// The same error, said of the option in `what`, such as `--show-stacks main`, or of what else has the pattern.
    pub(super) fn said_of(self, what: &str) -> Self {
        let option = what.split(' ').next().filter(|word| word.starts_with("--"));
        let message = format!("{}: {}", option.unwrap_or(what), self.message);
        FilterError { message, hint: self.hint, source: None }
    }

    /// What may have been meant, or what to do instead.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl From<PatternError> for FilterError {
    fn from(error: PatternError) -> Self {
        FilterError { message: error.to_string(), hint: None, source: Some(Box::new(error)) }
    }
}

impl From<TooLarge> for FilterError {
    fn from(error: TooLarge) -> Self {
        FilterError { message: error.to_string(), hint: None, source: Some(Box::new(error)) }
    }
}
