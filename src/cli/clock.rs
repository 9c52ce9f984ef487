//! How long each step took, for `--verbose`.

use std::io::Write;
use std::time::{Duration, Instant};

/// Says on standard error how long each step took, where `--verbose` asks for it.
pub(crate) struct Clock {
    wanted: bool,
    since: Instant,
}

impl Clock {
    /// Begins the first step.
    pub(crate) fn new(wanted: bool) -> Self {
        Clock { wanted, since: Instant::now() }
    }

    /// Ends a step, and begins the next.
    pub(crate) fn step(&mut self, name: &str) {
        self.step_with(name, &[]);
    }

    /// [`Clock::step`], with the parts that the step is known to have had.
    pub(crate) fn step_with(&mut self, name: &str, parts: &[(&str, Duration)]) {
        let now = Instant::now();
        if self.wanted {
            let seconds = now.duration_since(self.since).as_secs_f64();
            let parts: Vec<String> =
                parts.iter().map(|(part, took)| format!("{part} {:.3}s", took.as_secs_f64())).collect();
            let parts = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
            // Nothing can be done where standard error is closed.
            let _ = writeln!(std::io::stderr(), "{name}: {seconds:.3}s{parts}");
        }
        self.since = now;
    }
}
