//! Reads the binary recordings of Python's sampling profiler, Tachyon (`python -m profiling.sampling record --binary`, Python
//! 3.15). CPython's `InternalDocs/profiling_binary_format.md` specifies the format.
//!
//! ```text
//! header    "TACH" version, when it started, the interval, where the tables are, compression
//! samples   thread, interpreter, and the stack as what changed since the thread's last sample; perhaps packed with zstd
//! strings   length and bytes
//! frames    file, function, line …
//! footer    how many strings and frames, and the size of the file
//! ```
//!
//! Numbers have the byte order of the machine, which the magic number shows. Stacks start with the leaf.

use std::io::Read;

use hashbrown::HashMap;

use crate::format::group::{GroupedStack, SampleGroup};
use crate::format::labels::label_set;
use crate::format::text::lossy;
use crate::format::wire::Wire;
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished, unsupported_version};
use crate::profile::{Frame, FrameId, LabelSetId, LoadOptions, Period, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(super) static TACHYON: Format = Format { name: NAME, title: "Tachyon (Python 3.15)", sniff, read };

const NAME: &str = "tachyon";

/// The newest version that is known.
const NEWEST: u32 = 2;

const HEADER: usize = 64;
const FOOTER: usize = 32;

fn sniff(head: &[u8]) -> Confidence {
    if is_little(head).is_some() && version(head).is_some_and(|version| version < 1 << 16) {
        Confidence::Certain
    } else {
        Confidence::No
    }
}

/// Whether numbers have their lowest byte first; `None` for other formats. The magic number is `TACH` as a number.
fn is_little(bytes: &[u8]) -> Option<bool> {
    match bytes.first_chunk::<4>()? {
        b"HCAT" => Some(true),
        b"TACH" => Some(false),
        _ => None,
    }
}

fn version(bytes: &[u8]) -> Option<u32> {
    let order = Order { is_little: is_little(bytes)? };
    Some(order.number(bytes.get(4..8)?) as u32)
}

/// The byte order of numbers.
#[derive(Clone, Copy)]
struct Order {
    is_little: bool,
}

impl Order {
    /// A number of at most eight bytes.
    #[inline]
    fn number(self, bytes: &[u8]) -> u64 {
        let mut whole = [0; 8];
        if self.is_little {
            whole[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(whole)
        } else {
            whole[8 - bytes.len()..].copy_from_slice(bytes);
            u64::from_be_bytes(whole)
        }
    }
}

/// What the header and the footer say.
struct Layout {
    order: Order,
    start: u64,
    interval: u64,
    strings_at: usize,
    frames_at: usize,
    is_packed: bool,
    /// What is sampled: 1 wall-clock time, 2 CPU time, 3 holding the GIL, others; 0 if unknown.
    mode: u64,
    strings: u64,
    frames: u64,
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let bytes = source.read_all()?;
    let builder = read_samples(&bytes, options, source.may_use_threads())?;
    // Making columns of the samples takes memory for a while.
    drop(bytes);
    Ok(finished(builder)?)
}

fn read_samples(
    bytes: &[u8],
    options: LoadOptions,
    may_use_threads: bool,
) -> Result<ProfileBuilder, LoadError> {
    let layout = Layout::read(bytes)?;
    let mut builder = ProfileBuilder::new(NAME, options);
    let (metric, unit) = match layout.mode {
        2 => ("cpu", "microseconds"),
        _ => ("wall", "microseconds"),
    };
    builder.metric("samples", "count");
    builder.meta.default_metric = builder.metric(metric, unit);
    let interval = i64::try_from(layout.interval).unwrap_or(0);
    if interval > 0 {
        builder.meta.period = Some(Period { name: metric.into(), unit: unit.into(), value: interval });
    }
    builder.meta.time_ns = i64::try_from(layout.start).ok().and_then(|start| start.checked_mul(1000));
    let strings = strings(&bytes[layout.strings_at..layout.frames_at], layout.strings)?;
    let frames = frames(&bytes[layout.frames_at..], layout.frames, &strings, &mut builder)?;
    let packed = &bytes[HEADER..layout.strings_at];
    let unpacked = if layout.is_packed { Some(unpack(packed, &builder)?) } else { None };
    let mut samples = Samples {
        rest: unpacked.as_deref().unwrap_or(packed),
        order: layout.order,
        frames: &frames,
        threads: Vec::new(),
        places: HashMap::new(),
        last_thread: None,
        label_sets: HashMap::new(),
        start: layout.start,
        interval,
        last: layout.start,
        group: SampleGroup::on_thread(may_use_threads),
        builder: &mut builder,
    };
    let length = samples.rest.len();
    while !samples.rest.is_empty() {
        let at = length - samples.rest.len();
        samples.record().ok_or_else(|| {
            ParseError::whole(NAME, format!("a sample is malformed (byte {at} of the samples)"))
        })?;
    }
    samples.group.write(samples.builder);
    let duration = samples.last.saturating_sub(layout.start);
    builder.meta.duration_ns = i64::try_from(duration).ok().and_then(|micros| micros.checked_mul(1000));
    Ok(builder)
}

impl Layout {
    fn read(bytes: &[u8]) -> Result<Layout, ParseError> {
        let wrong = |at: u64, message: &str| ParseError::at_byte(NAME, at, message);
        let is_little = is_little(bytes).ok_or_else(|| wrong(0, "expected `TACH`"))?;
        let order = Order { is_little };
        let version = version(bytes).ok_or_else(|| wrong(0, "file is truncated within its header"))?;
        if version == 0 || version > NEWEST {
            let message = unsupported_version(version, 1, NEWEST);
            return Err(ParseError::at_byte(NAME, 4, message));
        }
        if bytes.len() < HEADER + FOOTER {
            return Err(wrong(bytes.len() as u64, "file is truncated within its header"));
        }
        let number = |at: usize, width: usize| order.number(&bytes[at..at + width]);
        let footer = bytes.len() - FOOTER;
        let size = number(footer + 8, 8);
        let place = |at: u64| usize::try_from(at).ok().filter(|&at| (HEADER..=footer).contains(&at));
        // The number of samples first had four bytes, which moves all that comes after it.
        let places = |at: usize| {
            let (strings, frames) = (place(number(at, 8))?, place(number(at + 8, 8))?);
            (strings <= frames && number(at + 16, 4) <= 1).then_some((at, strings, frames))
        };
        let found = places(40).or_else(|| places(36)).filter(|_| size == bytes.len() as u64);
        // The header is written last.
        let (at, strings_at, frames_at) = found.ok_or_else(|| {
            wrong(bytes.len() as u64, "file is truncated, or the recording was not finished")
        })?;
        Ok(Layout {
            order,
            start: number(12, 8),
            interval: number(20, 8),
            strings_at,
            frames_at,
            is_packed: number(at + 16, 4) == 1,
            mode: if at == 40 { number(60, 4) } else { 0 },
            strings: number(footer, 4),
            frames: number(footer + 4, 4),
        })
    }
}

fn unpack(packed: &[u8], builder: &ProfileBuilder) -> Result<Vec<u8>, LoadError> {
    let corrupt =
        |error: String| ParseError::at_byte(NAME, HEADER as u64, format!("corrupt zstd data: {error}"));
    let decoder =
        ruzstd::decoding::StreamingDecoder::new(packed).map_err(|error| corrupt(error.to_string()))?;
    let mut decoder = decoder;
    let mut unpacked = Vec::new();
    let mut reservation = builder.options().budget.reservation();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = decoder.read(&mut buffer).map_err(|error| corrupt(error.to_string()))?;
        if count == 0 {
            return Ok(unpacked);
        }
        unpacked.extend_from_slice(&buffer[..count]);
        reservation.set(unpacked.capacity() as u64)?;
    }
}

fn strings(bytes: &[u8], count: u64) -> Result<Vec<&[u8]>, ParseError> {
    let mut strings = Vec::new();
    let mut rest = bytes;
    for number in 0..count {
        let read = || {
            let mut wire = Wire::new(rest);
            let length = usize::try_from(wire.varint().ok()?).ok()?;
            rest[wire.position()..].split_at_checked(length)
        };
        let (string, after) = read()
            .ok_or_else(|| ParseError::whole(NAME, format!("string {number} of {count} is missing")))?;
        strings.push(string);
        rest = after;
    }
    Ok(strings)
}

fn frames(
    bytes: &[u8],
    count: u64,
    strings: &[&[u8]],
    builder: &mut ProfileBuilder,
) -> Result<Vec<FrameId>, ParseError> {
    let mut frames = Vec::new();
    let mut wire = Wire::new(bytes);
    let mut at = 0;
    for number in 0..count {
        let mut read = || {
            wire = Wire::new(&bytes[at..]);
            let mut string = || strings.get(usize::try_from(wire.varint().ok()?).ok()?).copied();
            let (file, name) = (string()?, string()?);
            // The line, where it ends, and both columns; then the opcode.
            let line = wire.varint().ok()?;
            for _ in 0..3 {
                wire.varint().ok()?;
            }
            at += wire.position() + 1;
            (at <= bytes.len()).then_some((file, name, line))
        };
        let (file, name, line) = read().ok_or_else(|| {
            ParseError::whole(NAME, format!("frame {number} of {count} is missing or malformed"))
        })?;
        let function = builder.script_function(&lossy(name), &lossy(file), 0);
        // Zigzag: even numbers are positive.
        let line = if line % 2 == 0 { u32::try_from(line / 2).unwrap_or(0) } else { 0 };
        frames.push(builder.frame(Frame { function, line, ..Frame::default() }));
    }
    Ok(frames)
}

/// A thread, as its last sample was.
struct Thread {
    time: u64,
    /// The root first.
    stack: Vec<FrameId>,
}

/// The id of a thread and of its interpreter.
type ThreadKey = (u64, u64);

struct Samples<'a, 'b> {
    rest: &'a [u8],
    order: Order,
    frames: &'a [FrameId],
    threads: Vec<Thread>,
    /// The places of threads in `threads`, and the thread of the last record: several records of one often follow each other.
    places: HashMap<ThreadKey, usize>,
    last_thread: Option<(ThreadKey, usize)>,
    /// The labels of each thread and status.
    label_sets: HashMap<(u64, u64), LabelSetId>,
    start: u64,
    interval: i64,
    last: u64,
    group: SampleGroup,
    builder: &'b mut ProfileBuilder,
}

impl Samples<'_, '_> {
    #[inline]
    fn number(&mut self, width: usize) -> Option<u64> {
        let (bytes, rest) = self.rest.split_at_checked(width)?;
        self.rest = rest;
        Some(self.order.number(bytes))
    }

    fn varint(&mut self) -> Option<u64> {
        let mut wire = Wire::new(self.rest);
        let number = wire.varint().ok()?;
        self.rest = &self.rest[wire.position()..];
        Some(number)
    }

    /// Reads a record, which holds a sample or several equal ones; `None` if it is malformed.
    fn record(&mut self) -> Option<()> {
        let key = (self.number(8)?, self.number(4)?);
        let encoding = self.number(1)?;
        let place = self.place(key);
        let Thread { mut time, ref mut stack } = self.threads[place];
        let mut stack = std::mem::take(stack);
        if encoding == 0 {
            let id = self.group.stack(&stack, self.builder);
            for _ in 0..self.varint()? {
                let (passed, status) = (self.varint()?, self.number(1)?);
                self.add((key.0, status), id, &mut time, passed);
            }
        } else {
            let (passed, status) = (self.varint()?, self.number(1)?);
            let depth = stack.len() as u64;
            let kept = match encoding {
                1 => 0,
                2 => self.varint()?,
                3 => depth.checked_sub(self.varint()?)?,
                _ => return None,
            };
            let pushed = self.varint()?;
            // Every frame takes a byte.
            if kept > depth || pushed > self.rest.len() as u64 {
                return None;
            }
            stack.truncate(kept as usize);
            let mut wire = Wire::new(self.rest);
            for _ in 0..pushed {
                let number = usize::try_from(wire.varint().ok()?).ok()?;
                stack.push(*self.frames.get(number)?);
            }
            self.rest = &self.rest[wire.position()..];
            stack[kept as usize..].reverse();
            let id = self.group.stack(&stack, self.builder);
            self.add((key.0, status), id, &mut time, passed);
        }
        self.threads[place] = Thread { time, stack };
        Some(())
    }

    /// The place of a thread.
    fn place(&mut self, key: ThreadKey) -> usize {
        if let Some((_, place)) = self.last_thread.filter(|(last, _)| *last == key) {
            return place;
        }
        let place = *self.places.entry(key).or_insert(self.threads.len());
        if place == self.threads.len() {
            self.threads.push(Thread { time: self.start, stack: Vec::new() });
        }
        self.last_thread = Some((key, place));
        place
    }

    /// Adds a sample of a thread with the given id and status, `passed` after the last one, which was at `now`.
    fn add(&mut self, of: (u64, u64), stack: GroupedStack, now: &mut u64, passed: u64) {
        *now = now.saturating_add(passed);
        self.last = self.last.max(*now);
        let labels = self.labels(of);
        let time = i64::try_from(*now).ok().and_then(|micros| micros.checked_mul(1000));
        self.group.sample(stack, labels, time, &[1, self.interval], self.builder);
    }

    fn labels(&mut self, of: (u64, u64)) -> LabelSetId {
        if !self.builder.options().labels {
            self.builder.skipped_labels();
            return LabelSetId::default();
        }
        *self.label_sets.entry(of).or_insert_with_key(|(id, status)| {
            label_set(self.builder, |labels| {
                labels.number("tid", id.cast_signed());
                for (bit, key) in STATUS {
                    if status & bit != 0 {
                        labels.text(key, "yes");
                    }
                }
            })
        })
    }
}

/// What a thread was doing.
const STATUS: [(u64, &str); 4] = [(1, "has_gil"), (2, "on_cpu"), (8, "gil_requested"), (16, "has_exception")];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    /// A recording of one thread: `main`, then twice `main;work`, then `main;read`.
    /// The number of samples has `width` bytes.
    fn file(is_little: bool, is_packed: bool, width: usize) -> Vec<u8> {
        let number = |number: u64, width: usize| {
            let bytes = number.to_le_bytes()[..width].to_vec();
            if is_little { bytes } else { bytes.into_iter().rev().collect() }
        };
        let thread = [number(7, 8), number(0, 4)].concat();
        let records: [&[u8]; 4] =
            [&[1, 100, 3, 1, 0], &[2, 0xE8, 7, 1, 1, 1, 1], &[0, 1, 0xE8, 7, 2], &[3, 10, 0, 1, 1, 2]];
        let mut samples: Vec<u8> =
            records.iter().flat_map(|record| [&thread[..], *record].concat()).collect();
        if is_packed {
            samples =
                ruzstd::encoding::compress_to_vec(&samples[..], ruzstd::encoding::CompressionLevel::Fastest);
        }
        let strings = b"\x04a.py\x04main\x04work\x04read";
        // Lines 5, 6 and none.
        let frames = [0, 1, 10, 0, 1, 0, 255, 0, 2, 12, 0, 1, 0, 255, 0, 3, 1, 0, 1, 0, 255];
        let strings_at = (HEADER + samples.len()) as u64;
        let frames_at = strings_at + strings.len() as u64;
        let size = frames_at + frames.len() as u64 + FOOTER as u64;
        let magic = if is_little { b"HCAT" } else { b"TACH" };
        let header = [
            magic.to_vec(),
            number(1, 4),
            vec![3, 15, 0, 0],
            number(1_700_000_000_000_000, 8),
            number(1000, 8),
            number(4, width),
            number(1, 4),
            number(strings_at, 8),
            number(frames_at, 8),
            number(u64::from(is_packed), 4),
            number(if width == 8 { 2 } else { 0 }, 12 - width),
        ];
        let footer = [number(4, 4), number(3, 4), number(size, 8), vec![0; 16]];
        [header.concat(), samples, strings.to_vec(), frames.to_vec(), footer.concat()].concat()
    }

    fn load(bytes: &[u8]) -> Result<Profile, LoadError> {
        assert_eq!(sniff(bytes), Confidence::Certain);
        read(&mut Source::from_bytes(bytes.to_vec()), LoadOptions::ALL)
    }

    #[test]
    fn stacks_are_what_changed() {
        let expected = "main@a.py:5 1 1000 {has_gil=yes on_cpu=yes tid=7}\nmain@a.py:5;read@a.py:0 1 1000 {tid=7}\n\
                        main@a.py:5;work@a.py:6 1 1000 {has_gil=yes tid=7}\nmain@a.py:5;work@a.py:6 1 1000 {on_cpu=yes tid=7}";
        for (is_little, is_packed, width) in
            [(true, false, 8), (false, false, 8), (true, true, 8), (true, false, 4)]
        {
            let profile = load(&file(is_little, is_packed, width)).unwrap();
            let metric = &profile.meta.metrics[1];
            assert_eq!(&*metric.name, if width == 8 { "cpu" } else { "wall" });
            assert_eq!(to_notation(&profile), expected);
            let start = 1_700_000_000_000_000_000;
            let times: Vec<i64> =
                profile.samples.time.as_ref().unwrap().iter().map(|time| time - start).collect();
            assert_eq!(times, [100_000, 1_100_000, 2_100_000, 2_110_000]);
            assert_eq!(profile.meta.duration_ns, Some(2_110_000));
        }
    }

    #[test]
    fn newer_versions_and_cut_files_are_refused() {
        let mut bytes = file(true, false, 8);
        bytes.pop();
        assert!(load(&bytes).unwrap_err().to_string().contains("was not finished"));
        bytes[4] = 9;
        assert!(load(&bytes).unwrap_err().to_string().contains("unsupported version 9; versions 1 to "));
    }
}
