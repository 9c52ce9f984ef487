//! Reads `gmon.out`, the data that programs built with `gcc -pg` write: a histogram of addresses, and calls between them.
//!
//! ```text
//! "gmon" version=1 …
//! 0  low high bins rate "seconds" 's' count…    histogram: ticks per range of addresses
//! 1  from self count                            `count` calls of the function at `self` from `from`
//! 2  n (address count)…                         how often basic blocks ran
//! ```
//!
//! The file has addresses only; `prof --binary PROGRAM` names them. A tick of the histogram is a stack of one frame, a call one
//! of two. Addresses have four or eight bytes of either order; the file does not say which, but only one makes it end where a
//! record ends.

use crate::format::group::SampleGroup;
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished, unsupported_version};
use crate::profile::{AT_ONCE, Frame, LabelSetId, LoadOptions, Period, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(super) static GMON: Format = Format { name: NAME, title: "gmon.out", sniff, read };

const NAME: &str = "gmon";
const MAGIC: &[u8] = b"gmon";
/// The magic, the version, and unused bytes.
const HEADER: usize = 20;

fn sniff(head: &[u8]) -> Confidence {
    let version = head.get(4..8);
    let is_gmon = head.starts_with(MAGIC)
        && version.is_some_and(|version| version[0] == 0 || version[3] == 0)
        && version.is_some_and(|version| version[1..3] == [0, 0]);
    if is_gmon { Confidence::Certain } else { Confidence::No }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let bytes = source.read_all()?;
    let mut builder = ProfileBuilder::new(NAME, options);
    builder.metric("samples", "count");
    builder.meta.default_metric = builder.metric("cpu", "nanoseconds");
    builder.metric("calls", "count");
    let is_little = match bytes.get(4..8) {
        Some([1, 0, 0, 0]) => true,
        Some([0, 0, 0, 1]) => false,
        Some([version, 0, 0, 0] | [0, 0, 0, version]) => {
            return Err(ParseError::at_byte(NAME, 4, unsupported_version(version, 1, 1)).into());
        }
        _ => return Err(ParseError::at_byte(NAME, 0, "expected `gmon` and a version").into()),
    };
    let layouts = [8, 4].map(|width| Layout { width, is_little });
    let whole = layouts.into_iter().find(|layout| Records::new(&bytes, *layout).all(|record| record.is_ok()));
    let layout = whole.unwrap_or(layouts[0]);
    let group = SampleGroup::on_thread(source.may_use_threads());
    let mut waiting = Waiting { group, ..Waiting::default() };
    for record in Records::new(&bytes, layout) {
        match record {
            Ok(record) => add(&record, layout, &mut waiting, &mut builder)?,
            Err(at) => {
                let message = "file is truncated within a record, or malformed";
                return Err(ParseError::at_byte(NAME, at as u64, message).into());
            }
        }
    }
    waiting.write(&mut builder);
    waiting.group.write(&mut builder);
    // Making columns of the samples takes memory for a while.
    drop(bytes);
    Ok(finished(builder)?)
}

/// How numbers are stored.
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// The size of an address.
    width: usize,
    is_little: bool,
}

impl Layout {
    /// A number of eight, four or two bytes.
    #[inline]
    fn number(self, bytes: &[u8]) -> u64 {
        let (number, size) = if let Some(bytes) = bytes.first_chunk::<8>() {
            (u64::from_le_bytes(*bytes), 8)
        } else if let Some(bytes) = bytes.first_chunk::<4>() {
            (u32::from_le_bytes(*bytes).into(), 4)
        } else {
            (bytes.first_chunk::<2>().map_or(0, |bytes| u16::from_le_bytes(*bytes).into()), 2)
        };
        if self.is_little { number } else { number.swap_bytes() >> (64 - 8 * size) }
    }
}

/// A record.
enum Record<'a> {
    Histogram { low: u64, high: u64, rate: u64, is_seconds: bool, bins: &'a [u8], at: usize },
    Call { from: u64, callee: u64, count: u64 },
    Blocks,
}

/// The records of a file; an error is the byte where one is malformed.
struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
    layout: Layout,
}

impl<'a> Records<'a> {
    fn new(bytes: &'a [u8], layout: Layout) -> Records<'a> {
        Records { bytes, at: HEADER.min(bytes.len()), layout }
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(count)?)?;
        self.at += count;
        Some(taken)
    }

    fn number(&mut self, width: usize) -> Option<u64> {
        self.take(width).map(|bytes| self.layout.number(bytes))
    }

    fn record(&mut self) -> Option<Record<'a>> {
        let (start, width) = (self.at, self.layout.width);
        match self.take(1)? {
            [0] => {
                let (low, high) = (self.number(width)?, self.number(width)?);
                let (count, rate) = (self.number(4)?, self.number(4)?);
                let dimension = self.take(15)?;
                self.take(1)?;
                let bins = self.take(usize::try_from(count).ok()?.checked_mul(2)?)?;
                let is_seconds = dimension.starts_with(b"seconds\0");
                (low <= high).then_some(Record::Histogram { low, high, rate, is_seconds, bins, at: start })
            }
            [1] => {
                let (from, callee, count) = (self.number(width)?, self.number(width)?, self.number(4)?);
                Some(Record::Call { from, callee, count })
            }
            [2] => {
                let count = usize::try_from(self.number(4)?).ok()?;
                self.take(count.checked_mul(2 * width)?)?;
                Some(Record::Blocks)
            }
            _ => None,
        }
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, usize>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let start = self.at;
        let record = self.record();
        if record.is_none() {
            self.at = self.bytes.len();
        }
        Some(record.ok_or(start))
    }
}

fn add(
    record: &Record<'_>,
    layout: Layout,
    waiting: &mut Waiting,
    builder: &mut ProfileBuilder,
) -> Result<(), ParseError> {
    match *record {
        Record::Histogram { low, high, rate, is_seconds, bins, at } => {
            if !is_seconds || rate == 0 {
                return Err(ParseError::at_byte(NAME, at as u64, "the histogram does not count seconds"));
            }
            let tick = i64::try_from(1_000_000_000 / rate).unwrap_or(0);
            builder.meta.period =
                Some(Period { name: "cpu".into(), unit: "nanoseconds".into(), value: tick.max(1) });
            let count = bins.len() as u64 / 2;
            for (number, bin) in (0u64..).zip(bins.chunks_exact(2)) {
                let ticks = layout.number(bin).cast_signed();
                if ticks > 0 {
                    // The middle of the addresses that a bin stands for: its ends may belong to other functions.
                    let middle =
                        u128::from(high - low) * (2 * u128::from(number) + 1) / (2 * u128::from(count));
                    let time = ticks.saturating_mul(tick);
                    waiting.add(low + middle as u64, None, [ticks, time, 0], builder);
                }
            }
        }
        // Code that was not compiled with -pg is not known, and its address is 0. Else it is the one to which the call returns.
        Record::Call { from, callee, count } => {
            waiting.add(callee, from.checked_sub(1), [0, 0, count.cast_signed()], builder);
        }
        Record::Blocks => {}
    }
    Ok(())
}

/// Ticks and calls whose frames have not been looked up yet: looking many up together takes less time.
#[derive(Default)]
struct Waiting {
    /// All code is that of one function without a name.
    frame: Option<Frame>,
    /// The frames of each, the callee before its caller.
    frames: Vec<Frame>,
    measured: Vec<Measured>,
    group: SampleGroup,
}

/// Ticks of the clock in a function, or calls of it.
struct Measured {
    has_caller: bool,
    values: [i64; 3],
}

impl Waiting {
    fn add(&mut self, address: u64, caller: Option<u64>, values: [i64; 3], builder: &mut ProfileBuilder) {
        let frame = *self.frame.get_or_insert_with(|| unnamed(builder));
        self.frames.push(Frame { address, ..frame });
        self.frames.extend(caller.map(|address| Frame { address, ..frame }));
        self.measured.push(Measured { has_caller: caller.is_some(), values });
        if self.measured.len() == AT_ONCE {
            self.write(builder);
        }
    }

    fn write(&mut self, builder: &mut ProfileBuilder) {
        let mut ids = builder.frames(&self.frames).into_iter();
        for Measured { has_caller, values } in self.measured.drain(..) {
            let Some(callee) = ids.next() else { break };
            let caller = if has_caller { ids.next() } else { None };
            let stack = [caller.unwrap_or(callee), callee];
            let stack = self.group.stack(&stack[usize::from(caller.is_none())..], builder);
            self.group.sample(stack, LabelSetId::default(), None, &values, builder);
        }
        self.frames.clear();
    }
}

/// A frame of the program, at no address.
fn unnamed(builder: &mut ProfileBuilder) -> Frame {
    let mapping = builder.named_mapping(UNNAMED_PROGRAM);
    Frame { function: builder.unnamed_function(mapping), mapping, ..Frame::default() }
}

/// The name of the program in the profile, which the file does not have: that of an unnamed output of a compiler. Any file that
/// people give with `--binary` is meant to be it.
pub const UNNAMED_PROGRAM: &str = "a.out";

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with a histogram of two bins and a call, with addresses of `width` bytes.
    fn file(width: usize, is_little: bool) -> Vec<u8> {
        let number = |number: u64, width: usize| {
            let bytes = number.to_le_bytes()[..width].to_vec();
            if is_little { bytes } else { bytes.into_iter().rev().collect() }
        };
        let mut bytes = [&b"gmon"[..], &number(1, 4), &[0; 12], &[0]].concat();
        for (value, width) in [(0x1000, width), (0x1020, width), (2, 4), (100, 4)] {
            bytes.extend(number(value, width));
        }
        bytes.extend(b"seconds\0\0\0\0\0\0\0\0s");
        bytes.extend([number(0, 2), number(3, 2), vec![1]].concat());
        for (value, width) in [(0x1004, width), (0x1010, width), (7, 4)] {
            bytes.extend(number(value, width));
        }
        bytes
    }

    fn load(bytes: &[u8]) -> Result<Profile, LoadError> {
        assert_eq!(sniff(bytes), Confidence::Certain);
        read(&mut Source::from_bytes(bytes.to_vec()), LoadOptions::ALL)
    }

    #[test]
    fn addresses_have_either_width_and_order() {
        for (width, is_little) in [(4, true), (8, true), (4, false), (8, false)] {
            let profile = load(&file(width, is_little)).unwrap();
            let totals: Vec<i64> = profile.meta.metrics.iter().map(|metric| metric.total).collect();
            assert_eq!(totals, [3, 30_000_000, 7]);
            let addresses: Vec<u64> = profile.symbols.frames.iter().map(|frame| frame.address).collect();
            assert_eq!(addresses, [0x1018, 0x1010, 0x1003]);
        }
    }

    #[test]
    fn other_versions_and_cut_files_are_refused() {
        let mut bytes = file(8, true);
        bytes.pop();
        assert!(load(&bytes).unwrap_err().to_string().contains("truncated within a record"));
        bytes[4] = 2;
        assert!(
            load(&bytes)
                .unwrap_err()
                .to_string()
                .contains("unsupported version 2; only version 1 is supported")
        );
    }
}
