//! Collapsed stacks, the text of the flame graph scripts: a stack a line, root first, frames joined
//! by `;`, the weight behind the last blank.
//!
//! ```text
//! main;report;qsort 30
//! ```
//!
//! Names may contain blanks and commas; lines starting with `#` or `//` are comments. Weights may
//! have decimals. Files of `difffolded` have two weights a line: these become the metrics `old` and
//! `new`.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::format::{Confidence, Format, LoadError, ParseError, Source};
use crate::profile::{Column, Frame, FrameId, Id, LabelSetId, LoadOptions, Profile, ProfileBuilder, StackId};

/// The format's row in the list of formats.
pub(super) static COLLAPSED: Format = Format { name: NAME, title: "collapsed stacks", sniff, read };

const NAME: &str = "collapsed";

/// Decimals that are kept of fractional weights.
const MAX_DECIMALS: u32 = 6;

/// A line of this length may be a deep stack.
const LONG: usize = 32 << 10;

/// Names in a deep stack are not longer than this on average.
const LONGEST_NAME: usize = 256;

/// More than half of the lines at the front must end in a weight.
fn sniff(head: &[u8]) -> Confidence {
    if memchr::memchr(0, head).is_some() {
        return Confidence::No;
    }
    let (good, all, _) = survey(head);
    // A stack 10,000 frames deep is a line that does not end here, and its weight is not in sight.
    let is_long_stack = memchr::memchr(b'\n', head).is_none()
        && head.len() >= LONG
        && memchr::memchr_iter(b';', head).count() > LONG / LONGEST_NAME;
    // Many tables have numbers at the ends of their lines: without any stack of two frames it takes more.
    let is_likely =
        if has_separator(head) { good * 2 > all } else { good == all && all > 0 && are_pairs(head) };
    if is_long_stack || is_likely { Confidence::Maybe } else { Confidence::No }
}

/// Whether a line with a weight has frames with a separator between them.
fn has_separator(head: &[u8]) -> bool {
    head.split(|&byte| byte == b'\n')
        .filter_map(|line| split_weight(line.trim_ascii_end()))
        .any(|(stack, _)| stack.contains(&b';'))
}

/// Whether every line is a name without blanks and its weight, or its two weights.
fn are_pairs(head: &[u8]) -> bool {
    let whole = memchr::memrchr(b'\n', head).map_or(head, |end| &head[..end]);
    let lines = whole.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    lines.filter(|line| !is_blank_or_comment(line)).all(|line| {
        let names =
            split_weight(line).map_or(line, |(rest, _)| split_weight(rest).map_or(rest, |(rest, _)| rest));
        !names.is_empty() && !names.contains(&b' ') && !names.contains(&b'\t')
    })
}

/// Of the lines at the front: how many end in a weight, how many there are, and how many end in two.
fn survey(head: &[u8]) -> (usize, usize, usize) {
    let (mut good, mut all, mut double) = (0, 0, 0);
    // The last line may be cut off, unless it is the only one.
    let whole = memchr::memrchr(b'\n', head).map_or(head, |end| &head[..end]);
    for line in whole.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end) {
        if is_blank_or_comment(line) {
            continue;
        }
        all += 1;
        if let Some((rest, _)) = split_weight(line) {
            good += 1;
            double += usize::from(split_weight(rest).is_some());
        }
    }
    (good, all, double)
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let (good, _, double) = survey(source.bytes());
    let mut reader = Reader::new(options, double * 2 > good);
    let mut number = 0;
    while let Some(line) = source.line()? {
        number += 1;
        reader.line(line.trim_ascii_end(), number);
    }
    Ok(reader.finish()?)
}

struct Reader {
    builder: ProfileBuilder,
    /// Stacks by the hash of their text. The text itself is not kept: a line is compared with the
    /// names of the frames it would stand for.
    index: HashTable<StackId>,
    hash_of: Column<StackId, u64>,
    hasher: DefaultHashBuilder,
    /// The frame of each name, as far as names are frames.
    frame_of: Vec<Option<FrameId>>,
    frames: Vec<FrameId>,
    two_weights: bool,
    decimals: u32,
    good: u64,
    bad: u64,
    first_bad: u64,
    not_utf8: u64,
    rounded: u64,
}

impl Reader {
    fn new(options: LoadOptions, two_weights: bool) -> Self {
        let mut builder = ProfileBuilder::new(NAME, options);
        if two_weights {
            builder.metric("old", "count");
            builder.meta.default_metric = builder.metric("new", "count");
        } else {
            builder.metric("samples", "count");
        }
        Reader {
            builder,
            index: HashTable::new(),
            hash_of: Column::new(),
            hasher: DefaultHashBuilder::default(),
            frame_of: Vec::new(),
            frames: Vec::new(),
            two_weights,
            decimals: 0,
            good: 0,
            bad: 0,
            first_bad: 0,
            not_utf8: 0,
            rounded: 0,
        }
    }

    /// Takes one line, its blanks at the end removed.
    fn line(&mut self, line: &[u8], number: u64) {
        if is_blank_or_comment(line) {
            return;
        }
        let Some((rest, weight)) = split_weight(line) else {
            return self.bad_line(number);
        };
        let last = self.value(weight);
        if !self.two_weights {
            return self.sample(rest, &[last]);
        }
        match split_weight(rest) {
            Some((stack, weight)) => {
                let first = self.value(weight);
                // The first weight may have brought more decimals than the second.
                let last = self.value(split_weight(line).map_or(weight, |(_, weight)| weight));
                self.sample(stack, &[first, last]);
            }
            None => self.bad_line(number),
        }
    }

    fn bad_line(&mut self, number: u64) {
        if self.bad == 0 {
            self.first_bad = number;
        }
        self.bad += 1;
    }

    fn sample(&mut self, stack: &[u8], values: &[i64]) {
        self.good += 1;
        let stack = self.stack(stack);
        self.builder.sample(stack, LabelSetId::default(), None, values);
    }

    fn stack(&mut self, text: &[u8]) -> StackId {
        let hash = self.hasher.hash_one(text);
        let builder = &self.builder;
        if let Some(&stack) = self.index.find(hash, |&stack| is_text_of(builder, stack, text)) {
            return stack;
        }
        let lossy = String::from_utf8_lossy(text);
        self.not_utf8 += u64::from(matches!(lossy, std::borrow::Cow::Owned(_)));
        self.frames.clear();
        if !text.is_empty() {
            for name in lossy.split(';') {
                let frame = self.frame(name);
                self.frames.push(frame);
            }
        }
        let stack = self.builder.stack(&self.frames);
        if stack.index() == self.hash_of.len() {
            self.hash_of.push(hash);
            let hash_of = &self.hash_of;
            self.index.insert_unique(hash, stack, |&stack| hash_of[stack]);
        }
        stack
    }

    fn frame(&mut self, name: &str) -> FrameId {
        let string = self.builder.string(name);
        if let Some(Some(frame)) = self.frame_of.get(string.index()) {
            return *frame;
        }
        let function = self.builder.named_function(name, "");
        let inlined = name.ends_with("_[i]");
        let frame = self.builder.frame(Frame { function, inlined, ..Frame::default() });
        self.frame_of.resize(self.frame_of.len().max(string.index() + 1), None);
        self.frame_of[string.index()] = Some(frame);
        frame
    }

    /// The weight as an integer in units of 10^−decimals, where decimals grow as they are met.
    fn value(&mut self, weight: Weight<'_>) -> i64 {
        let mut decimals = weight.fraction.trim_ascii_end();
        while let [rest @ .., b'0'] = decimals {
            decimals = rest;
        }
        if decimals.len() > MAX_DECIMALS as usize {
            self.rounded += 1;
        }
        let wanted = (decimals.len() as u32).min(MAX_DECIMALS);
        if wanted > self.decimals {
            let factor = 10u64.pow(wanted - self.decimals);
            for metric in 0..self.builder.meta.metrics.len() {
                self.builder.rescale(metric, factor);
            }
            self.decimals = wanted;
        }
        let value = weight.scaled(self.decimals);
        if i64::try_from(value).is_err() {
            self.builder.overflow(usize::from(self.two_weights));
        }
        value.clamp(i128::from(-i64::MAX), i128::from(i64::MAX)) as i64
    }

    fn finish(mut self) -> Result<Profile, ParseError> {
        if self.bad > self.good || self.good + self.bad == 0 {
            let line = self.first_bad.max(1);
            return Err(ParseError::at_line(NAME, line, "no weight at the end of the line"));
        }
        if self.bad > 0 {
            let warning = format!(
                "{} lines without a weight were skipped, the first is line {}",
                self.bad, self.first_bad
            );
            self.builder.warn(warning);
        }
        if self.not_utf8 > 0 {
            self.builder.warn("some names are not valid UTF-8; the odd bytes show as \u{fffd}".into());
        }
        if self.rounded > 0 {
            let warning = format!("{} weights were rounded to {MAX_DECIMALS} decimals", self.rounded);
            self.builder.warn(warning);
        }
        self.builder.finish().map_err(|error| ParseError::whole(NAME, error.to_string()))
    }
}

fn is_blank_or_comment(line: &[u8]) -> bool {
    line.trim_ascii_start().is_empty() || line.starts_with(b"#") || line.starts_with(b"//")
}

/// Whether `text` is what the names of a stack's frames give when joined by `;`.
fn is_text_of(builder: &ProfileBuilder, stack: StackId, text: &[u8]) -> bool {
    let mut rest = Some(text);
    for &frame in builder.stack_frames(stack) {
        let name = builder.frame_name(frame).as_bytes();
        rest = match rest.and_then(|rest| rest.strip_prefix(name)) {
            Some([b';', rest @ ..]) => Some(rest),
            Some([]) => None,
            _ => return false,
        };
    }
    // Every name but the last must be followed by more, and the last by nothing.
    rest.is_none() || (text.is_empty() && builder.stack_frames(stack).is_empty())
}

/// A decimal number, split at its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Weight<'a> {
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
}

impl Weight<'_> {
    /// The number times 10^`decimals`, rounded half away from zero; saturates far outside of `i64`.
    fn scaled(self, decimals: u32) -> i128 {
        let digit = |index: usize| self.fraction.get(index).map_or(0, |byte| i128::from(byte - b'0'));
        let mut value: i128 = 0;
        for &byte in self.whole {
            value = value.saturating_mul(10).saturating_add(i128::from(byte - b'0'));
        }
        for index in 0..decimals as usize {
            value = value.saturating_mul(10).saturating_add(digit(index));
        }
        value = value.saturating_add(i128::from(digit(decimals as usize) >= 5));
        if self.negative { -value } else { value }
    }
}

/// Splits a line, trimmed at its end, into what comes before its last blank and the weight behind.
fn split_weight(line: &[u8]) -> Option<(&[u8], Weight<'_>)> {
    let at = memchr::memrchr2(b' ', b'\t', line)?;
    let (rest, number) = (line[..at].trim_ascii_end(), &line[at + 1..]);
    let (negative, digits) = match number {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let (whole, fraction) = match memchr::memchr(b'.', digits) {
        Some(point) => (&digits[..point], &digits[point + 1..]),
        None => (digits, &digits[..0]),
    };
    let is_number = whole.len() + fraction.len() > 0 && whole.iter().chain(fraction).all(u8::is_ascii_digit);
    is_number.then_some((rest, Weight { negative, whole, fraction }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::draw;

    fn load(text: &str) -> Result<Profile, LoadError> {
        read(&mut Source::from_bytes(text.as_bytes().to_vec()), LoadOptions::default())
    }

    #[test]
    fn names_keep_blanks_and_repeated_lines_add_up() {
        let profile = load("# a comment\nmain;operator new(unsigned long) 3\r\nmain;<T as X>::f, g 2\nmain;operator new(unsigned long) 4").unwrap();
        assert_eq!(draw(&profile), "main;<T as X>::f, g 2\nmain;operator new(unsigned long) 7");
        assert_eq!((profile.meta.rows, profile.samples.len()), (3, 2));
    }

    #[test]
    fn stacks_that_begin_alike_are_told_apart() {
        let profile = load("a;b 1\na 2\na;b;c 4\na;bb 8\n;a 16\na; 32\n").unwrap();
        assert_eq!(profile.stacks.len(), 6);
        assert_eq!(profile.meta.metrics[0].total, 63);
    }

    #[test]
    fn decimals_scale_all_values() {
        let profile = load("a 1\nb 0.25\nc 2.50\n").unwrap();
        assert_eq!(profile.samples.values[0], [100, 25, 250]);
        assert_eq!(profile.meta.metrics[0].divisor, 100);
        let profile = load("a 0.1234567\n").unwrap();
        assert_eq!(profile.samples.values[0], [123_457]);
        assert_eq!(profile.meta.warnings, ["1 weights were rounded to 6 decimals"]);
    }

    #[test]
    fn two_weights_a_line_are_old_and_new() {
        let profile = load("a;b 1 2\na 3 0.5\n").unwrap();
        let names: Vec<_> = profile.meta.metrics.iter().map(|metric| metric.name.as_str()).collect();
        assert_eq!((names, profile.meta.default_metric), (vec!["old", "new"], 1));
        assert_eq!(profile.samples.values, [vec![10, 30], vec![20, 5]]);
    }

    #[test]
    fn a_weight_past_u64_marks_the_metric() {
        let profile = load("a 18446744073709551615\n").unwrap();
        assert!(profile.meta.metrics[0].too_large);
    }

    #[test]
    fn bad_lines_are_counted_unless_most_are_bad() {
        let profile = load("a 1\nb 2\nno weight here\n").unwrap();
        assert_eq!(profile.meta.warnings, ["1 lines without a weight were skipped, the first is line 3"]);
        let error = load("a 1\nbad\nworse\n").unwrap_err();
        assert_eq!(error.to_string(), "collapsed: no weight at the end of the line (line 2)");
    }
}
