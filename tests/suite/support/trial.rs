//! A test as the runner sees it.

use std::panic::resume_unwind;

use libtest_mimic::{Arguments, Completion, Failed, Trial};

use super::needs::Need;

/// The stack of a test; threads that load files in parallel have as much.
const STACK: usize = 2 << 20;

/// A test that is ignored, with the reason, if something that it needs is missing.
pub fn trial(
    name: String,
    needs: &'static [Need],
    arguments: &Arguments,
    run: impl FnOnce() + Send + 'static,
) -> Trial {
    let missing = needs.iter().find_map(|need| need.missing());
    // Tests that are marked as ignored beforehand are listed as such, for example for cargo-nextest, but the runner
    // prints no reason for them. The others say when they are run that, and why, they are to be ignored.
    let is_asked_for = arguments.ignored || arguments.include_ignored;
    let is_marked = missing.is_some() && (arguments.list || is_asked_for);
    let thread = name.clone();
    let run = move || match missing {
        Some(reason) if !is_asked_for => Ok(Completion::ignored_with(reason)),
        _ => in_thread(thread, run),
    };
    Trial::ignorable_test(name, run).with_ignored_flag(is_marked)
}

/// Runs a test in a thread with its name, which is part of the message if it panics.
fn in_thread(name: String, run: impl FnOnce() + Send + 'static) -> Result<Completion, Failed> {
    let thread = std::thread::Builder::new().name(name).stack_size(STACK).spawn(run)?;
    thread.join().unwrap_or_else(|panic| resume_unwind(panic));
    Ok(Completion::Completed)
}
