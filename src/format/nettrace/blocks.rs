//! The blocks of a recording, in both containers: the objects of versions 3 to 5 and the plain blocks of version 6.

use crate::format::fields::Fields;
use crate::format::{ParseError, unsupported_version};

pub(super) const NAME: &str = "nettrace";

/// How files of version 4 and later start.
pub(super) const MAGIC: &[u8] = b"Nettrace";

/// How files of version 3 start, and how versions 4 and 5 go on after [`MAGIC`].
pub(super) const OBJECTS: &[u8] = b"\x14\0\0\0!FastSerialization.1";

/// The oldest and the newest version that are read.
const VERSIONS: std::ops::RangeInclusive<u32> = 3..=6;

/// A recording, divided into blocks.
pub(super) struct Recording<'a> {
    pub(super) version: u32,
    pub(super) trace: Trace,
    pub(super) blocks: Vec<Block<'a>>,
    /// Whether the recording has its end marker.
    pub(super) is_whole: bool,
}

/// What is known about a recording as a whole.
#[derive(Clone, Debug, Default)]
pub(super) struct Trace {
    /// The start, in nanoseconds since 1970.
    pub(super) start_ns: i64,
    /// The same time on the clock of the events.
    start_ticks: i64,
    /// Ticks of that clock per second.
    frequency: i64,
    pub(super) pointer_size: usize,
    pub(super) processors: Option<i64>,
    /// The sampling interval in nanoseconds.
    pub(super) interval: Option<i64>,
}

/// One block and where its content starts in the file.
pub(super) struct Block<'a> {
    pub(super) kind: BlockKind,
    pub(super) at: usize,
    pub(super) body: &'a [u8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    Trace,
    Events,
    Metadata,
    Stacks,
    SequencePoint,
    Threads,
    Other,
}

impl<'a> Recording<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let after_magic = bytes.strip_prefix(MAGIC);
        if after_magic.unwrap_or(bytes).starts_with(OBJECTS) {
            let start = after_magic.map_or(0, |_| MAGIC.len()) + OBJECTS.len();
            return Recording::of_objects(bytes, start);
        }
        let mut header = Fields::new(after_magic.unwrap_or_default(), false);
        let (Some(_reserved), Some(version), Some(_minor)) = (header.u32(), header.u32(), header.u32())
        else {
            return Err(ParseError::at_byte(NAME, MAGIC.len() as u64, "file is truncated within its header"));
        };
        if version < 6 || !VERSIONS.contains(&version) {
            return Err(unsupported(version, MAGIC.len() + 4));
        }
        Recording::of_blocks(bytes, MAGIC.len() + 12, version)
    }

    /// Versions 3 to 5: each block is an object with a type, which has a name and a version.
    fn of_objects(bytes: &'a [u8], start: usize) -> Result<Self, ParseError> {
        const END: u8 = 1;
        let mut objects = Objects { bytes, at: start };
        let first = objects.type_of_next();
        let Some(Type { name, version, oldest_reader }) = first.filter(|first| first.name == b"Trace") else {
            let message =
                "expected the object `Trace`; recordings by previews of .NET Core 2 are not supported";
            return Err(ParseError::at_byte(NAME, start as u64, message));
        };
        debug_assert_eq!(name, b"Trace");
        if version < *VERSIONS.start() || oldest_reader > 5 {
            return Err(unsupported(version, start));
        }
        let trace = objects.take(48).and_then(Trace::of_object).filter(|_| objects.end_of_object().is_some());
        let trace = trace.ok_or_else(|| {
            ParseError::at_byte(NAME, start as u64, "file is truncated within the object `Trace`")
        })?;
        let mut blocks = Vec::new();
        let mut is_whole = false;
        loop {
            if bytes.get(objects.at) == Some(&END) {
                is_whole = true;
                break;
            }
            let at = objects.at;
            let Some(kind) = objects.type_of_next() else {
                if at == bytes.len() {
                    break;
                }
                return match bytes.len() - at {
                    // The file may end within the type.
                    0..64 => Ok(Recording { version, trace, blocks, is_whole }),
                    _ => {
                        Err(ParseError::at_byte(NAME, at as u64, "expected an object or the end of the file"))
                    }
                };
            };
            let Some((body_at, body)) = objects.body() else { break };
            let kind = match kind.name {
                b"EventBlock" => BlockKind::Events,
                b"MetadataBlock" => BlockKind::Metadata,
                b"StackBlock" => BlockKind::Stacks,
                b"SPBlock" => BlockKind::SequencePoint,
                _ => BlockKind::Other,
            };
            blocks.push(Block { kind, at: body_at, body });
        }
        Ok(Recording { version, trace, blocks, is_whole })
    }

    /// Version 6: each block starts with its size and kind in one number.
    fn of_blocks(bytes: &'a [u8], start: usize, version: u32) -> Result<Self, ParseError> {
        let mut rest = Fields::new(&bytes[start..], false);
        let mut trace = None;
        let mut blocks = Vec::new();
        let mut is_whole = false;
        while let Some(header) = rest.u32() {
            let kind = match header >> 24 {
                0 => {
                    is_whole = true;
                    break;
                }
                1 => BlockKind::Trace,
                2 => BlockKind::Events,
                3 => BlockKind::Metadata,
                4 => BlockKind::SequencePoint,
                5 => BlockKind::Stacks,
                6 => BlockKind::Threads,
                _ => BlockKind::Other,
            };
            let at = bytes.len() - rest.len();
            let Some(body) = rest.take((header & 0xFF_FFFF) as usize) else { break };
            if kind == BlockKind::Trace {
                trace = trace.or_else(|| Trace::of_block(body));
            }
            blocks.push(Block { kind, at, body });
        }
        let trace = trace.ok_or_else(|| {
            ParseError::at_byte(NAME, start as u64, "expected the block that describes the trace")
        })?;
        Ok(Recording { version, trace, blocks, is_whole })
    }
}

fn unsupported(version: u32, at: usize) -> ParseError {
    let (oldest, newest) = (VERSIONS.start(), VERSIONS.end());
    ParseError::at_byte(NAME, at as u64, unsupported_version(version, oldest, newest))
}

impl Trace {
    fn of_object(body: &[u8]) -> Option<Trace> {
        let mut fields = Fields::new(body, false);
        let mut trace = Trace::start(&mut fields)?;
        let (_process, processors) = (fields.u32()?, fields.u32()?);
        trace.processors = Some(i64::from(processors)).filter(|&count| count > 0);
        trace.interval = Some(i64::from(fields.u32()?)).filter(|&ns| ns > 0);
        Some(trace)
    }

    fn of_block(body: &[u8]) -> Option<Trace> {
        let mut fields = Fields::new(body, false);
        let mut trace = Trace::start(&mut fields)?;
        for _ in 0..fields.u32()? {
            let key = text(&mut fields)?;
            let value = text(&mut fields)?;
            if key == b"HardwareThreadCount" {
                trace.processors = std::str::from_utf8(value).ok().and_then(|value| value.parse().ok());
            }
        }
        Some(trace)
    }

    /// The fields that all versions have.
    fn start(fields: &mut Fields<'_>) -> Option<Trace> {
        let mut date = [0; 8];
        for part in &mut date {
            *part = i64::from(fields.u16()?);
        }
        let [year, month, _weekday, day, hour, minute, second, millisecond] = date;
        let seconds = ((days_since_1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
        Some(Trace {
            start_ns: (seconds * 1000 + millisecond).saturating_mul(1_000_000),
            start_ticks: fields.u64()? as i64,
            frequency: (fields.u64()? as i64).max(1),
            pointer_size: if fields.u32()? == 4 { 4 } else { 8 },
            ..Trace::default()
        })
    }

    /// A duration on the clock of the events, in nanoseconds.
    pub(super) fn nanoseconds(&self, ticks: i64) -> i64 {
        if self.frequency == 1_000_000_000 {
            return ticks;
        }
        let ns = i128::from(ticks) * 1_000_000_000 / i128::from(self.frequency);
        i64::try_from(ns).unwrap_or(if ticks < 0 { i64::MIN } else { i64::MAX })
    }

    /// When an event took place, in nanoseconds since 1970.
    pub(super) fn time(&self, ticks: i64) -> i64 {
        self.start_ns.saturating_add(self.since_start(ticks))
    }

    /// The same since the start of the recording.
    pub(super) fn since_start(&self, ticks: i64) -> i64 {
        self.nanoseconds(ticks.saturating_sub(self.start_ticks))
    }
}

/// The number of days from 1970-01-01 to a date of the Gregorian calendar.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    // Years start in March, so that the leap day is the last of its year.
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468
}

/// A UTF-8 string after its length, as in version 6.
pub(super) fn text<'a>(fields: &mut Fields<'a>) -> Option<&'a [u8]> {
    let length = usize::try_from(fields.varint()?).ok()?;
    fields.take(length)
}

/// The sequence of objects in versions 3 to 5.
struct Objects<'a> {
    bytes: &'a [u8],
    at: usize,
}

struct Type<'a> {
    name: &'a [u8],
    version: u32,
    oldest_reader: u32,
}

const END_OF_OBJECT: u8 = 6;

impl<'a> Objects<'a> {
    /// The start of an object: tags, and a type without a type of its own.
    fn type_of_next(&mut self) -> Option<Type<'a>> {
        let tags = self.take(3)?;
        let is_begin = |tag: u8| tag == 4 || tag == 5;
        if !(is_begin(tags[0]) && is_begin(tags[1]) && tags[2] == 1) {
            self.at -= 3;
            return None;
        }
        let (version, oldest_reader, length) = (self.number()?, self.number()?, self.number()?);
        let name = self.take(length as usize)?;
        self.end_of_object()?;
        Some(Type { name, version, oldest_reader })
    }

    /// The content of a block and its position; padding aligns it in the file.
    fn body(&mut self) -> Option<(usize, &'a [u8])> {
        let size = self.number()? as usize;
        self.at = self.at.next_multiple_of(4);
        let at = self.at;
        let body = self.take(size)?;
        self.end_of_object()?;
        Some((at, body))
    }

    fn end_of_object(&mut self) -> Option<()> {
        (self.take(1)? == [END_OF_OBJECT]).then_some(())
    }

    fn number(&mut self) -> Option<u32> {
        Fields::new(self.take(4)?, false).u32()
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..)?.get(..count)?;
        self.at += count;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_days_since_1970() {
        // As `date -d … +%s` says, divided by 86,400.
        for (date, days) in [((1970, 1, 1), 0), ((2000, 2, 29), 11_016), ((2019, 12, 15), 18_245)] {
            assert_eq!(days_since_1970(date.0, date.1, date.2), days);
        }
    }
}
