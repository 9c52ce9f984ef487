//! Converts lines to stacks and sums.

use std::borrow::Cow;

use crate::format::collapsed::blocks::SharedBlocks;
use crate::format::collapsed::mangled::demangle_names;
use crate::format::collapsed::marks::note_of_marks;
use crate::format::collapsed::python::move_locations;
use crate::format::collapsed::threads::label_threads;
use crate::format::collapsed::weight::{Weight, split_weight};
use crate::format::text::{common_prefix, lossy};
use crate::format::{LoadError, ParseError, finished};
use crate::profile::{
    Column, Frame, FrameId, HashIndex, Id, LabelSetId, LoadOptions, Profile, ProfileBuilder, StackId,
};
use crate::unit::plural;

pub(super) const NAME: &str = "collapsed";

/// Number of decimals kept of fractional weights.
const MAX_DECIMALS: u32 = 6;

/// Number of lines that are looked up together.
const AT_ONCE: usize = 64;

/// A line of the input: the index of its block and its index in that block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    pub(super) block: u64,
    pub(super) line: u64,
}

/// A line that has not been looked up yet.
struct StackLine<'a> {
    stack: &'a [u8],
    hash: u32,
    weight: Weight<'a>,
    /// The first of two weights.
    first: Option<Weight<'a>>,
    at: Position,
}

/// Stacks and their sums, as read from some of the blocks.
pub(super) struct CollapsedReader {
    pub(super) builder: ProfileBuilder,
    /// Stacks by the hash of their text. The text itself is not kept: a line is compared with the names of
    /// the frames of a candidate stack.
    pub(super) by_text: HashIndex<StackId>,
    pub(super) hash_of: Column<StackId, u32>,
    /// The line that each stack was first seen in.
    pub(super) first_seen: Column<StackId, Position>,
    /// The first line of each row. A row adds up the weights of a stack that have the same sign.
    pub(super) first_of_row: Vec<Position>,
    /// The frame of each name that has one.
    frame_of: Vec<Option<FrameId>>,
    /// The frames of the latest new stack, and where the name of each ends in its text.
    frames: Vec<FrameId>,
    ends: Vec<usize>,
    two_weights: bool,
    pub(super) decimals: u32,
    pub(super) good: u64,
    pub(super) bad: u64,
    pub(super) first_bad: Option<Position>,
    pub(super) not_utf8: u64,
    pub(super) rounded: u64,
}

impl CollapsedReader {
    /// Readers of one input are given empty indexes that hash in the same way.
    pub(super) fn new(options: LoadOptions, two_weights: bool, by_text: HashIndex<StackId>) -> Self {
        let mut builder = ProfileBuilder::new(NAME, options);
        if two_weights {
            builder.metric("old", "count");
            builder.meta.default_metric = builder.metric("new", "count");
        } else {
            builder.metric("samples", "count");
        }
        CollapsedReader {
            builder,
            by_text,
            hash_of: Column::new(),
            first_seen: Column::new(),
            first_of_row: Vec::new(),
            frame_of: Vec::new(),
            frames: Vec::new(),
            ends: Vec::new(),
            two_weights,
            decimals: 0,
            good: 0,
            bad: 0,
            first_bad: None,
            not_utf8: 0,
            rounded: 0,
        }
    }

    /// Reads up to `most` blocks; returns true if there are no more.
    pub(super) fn read(&mut self, blocks: &SharedBlocks<'_>, most: usize) -> Result<bool, LoadError> {
        let mut emptied = Vec::new();
        for _ in 0..most {
            let Some(block) = blocks.next(emptied)? else { return Ok(true) };
            let lines = self.block(block.number, block.lines.text());
            emptied = blocks.put_back(block, lines);
        }
        Ok(false)
    }

    /// Reads the lines of a block; returns how many there are.
    fn block(&mut self, block: u64, mut text: &[u8]) -> u64 {
        let (mut count, mut lines, mut latest) = (0, Vec::with_capacity(AT_ONCE), &text[..0]);
        while !text.is_empty() {
            let end = memchr::memchr(b'\n', text).map_or(text.len(), |at| at + 1);
            let (line, rest) = text.split_at(end);
            lines.extend(self.line(line.trim_ascii_end(), Position { block, line: count }));
            count += 1;
            text = rest;
            if lines.len() == AT_ONCE || text.is_empty() {
                self.add_lines(&lines, &mut latest);
                lines.clear();
            }
        }
        count
    }

    /// Parses one line without its trailing whitespace. `None` if it has no stack.
    fn line<'a>(&mut self, line: &'a [u8], at: Position) -> Option<StackLine<'a>> {
        if is_blank_or_comment(line) {
            return None;
        }
        let Some((rest, weight)) = split_weight(line) else {
            self.bad_line(at);
            return None;
        };
        let (stack, first) = match self.two_weights.then(|| split_weight(rest)).flatten() {
            Some((stack, first)) => (stack, Some(first)),
            None if !self.two_weights => (rest, None),
            None => {
                self.value(weight);
                self.bad_line(at);
                return None;
            }
        };
        Some(StackLine { stack, hash: self.by_text.hash(stack), weight, first, at })
    }

    fn bad_line(&mut self, at: Position) {
        self.first_bad.get_or_insert(at);
        self.bad += 1;
    }

    /// Adds the samples of some lines. Each lookup needs memory accesses that depend on one another, so they are done one step
    /// at a time: the processor fetches what many lines need at once. `latest` is the text of the latest new stack.
    fn add_lines<'a>(&mut self, lines: &[StackLine<'a>], latest: &mut &'a [u8]) {
        let known = lines.iter().map(|line| self.by_text.find(line.hash, |_| true));
        let known: Vec<Option<StackId>> = known.collect();
        for (line, known) in lines.iter().zip(known) {
            let stack = match known {
                Some(stack) if is_text_of(&self.builder, stack, line.stack) => stack,
                _ => self.stack(line, latest),
            };
            self.sample(stack, line);
        }
    }

    fn sample(&mut self, stack: StackId, line: &StackLine<'_>) {
        self.good += 1;
        let last = self.value(line.weight);
        match line.first {
            None => self.builder.sample(stack, LabelSetId::default(), None, &[last]),
            Some(first) => {
                let first = self.value(first);
                // The first weight may have raised the number of decimals.
                let last = self.value(line.weight);
                self.builder.sample(stack, LabelSetId::default(), None, &[first, last]);
            }
        }
        if self.builder.row_count() > self.first_of_row.len() {
            self.first_of_row.push(line.at);
        }
    }

    fn stack<'a>(&mut self, line: &StackLine<'a>, latest: &mut &'a [u8]) -> StackId {
        if let Some(stack) = self.find(line.hash, line.stack) {
            return stack;
        }
        match lossy(line.stack) {
            Cow::Borrowed(names) => {
                // Sorted stacks begin like the one before.
                let common = common_prefix(line.stack, latest);
                *latest = line.stack;
                self.new_stack(line.hash, names, common, line.at)
            }
            Cow::Owned(names) => {
                self.not_utf8 += 1;
                *latest = &[];
                let hash = self.by_text.hash(names.as_bytes());
                self.find(hash, names.as_bytes()).unwrap_or_else(|| self.new_stack(hash, &names, 0, line.at))
            }
        }
    }

    fn find(&self, hash: u32, text: &[u8]) -> Option<StackId> {
        self.by_text.find(hash, |stack| is_text_of(&self.builder, stack, text))
    }

    /// Adds a stack that is not known, whose text begins with so many bytes of the one before.
    fn new_stack(&mut self, hash: u32, names: &str, common: usize, at: Position) -> StackId {
        // A name is the same if what follows it is the same.
        let kept = self.ends.partition_point(|&end| end < common);
        self.frames.truncate(kept);
        self.ends.truncate(kept);
        if !names.is_empty() {
            let mut start = self.ends.last().map_or(0, |end| end + 1);
            let first = start;
            let separators = memchr::memchr_iter(b';', &names.as_bytes()[first..]).map(|at| first + at);
            for end in separators.chain([names.len()]) {
                let frame = self.frame(&names[start..end]);
                self.frames.push(frame);
                self.ends.push(end);
                start = end + 1;
            }
        }
        // Different texts are different stacks.
        let stack = self.builder.new_stack(&self.frames);
        if stack.index() == self.hash_of.len() {
            self.hash_of.push(hash);
            self.first_seen.push(at);
            self.by_text.insert(hash, stack);
        }
        stack
    }

    pub(super) fn frame(&mut self, name: &str) -> FrameId {
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

    /// The weight as an integer in units of 10^−decimals; `decimals` grows as longer fractions appear.
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
            self.rescale(wanted);
        }
        let value = weight.scaled(self.decimals);
        if i64::try_from(value).is_err() {
            self.builder.overflow(usize::from(self.two_weights));
        }
        value.clamp(i128::from(-i64::MAX), i128::from(i64::MAX)) as i64
    }

    /// Rescales the values so far to more decimals.
    pub(super) fn rescale(&mut self, decimals: u32) {
        let factor = 10u64.pow(decimals - self.decimals);
        for metric in 0..self.builder.meta.metrics.len() {
            self.builder.rescale(metric, factor);
        }
        self.decimals = decimals;
    }

    /// Finishes the profile; `line_number` maps a line of a block to the line of the input.
    pub(super) fn finish(mut self, line_number: &dyn Fn(u64, u64) -> u64) -> Result<Profile, ParseError> {
        let first_bad = self.first_bad.map_or(1, |at| line_number(at.block, at.line));
        if self.bad > self.good || self.good + self.bad == 0 {
            return Err(ParseError::at_line(NAME, first_bad, "no sample count at the end of the line"));
        }
        if self.bad > 0 {
            let warning = format!(
                "skipped {} {} without a sample count, the first at line {first_bad}",
                self.bad,
                plural(self.bad, "line", "lines")
            );
            self.builder.warn(warning);
        }
        if self.not_utf8 > 0 {
            self.builder.warn_of_encoding();
        }
        if self.rounded > 0 {
            let counts = plural(self.rounded, "sample count was", "sample counts were");
            let warning = format!("{} {counts} rounded to {MAX_DECIMALS} decimals", self.rounded);
            self.builder.warn(warning);
        }
        let options = self.builder.options().clone();
        let mut profile = finished(self.builder)?;
        demangle_names(&mut profile);
        if let Some(recorder) = move_locations(&mut profile) {
            profile = label_threads(profile, recorder, options)?;
        }
        let note = note_of_marks(&profile);
        profile.meta.notes.extend(note);
        Ok(profile)
    }
}

/// Whether `text` equals the names of a stack's frames joined by `;`.
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

pub(super) fn is_blank_or_comment(line: &[u8]) -> bool {
    line.trim_ascii_start().is_empty() || line.starts_with(b"#") || line.starts_with(b"//")
}
