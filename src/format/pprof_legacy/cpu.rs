//! Binary CPU profiles: words of 32 or 64 bits, in either endianness.
//!
//! The header is five words: 0, 3, 0 (1 for Java), the sampling period in microseconds, 0. A sample is a
//! count, the length of the stack, and the stack, leaf first. A sample with count 0 whose stack is a single 0
//! marks the end; the memory map follows as text.

use hashbrown::HashMap;

use crate::format::pprof_legacy::maps::MemoryMap;
use crate::format::pprof_legacy::recorder::{Recorder, Start};
use crate::format::pprof_legacy::{NAME, callers, java, to_call_addresses};
use crate::format::text::Lines;
use crate::format::{LoadError, ParseError, Source};
use crate::profile::{LabelSetId, Period, Profile};
use crate::unit::saturated;

/// The size of the longest header in bytes.
pub(super) const HEADER_BYTES: usize = 5 * 8;

/// The profiler's own functions, which are dropped from stacks.
const PROFILER: &str =
    "ProfileData::Add|(ProfileData|CpuProfiler)::prof_handler|__pthread_sighandler|__restore";

/// The size and endianness of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    bytes: usize,
    big_endian: bool,
}

impl Word {
    const ALL: [Word; 4] = [
        Word { bytes: 4, big_endian: false },
        Word { bytes: 4, big_endian: true },
        Word { bytes: 8, big_endian: false },
        Word { bytes: 8, big_endian: true },
    ];

    fn decode(self, bytes: &[u8]) -> u64 {
        let join = |word: u64, &byte: &u8| word << 8 | u64::from(byte);
        if self.big_endian { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) }
    }
}

#[derive(Clone, Copy)]
struct CpuHeader {
    word: Word,
    is_java: bool,
    period_us: u64,
}

pub(super) fn is_header(head: &[u8]) -> bool {
    header(head).is_some()
}

fn header(head: &[u8]) -> Option<CpuHeader> {
    Word::ALL.into_iter().find_map(|word| {
        let words: Vec<u64> = head.chunks_exact(word.bytes).take(5).map(|bytes| word.decode(bytes)).collect();
        match words[..] {
            [0, 3, java @ (0 | 1), period_us @ (1..), 0] => {
                Some(CpuHeader { word, is_java: java == 1, period_us })
            }
            _ => None,
        }
    })
}

/// Distinct stacks, leaf first, each with its number of records and the sum of their counts.
#[derive(Default)]
struct SampledStacks {
    index: HashMap<Box<[u64]>, usize>,
    stacks: Vec<(Vec<u64>, u64, i64)>,
    samples: u64,
}

pub(super) fn read(source: &mut Source, start: Start) -> Result<Profile, LoadError> {
    let Some(header) = header(source.head(HEADER_BYTES)?) else {
        return Err(ParseError::at_byte(NAME, 0, "no CPU profile header").into());
    };
    source.consume(5 * header.word.bytes);
    let mut seen = read_samples(source, header)?;
    if !header.is_java {
        strip_signal_frames(&mut seen);
    }

    let mut recorder = Recorder::new(start, &[("samples", "count"), ("cpu", "nanoseconds")]);
    let period = saturated(header.period_us).saturating_mul(1000);
    recorder.builder.meta.drop_frames = PROFILER.into();
    recorder.builder.meta.period =
        Some(Period { name: "cpu".into(), unit: "nanoseconds".into(), value: period });
    for (stack, rows, count) in &seen.stacks {
        if count.checked_mul(period).is_none() {
            recorder.builder.overflow(1);
        }
        recorder.sample(stack, LabelSetId::default(), &[*count, count.saturating_mul(period)]);
        // Equal stacks were merged before the builder could count the samples.
        let meta = &mut recorder.builder.meta;
        meta.rows += rows - 1;
        for metric in meta.metrics.iter_mut().filter(|_| *count != 0) {
            metric.rows += rows - 1;
        }
    }
    let mut lines = Lines::new(source);
    if header.is_java {
        java::read_locations(&mut recorder, &mut lines)?;
        return recorder.finish(&mut MemoryMap::default());
    }
    let mut map = MemoryMap::read(&mut lines, true)?;
    recorder.finish(&mut map)
}

fn read_samples(source: &mut Source, header: CpuHeader) -> Result<SampledStacks, LoadError> {
    let mut seen = SampledStacks::default();
    let mut stack = Vec::new();
    loop {
        // Some writers omit the sample that marks the end.
        let Some(count) = next_word(source, header.word)? else { return Ok(seen) };
        let start = source.position();
        let cut = || ParseError::at_byte(NAME, start, "file is truncated within a sample");
        let depth = next_word(source, header.word)?.ok_or_else(cut)?;
        stack.clear();
        for _ in 0..depth {
            stack.push(next_word(source, header.word)?.ok_or_else(cut)?);
        }
        if count == 0 && stack == [0] {
            return Ok(seen);
        }
        if !header.is_java {
            to_call_addresses(callers(&mut stack));
        }
        let count = i64::try_from(count)
            .map_err(|_| ParseError::at_byte(NAME, start, "sample count exceeds 2^63"))?;
        seen.add(&stack, count);
    }
}

/// The next word; `None` if less than a word is left.
fn next_word(source: &mut Source, word: Word) -> Result<Option<u64>, LoadError> {
    while source.bytes().len() < word.bytes {
        if !source.more()? {
            return Ok(None);
        }
    }
    let value = word.decode(&source.bytes()[..word.bytes]);
    source.consume(word.bytes);
    Ok(Some(value))
}

impl SampledStacks {
    fn add(&mut self, stack: &[u64], count: i64) {
        self.samples += 1;
        let known = self.index.get(stack).copied();
        let number = known.unwrap_or_else(|| {
            self.index.insert(stack.into(), self.stacks.len());
            self.stacks.push((stack.to_vec(), 0, 0));
            self.stacks.len() - 1
        });
        let (_, rows, sum) = &mut self.stacks[number];
        *rows += 1;
        *sum = sum.saturating_add(count);
    }
}

/// Removes frames of the profiler's signal handler from the stacks.
///
/// The leaf comes from the interrupted registers. After it there may be frames of the handler, which is the case if
/// nearly all samples (31 of 32) have the same second frame; and the leaf may be repeated as if it were a return
/// address.
fn strip_signal_frames(seen: &mut SampledStacks) {
    let most = seen.samples - seen.samples / 32;
    for _ in 0..2 {
        let mut second: HashMap<u64, u64> = HashMap::new();
        for (stack, rows, _) in &seen.stacks {
            if let Some(&address) = stack.get(1) {
                *second.entry(address).or_default() += rows;
            }
        }
        let Some(common) = second.into_iter().find(|&(_, rows)| rows >= most).map(|(address, _)| address)
        else {
            break;
        };
        for (stack, ..) in seen.stacks.iter_mut().filter(|(stack, ..)| stack.get(1) == Some(&common)) {
            stack.remove(1);
        }
    }
    for (stack, ..) in &mut seen.stacks {
        if let [leaf, second, ..] = stack[..]
            && leaf == second.wrapping_add(1)
        {
            stack.remove(1);
        }
    }
}
