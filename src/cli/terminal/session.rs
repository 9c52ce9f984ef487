//! Commands that run inside a server: what they would print is recorded, and what they read stays in memory.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::load::Cache;
use crate::profile::Budget;

/// What commands may use and what they have written, while they run inside a server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Session {
    /// Profiles that were read before.
    pub(crate) cache: Option<Arc<Cache>>,
    /// The memory limit of one command.
    pub(crate) budget: Budget,
    /// The folders in which source files may be read.
    pub(crate) folders: Vec<PathBuf>,
    /// Whether names were not looked up that a command outside of the server looks for. Set by threads that read.
    pub(crate) names_left_out: Arc<AtomicBool>,
    /// What was written to standard output.
    pub(crate) output: Vec<u8>,
    /// The lines that were printed on standard error.
    pub(crate) messages: Vec<String>,
}

thread_local! {
    /// The session of the command that runs on this thread.
    static SESSION: RefCell<Option<Session>> = const { RefCell::new(None) };
}

/// Ends the session even if the command panics.
#[cfg(any(feature = "mcp", test))]
struct End;

#[cfg(any(feature = "mcp", test))]
impl Drop for End {
    fn drop(&mut self) {
        SESSION.with_borrow_mut(Option::take);
    }
}

/// Runs a command on this thread inside a session. Returns its result, and the session with what it wrote.
#[cfg(any(feature = "mcp", test))]
pub(crate) fn run_in<T>(session: Session, command: impl FnOnce() -> T) -> (T, Session) {
    SESSION.replace(Some(session));
    let _end = End;
    let result = command();
    (result, SESSION.take().unwrap_or_default())
}

/// Something of the session of this thread; `None` outside of one.
pub(crate) fn of_session<T>(part: impl FnOnce(&mut Session) -> T) -> Option<T> {
    SESSION.with_borrow_mut(|session| session.as_mut().map(part))
}

/// Whether a command on this thread runs inside a server.
pub(crate) fn is_inside() -> bool {
    SESSION.with_borrow(Option::is_some)
}

/// Whether this is inside of a server, and names were not looked up that a command outside of it looks for.
pub(crate) fn leaves_out_names() -> bool {
    of_session(|session| session.names_left_out.load(Ordering::Relaxed)).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_lasts_as_long_as_its_command() {
        let note = |text: &str| of_session(|session| session.messages.push(text.to_string()));
        assert!(note("lost").is_none());
        let (result, session) = run_in(Session::default(), || note("kept").is_some());
        assert_eq!((result, session.messages), (true, vec!["kept".to_string()]));
        let panicked = std::panic::catch_unwind(|| run_in(Session::default(), || panic!("on purpose")));
        assert!(panicked.is_err() && !is_inside());
    }
}
