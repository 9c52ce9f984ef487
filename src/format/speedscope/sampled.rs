//! Sampled profiles: a stack and a weight per sample.

use crate::format::ParseError;
use crate::format::json::Json;
use crate::format::speedscope::{SpeedscopeReader, ThreadScale, numbered_frame};
use crate::format::text::common_prefix;
use crate::parallel;
use crate::profile::{FrameId, StackId};

/// So many samples are handed to another thread together.
const BATCH: usize = 1 << 10;

impl SpeedscopeReader {
    /// Reads the samples and their weights side by side. Text is read on the current thread, and samples are added on another.
    pub(super) fn read_sampled(
        &mut self,
        samples: Json,
        weights: Json,
        mut moment: f64,
        scale: &ThreadScale,
    ) -> Result<(), ParseError> {
        let frames = std::mem::take(&mut self.frames);
        let mut sampled = Sampled { samples, weights, stack: StackText::default(), frames: &frames };
        sampled.samples.array()?;
        sampled.weights.array()?;
        let mut stack = StackId::default();
        let take = |batch: SampleBatch| {
            let mut start = 0;
            for (length, weight) in batch.samples {
                if let Some(length) = length {
                    stack = self.builder.stack(&batch.frames[start..start + length]);
                    start += length;
                }
                let value = self.value(scale, weight);
                self.write(scale, stack, moment, value);
                moment += weight;
            }
            Ok(())
        };
        let taken = parallel::batches(|batch| sampled.fill(batch), take);
        self.frames = frames;
        taken
    }
}

/// Some samples of a profile.
#[derive(Default)]
struct SampleBatch {
    /// The number of frames of each, and its weight; no number if the stack is that of the sample before.
    samples: Vec<(Option<usize>, f64)>,
    /// The frames of all, one stack after the other.
    frames: Vec<FrameId>,
}

/// What is left of the samples and the weights.
struct Sampled<'a> {
    samples: Json<'a>,
    weights: Json<'a>,
    stack: StackText<'a>,
    frames: &'a [FrameId],
}

impl Sampled<'_> {
    /// Reads some samples; returns whether there may be more.
    fn fill(&mut self, batch: &mut SampleBatch) -> Result<bool, ParseError> {
        while batch.samples.len() < BATCH {
            if !self.samples.element()? {
                let is_end = !self.weights.element()?;
                return if is_end { Ok(false) } else { Err(self.weights.error("more weights than samples")) };
            }
            let is_new = self.stack.read(&mut self.samples, self.frames)?;
            if !self.weights.element()? {
                return Err(self.weights.error("fewer weights than samples"));
            }
            let weight = self.weights.number()?;
            batch.samples.push((is_new.then_some(self.stack.frames.len()), weight));
            batch.frames.extend_from_slice(if is_new { &self.stack.frames } else { &[] });
        }
        Ok(true)
    }
}

/// The stack of the latest sample. The next one usually begins with the same frames, or is the same stack, so only the part
/// of its text that differs is read.
#[derive(Default)]
struct StackText<'a> {
    /// The list of frame numbers, as written: `[0, 1, 7]`.
    text: &'a [u8],
    frames: Vec<FrameId>,
    /// Where each number ends in `text`.
    ends: Vec<usize>,
}

impl<'a> StackText<'a> {
    /// Reads the stack of the next sample; returns whether its text is another one than before.
    fn read(&mut self, json: &mut Json<'a>, frames: &[FrameId]) -> Result<bool, ParseError> {
        let text = json.rest();
        let common = common_prefix(text, self.text);
        if common == self.text.len() && common > 0 {
            json.advance(common);
            return Ok(false);
        }
        // A number is the same if what follows it is the same: 12 is not 1.
        let kept = self.ends.partition_point(|&end| end < common);
        self.frames.truncate(kept);
        self.ends.truncate(kept);
        let start = json.position();
        if let Some(end) = self.read_usual(text, frames) {
            json.advance(end);
            self.text = json.since(start);
            return Ok(true);
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
        Ok(true)
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
    fn many_samples_are_read_in_batches() {
        let count = 3 * BATCH + 1;
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
