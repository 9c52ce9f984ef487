//! Sampled profiles: a stack and a weight per sample.

use std::hash::{BuildHasher, Hasher};

use hashbrown::{DefaultHashBuilder, HashSet};

use crate::format::ParseError;
use crate::format::json::Json;
use crate::format::recent::Recent;
use crate::format::speedscope::{Moment, SpeedscopeReader, ThreadScale, numbered_frame};
use crate::format::text::common_prefix;
use crate::parallel;
use crate::profile::{AT_ONCE, Column, FrameId, Id, StackId, Stacks};

/// So many samples are handed to another thread together, or as many as have so many stacks that were not read recently.
const MOST_SAMPLES: usize = 1 << 12;
const MOST_STACKS: usize = 4 * AT_ONCE;

impl SpeedscopeReader {
    /// Reads the samples and their weights side by side, and advances past the weights. Text is read on the current thread, and
    /// samples are added on another.
    pub(super) fn read_sampled<'a>(
        &mut self,
        samples: Json<'a>,
        weights: &mut Json<'a>,
        start: Moment,
        scale: &ThreadScale,
        stacks: &mut SampledStacks<'a>,
    ) -> Result<(), ParseError> {
        let frames = std::mem::take(&mut self.frames);
        let SampledStacks { texts, ids } = stacks;
        let outside = std::mem::take(&mut self.outside);
        let weight = KnownWeight::ZERO;
        let mut sampled = Sampled { samples, weights, weight, texts, frames: &frames, outside: &outside };
        sampled.samples.array()?;
        sampled.weights.array()?;
        // What the weights add to a start that is not exact as `f64` is summed separately.
        let base = start.whole.and_then(|_| start.time(scale)).unwrap_or(0);
        let mut moment = if start.whole.is_some() { 0.0 } else { start.value };
        let take = |batch: SampleBatch| {
            self.builder.add_stacks(&batch.stacks, ids);
            for (number, weight) in batch.samples {
                let value = self.value(scale, weight);
                let time = scale.nanoseconds.map(|unit| base.saturating_add((moment * unit) as i64));
                self.write(scale, ids[StackId::new(number)], time, value);
                moment += weight;
            }
            Ok(())
        };
        let taken = parallel::batches(|batch| sampled.fill(batch), take);
        (self.frames, self.outside) = (frames, outside);
        taken
    }
}

/// Some samples of a profile.
#[derive(Default)]
struct SampleBatch {
    /// The number of the stack of each, and its weight.
    samples: Vec<(usize, f64)>,
    /// The stacks that got the next numbers.
    stacks: Stacks,
}

/// The stacks of all samples that were read, by their numbers.
#[derive(Default)]
pub(super) struct SampledStacks<'a> {
    texts: StackTexts<'a>,
    ids: Column<StackId, StackId>,
}

/// What is left of the samples and the weights.
struct Sampled<'a, 's> {
    samples: Json<'a>,
    weights: &'s mut Json<'a>,
    weight: KnownWeight<'a>,
    texts: &'s mut StackTexts<'a>,
    frames: &'s [FrameId],
    outside: &'s HashSet<FrameId>,
}

/// The weight of the latest sample, and how it is written: most samples have the same.
struct KnownWeight<'a> {
    text: &'a [u8],
    weight: f64,
}

impl KnownWeight<'_> {
    const ZERO: KnownWeight<'static> = KnownWeight { text: b"0", weight: 0.0 };
}

impl Sampled<'_, '_> {
    /// Reads some samples; returns whether there may be more.
    fn fill(&mut self, batch: &mut SampleBatch) -> Result<bool, ParseError> {
        while batch.samples.len() < MOST_SAMPLES && batch.stacks.len() < MOST_STACKS {
            if !self.samples.element()? {
                let is_end = !self.weights.element()?;
                return if is_end { Ok(false) } else { Err(self.weights.error("more weights than samples")) };
            }
            let number =
                self.texts.read(&mut self.samples, (self.frames, self.outside), &mut batch.stacks)?;
            if !self.weights.element()? {
                return Err(self.weights.error("fewer weights than samples"));
            }
            batch.samples.push((number, self.weight()?));
        }
        Ok(true)
    }

    /// Reads the next weight. Comparing its text takes a third of the time of reading a number.
    fn weight(&mut self) -> Result<f64, ParseError> {
        let KnownWeight { text, weight } = self.weight;
        if let Some([b',' | b']', ..]) = self.weights.rest().strip_prefix(text) {
            self.weights.advance(text.len());
            return Ok(weight);
        }
        let start = self.weights.position();
        let weight = self.weights.number()?;
        self.weight = KnownWeight { text: self.weights.since(start), weight };
        Ok(weight)
    }
}

/// Numbers the stacks of samples. Most were read recently, in the same text, so that their frames need not be read and looked up.
#[derive(Default)]
struct StackTexts<'a> {
    /// Recordings of a minute have tens of thousands of stacks.
    recent: Recent<&'a [u8], usize, 14>,
    hasher: DefaultHashBuilder,
    latest: StackText<'a>,
    /// How many stacks have a number.
    count: usize,
}

impl<'a> StackTexts<'a> {
    /// Returns the number of the stack of the next sample, which is appended to `stacks` if its number is a new one.
    fn read(
        &mut self,
        json: &mut Json<'a>,
        (frames, outside): (&[FrameId], &HashSet<FrameId>),
        stacks: &mut Stacks,
    ) -> Result<usize, ParseError> {
        let rest = json.rest();
        let text = &rest[..memchr::memchr(b']', rest).map_or(rest.len(), |end| end + 1)];
        let hash = self.hash(text);
        if let Some(number) = self.recent.get(hash, text) {
            json.advance(text.len());
            return Ok(number);
        }
        self.latest.read(json, frames)?;
        let mut inside = &self.latest.frames[..];
        while let [first, rest @ ..] = inside
            && outside.contains(first)
        {
            inside = rest;
        }
        if stacks.push(inside).is_none() {
            return Err(json.error("a stack has too many frames"));
        }
        let number = self.count;
        self.count += 1;
        self.recent.set(hash, text, number);
        Ok(number)
    }

    fn hash(&self, text: &[u8]) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(text);
        hasher.finish()
    }
}

/// The stack that was read last. The next one often begins with the same frames, so only the part of its text that differs is read.
#[derive(Default)]
struct StackText<'a> {
    /// The list of frame numbers, as written: `[0, 1, 7]`.
    text: &'a [u8],
    frames: Vec<FrameId>,
    /// Where each number ends in `text`.
    ends: Vec<usize>,
}

impl<'a> StackText<'a> {
    /// Reads the next stack.
    fn read(&mut self, json: &mut Json<'a>, frames: &[FrameId]) -> Result<(), ParseError> {
        let text = json.rest();
        let common = common_prefix(text, self.text);
        // A number is the same if what follows it is the same: 12 is not 1.
        let kept = self.ends.partition_point(|&end| end < common);
        self.frames.truncate(kept);
        self.ends.truncate(kept);
        let start = json.position();
        if let Some(end) = self.read_usual(text, frames) {
            json.advance(end);
            self.text = json.since(start);
            return Ok(());
        }
        self.frames.truncate(kept);
        self.ends.truncate(kept);
        match self.ends.last() {
            Some(&end) => json.advance(end),
            None => json.array()?,
        }
        while json.element()? {
            self.frames.push(numbered_frame(json, frames)?);
            self.ends.push(json.since(start).len());
        }
        self.text = json.since(start);
        Ok(())
    }

    /// Reads the numbers after those that are known, and returns where the list ends. `None` if anything but digits, commas
    /// and blanks is between its brackets, or a frame does not exist. Not having to go through the general reader for each
    /// number saves a quarter of the time for a file.
    fn read_usual(&mut self, text: &[u8], frames: &[FrameId]) -> Option<usize> {
        let mut at = match self.ends.last() {
            Some(&end) => end,
            None if text.first() == Some(&b'[') => 1,
            None => return None,
        };
        loop {
            match text.get(at)? {
                b']' => return Some(at + 1),
                b',' if !self.ends.is_empty() => at += 1,
                b'0'..=b'9' if self.ends.is_empty() => {}
                _ => return None,
            }
            at += usize::from(text.get(at) == Some(&b' '));
            let start = at;
            let mut number: u32 = 0;
            while let (Some(digit @ b'0'..=b'9'), true) = (text.get(at), at - start < MOST_DIGITS) {
                number = 10 * number + u32::from(digit - b'0');
                at += 1;
            }
            if at == start {
                return None;
            }
            self.frames.push(*frames.get(number as usize)?);
            self.ends.push(at);
        }
    }
}

/// Longer numbers are left to the general reader.
const MOST_DIGITS: usize = 9;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::speedscope::tests::load;
    use crate::profile::to_notation;

    #[test]
    fn stacks_with_the_same_beginning_are_distinguished() {
        let samples = "[[1, 1, 1], [1, 1, 1], [1, 1], [1,1, 0], [1, 1, 0], [1], [], [ ], [1 ,0], [1 ,0 ,1], [0, 1], [0]]";
        let weights = "[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]";
        let profile = load(&format!(
            r#"{{"type": "sampled", "name": "", "unit": "none", "startValue": 0, "endValue": 9, "samples": {samples}, "weights": {weights}}}"#
        ));
        let b = "b@b.py:7";
        let expected = [
            " 192".to_string(),
            "a 2048".to_string(),
            format!("a;{b} 1024"),
            format!("{b} 32"),
            format!("{b};a 256"),
            format!("{b};a;{b} 512"),
            format!("{b};{b} 4"),
            format!("{b};{b};a 24"),
            format!("{b};{b};{b} 3"),
        ];
        assert_eq!(to_notation(&profile.unwrap()), expected.join("\n"));
    }

    #[test]
    fn processes_and_threads_of_py_spy_are_no_frames() {
        let text = r#"{"profiles": [{"type": "sampled", "name": "Process 8 Thread 9 \"Main\"", "unit": "none", "startValue": 0,
            "endValue": 3, "samples": [[1, 2, 0], [1, 2]], "weights": [2, 1]}], "shared": {"frames": [{"name": "f", "file": "x.py", "line": 6},
            {"name": "process 8:\"python x.py\"", "file": "", "line": 0}, {"name": "thread (9): Main", "file": "", "line": 0}]}}"#;
        let profile = (crate::format::speedscope::SPEEDSCOPE.read)(
            &mut crate::format::Source::from_bytes(text.into()),
            crate::profile::LoadOptions::ALL,
        );
        let expected = " 1 {process=8 thread=Main tid=9}\nf@x.py:6 2 {process=8 thread=Main tid=9}";
        assert_eq!(to_notation(&profile.unwrap()), expected);
    }

    #[test]
    fn many_samples_are_read_in_batches() {
        let count = 3 * MOST_SAMPLES + 1;
        let sampled = |last_stack: &str, weights: usize| {
            let mut stacks: Vec<&str> =
                (0..count).map(|number| ["[0]", "[0, 1]", "[0, 1]"][number % 3]).collect();
            stacks.push(last_stack);
            let weights = vec!["1"; weights].join(",");
            load(&format!(
                r#"{{"type": "sampled", "name": "", "unit": "none", "startValue": 0, "endValue": 9, "samples": [{}], "weights": [{weights}]}}"#,
                stacks.join(",")
            ))
        };
        let expected = format!("a {}\na;b@b.py:7 {}", count.div_ceil(3), count - count.div_ceil(3) + 1);
        assert_eq!(to_notation(&sampled("[0, 1]", count + 1).unwrap()), expected);
        let error = |last_stack, weights| sampled(last_stack, weights).unwrap_err().to_string();
        assert!(error("[0, 2]", count + 1).contains("out of range"));
        assert!(error("[0]", count).contains("fewer weights than samples"));
        assert!(error("[0]", count + 2).contains("more weights than samples"));
    }

    /// The frames of each stack are the digits of its number, in a base of 2.
    #[test]
    fn stacks_may_come_again_after_many_others_and_in_other_threads() {
        let stacks: Vec<String> = (1..4 * MOST_STACKS)
            .map(|number| format!("{number:b}").chars().map(String::from).collect::<Vec<_>>().join(","))
            .map(|frames| format!("[{frames}]"))
            .collect();
        let weights = vec!["2"; stacks.len()].join(",");
        let thread = format!(
            r#"{{"type": "sampled", "name": "t", "unit": "none", "startValue": 0, "endValue": 9, "samples": [{}], "weights": [{weights}]}}"#,
            stacks.join(",")
        );
        let profile = load(&[thread.as_str(); 3].join(",")).unwrap();
        assert_eq!((profile.stacks.len(), profile.meta.rows), (stacks.len(), 3 * stacks.len() as u64));
        let added_up = |number: usize| profile.samples.values[0][number];
        assert!((0..stacks.len()).all(|number| added_up(number) == 6));
        let frames: Vec<usize> =
            profile.stacks.frames(StackId::new(5)).iter().map(|frame| frame.index()).collect();
        assert_eq!(frames, [1, 1, 0]);
    }

    #[test]
    fn members_may_be_in_any_order() {
        let usual = r#""type": "sampled", "name": "t", "unit": "none", "startValue": 3, "samples": [[0], [1]], "weights": [1, 2]"#;
        let expected = to_notation(&load(&format!("{{{usual}}}")).unwrap());
        for other in [
            r#""weights": [1, 2], "samples": [[0], [1]], "startValue": 3, "unit": "none", "name": "t", "type": "sampled""#,
            r#""type": "sampled", "name": "t", "unit": "none", "samples": [[0], [1]], "weights": [1, 2], "startValue": 3"#,
            r#""samples": [[0], [1]], "weights": [1, 2], "type": "sampled", "name": "t", "unit": "none""#,
        ] {
            assert_eq!(to_notation(&load(&format!("{{{other}}}")).unwrap()), expected, "{other}");
        }
    }

    #[test]
    fn a_weight_is_not_the_beginning_of_a_longer_one() {
        let profile = load(
            r#"{"type": "sampled", "name": "", "unit": "none", "startValue": 0, "endValue": 9, "samples": [[0], [0], [1], [1], [0, 0], [0, 1], [1, 1]],
               "weights": [1, 1, 12, 1.5, 1e1, 1e1 , 0]}"#,
        );
        let b = "b@b.py:7";
        let expected = ["a 20".to_string(), "a;a 100".to_string(), format!("a;{b} 100"), format!("{b} 135")];
        assert_eq!(to_notation(&profile.unwrap()), expected.join("\n"));
        let error = load(
            r#"{"type": "sampled", "name": "", "unit": "none", "startValue": 0, "endValue": 9, "samples": [[0], [0]], "weights": [,1]}"#,
        );
        assert!(error.unwrap_err().to_string().contains("expected a number"));
    }

    #[test]
    fn a_number_is_not_the_beginning_of_a_longer_one() {
        assert_eq!(common_prefix(b"[1, 2]", b"[1, 23]"), 5);
        assert_eq!(common_prefix(&[7; 40], &[7; 33]), 33);
        let profile = load(
            r#"{"type": "sampled", "name": "", "unit": "none", "startValue": 0, "endValue": 9, "samples": [[1], [10]], "weights": [1, 2]}"#,
        );
        assert!(profile.unwrap_err().to_string().contains("out of range"));
    }
}
