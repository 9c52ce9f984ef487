//! Contention profiles: which code waited for locks, and how long.
//!
//! ```text
//! --- contention:
//! cycles/second=1596785089
//! 2824021344 1 @ 0x100434b 0x10b4d3c
//! ```
//!
//! A line contains the cycles waited, how often, and the stack. Go writes `--- mutex:` if the stacks are of code that
//! *made* others wait; gperftools writes `--- contentionz 1 ---`, and Java's agent the same with `format = java`.

use crate::format::pprof_legacy::count::Comments;
use crate::format::pprof_legacy::java;
use crate::format::pprof_legacy::maps::{self, MemoryMap};
use crate::format::pprof_legacy::recorder::Recorder;
use crate::format::pprof_legacy::{NAME, addresses, is_blank_or_comment, to_call_addresses};
use crate::format::text::{BadLines, Lines, Scan, decimal};
use crate::format::{LoadError, ParseError};
use crate::profile::{LabelSetId, LoadOptions, Period, Profile};

/// The locking functions. They are dropped from stacks, because they say nothing about the program.
const LOCKS: &str = "RecordLockProfileData|(base::)?(RecordLockProfileData|SubmitMutexProfileData|\
    SubmitSpinLockProfileData).*|(Mutex::)?(AwaitCommon|Unlock|UnlockSlow|ReaderUnlock).*|(MutexLock::)?~MutexLock.*|\
    (SpinLock::)?(Unlock|SlowUnlock).*|(SpinLockHolder::)?~SpinLockHolder.*";

pub(super) fn is_header(line: &[u8]) -> bool {
    line.starts_with(b"--- contention") || line.starts_with(b"--- mutex:")
}

/// The attributes between the header and the samples.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    pub(super) cycles_per_second: i64,
    pub(super) sampling_period: i64,
    pub(super) ms_since_reset: i64,
    pub(super) is_java: bool,
    pub(super) resolution: Option<String>,
}

impl Attributes {
    pub(super) fn read(lines: &mut Lines<'_>) -> Result<Self, LoadError> {
        let mut attributes = Attributes::default();
        while lines.advance()? {
            let line = lines.line().trim_ascii();
            if line.is_empty() {
                continue;
            }
            let Some(equals) = memchr::memchr(b'=', line).filter(|_| !line.starts_with(b"---")) else {
                lines.push_back();
                break;
            };
            let (name, value) = (line[..equals].trim_ascii(), line[equals + 1..].trim_ascii());
            let number = || {
                let message = format!("{} is not a number", String::from_utf8_lossy(name));
                decimal(value).ok_or_else(|| ParseError::at_line(NAME, lines.number(), message))
            };
            match name {
                b"cycles/second" => attributes.cycles_per_second = number()?,
                b"sampling period" => attributes.sampling_period = number()?,
                b"ms since reset" => attributes.ms_since_reset = number()?,
                b"format" => attributes.is_java = value == b"java",
                b"resolution" => attributes.resolution = Some(String::from_utf8_lossy(value).into_owned()),
                // `discarded samples` and others do not affect values.
                _ => {}
            }
        }
        Ok(attributes)
    }

    /// Sets the metadata of the profile.
    pub(super) fn describe(&self, recorder: &mut Recorder) {
        let meta = &mut recorder.builder.meta;
        meta.drop_frames = LOCKS.into();
        if self.ms_since_reset > 0 {
            meta.duration_ns = self.ms_since_reset.checked_mul(1_000_000);
        }
        if self.sampling_period > 0 {
            let (name, unit) = ("contentions".into(), "count".into());
            meta.period = Some(Period { name, unit, value: self.sampling_period });
        }
    }
}

pub(super) fn read(mut lines: Lines<'_>, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut attributes = Attributes::read(&mut lines)?;
    if attributes.is_java {
        return java::read_contention(&attributes, lines, options);
    }
    attributes.sampling_period = attributes.sampling_period.max(1);
    let mut recorder = Recorder::new(options, &[("contentions", "count"), ("delay", "nanoseconds")]);
    attributes.describe(&mut recorder);
    let (mut bad, mut samples, mut in_map) = (BadLines::default(), 0, false);
    let mut comments = Comments::default();
    let mut stack = Vec::new();
    while lines.advance()? {
        let line = lines.line();
        if is_blank_or_comment(line) {
            comments.line(line, &mut recorder);
            continue;
        }
        comments.end(&mut recorder);
        if line.starts_with(b"---") || maps::is_header(line) {
            in_map = maps::is_header(line);
            break;
        }
        stack.clear();
        match sample(line, &mut stack) {
            Some((cycles, count)) => {
                to_call_addresses(&mut stack);
                samples += 1;
                let values = attributes.unsample(cycles, count);
                recorder.sample(&stack, LabelSetId::default(), &values);
            }
            None => bad.add(lines.number()),
        }
    }
    comments.end(&mut recorder);
    let mut map = MemoryMap::read(&mut lines, in_map)?;
    bad.settle(&mut recorder.builder, samples, "not a contention sample")?;
    recorder.finish(&mut map)
}

/// Parses `100 10 @ 0xbccc97 0xc61202`, with any whitespace after the first two numbers.
fn sample(line: &[u8], stack: &mut Vec<u64>) -> Option<(i64, i64)> {
    let mut scan = Scan(line);
    let (first, second) = (scan.integer()?, scan.integer()?);
    scan.literal(b"@")?;
    addresses(scan.0, stack).then_some((first, second))
}

impl Attributes {
    /// Estimates the actual contentions and nanoseconds of delay from those sampled.
    fn unsample(&self, cycles: i64, count: i64) -> [i64; 2] {
        let delay = if self.cycles_per_second > 0 {
            let ghz = self.cycles_per_second as f64 / 1e9;
            (cycles as f64 * self.sampling_period as f64 / ghz) as i64
        } else {
            cycles
        };
        [count.saturating_mul(self.sampling_period), delay]
    }
}
