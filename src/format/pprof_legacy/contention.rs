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

use crate::format::LoadError;
use crate::format::pprof_legacy::attributes::Attributes;
use crate::format::pprof_legacy::count::Comments;
use crate::format::pprof_legacy::maps::{self, MemoryMap};
use crate::format::pprof_legacy::recorder::{Recorder, Start};
use crate::format::pprof_legacy::{addresses, is_blank_or_comment, java, to_call_addresses};
use crate::format::text::{BadLines, Lines, Scan};
use crate::profile::{LabelSetId, Profile};

pub(super) fn is_header(line: &[u8]) -> bool {
    line.starts_with(b"--- contention") || line.starts_with(b"--- mutex:")
}

pub(super) fn read(mut lines: Lines<'_>, start: Start) -> Result<Profile, LoadError> {
    // After the symbols of `pprof --raw` there are two headers: what the profile is, and its own.
    if lines.advance()? && !is_header(lines.line()) {
        lines.push_back();
    }
    let mut attributes = Attributes::read(&mut lines)?;
    if attributes.is_java {
        return java::read_contention(&attributes, lines, start.options);
    }
    attributes.sampling_period = attributes.sampling_period.max(1);
    let mut recorder = Recorder::new(start, &[("contentions", "count"), ("delay", "nanoseconds")]);
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
