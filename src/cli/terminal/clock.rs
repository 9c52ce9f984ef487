//! Timings of the steps, for `--verbose`.

use std::io::Write;
use std::time::{Duration, Instant};

/// Prints on standard error how long each step took, with `--verbose`.
pub(crate) struct Clock {
    wanted: bool,
    since: Instant,
}

impl Clock {
    /// Starts the first step.
    pub(crate) fn new(wanted: bool) -> Self {
        Clock { wanted, since: Instant::now() }
    }

    /// Ends a step and starts the next one.
    pub(crate) fn step(&mut self, name: &str) {
        self.step_with(name, &[]);
    }

    /// Like [`Clock::step`], but also prints the time of the step's parts.
    pub(crate) fn step_with(&mut self, name: &str, parts: &[(&str, Duration)]) {
        let now = Instant::now();
        if self.wanted {
            let seconds = now.duration_since(self.since).as_secs_f64();
            let parts: Vec<String> =
                parts.iter().map(|(part, took)| format!("{part} {:.3}s", took.as_secs_f64())).collect();
            let parts = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
            // If standard error is closed, there is nowhere to report it.
            let _ = writeln!(std::io::stderr(), "{name}: {seconds:.3}s{parts}");
        }
        self.since = now;
    }
}
