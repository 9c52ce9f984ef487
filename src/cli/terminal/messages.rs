//! Messages on standard error.

use std::io::Write;

use crate::cli::terminal::failure::wrapped;

/// Prints messages of one kind (`warning`, `note`) on standard error.
pub(crate) fn print_messages(kind: &str, texts: impl Iterator<Item = impl AsRef<str>>) {
    for text in texts {
        // If standard error is closed, there is nowhere to report it.
        let message = format!("{kind}: {}", crate::name::clean(text.as_ref()));
        let _ = writeln!(std::io::stderr(), "{}", wrapped(&message));
    }
}
