//! The exit code of a command.

/// Exit code for wrong usage, unreadable input, or a name that matches nothing.
pub(crate) const FAILURE: u8 = 2;

/// Exit code if a check that was asked for failed.
pub(crate) const FAILED: u8 = 1;

/// The exit code of a command that ran to its end: 0 for success, 1 for a failed check, 3 for not enough
/// evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome(pub(crate) u8);

impl From<()> for Outcome {
    fn from((): ()) -> Self {
        Outcome(0)
    }
}
