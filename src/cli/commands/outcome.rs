//! The exit code of a command.

use anyhow::Result;

use crate::cli::terminal::failure::is_closed_pipe;

/// Exit code for wrong usage, unreadable input, or a name that matches nothing.
pub(crate) const FAILURE: u8 = 2;

/// Exit code if a check that was asked for failed.
pub(crate) const FAILED: u8 = 1;

/// The exit code of a command that ran to its end: 0 for success, 1 for a failed check, 3 for not enough
/// evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome(pub(crate) u8);

impl Outcome {
    /// The outcome if the report was written, or if its reader has gone, as in `prof diff old new | head`: a script must not take that for
    /// success.
    pub(crate) fn after(self, written: Result<()>) -> Result<Outcome> {
        match written {
            Err(error) if !is_closed_pipe(&error) => Err(error),
            _ => Ok(self),
        }
    }
}

impl From<()> for Outcome {
    fn from((): ()) -> Self {
        Outcome(0)
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_reader_that_has_gone_does_not_change_the_outcome() {
        let failed = |kind: io::ErrorKind| Err(io::Error::from(kind).into());
        assert_eq!(Outcome(FAILED).after(failed(io::ErrorKind::BrokenPipe)).unwrap(), Outcome(FAILED));
        assert_eq!(Outcome(FAILED).after(Ok(())).unwrap(), Outcome(FAILED));
        assert!(Outcome(0).after(failed(io::ErrorKind::StorageFull)).is_err());
    }
}
