//! The bytes of an input, decompressed on demand.
//!
//! A reader sees a window of unread bytes and requests more when the window is too short, so memory does not
//! grow with the input. A [`Budget`] limits how much a reader or a single line can request at once: a file of
//! 20 MB can decompress to 20 GB of zeros. Decompression runs on a separate thread, one block ahead of the
//! reader, unless several inputs are read in parallel. A large plain file that is needed as a whole is read into its final
//! place by several threads.

mod blocks;
mod compression;
mod counters;
mod positioned;
mod zip;

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::format::{LoadError, RecordedFiles};
use crate::name::base_name;
use crate::parallel::checkpoint;
use crate::profile::{Budget, Reservation, SharedTables};
use blocks::{Blocks, HEADROOM};
use compression::{broken, unwrap_layers};
use counters::{Counters, Counting, add};

pub use counters::Times;
pub use positioned::PositionedRead;
pub(in crate::format) use zip::MEMBER;

/// The memory needed for an input that is read as a whole, as a multiple of its size: for its bytes, and for what the
/// reader builds from them before the profile's tables do.
const WHOLE_INPUT: u64 = 2;

/// How much is read at a time of what is added to a file while it is read.
const GROWN_BLOCK: usize = 64 << 10;

/// A window over the bytes of an input.
pub struct Source {
    window: Vec<u8>,
    /// The file name; empty if unknown.
    name: String,
    /// Whether the input was found in a folder, which may hold other files than profiles.
    in_folder: bool,
    /// Where the files are that the input refers to.
    files: Option<Arc<dyn RecordedFiles>>,
    /// Tables that the profile may share with others.
    tables: Option<SharedTables>,
    /// Start of the unread bytes in `window`.
    start: usize,
    /// Offset of the window's first unread byte in the decompressed input.
    position: u64,
    blocks: Blocks,
    /// The same input, if it is a file: to be read at any position.
    positioned: Option<Arc<dyn PositionedRead>>,
    encoding: Vec<&'static str>,
    may_use_threads: bool,
    counters: Arc<Counters>,
    /// Time spent waiting for blocks.
    waited: Duration,
    budget: Budget,
    /// The memory used by the window, even after it was passed to the reader as a whole.
    reservation: Reservation,
}

/// Whole lines taken from a source, together with their buffer.
pub(super) struct WholeLines {
    bytes: Vec<u8>,
    range: Range<usize>,
}

impl WholeLines {
    /// The lines.
    pub(super) fn text(&self) -> &[u8] {
        &self.bytes[self.range.clone()]
    }

    /// The buffer, to be reused by [`Source::take_lines`].
    pub(super) fn into_buffer(self) -> Vec<u8> {
        self.bytes
    }
}

/// Where an input is decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inflate {
    /// On a separate thread, one block ahead of the reader.
    OnThread,
    /// On the reader's thread, which is better if as many inputs are read in parallel as there are
    /// processors.
    Here,
}

impl Source {
    /// Opens an input: decompresses gzip, zstd and lz4, takes the only file out of a zip archive, and converts UTF-16 text to
    /// UTF-8. Fails if the input cannot be read or its compressed data is corrupt.
    pub fn open(input: Box<dyn Read + Send>) -> Result<Source, LoadError> {
        Source::open_within(input, Budget::UNLIMITED)
    }

    /// [`Source::open`] with a memory budget.
    pub fn open_within(input: Box<dyn Read + Send>, budget: Budget) -> Result<Source, LoadError> {
        Source::open_with(input, Inflate::OnThread, budget)
    }

    /// [`Source::open_within`] with a choice of where decompression runs.
    pub fn open_with(
        input: Box<dyn Read + Send>,
        inflate: Inflate,
        budget: Budget,
    ) -> Result<Source, LoadError> {
        let counters = Arc::new(Counters::default());
        let counting = Counting { inner: input, counters: counters.clone() };
        let (reader, encoding) = unwrap_layers(Box::new(counting), &counters)?;
        let may_use_threads = inflate == Inflate::OnThread;
        let blocks = if may_use_threads && !encoding.is_empty() {
            Blocks::on_thread(reader, counters.clone())?
        } else {
            Blocks::here(reader, may_use_threads)
        };
        let source = Source::new(Vec::new(), blocks, counters, budget);
        let mut source = Source { encoding, may_use_threads, ..source };
        source.strip_byte_order_mark()?;
        Ok(source)
    }

    /// A source that reads from memory.
    pub fn from_bytes(bytes: Vec<u8>) -> Source {
        let counters = Arc::new(Counters::default());
        counters.bytes.store(bytes.len() as u64, Ordering::Relaxed);
        Source::new(bytes, Blocks::End, counters, Budget::UNLIMITED)
    }

    fn new(window: Vec<u8>, blocks: Blocks, counters: Arc<Counters>, budget: Budget) -> Source {
        Source {
            name: String::new(),
            in_folder: false,
            files: None,
            tables: None,
            window,
            start: 0,
            position: 0,
            blocks,
            positioned: None,
            encoding: Vec::new(),
            may_use_threads: true,
            counters,
            waited: Duration::ZERO,
            reservation: budget.reservation(),
            budget,
        }
    }

    /// Limits further reading, unless it is already limited.
    pub(super) fn limit(&mut self, budget: &Budget) {
        if self.budget == Budget::UNLIMITED {
            self.reservation = budget.reservation();
            self.budget = budget.clone();
        }
    }

    /// The unread bytes in the window.
    pub fn bytes(&self) -> &[u8] {
        &self.window[self.start..]
    }

    /// Offset of the first unread byte in the decompressed input.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Marks `count` bytes as read.
    pub fn consume(&mut self, count: usize) {
        self.start += count;
        self.position += count as u64;
    }

    /// Extends [`Source::bytes`]; returns false at the end of the input. Fails if the input cannot be read or
    /// its compressed data is corrupt, and so do all callers.
    pub fn more(&mut self) -> Result<bool, LoadError> {
        checkpoint();
        let Some(mut block) = self.next_block()? else {
            return Ok(false);
        };
        let tail = self.window.len() - self.start;
        if tail <= HEADROOM {
            let start = HEADROOM - tail;
            block[start..HEADROOM].copy_from_slice(&self.window[self.start..]);
            let emptied = std::mem::replace(&mut self.window, block);
            self.start = start;
            self.blocks.recycle(emptied);
        } else {
            self.window.drain(..self.start);
            self.start = 0;
            self.window.extend_from_slice(&block[HEADROOM..]);
            self.blocks.recycle(block);
            self.reservation.set(self.window.len() as u64 * WHOLE_INPUT)?;
        }
        // The tables built from the input use the same budget.
        self.budget.check()?;
        Ok(true)
    }

    /// Fills the window with at least `count` bytes, unless the input is shorter, and returns it. Fails like
    /// [`Source::more`].
    pub fn head(&mut self, count: usize) -> Result<&[u8], LoadError> {
        while self.bytes().len() < count && self.more()? {}
        Ok(self.bytes())
    }

    /// Sets where the same input can be read at any position, which is faster for large files.
    pub fn set_positioned(&mut self, input: Arc<dyn PositionedRead>) {
        self.positioned = Some(input);
    }

    /// Sets the file name, which may break a tie between formats.
    pub fn set_name(&mut self, name: &str) {
        self.name = name.to_string();
    }

    /// The file name, with its path; empty if unknown.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Notes that the input was found in a folder, which may hold other files than profiles: it is not searched for a profile within
    /// other text.
    pub fn found_in_folder(&mut self) {
        self.in_folder = true;
    }

    /// Whether the input was found in a folder.
    pub(super) fn is_in_folder(&self) -> bool {
        self.in_folder
    }

    /// Sets who finds the files that the input refers to.
    pub fn set_files(&mut self, files: Arc<dyn RecordedFiles>) {
        self.files = Some(files);
    }

    /// Who finds the files that the input refers to; `None` if none are to be read.
    pub(super) fn files(&self) -> Option<Arc<dyn RecordedFiles>> {
        self.files.clone()
    }

    /// Allows the reader to use these tables of names and stacks instead of new ones.
    pub fn share_tables(&mut self, tables: SharedTables) {
        self.tables = Some(tables);
    }

    /// The tables that the profile may share with others.
    pub fn tables(&self) -> Option<&SharedTables> {
        self.tables.as_ref()
    }

    /// The same. A reader that uses them takes them.
    pub fn take_tables(&mut self) -> Option<SharedTables> {
        self.tables.take()
    }

    /// Whether the file name, without its folder, contains one of `words`.
    pub(crate) fn is_called(&self, words: &[&str]) -> bool {
        let name = base_name(&self.name).to_ascii_lowercase();
        words.iter().any(|word| name.contains(word))
    }

    /// All remaining bytes, for formats that cannot be streamed.
    pub fn read_all(&mut self) -> Result<Vec<u8>, LoadError> {
        if let Some(input) = self.positioned.take() {
            self.read_positioned(&*input)?;
        }
        while self.more()? {}
        self.reservation.set(self.window.len() as u64 * WHOLE_INPUT)?;
        let mut all = std::mem::take(&mut self.window);
        all.drain(..self.start);
        self.position += all.len() as u64;
        self.start = 0;
        Ok(all)
    }

    /// Reads the rest of a large file that is not compressed straight into the window, as long as the file is now. What is added
    /// to it meanwhile is left for [`Source::read_grown`]; if it became shorter, its end is where reading found it.
    fn read_positioned(&mut self, input: &dyn PositionedRead) -> Result<(), LoadError> {
        let read = self.bytes().len();
        let offset = self.position + read as u64;
        let is_plain = self.encoding.is_empty() && matches!(self.blocks, Blocks::Here { .. });
        let left = input.size().map_or(0, |size| size.saturating_sub(offset));
        let whole = usize::try_from(left).ok().and_then(|left| left.checked_add(read));
        let Some(whole) = whole.filter(|_| is_plain && left >= positioned::LEAST) else { return Ok(()) };
        self.reservation.set((whole as u64).saturating_mul(WHOLE_INPUT))?;
        // Memory that is zero already comes from the system when it is touched: each thread gets the pages of its slice.
        let mut window = vec![0; whole];
        window[..read].copy_from_slice(self.bytes());
        let filled = self.timed(|| positioned::fill(input, &mut window[read..], offset))?;
        window.truncate(read + filled);
        self.window = window;
        self.start = 0;
        self.blocks = Blocks::End;
        if read + filled == whole { self.read_grown(input, offset + filled as u64) } else { Ok(()) }
    }

    /// Reads what was added to a file since its size was asked for.
    fn read_grown(&mut self, input: &dyn PositionedRead, mut offset: u64) -> Result<(), LoadError> {
        // A file that did not grow takes one read to notice.
        let mut block = vec![0; GROWN_BLOCK];
        loop {
            let filled = self.timed(|| positioned::fill(input, &mut block, offset))?;
            if filled == 0 {
                return Ok(());
            }
            self.window.extend_from_slice(&block[..filled]);
            self.reservation.set(self.window.len() as u64 * WHOLE_INPUT)?;
            offset += filled as u64;
        }
    }

    /// Reads bytes of the input without a block, and counts them and the time.
    fn timed(&mut self, read: impl FnOnce() -> io::Result<usize>) -> Result<usize, LoadError> {
        let start = Instant::now();
        let read = read();
        self.waited += start.elapsed();
        let count = read?;
        self.counters.read(count, start.elapsed());
        Ok(count)
    }

    /// The number of unread bytes up to and including the line end that `find` returns; all of them if the input ends
    /// without one.
    fn line_end(&mut self, find: fn(u8, &[u8]) -> Option<usize>) -> Result<usize, LoadError> {
        let mut searched = 0;
        loop {
            let unread = self.bytes();
            if let Some(at) = find(b'\n', &unread[searched..]) {
                return Ok(searched + at + 1);
            }
            searched = unread.len();
            if !self.more()? {
                return Ok(searched);
            }
        }
    }

    /// The next line without its line end, or `None` at the end of the input. Fails like [`Source::more`].
    pub fn line(&mut self) -> Result<Option<&[u8]>, LoadError> {
        let length = self.line_end(memchr::memchr)?;
        if length == 0 {
            return Ok(None);
        }
        let start = self.start;
        self.consume(length);
        let line = &self.window[start..start + length];
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// Takes the unread whole lines in the window, at least one, or `None` at the end of the input. `emptied` is a buffer to
    /// reuse for the rest. Fails like [`Source::more`].
    pub(super) fn take_lines(&mut self, mut emptied: Vec<u8>) -> Result<Option<WholeLines>, LoadError> {
        let length = self.line_end(memchr::memrchr)?;
        if length == 0 {
            return Ok(None);
        }
        let range = self.start..self.start + length;
        emptied.clear();
        emptied.extend_from_slice(&self.window[range.end..]);
        let window = std::mem::replace(&mut self.window, emptied);
        self.start = 0;
        self.position += length as u64;
        Ok(Some(WholeLines { bytes: window, range }))
    }

    /// Whether more threads may be used for this input: not if as many inputs are read in parallel as there are processors.
    pub(super) fn may_use_threads(&self) -> bool {
        self.may_use_threads
    }

    /// The compressions found, outermost first.
    pub fn encoding(&self) -> &[&'static str] {
        &self.encoding
    }

    /// Bytes read so far from the input itself, before decompression.
    pub fn bytes_read(&self) -> u64 {
        self.counters.bytes.load(Ordering::Relaxed)
    }

    /// Durations of the phases of loading, given the total.
    pub fn times(&self, whole: Duration) -> Times {
        self.counters.times(whole.saturating_sub(self.waited))
    }

    fn next_block(&mut self) -> Result<Option<Vec<u8>>, LoadError> {
        let start = Instant::now();
        let is_here = matches!(self.blocks, Blocks::Here { .. });
        let block = self.blocks.next();
        self.waited += start.elapsed();
        if is_here && !self.encoding.is_empty() {
            add(&self.counters.inflating, start.elapsed());
        }
        let format = self.encoding.last().copied();
        match block {
            Some(Ok(block)) if block.len() > HEADROOM => Ok(Some(block)),
            Some(Err(error)) => Err(match format {
                Some(format) => {
                    broken(format, self.position + self.bytes().len() as u64, self.bytes_read(), &error)
                        .into()
                }
                None => error.into(),
            }),
            _ => {
                self.blocks = Blocks::End;
                Ok(None)
            }
        }
    }

    fn strip_byte_order_mark(&mut self) -> Result<(), LoadError> {
        let head = self.head(4)?;
        let decode: fn([u8; 2]) -> u16 = match head {
            [0xEF, 0xBB, 0xBF, ..] => {
                self.consume(3);
                return Ok(());
            }
            [0xFF, 0xFE, ..] => u16::from_le_bytes,
            [0xFE, 0xFF, ..] => u16::from_be_bytes,
            _ => return Ok(()),
        };
        let bytes = self.read_all()?;
        let units = bytes[2..].chunks_exact(2).map(|pair| decode([pair[0], pair[1]]));
        let text: String =
            char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        self.window = text.into_bytes();
        self.position = 0;
        self.encoding.push("UTF-16");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::blocks::BLOCK;
    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn open(bytes: Vec<u8>) -> Source {
        Source::open(Box::new(io::Cursor::new(bytes))).unwrap()
    }

    #[test]
    fn lines_that_cross_blocks_are_whole() {
        let line = "x".repeat(BLOCK / 3);
        let long = "y".repeat(3 * BLOCK);
        let text = format!("{line}\n{line}\r\n{line}\n\n{long}\n{line}");
        for bytes in [text.clone().into_bytes(), gzip(text.as_bytes())] {
            let mut source = open(bytes);
            let mut lines = Vec::new();
            while let Some(found) = source.line().unwrap() {
                lines.push(String::from_utf8(found.to_vec()).unwrap());
            }
            assert_eq!(lines, [&line, &line, &line, "", &long, &line]);
            assert_eq!(source.position(), text.len() as u64);
        }
    }

    #[test]
    fn nested_compression_is_removed() {
        let mut source = open(gzip(&gzip(b"text")));
        assert_eq!(source.read_all().unwrap(), b"text");
        assert_eq!(source.encoding(), ["gzip", "gzip"]);
        let twice = [gzip(b"one "), gzip(b"two")].concat();
        assert_eq!(open(twice).read_all().unwrap(), b"one two");
    }

    #[test]
    fn what_follows_compressed_data_is_named() {
        for rest in [&b"x"[..], b"garbage\n", &[0; 512]] {
            let opened = Source::open(Box::new(io::Cursor::new([gzip(b"text"), rest.to_vec()].concat())));
            let error = opened.and_then(|mut source| source.read_all()).unwrap_err();
            assert_eq!(
                error.to_string(),
                "gzip: the compressed data is followed by something that is not gzip"
            );
        }
    }

    #[test]
    fn utf16_is_converted_to_utf8() {
        let text = "main;größe 3\n";
        let mut bytes = vec![0xFE, 0xFF];
        bytes.extend(text.encode_utf16().flat_map(u16::to_be_bytes));
        assert_eq!(open(bytes).read_all().unwrap(), text.as_bytes());
    }

    #[test]
    fn a_truncated_stream_is_reported_as_such() {
        let bytes = gzip(&vec![7; 100_000]);
        for length in [5, 15, bytes.len() / 2, bytes.len() - 1] {
            let opened = Source::open(Box::new(io::Cursor::new(bytes[..length].to_vec())));
            let error = opened.and_then(|mut source| source.read_all()).unwrap_err();
            let want =
                format!("gzip: file is truncated: the compressed stream is incomplete (byte {length})");
            assert_eq!(error.to_string(), want);
        }
    }
}
