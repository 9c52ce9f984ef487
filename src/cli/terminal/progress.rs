//! The progress line: shown on a terminal while reading takes longer than a moment, and erased before anything
//! else is printed.

use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::format::Times;
use crate::unit::{Scale, Unit, group_thousands};

/// The line appears after this time.
const DELAY: Duration = Duration::from_millis(500);

/// The time between updates of the line.
const INTERVAL: Duration = Duration::from_millis(100);

/// Watches inputs while they load. Dropping it erases the line.
pub(crate) struct Progress {
    seen: Arc<Seen>,
    line: Option<JoinHandle<()>>,
}

/// The progress so far.
#[derive(Default)]
struct Seen {
    /// The number of inputs.
    inputs: u64,
    /// Their size in bytes; 0 if it is not known.
    bytes: u64,
    inputs_loaded: AtomicU64,
    bytes_read: AtomicU64,
    times: Mutex<Times>,
    is_over: AtomicBool,
}

impl Progress {
    /// Watches the inputs at `paths`, and shows the line if standard error is a terminal and not `quiet`.
    pub(crate) fn start<'p>(paths: impl IntoIterator<Item = &'p str>, quiet: bool) -> Self {
        let (mut inputs, mut bytes) = (0, Some(0));
        for path in paths {
            inputs += 1;
            let size = fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|file| file.len());
            bytes = bytes.zip(size).map(|(sum, size): (u64, u64)| sum.saturating_add(size));
        }
        let seen = Arc::new(Seen { inputs, bytes: bytes.unwrap_or(0), ..Seen::default() });
        let wanted = !quiet && io::stderr().is_terminal();
        let watched = seen.clone();
        // If no thread can be started, nothing is shown.
        let line = wanted
            .then(|| thread::Builder::new().name("progress".into()).spawn(move || show(&watched)).ok())
            .flatten();
        Progress { seen, line }
    }

    /// Counts the bytes that are read from an input.
    pub(crate) fn watch(&self, input: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        Box::new(Watched { input, seen: self.seen.clone() })
    }

    /// Counts a loaded input and adds up how long its parts took.
    pub(crate) fn loaded(&self, took: Times) {
        self.seen.inputs_loaded.fetch_add(1, Ordering::Relaxed);
        let mut times = self.seen.times.lock().unwrap_or_else(PoisonError::into_inner);
        times.read += took.read;
        times.inflate += took.inflate;
        times.decode += took.decode;
    }

    /// How long the parts of loading took, summed over all inputs.
    pub(crate) fn parts(&self) -> [(&'static str, Duration); 3] {
        let times = self.seen.times.lock().unwrap_or_else(PoisonError::into_inner);
        [("read", times.read), ("inflate", times.inflate), ("decode", times.decode)]
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.seen.is_over.store(true, Ordering::Relaxed);
        if let Some(line) = self.line.take() {
            line.thread().unpark();
            // The thread returns nothing that could be lost.
            let _ = line.join();
        }
    }
}

/// An input that counts the bytes read from it.
struct Watched {
    input: Box<dyn Read + Send>,
    seen: Arc<Seen>,
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.seen.bytes_read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
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
    /// `reading 45.10MiB of 120.00MiB (38%)`; `reading 12 of 250 profiles, …`
    fn line(&self) -> String {
        let read = self.bytes_read.load(Ordering::Relaxed);
        let size = |bytes: u64| {
            let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
            let scale = Scale::for_column(&Unit::parse("bytes"), 1, bytes, None);
            scale.map_or_else(|_| bytes.to_string(), |scale| scale.format(bytes))
        };
        let bytes = match self.bytes {
            0 => size(read),
            all if read >= all => format!("{}, decoding", size(all)),
            all => format!("{} of {} ({}%)", size(read), size(all), u128::from(read) * 100 / u128::from(all)),
        };
        if self.inputs < 2 {
            return format!("reading {bytes}");
        }
        let number = |count: u64| group_thousands(count.into());
        let loaded = number(self.inputs_loaded.load(Ordering::Relaxed));
        format!("reading {loaded} of {} profiles, {bytes}", number(self.inputs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_shows_the_progress() {
        let seen = Seen { inputs: 1, bytes: 4 << 20, ..Seen::default() };
        seen.bytes_read.store(1 << 20, Ordering::Relaxed);
        assert_eq!(seen.line(), "reading 1.00MiB of 4.00MiB (25%)");
        seen.bytes_read.store(4 << 20, Ordering::Relaxed);
        assert_eq!(seen.line(), "reading 4.00MiB, decoding");
        let piped = Seen { inputs: 2, ..Seen::default() };
        piped.bytes_read.store(3 << 10, Ordering::Relaxed);
        assert_eq!(piped.line(), "reading 0 of 2 profiles, 3.00KiB");
    }
}
