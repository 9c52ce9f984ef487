//! The progress line: shown on a terminal while reading takes longer than a moment, and erased before anything
//! else is printed.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::cli::terminal::clock::Clock;
use crate::cli::terminal::messages::print_line;
use crate::cli::terminal::session;
use crate::format::{LoadError, Times};
use crate::load::{Observer, shown};
use crate::unit::{Scale, Unit, group_thousands, saturated};

/// The line appears after this time.
const DELAY: Duration = Duration::from_millis(500);

/// The time between updates of the line.
const INTERVAL: Duration = Duration::from_millis(100);

/// Watches inputs while they load: shows the line, and prints how long the steps took.
pub(crate) struct Progress {
    seen: Arc<Seen>,
    line: Mutex<Option<JoinHandle<()>>>,
    /// Whether to show the line, which needs a terminal.
    quiet: bool,
    /// Whether to print times and what was skipped.
    verbose: bool,
    clock: Mutex<Clock>,
    /// What to say once everything is fetched.
    notes: Mutex<Vec<String>>,
    /// Whether names were not looked up that there may be.
    names_left_out: Arc<AtomicBool>,
}

/// The progress so far.
#[derive(Default)]
struct Seen {
    /// The number of inputs.
    inputs: AtomicU64,
    /// Their size in bytes; 0 if it is not known.
    bytes: AtomicU64,
    inputs_loaded: AtomicU64,
    bytes_read: AtomicU64,
    times: Mutex<Times>,
    /// How many sides are being read.
    reading: AtomicUsize,
    is_over: AtomicBool,
    /// When servers finish recording, and how long that takes in all.
    recording: Mutex<Option<(Instant, Duration)>>,
    bytes_fetched: AtomicU64,
}

impl Progress {
    /// Shows the line if standard error is a terminal and not `quiet`, and prints times if `verbose`.
    pub(crate) fn new(quiet: bool, verbose: bool) -> Self {
        let clock = Mutex::new(Clock::new(verbose));
        let (seen, line, notes) = Default::default();
        let names_left_out =
            session::of_session(|session| session.names_left_out.clone()).unwrap_or_default();
        Progress { seen, line, quiet, verbose, clock, notes, names_left_out }
    }

    /// Shows the line on a terminal, unless it is shown already.
    fn start(&self) {
        let mut line = locked(&self.line);
        if line.is_none() && !self.quiet && io::stderr().is_terminal() {
            self.seen.is_over.store(false, Ordering::Relaxed);
            let watched = self.seen.clone();
            // If no thread can be started, nothing is shown.
            *line = thread::Builder::new().name("progress".into()).spawn(move || show(&watched)).ok();
        }
    }

    /// Erases the line.
    fn stop(&self) {
        self.seen.is_over.store(true, Ordering::Relaxed);
        if let Some(line) = locked(&self.line).take() {
            line.thread().unpark();
            // The thread returns nothing that could be lost.
            let _ = line.join();
        }
    }
}

impl Observer for Progress {
    fn recording(&self, time: Duration) {
        // What arrived so far belongs to another answer, such as the list of profiles.
        self.seen.bytes_fetched.store(0, Ordering::Relaxed);
        let end = Instant::now() + time;
        let mut recording = locked(&self.seen.recording);
        if recording.is_none_or(|(other, _)| other < end) {
            *recording = Some((end, time));
        }
        drop(recording);
        self.start();
    }

    fn fetched(&self, count: u64) {
        self.seen.bytes_fetched.fetch_add(count, Ordering::Relaxed);
    }

    fn fetch_over(&self) {
        let was_recording = locked(&self.seen.recording).take().is_some();
        // Debug information is fetched between files.
        if was_recording && self.seen.reading.load(Ordering::Relaxed) == 0 {
            self.stop();
        }
        self.seen.bytes_fetched.store(0, Ordering::Relaxed);
        for text in locked(&self.notes).drain(..).filter(|_| !self.quiet) {
            print_line("note", &text);
        }
    }

    fn saved(&self, path: &Path) {
        self.note(&format!("saved as {}", path.display()));
    }

    fn note(&self, text: &str) {
        locked(&self.notes).push(text.to_string());
    }

    fn begin(&self, files: &[&str]) {
        let size = |path: &&str| fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|file| file.len());
        let bytes = files.iter().map(size).try_fold(0, |sum: u64, size| Some(sum.saturating_add(size?)));
        self.seen.inputs.fetch_add(files.len() as u64, Ordering::Relaxed);
        self.seen.bytes.fetch_add(bytes.unwrap_or(0), Ordering::Relaxed);
        if self.seen.reading.fetch_add(1, Ordering::Relaxed) > 0 {
            return;
        }
        *locked(&self.clock) = Clock::new(self.verbose);
        self.start();
    }

    fn bytes(&self, count: u64) {
        self.seen.bytes_read.fetch_add(count, Ordering::Relaxed);
    }

    fn input(&self, took: Times) {
        self.seen.inputs_loaded.fetch_add(1, Ordering::Relaxed);
        let mut times = locked(&self.seen.times);
        times.read += took.read;
        times.inflate += took.inflate;
        times.decode += took.decode;
    }

    fn names_left_out(&self) {
        self.names_left_out.store(true, Ordering::Relaxed);
    }

    fn skipped(&self, name: &str, why: &LoadError) {
        if self.verbose {
            print_line("skipped", &format!("{}: {why}", shown(name)));
        }
    }

    fn end(&self) {
        if self.seen.reading.fetch_sub(1, Ordering::Relaxed) > 1 {
            return;
        }
        self.stop();
    }

    fn step(&self, name: &'static str) {
        let mut clock = locked(&self.clock);
        if name == "load" {
            let times = locked(&self.seen.times);
            let parts = [("read", times.read), ("inflate", times.inflate), ("decode", times.decode)];
            return clock.step_with(name, &parts);
        }
        clock.step(name);
    }
}

/// The value, even if a thread panicked while it held the lock.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows the line, after a first delay, until loading is over.
fn show(seen: &Seen) {
    let start = Instant::now();
    let mut is_shown = false;
    // If standard error is closed, there is nowhere to report it.
    let print = |text: &str| {
        let mut stderr = io::stderr().lock();
        let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    };
    while !seen.is_over.load(Ordering::Relaxed) {
        let left = DELAY.saturating_sub(start.elapsed());
        if left.is_zero() {
            print(&format!("\r\x1b[K{}", seen.line()));
            is_shown = true;
        }
        thread::park_timeout(left.max(INTERVAL));
    }
    if is_shown {
        print("\r\x1b[K");
    }
}

impl Seen {
    /// `recording 30s … 12s`; `fetching 1.20MiB`; `reading 45.10MiB of 120.00MiB (38%)`; `reading 12 of 250 profiles, …`
    fn line(&self) -> String {
        let read = self.bytes_read.load(Ordering::Relaxed);
        let size = |bytes: u64| {
            let bytes = saturated(bytes);
            let scale = Scale::for_column(&Unit::parse("bytes"), 1, bytes, None);
            scale.map_or_else(|_| bytes.to_string(), |scale| scale.format(bytes))
        };
        if let Some((end, time)) = *locked(&self.recording) {
            let left = end.saturating_duration_since(Instant::now());
            return match self.bytes_fetched.load(Ordering::Relaxed) {
                0 if time.is_zero() => "waiting for the server".to_string(),
                0 => format!("recording {}s … {}s", time.as_secs(), time.saturating_sub(left).as_secs()),
                fetched => format!("fetching {}", size(fetched)),
            };
        }
        let inputs = self.inputs.load(Ordering::Relaxed);
        let bytes = match self.bytes.load(Ordering::Relaxed) {
            0 => size(read),
            all if read >= all => format!("{}, decoding", size(all)),
            all => format!("{} of {} ({}%)", size(read), size(all), u128::from(read) * 100 / u128::from(all)),
        };
        if inputs < 2 {
            return format!("reading {bytes}");
        }
        let number = |count: u64| group_thousands(count.into());
        let loaded = number(self.inputs_loaded.load(Ordering::Relaxed));
        format!("reading {loaded} of {} profiles, {bytes}", number(inputs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_shows_the_progress() {
        let seen = Seen { inputs: 1.into(), bytes: (4 << 20).into(), ..Seen::default() };
        seen.bytes_read.store(1 << 20, Ordering::Relaxed);
        assert_eq!(seen.line(), "reading 1.00MiB of 4.00MiB (25%)");
        seen.bytes_read.store(4 << 20, Ordering::Relaxed);
        assert_eq!(seen.line(), "reading 4.00MiB, decoding");
        let piped = Seen { inputs: 2.into(), ..Seen::default() };
        piped.bytes_read.store(3 << 10, Ordering::Relaxed);
        assert_eq!(piped.line(), "reading 0 of 2 profiles, 3.00KiB");
    }
}
