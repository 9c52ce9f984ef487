//! A chunk: a self-contained part of a recording.
//!
//! ```text
//! FLR\0  version  size  constants  metadata  start  duration  ticks  ticks per second  features  events …
//! ```

use crate::format::ParseError;
use crate::format::jfr::constants::Constants;
use crate::format::jfr::cursor::{Cursor, NAME};
use crate::format::jfr::metadata::{self, Classes, TimeUnit};
use crate::format::jfr::old::{self, OldMetadata};

pub(super) const MAGIC: &[u8] = b"FLR\0";

/// The start of a chunk of version 0.9.
const OLD_MAGIC: &[u8] = b"FLR\0\0\0\0\x09";

const HEADER: usize = 68;

/// The length of the header in version 0.9: the offset of the metadata, with which a chunk ends.
const OLD_HEADER: usize = 16;

/// A chunk whose classes have been read.
pub(super) struct Chunk<'a> {
    pub(super) classes: Classes,
    /// The offset of the last constant pool event.
    last_constants: usize,
    /// The start time, in nanoseconds since 1970.
    pub(super) start_ns: i64,
    pub(super) duration_ns: i64,
    start_ticks: i64,
    ticks_per_second: i64,
    bytes: Cursor<'a>,
    /// Whether this is version 0.9.
    is_old: bool,
}

/// The header of a chunk.
struct ChunkHeader {
    size: u64,
    constants: u64,
    metadata: u64,
    start_ns: i64,
    duration_ns: i64,
    start_ticks: i64,
    ticks_per_second: i64,
    is_compressed: bool,
}

impl ChunkHeader {
    /// Reads the header of the chunk that starts `base` bytes into the input.
    fn read(bytes: &[u8], base: u64) -> Result<ChunkHeader, ParseError> {
        let error = |message: String| Err(ParseError::at_byte(NAME, base, message));
        if !bytes.starts_with(MAGIC) {
            return error("expected a chunk here, starting with `FLR`".into());
        }
        let Some(header) = bytes.first_chunk::<HEADER>() else {
            return error("file is truncated within a chunk header".into());
        };
        let version =
            (u16::from_be_bytes([header[4], header[5]]), u16::from_be_bytes([header[6], header[7]]));
        match version {
            (1 | 2, _) => {}
            (major, minor) => {
                return error(format!(
                    "version {major}.{minor} of Flight Recorder is not one that prof supports: 0.9, 1 and 2"
                ));
            }
        }
        let long = |at: usize| {
            let mut long = [0; 8];
            long.copy_from_slice(&header[at..at + 8]);
            u64::from_be_bytes(long)
        };
        Ok(ChunkHeader {
            size: long(8),
            constants: long(16),
            metadata: long(24),
            start_ns: long(32) as i64,
            duration_ns: long(40) as i64,
            start_ticks: long(48) as i64,
            ticks_per_second: long(56) as i64,
            is_compressed: header[HEADER - 1] & 1 != 0,
        })
    }
}

impl<'a> Chunk<'a> {
    /// Whether another chunk was recorded during most of the time of this one, or this one during most of its time. The clocks of
    /// two recorders differ, and a chunk may end a little after the next one begins.
    pub(super) fn is_beside(&self, other: &Chunk<'_>) -> bool {
        let end = |chunk: &Chunk<'_>| chunk.start_ns.saturating_add(chunk.duration_ns.max(0));
        let both = end(self).min(end(other)).saturating_sub(self.start_ns.max(other.start_ns));
        both > self.duration_ns.min(other.duration_ns).max(0) / 2
    }

    /// Reads the chunk at the start of `bytes`, which is `base` bytes into the input. Returns the chunk and its
    /// size, or `None` if the chunk is incomplete, for example because its writer was killed.
    pub(super) fn read(bytes: &'a [u8], base: u64) -> Result<Option<(Chunk<'a>, usize)>, ParseError> {
        if bytes.starts_with(OLD_MAGIC) {
            return Chunk::read_old(bytes, base);
        }
        let header = ChunkHeader::read(bytes, base)?;
        let size = usize::try_from(header.size).unwrap_or(usize::MAX);
        if size < HEADER || header.metadata == 0 || header.constants == 0 || size > bytes.len() {
            return Ok(None);
        }
        let cursor = Cursor::new(&bytes[..size], base, header.is_compressed);
        let offset = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
        let mut event = cursor.at(offset(header.metadata)).event()?;
        let classes = metadata::read(&mut event)?;
        let chunk = Chunk {
            classes,
            last_constants: offset(header.constants),
            start_ns: header.start_ns,
            duration_ns: header.duration_ns,
            start_ticks: header.start_ticks,
            ticks_per_second: header.ticks_per_second.max(1),
            bytes: cursor,
            is_old: false,
        };
        Ok(Some((chunk, size)))
    }

    /// The same for version 0.9.
    fn read_old(bytes: &'a [u8], base: u64) -> Result<Option<(Chunk<'a>, usize)>, ParseError> {
        let mut cursor = Cursor::new(bytes, base, false).at(OLD_MAGIC.len());
        let metadata = usize::try_from(cursor.long()?).unwrap_or(usize::MAX);
        if metadata < OLD_HEADER || metadata >= bytes.len() {
            return Ok(None);
        }
        let mut end = cursor.at(metadata);
        let Ok(mut event) = end.event() else { return Ok(None) };
        let size = bytes.len() - end.left();
        let metadata = OldMetadata::read(&mut event)?;
        let chunk = Chunk {
            classes: metadata.classes,
            last_constants: usize::try_from(metadata.last_constants).unwrap_or(usize::MAX),
            start_ns: metadata.start_ns,
            duration_ns: metadata.duration_ns,
            start_ticks: metadata.start_ticks,
            ticks_per_second: metadata.ticks_per_second.max(1),
            bytes: Cursor::new(&bytes[..size], base, false),
            is_old: true,
        };
        Ok(Some((chunk, size)))
    }

    /// Reads the constants that the events refer to.
    pub(super) fn constants(&self) -> Result<Constants<'a>, ParseError> {
        if self.is_old {
            return old::constants(&self.bytes, &self.classes, self.last_constants);
        }
        Constants::read(&self.bytes, &self.classes, HEADER, self.last_constants)
    }

    /// Calls `take` with each event: the id of its class, and a cursor after that id.
    pub(super) fn events(
        &self,
        mut take: impl FnMut(i64, Cursor<'a>) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        let mut cursor = self.bytes.at(if self.is_old { OLD_HEADER } else { HEADER });
        while !cursor.is_at_end() {
            let mut event = cursor.event()?;
            let class = if self.is_old { event.int()?.into() } else { event.long()? };
            take(class, event)?;
        }
        Ok(())
    }

    /// Converts a number of ticks of the chunk's clock to nanoseconds.
    pub(super) fn nanoseconds(&self, ticks: i64) -> i64 {
        // Dividing 128 bits takes as long as all else about a sample.
        if let Some(scaled) = ticks.checked_mul(1_000_000_000) {
            return scaled / self.ticks_per_second;
        }
        let nanoseconds = i128::from(ticks) * 1_000_000_000 / i128::from(self.ticks_per_second);
        nanoseconds.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
    }

    /// Converts a duration to nanoseconds.
    pub(super) fn time_span(&self, value: i64, unit: TimeUnit) -> i64 {
        match unit {
            TimeUnit::Ticks => self.nanoseconds(value),
            TimeUnit::Nanoseconds(factor) => value.saturating_mul(factor),
        }
    }

    /// Converts a time in nanoseconds since 1970 to ticks of the chunk's clock.
    pub(super) fn ticks_at(&self, time: i64) -> i64 {
        let since_start = i128::from(time) - i128::from(self.start_ns);
        let ticks = since_start * i128::from(self.ticks_per_second) / 1_000_000_000;
        let ticks = i128::from(self.start_ticks).saturating_add(ticks);
        ticks.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
    }

    /// Converts a time in ticks to nanoseconds since 1970.
    pub(super) fn time(&self, ticks: i64) -> i64 {
        self.start_ns.saturating_add(self.nanoseconds(ticks.saturating_sub(self.start_ticks)))
    }
}
