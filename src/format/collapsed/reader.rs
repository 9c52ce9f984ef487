//! Converts lines to stacks and sums.

use std::borrow::Cow;
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::format::collapsed::blocks::SharedBlocks;
use crate::format::collapsed::python::move_locations;
use crate::format::collapsed::weight::{Weight, split_weight};
use crate::format::text::lossy;
use crate::format::{LoadError, ParseError, finished};
use crate::profile::{Column, Frame, FrameId, Id, LabelSetId, LoadOptions, Profile, ProfileBuilder, StackId};
use crate::unit::plural;

pub(super) const NAME: &str = "collapsed";

/// Number of decimals kept of fractional weights.
const MAX_DECIMALS: u32 = 6;

/// A line of the input: the index of its block and its index in that block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    pub(super) block: u64,
    pub(super) line: u64,
}

/// Stacks and their sums, as read from some of the blocks.
pub(super) struct CollapsedReader {
    pub(super) builder: ProfileBuilder,
    /// Stacks by the hash of their text. The text itself is not kept: a line is compared with the names of
    /// the frames of a candidate stack.
    index: HashTable<StackId>,
    hash_of: Column<StackId, u64>,
    /// The line that each stack was first seen in.
    pub(super) first_seen: Column<StackId, Position>,
    /// The first line of each row. A row adds up the weights of a stack that have the same sign.
    pub(super) first_of_row: Vec<Position>,
    hasher: DefaultHashBuilder,
    /// The frame of each name that has one.
    frame_of: Vec<Option<FrameId>>,
    frames: Vec<FrameId>,
    two_weights: bool,
    pub(super) decimals: u32,
    pub(super) good: u64,
    pub(super) bad: u64,
    pub(super) first_bad: Option<Position>,
    pub(super) not_utf8: u64,
    pub(super) rounded: u64,
}

impl CollapsedReader {
    pub(super) fn new(options: LoadOptions, two_weights: bool) -> Self {
        let mut builder = ProfileBuilder::new(NAME, options);
        if two_weights {
            builder.metric("old", "count");
            builder.meta.default_metric = builder.metric("new", "count");
        } else {
            builder.metric("samples", "count");
        }
        CollapsedReader {
            builder,
            index: HashTable::new(),
            hash_of: Column::new(),
            first_seen: Column::new(),
            first_of_row: Vec::new(),
            hasher: DefaultHashBuilder::default(),
            frame_of: Vec::new(),
            frames: Vec::new(),
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
            let mut lines = 0;
            let mut text = block.lines.text();
            while !text.is_empty() {
                let end = memchr::memchr(b'\n', text).map_or(text.len(), |at| at + 1);
                let (line, rest) = text.split_at(end);
                self.line(line.trim_ascii_end(), Position { block: block.number, line: lines });
                lines += 1;
                text = rest;
            }
            emptied = blocks.put_back(block, lines);
        }
        Ok(false)
    }

    /// Parses one line without its trailing whitespace.
    fn line(&mut self, line: &[u8], at: Position) {
        if is_blank_or_comment(line) {
            return;
        }
        let Some((rest, weight)) = split_weight(line) else {
            return self.bad_line(at);
        };
        let last = self.value(weight);
        if !self.two_weights {
            return self.sample(rest, &[last], at);
        }
        match split_weight(rest) {
            Some((stack, weight)) => {
                let first = self.value(weight);
                // The second weight may have raised the number of decimals after the first was converted.
                let last = self.value(split_weight(line).map_or(weight, |(_, weight)| weight));
                self.sample(stack, &[first, last], at);
            }
            None => self.bad_line(at),
        }
    }

    fn bad_line(&mut self, at: Position) {
        self.first_bad.get_or_insert(at);
        self.bad += 1;
    }

    fn sample(&mut self, stack: &[u8], values: &[i64], at: Position) {
        self.good += 1;
        let stack = self.stack(stack, at);
        self.builder.sample(stack, LabelSetId::default(), None, values);
        if self.builder.row_count() > self.first_of_row.len() {
            self.first_of_row.push(at);
        }
    }

    fn stack(&mut self, text: &[u8], at: Position) -> StackId {
        let hash = self.hasher.hash_one(text);
        let builder = &self.builder;
        if let Some(&stack) = self.index.find(hash, |&stack| is_text_of(builder, stack, text)) {
            return stack;
        }
        let names = lossy(text);
        self.not_utf8 += u64::from(matches!(names, Cow::Owned(_)));
        self.frames.clear();
        if !text.is_empty() {
            let mut start = 0;
            for end in memchr::memchr_iter(b';', names.as_bytes()).chain([names.len()]) {
                let frame = self.frame(&names[start..end]);
                self.frames.push(frame);
                start = end + 1;
            }
        }
        let stack = self.builder.stack(&self.frames);
        if stack.index() == self.hash_of.len() {
            self.hash_of.push(hash);
            self.first_seen.push(at);
            let hash_of = &self.hash_of;
            self.index.insert_unique(hash, stack, |&stack| hash_of[stack]);
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
            self.builder.warn("some names are not valid UTF-8; invalid bytes are shown as \u{fffd}".into());
        }
        if self.rounded > 0 {
            let counts = plural(self.rounded, "sample count was", "sample counts were");
            let warning = format!("{} {counts} rounded to {MAX_DECIMALS} decimals", self.rounded);
            self.builder.warn(warning);
        }
        let mut profile = finished(self.builder)?;
        move_locations(&mut profile);
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
