//! The bytes of an input, decompressed on demand.
//!
//! A reader sees a window of unread bytes and requests more when the window is too short, so memory does not
//! grow with the input. A [`Budget`] limits how much a reader or a single line can request at once: a file of
//! 20 MB can decompress to 20 GB of zeros. Decompression runs on a separate thread, one block ahead of the
//! reader, unless several inputs are read in parallel.

use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;

use crate::format::{LoadError, ParseError};
use crate::profile::{Budget, Reservation};

/// Number of bytes read or decompressed at a time: large enough to make passing blocks between threads cheap, small
/// enough for a block to stay in the L2 cache while it is decoded.
const BLOCK: usize = 512 << 10;

/// Size of blocks at the start of an input, so that decoding starts early, and of all blocks that are decompressed on the
/// reader's thread. Small blocks touch less memory, and a fresh page costs as much as reading data into it: many
/// profiles cause only a third of the page faults that they cause with 512 KiB blocks.
const SMALL_BLOCK: usize = 128 << 10;

/// The number of small blocks at the start of an input.
const SMALL_BLOCKS: usize = 16;

/// Free space before each block for the unread end of the previous one. A field or line that crosses the boundary is made
/// contiguous by copying its first part here.
const HEADROOM: usize = 64 << 10;

/// The memory needed for an input that is read as a whole, as a multiple of its size: for its bytes, and for what the
/// reader builds from them before the profile's tables do.
const WHOLE_INPUT: u64 = 2;

/// Maximum number of nested compressions.
const MAX_LAYERS: usize = 4;

/// A window over the bytes of an input.
pub struct Source {
    window: Vec<u8>,
    /// The file name; empty if unknown.
    name: String,
    /// Start of the unread bytes in `window`.
    start: usize,
    /// Offset of the window's first unread byte in the decompressed input.
    position: u64,
    blocks: Blocks,
    encoding: Vec<&'static str>,
    may_use_threads: bool,
    counters: Arc<Counters>,
    /// Time spent waiting for blocks.
    waited: Duration,
    budget: Budget,
    /// The memory used by the window, even after it was passed to the reader as a whole.
    reservation: Reservation,
}

/// Counters of bytes and time, shared between threads.
#[derive(Default)]
struct Counters {
    bytes: AtomicU64,
    /// Nanoseconds spent reading the input.
    reading: AtomicU64,
    /// Nanoseconds spent on decompression, including reading.
    inflating: AtomicU64,
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

/// The source of further blocks.
enum Blocks {
    /// Uncompressed input, read on demand. The last emptied block is reused, because fresh memory costs as
    /// much as reading into it.
    Here { reader: Box<dyn Read + Send>, empty: Vec<u8>, size: usize },
    /// Decompressed on another thread; emptied blocks are returned to it.
    Thread { full: Receiver<io::Result<Vec<u8>>>, empty: Sender<Vec<u8>> },
    /// No more blocks.
    End,
}

/// Whole lines taken from a source, together with their buffer.
pub(super) struct Lines {
    bytes: Vec<u8>,
    range: Range<usize>,
}

impl Lines {
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
    /// Opens an input: decompresses gzip and zstd, and converts UTF-16 text to UTF-8. Fails if the input
    /// cannot be read or its compressed data is corrupt.
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
            on_a_thread(reader, counters.clone())?
        } else {
            let size = if may_use_threads { BLOCK } else { SMALL_BLOCK };
            Blocks::Here { reader, empty: Vec::new(), size }
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
            window,
            start: 0,
            position: 0,
            blocks,
            encoding: Vec::new(),
            may_use_threads: true,
            counters,
            waited: Duration::ZERO,
            budget,
            reservation: budget.reservation(),
        }
    }

    /// Limits further reading, unless it is already limited.
    pub(super) fn limit(&mut self, budget: Budget) {
        if self.budget == Budget::UNLIMITED {
            self.budget = budget;
            self.reservation = budget.reservation();
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
        let Some(mut block) = self.next_block()? else {
            return Ok(false);
        };
        let tail = self.window.len() - self.start;
        if tail <= HEADROOM {
            let start = HEADROOM - tail;
            block[start..HEADROOM].copy_from_slice(&self.window[self.start..]);
            let emptied = std::mem::replace(&mut self.window, block);
            self.start = start;
            self.recycle(emptied);
        } else {
            self.window.drain(..self.start);
            self.start = 0;
            self.window.extend_from_slice(&block[HEADROOM..]);
            self.recycle(block);
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

    /// Sets the file name, which may break a tie between formats.
    pub fn set_name(&mut self, name: &str) {
        self.name = name.to_ascii_lowercase();
    }

    /// Whether the file name has one of `endings`, ignoring an extension for compression.
    pub(crate) fn is_called(&self, endings: &[&str]) -> bool {
        let name = [".gz", ".zst"].iter().find_map(|packed| self.name.strip_suffix(packed));
        let name = name.unwrap_or(&self.name);
        endings.iter().any(|ending| name.ends_with(ending))
    }

    /// All remaining bytes, for formats that cannot be streamed.
    pub fn read_all(&mut self) -> Result<Vec<u8>, LoadError> {
        while self.more()? {}
        self.reservation.set(self.window.len() as u64 * WHOLE_INPUT)?;
        let mut all = std::mem::take(&mut self.window);
        all.drain(..self.start);
        self.position += all.len() as u64;
        self.start = 0;
        Ok(all)
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
    pub(super) fn take_lines(&mut self, mut emptied: Vec<u8>) -> Result<Option<Lines>, LoadError> {
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
        Ok(Some(Lines { bytes: window, range }))
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
        let spent = |counter: &AtomicU64| Duration::from_nanos(counter.load(Ordering::Relaxed));
        let read = spent(&self.counters.reading);
        let inflate = spent(&self.counters.inflating).saturating_sub(read);
        Times { read, inflate, decode: whole.saturating_sub(self.waited) }
    }

    fn next_block(&mut self) -> Result<Option<Vec<u8>>, LoadError> {
        let start = Instant::now();
        let block = match &mut self.blocks {
            Blocks::End => return Ok(None),
            Blocks::Here { reader, empty, size } => {
                Some(read_block(reader.as_mut(), std::mem::take(empty), *size))
            }
            Blocks::Thread { full, .. } => full.recv().ok(),
        };
        self.waited += start.elapsed();
        if matches!(self.blocks, Blocks::Here { .. }) && !self.encoding.is_empty() {
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

    fn recycle(&mut self, block: Vec<u8>) {
        match &mut self.blocks {
            Blocks::Here { empty, .. } => *empty = block,
            // If the thread has ended, the block is not needed.
            Blocks::Thread { empty, .. } => drop(empty.send(block)),
            Blocks::End => {}
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

/// The error for failed decompression, after `byte` decompressed bytes and `read` bytes of the input.
fn broken(format: &'static str, byte: u64, read: u64, error: &io::Error) -> ParseError {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return ParseError::at_byte(format, read, "file is truncated: the compressed stream is incomplete");
    }
    ParseError::at_byte(format, byte, format!("corrupt compressed data: {error}"))
}

/// Detects compressions by their magic numbers and decompresses them.
fn unwrap_layers(
    mut reader: Box<dyn Read + Send>,
    counters: &Counters,
) -> Result<(Box<dyn Read + Send>, Vec<&'static str>), LoadError> {
    let mut layers: Vec<&'static str> = Vec::new();
    loop {
        let mut magic = Vec::with_capacity(4);
        let read = reader.by_ref().take(4).read_to_end(&mut magic);
        if let (Err(error), Some(format)) = (&read, layers.last()) {
            let read = counters.bytes.load(Ordering::Relaxed);
            return Err(broken(format, magic.len() as u64, read, error).into());
        }
        read?;
        let whole = BufReader::with_capacity(64 << 10, io::Cursor::new(magic.clone()).chain(reader));
        let layer = match magic[..] {
            [0x1F, 0x8B, ..] => "gzip",
            [0x28, 0xB5, 0x2F, 0xFD] => "zstd",
            _ => return Ok((Box::new(whole), layers)),
        };
        if layers.len() == MAX_LAYERS {
            return Err(ParseError::whole(layer, format!("compressed more than {MAX_LAYERS} times")).into());
        }
        reader = match layer {
            "gzip" => Box::new(MultiGzDecoder::new(whole)),
            _ => Box::new(Zstd { frame: None, rest: Some(Box::new(whole)) }),
        };
        layers.push(layer);
    }
}

/// Decodes consecutive zstd frames; the library's decoder stops at the end of each.
struct Zstd {
    frame: Option<StreamingDecoder<Box<dyn BufRead + Send>, ruzstd::decoding::FrameDecoder>>,
    rest: Option<Box<dyn BufRead + Send>>,
}

impl Read for Zstd {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                let count = frame.read(buffer)?;
                if count > 0 || buffer.is_empty() {
                    return Ok(count);
                }
                self.rest = self.frame.take().map(StreamingDecoder::into_inner);
            }
            let Some(mut rest) = self.rest.take() else { return Ok(0) };
            if rest.fill_buf()?.is_empty() {
                return Ok(0);
            }
            self.frame = Some(StreamingDecoder::new(rest).map_err(io::Error::other)?);
        }
    }
}

/// Counts the bytes read and the time it takes.
struct Counting {
    inner: Box<dyn Read + Send>,
    counters: Arc<Counters>,
}

impl Read for Counting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let start = Instant::now();
        let count = self.inner.read(buffer)?;
        self.counters.bytes.fetch_add(count as u64, Ordering::Relaxed);
        add(&self.counters.reading, start.elapsed());
        Ok(count)
    }
}

fn add(counter: &AtomicU64, spent: Duration) {
    counter.fetch_add(spent.as_nanos() as u64, Ordering::Relaxed);
}

/// Reads one block after its headroom; an empty block marks the end.
fn read_block(reader: &mut dyn Read, mut block: Vec<u8>, size: usize) -> io::Result<Vec<u8>> {
    block.resize(HEADROOM + size, 0);
    let mut filled = HEADROOM;
    while filled < block.len() {
        match reader.read(&mut block[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    block.truncate(filled);
    Ok(block)
}

/// Reads blocks ahead on a thread, so that decompression overlaps with decoding.
fn on_a_thread(mut reader: Box<dyn Read + Send>, counters: Arc<Counters>) -> io::Result<Blocks> {
    let (full_in, full): (SyncSender<io::Result<Vec<u8>>>, _) = sync_channel(2);
    let (empty, empty_out) = channel::<Vec<u8>>();
    thread::Builder::new().name("inflate".into()).spawn(move || {
        for number in 0.. {
            let start = Instant::now();
            let size = if number < SMALL_BLOCKS { SMALL_BLOCK } else { BLOCK };
            let block = read_block(reader.as_mut(), empty_out.try_recv().unwrap_or_default(), size);
            add(&counters.inflating, start.elapsed());
            let last = block.as_ref().map_or(true, |block| block.len() == HEADROOM);
            if full_in.send(block).is_err() || last {
                return;
            }
        }
    })?;
    Ok(Blocks::Thread { full, empty })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

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
