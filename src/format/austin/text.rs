//! Reads the text format of austin, a sampling profiler for Python: one sample per line, root first.
//!
//! ```text
//! # mode: wall
//! P8374;T0:8374;/srv/app.py:main:92;/srv/app.py:work:84 10076
//! ```
//!
//! Austin 1 and 2 write `main (/srv/app.py);L92` for a frame.
//!
//! The number is in microseconds, or in bytes in memory mode; full mode has all three, as `cpu,idle,bytes`.

use crate::format::austin::INVALID;
use crate::format::austin::recording::{Measured, Mode, Recording, SampleStack};
use crate::format::text::{BadLines, decimal, lossy};
use crate::format::{Confidence, Format, LoadError, ParseError, Source};
use crate::profile::{Frame, FrameId, LoadOptions, Profile};

/// The entry in the list of readable formats.
pub(in crate::format) static AUSTIN: Format = Format { name: NAME, title: "austin", sniff, read };

const NAME: &str = "austin";

fn sniff(head: &[u8]) -> Confidence {
    if head.starts_with(b"# austin:") {
        return Confidence::Certain;
    }
    let mut lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(b"#"));
    if first.is_some_and(|line| AustinSample::parse(line).is_some()) {
        Confidence::Certain
    } else {
        Confidence::No
    }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut reader = AustinReader::new(options, source.may_use_threads());
    let mut number = 0;
    while let Some(line) = source.line()? {
        number += 1;
        let line = line.trim_ascii_end();
        if let Some(comment) = line.strip_prefix(b"#") {
            let mode = reader.recording.mode();
            reader.metadata(comment);
            if reader.recording.has_samples() && reader.recording.mode() != mode {
                let message = "a second recording with a different mode starts here; split the file and pass the recordings separately";
                return Err(ParseError::at_line(NAME, number, message).into());
            }
        } else if !line.is_empty() {
            match AustinSample::parse(line) {
                Some(sample) if reader.sample(&sample) => reader.good += 1,
                _ => reader.bad.add(number),
            }
        }
    }
    Ok(reader.finish()?)
}

/// A parsed line.
struct AustinSample<'a> {
    process: &'a [u8],
    thread: &'a [u8],
    /// Frames joined by `;`, each after its `;`.
    frames: &'a [u8],
    values: &'a [u8],
}

impl AustinSample<'_> {
    /// `P8374;T0:8374;app.py:main:92 10076`
    fn parse(line: &[u8]) -> Option<AustinSample<'_>> {
        let blank = memchr::memrchr(b' ', line)?;
        let (stack, values) = (&line[..blank], &line[blank + 1..]);
        let stack = stack.strip_prefix(b"P")?;
        let (process, rest) = stack.split_at(memchr::memchr(b';', stack)?);
        let thread = rest.strip_prefix(b";T")?;
        let (thread, frames) = thread.split_at(memchr::memchr(b';', thread).unwrap_or(thread.len()));
        let is_process = !process.is_empty() && process.iter().all(u8::is_ascii_digit);
        let is_values =
            !values.is_empty() && values.split(|&byte| byte == b',').all(|value| decimal(value).is_some());
        (is_process && is_values).then_some(AustinSample { process, thread, frames, values })
    }
}

/// `L92`
fn old_line(text: &str) -> Option<u32> {
    text.strip_prefix('L')?.parse().ok()
}

struct AustinReader {
    recording: Recording,
    frames: Vec<FrameId>,
    good: u64,
    bad: BadLines,
}

impl AustinReader {
    fn new(options: LoadOptions, may_use_threads: bool) -> AustinReader {
        AustinReader {
            recording: Recording::new(NAME, options, may_use_threads),
            frames: Vec::new(),
            good: 0,
            bad: BadLines::default(),
        }
    }

    /// `mode: wall`
    fn metadata(&mut self, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        if let Some((key, value)) = text.split_once(": ") {
            self.recording.metadata(key.trim(), value.trim());
        }
    }

    /// Adds a sample; returns false if its numbers do not fit the mode.
    fn sample(&mut self, sample: &AustinSample<'_>) -> bool {
        let mut numbers = sample.values.split(|&byte| byte == b',').filter_map(decimal);
        let numbers = [numbers.next(), numbers.next(), numbers.next()];
        let measured = match (self.recording.mode(), numbers) {
            (Mode::Full, [Some(time), Some(idle), Some(memory)]) => {
                Measured { time, memory, is_idle: idle != 0 }
            }
            (Mode::Full, _) | (_, [_, Some(_), _] | [None, ..]) => return false,
            (Mode::Memory, [Some(memory), ..]) => Measured { memory, ..Measured::default() },
            (_, [Some(time), ..]) => Measured { time, ..Measured::default() },
        };
        self.frames.clear();
        let frames = String::from_utf8_lossy(sample.frames);
        let mut parts = frames.split(';').skip(1).peekable();
        while let Some(frame) = parts.next() {
            let line = parts.next_if(|next| old_line(next).is_some()).and_then(old_line);
            let frame = match line {
                Some(line) => self.old_frame(frame, line),
                None => self.frame(frame),
            };
            self.frames.push(frame);
        }
        // `T0:8374` is thread 8374 of interpreter 0.
        let thread = sample.thread.rsplit(|&byte| byte == b':').next().unwrap_or_default();
        self.recording.sample(SampleStack::Frames(&self.frames), measured, |labels| {
            for (key, text) in [("process", sample.process), ("tid", thread)] {
                match decimal(text) {
                    Some(number) => labels.number(key, number),
                    None => labels.text(key, &lossy(text)),
                }
            }
        });
        true
    }

    /// Parses `file:function:line`; on Windows the file contains a colon of its own.
    fn frame(&mut self, text: &str) -> FrameId {
        let place = text.rsplit_once(':').and_then(|(rest, line)| Some((rest, line.parse::<u32>().ok()?)));
        let (rest, line) = place.unwrap_or((text, 0));
        let (file, name) = match rest.rsplit_once(':') {
            Some((file, name)) if place.is_some() => (file, name),
            _ if text == ":INVALID:" => ("", INVALID),
            // A state such as `:GC:`, or something unknown, is used as the name without the colons.
            _ => ("", text.trim_matches(':')),
        };
        let function = self.recording.builder.script_function(name, file, 0);
        self.recording.builder.frame(Frame { function, line, ..Frame::default() })
    }

    /// Parses `function (file)`, which is followed by the line.
    fn old_frame(&mut self, text: &str, line: u32) -> FrameId {
        let place = text.strip_suffix(')').and_then(|text| text.split_once(" ("));
        let (name, file) = place.unwrap_or((text, ""));
        let function = self.recording.builder.script_function(name, file, 0);
        self.recording.builder.frame(Frame { function, line, ..Frame::default() })
    }

    fn finish(mut self) -> Result<Profile, ParseError> {
        self.bad.settle(&mut self.recording.builder, self.good, "not an austin sample")?;
        self.recording.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::is_nameless;
    use crate::profile::to_notation;
    use crate::tree::{By, Keys};

    fn load(text: &str) -> Profile {
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        read(
            &mut Source::from_bytes(text.as_bytes().to_vec()),
            LoadOptions { labels: true, times: false, ..LoadOptions::LEAST },
        )
        .unwrap()
    }

    #[test]
    fn frames_have_files_and_lines() {
        let profile =
            load("# mode: cpu\n\nP7;T0:8 12\nP7;T0:8;C:\\app.py:main:92;<frozen x>:f:3 10\nP7;T0:8;:GC: 1\n");
        assert_eq!(profile.meta.metrics[0].name, "cpu");
        assert_eq!(
            to_notation(&profile),
            " 12 {process=7 tid=8}\nGC 1 {process=7 tid=8}\nmain@C:\\app.py:92;f@<frozen x>:3 10 {process=7 tid=8}"
        );
    }

    #[test]
    fn frames_of_austin_1_have_their_lines_after_them() {
        let profile = load("P1;T2;<module> (test/a b.py);L13;cpu_bound (test/a b.py);L5 300\n");
        assert_eq!(
            to_notation(&profile),
            "<module>@test/a b.py:13;cpu_bound@test/a b.py:5 300 {process=1 tid=2}"
        );
    }

    #[test]
    fn functions_of_two_files_are_two() {
        let profile =
            load("P7;T8;a.py:main:1;b.py:main:2;libc.so:read:0;python3:read:0 10\nP7;T8;a.py:main:3 1\n");
        let keys = Keys::new(&profile, &By::Function);
        let names: Vec<&str> = keys.ids().map(|key| &**keys.name(key)).collect();
        assert_eq!(names, ["main a.py", "main b.py", "read"]);
    }

    #[test]
    fn an_invalid_frame_is_not_a_function() {
        let profile = load("P7;T8;:INVALID:;a.py:f:3 10\n");
        assert_eq!(to_notation(&profile), "[invalid];f@a.py:3 10 {process=7 tid=8}");
        assert!(is_nameless(INVALID, ""));
    }

    #[test]
    fn full_mode_has_three_numbers() {
        let profile =
            load("# austin: 3.4.1\n# mode: full\nP7;T8;a.py:f:1 10,0,4096\nP7;T8;a.py:g:1 20,1,-8\n");
        assert_eq!(
            to_notation(&profile),
            "f@a.py:1 10 10 4096 0 {process=7 tid=8}\ng@a.py:1 20 0 0 8 {process=7 tid=8}"
        );
    }
}
