//! Measures how many bytes of an input are read, and how long that takes.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Counters of bytes and time, shared between threads.
#[derive(Default)]
pub(super) struct Counters {
    pub(super) bytes: AtomicU64,
    /// Nanoseconds spent reading the input.
    reading: AtomicU64,
    /// Nanoseconds spent on decompression, including reading.
    pub(super) inflating: AtomicU64,
}

impl Counters {
    /// Counts bytes that were read, and the time that took.
    pub(super) fn read(&self, count: usize, spent: Duration) {
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        add(&self.reading, spent);
    }

    /// The durations of all phases, given that of decoding.
    pub(super) fn times(&self, decode: Duration) -> Times {
        let spent = |counter: &AtomicU64| Duration::from_nanos(counter.load(Ordering::Relaxed));
        let read = spent(&self.reading);
        Times { read, inflate: spent(&self.inflating).saturating_sub(read), decode }
    }
}

/// Durations of the phases of loading an input. Decompression and decoding run in parallel, so the sum may
/// exceed the total.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// Reading the bytes of the input.
    pub read: Duration,
    /// Decompressing them.
    pub inflate: Duration,
    /// Decoding them into a profile.
    pub decode: Duration,
}

/// Counts the bytes read and the time it takes.
pub(super) struct Counting {
    pub(super) inner: Box<dyn Read + Send>,
    pub(super) counters: Arc<Counters>,
}

impl Read for Counting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let start = Instant::now();
        let count = self.inner.read(buffer)?;
        self.counters.read(count, start.elapsed());
        Ok(count)
    }
}

pub(super) fn add(counter: &AtomicU64, spent: Duration) {
    counter.fetch_add(spent.as_nanos() as u64, Ordering::Relaxed);
}
