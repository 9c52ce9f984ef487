//! Messages on standard error.

use std::io::Write;

use crate::cli::terminal::failure::{shortened, wrapped};
use crate::cli::terminal::session;
use crate::name::clean;
use crate::report::Message;

/// Prints messages on standard error.
pub(crate) fn print_messages(messages: impl IntoIterator<Item = Message>) {
    for Message { kind, text } in messages {
        print_line(kind.word(), &text);
    }
}

/// Prints a line on standard error that starts with a word, such as `note`.
pub(crate) fn print_line(word: &str, text: &str) {
    let message = shortened(&format!("{word}: {}", clean(text)));
    if session::of_session(|session| session.messages.push(message.clone())).is_some() {
        return;
    }
    // If standard error is closed, there is nowhere to report it.
    let _ = writeln!(std::io::stderr(), "{}", wrapped(&message));
}
