//! Reads the text report of async-profiler, which it prints unless it was told another format, or with `-o traces`.
//!
//! ```text
//! --- Execution profile ---
//! Total samples       : 131152
//!
//! --- 9902352571 ns (7.48%), 9820 samples
//!   [ 0] copyout_[k]
//!   [ 1] java.io.FileInputStream.read
//!
//!           ns  percent  samples  top
//!   ----------  -------  -------  ---
//!   9902352571    7.48%     9820  copyout_[k]
//! ```
//!
//! After a summary, there are the stacks, leaf first, and then a table of their leaves, which says nothing new. Often only the
//! most expensive stacks are in a report. Version 1.0 had `Samples: 9820 (7.48%)` above each.

use crate::format::text::{BadLines, Lines, decimal, is_binary, lossy};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::name::demangle;
use crate::profile::{FrameId, LabelSetId, LoadOptions, Profile, ProfileBuilder};
use crate::unit::{group_thousands, plural};

/// The entry in the list of readable formats.
pub(super) static ASYNC_PROFILER: Format = Format { name: NAME, title: "async-profiler's text", sniff, read };

const NAME: &str = "async-profiler";

/// The first line of the summary.
const SUMMARY: &[u8] = b"--- Execution profile ---";

fn sniff(head: &[u8]) -> Confidence {
    if is_binary(head) {
        return Confidence::No;
    }
    let mut is_headed = false;
    for line in head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii) {
        if line == SUMMARY || (is_headed && frame_name(line).is_some()) {
            return Confidence::Certain;
        }
        is_headed = matches!(Header::parse(line), Some(Ok(_)));
    }
    Confidence::No
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut builder = ProfileBuilder::new(NAME, options);
    builder.metric("samples", "count");
    let mut reader = TextReader {
        builder,
        event: String::new(),
        all_samples: None,
        stack: None,
        samples: 0,
        good: 0,
        bad: BadLines::default(),
        elided: 0,
    };
    let mut lines = Lines::new(source);
    while lines.advance()? {
        reader.line(lines.line().trim_ascii(), lines.number())?;
    }
    Ok(reader.finish()?)
}

/// The line above a stack.
struct Header {
    samples: i64,
    /// What the stack cost, and the unit of that.
    cost: Option<(i64, String)>,
}

impl Header {
    /// Parses `--- 9902352571 ns (7.48%), 9820 samples` or `Samples: 679 (98.84%)`. Fails if a number does not fit; `None` for
    /// other lines.
    fn parse(line: &[u8]) -> Option<Result<Header, &'static str>> {
        if !line.starts_with(b"--- ") && !line.starts_with(b"Samples: ") {
            return None;
        }
        let text = lossy(line);
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        match words[..] {
            ["---", cost, unit, share, samples, "sample" | "samples"]
                if is_share(share.trim_end_matches(',')) =>
            {
                let (cost, samples) = (number(cost)?, number(samples)?);
                Some(
                    cost.and_then(|cost| {
                        Ok(Header { samples: samples?, cost: Some((cost, unit.to_string())) })
                    }),
                )
            }
            ["Samples:", samples, share] if is_share(share) => {
                Some(number(samples)?.map(|samples| Header { samples, cost: None }))
            }
            _ => None,
        }
    }
}

fn is_share(word: &str) -> bool {
    word.starts_with('(') && word.ends_with("%)")
}

/// The number in a word of digits.
fn number(word: &str) -> Option<Result<i64, &'static str>> {
    let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| decimal(word.as_bytes()).ok_or("the number does not fit in 64 bits"))
}

/// The name in a line such as `[ 0] java.util.Hashtable.get`.
fn frame_name(line: &[u8]) -> Option<&[u8]> {
    let line = line.strip_prefix(b"[")?;
    let end = line.iter().position(|&byte| byte == b']')?;
    decimal(line[..end].trim_ascii())?;
    line[end + 1..].strip_prefix(b" ")
}

struct TextReader {
    builder: ProfileBuilder,
    /// The event that was recorded, if the report says so.
    event: String,
    /// How many samples were taken, if the report says so.
    all_samples: Option<i64>,
    /// The stack that is being read, leaf first, and the line of its header.
    stack: Option<(Header, Vec<FrameId>, u64)>,
    /// The samples of the stacks.
    samples: i64,
    good: u64,
    bad: BadLines,
    /// How many lines stand for frames that somebody left out.
    elided: u64,
}

impl TextReader {
    fn line(&mut self, line: &[u8], number: u64) -> Result<(), ParseError> {
        if let Some(header) = Header::parse(line) {
            self.end_stack();
            let header = header.map_err(|message| ParseError::at_line(NAME, number, message))?;
            self.stack = Some((header, Vec::new(), number));
        } else if line.is_empty() || line == SUMMARY {
            self.end_stack();
        } else if let Some((_, frames, _)) = &mut self.stack {
            match frame_name(line) {
                None if line == b"..." => self.elided += 1,
                Some(name) => frames.push(self.builder.named_frame(&demangle(&lossy(name)))),
                None => self.bad.add(number),
            }
        } else if line.starts_with(b"[") && frame_name(line).is_some() {
            self.bad.add(number);
        } else {
            self.summary_line(&lossy(line));
        }
        Ok(())
    }

    /// Reads a line outside of the stacks, which may be of the summary, of the table, or from another program.
    fn summary_line(&mut self, line: &str) {
        if let Some((event, _)) =
            line.strip_prefix("Started [").and_then(|event| event.split_once("] profiling"))
        {
            self.event = event.to_string();
        }
        let Some((key, value)) = line.split_once(':') else { return };
        if ["Total samples", "Total"].contains(&key.trim_end()) {
            let samples = decimal(value.trim().as_bytes());
            self.all_samples = samples.map(|samples| samples.saturating_add(self.all_samples.unwrap_or(0)));
        }
    }

    fn end_stack(&mut self) {
        let Some((header, mut frames, _)) = self.stack.take() else { return };
        frames.reverse();
        let builder = &mut self.builder;
        let stack = builder.stack(&frames);
        let cost = header.cost.map(|(cost, unit)| {
            let (name, unit) = metric(&self.event, &unit);
            (builder.metric_once(name, unit), cost)
        });
        let mut values = vec![0; builder.meta.metrics.len()];
        values[0] = header.samples;
        if let Some((metric, cost)) = cost {
            values[metric] = cost;
            // The report is sorted by it.
            builder.meta.default_metric = metric;
        }
        builder.sample(stack, LabelSetId::default(), None, &values);
        self.samples = self.samples.saturating_add(header.samples);
        self.good += 1;
    }

    fn finish(mut self) -> Result<Profile, ParseError> {
        if let Some((_, _, number)) = self.stack.as_ref().filter(|(_, frames, _)| frames.is_empty()) {
            return Err(ParseError::at_line(NAME, *number, "file is truncated: this stack has no frames"));
        }
        self.end_stack();
        self.bad.settle(&mut self.builder, self.good, "not a frame of a stack")?;
        if self.good == 0 {
            let message = "this report has no stacks; record with `-o collapsed` or `-o traces`";
            return Err(ParseError::whole(NAME, message));
        }
        if self.elided > 0 {
            let lines = plural(self.elided, "line", "lines");
            self.builder
                .warn(format!("frames are missing where the text has `...` ({} {lines})", self.elided));
        }
        self.warn_of_rest();
        finished(self.builder)
    }

    /// Says how much of the recording is not in the stacks.
    fn warn_of_rest(&mut self) {
        let Some(all) = self.all_samples.filter(|&all| all > self.samples) else { return };
        let [rest, all] = [all - self.samples, all].map(|samples| group_thousands(samples.into()));
        self.builder.warn(format!(
            "{rest} of {all} samples are not in the file: async-profiler prints only the most expensive stacks; \
             record with `-o collapsed`, or with a larger number in `-o traces=N`"
        ));
    }
}

/// The name and unit of the metric that a report measures in `unit`. Most reports do not say which event it is of: `ns` may be
/// CPU time, elapsed time, or waits for locks, and is a `duration` then.
fn metric<'a>(event: &str, unit: &'a str) -> (&'a str, &'a str) {
    match (event, unit) {
        ("cpu" | "itimer" | "ctimer", "ns") => ("cpu", "nanoseconds"),
        ("wall", "ns") => ("wall", "nanoseconds"),
        ("lock", "ns") => ("lock_duration", "nanoseconds"),
        (_, "ns") => ("duration", "nanoseconds"),
        (_, "bytes") => ("alloc_space", "bytes"),
        // It is the first metric already.
        (_, "samples") => ("total", "count"),
        (_, other) => (other, "count"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    const SUMMARY: &str =
        "--- Execution profile ---\nTotal samples       : 11\nskipped             : 1 (0.01%)\n\n";
    const TABLE: &str = "          ns  percent  samples  top\n  ----------  -------  -------  ---\n         900   90.00%        9  copyout_[k]\n";

    fn load(text: &str) -> Result<Profile, LoadError> {
        read(&mut Source::from_bytes(text.into()), LoadOptions::default())
    }

    fn metrics(profile: &Profile) -> Vec<(&str, &str, u128)> {
        profile
            .meta
            .metrics
            .iter()
            .map(|metric| (&*metric.name, &*metric.unit, metric.total as u128))
            .collect()
    }

    #[test]
    fn elided_frames_are_reported() {
        let text =
            format!("{SUMMARY}--- 900 ns (90.00%), 11 samples\n  [ 0] a.B.f\n...\n  [ 9] a.B.g\n  ...\n\n");
        let profile = load(&text).unwrap();
        assert_eq!(to_notation(&profile), "a.B.g;a.B.f 11 900");
        assert_eq!(profile.meta.warnings, ["frames are missing where the text has `...` (2 lines)"]);
    }

    #[test]
    fn stacks_have_samples_and_what_they_cost() {
        let text = format!(
            "{SUMMARY}--- 900 ns (90.00%), 9 samples\n  [ 0] copyout_[k]\n  [ 1] a.B.read_[j]\n  [10] [main tid=7]\n\n\
             --- 100 ns (10.00%), 1 sample\n  [ 0] a.B.<init>\n\n{TABLE}"
        );
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        let profile = load(&text).unwrap();
        assert_eq!(to_notation(&profile), "[main tid=7];a.B.read_[j];copyout_[k] 9 900\na.B.<init> 1 100");
        assert_eq!(metrics(&profile), [("samples", "count", 10), ("duration", "nanoseconds", 1000)]);
        assert_eq!(profile.meta.default_metric, 1);
        let rest = "1 of 11 samples are not in the file: async-profiler prints only the most expensive stacks; \
                    record with `-o collapsed`, or with a larger number in `-o traces=N`";
        assert_eq!(profile.meta.warnings, [rest]);
    }

    #[test]
    fn the_event_names_the_metric() {
        let of = |event: &str, unit: &str| {
            let start =
                if event.is_empty() { String::new() } else { format!("Started [{event}] profiling\n") };
            let text = format!("{start}--- 5 {unit} (100.00%), 2 samples\n  [ 0] int[]\n");
            assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
            let profile = load(&text).unwrap();
            let metric = &profile.meta.metrics[1];
            assert_eq!(metric.total, 5);
            (metric.name.clone(), metric.unit.clone())
        };
        let named = |name: &str, unit: &str| (name.to_string(), unit.to_string());
        assert_eq!(of("lock", "ns"), named("lock_duration", "nanoseconds"));
        assert_eq!(of("wall", "ns"), named("wall", "nanoseconds"));
        assert_eq!(of("", "bytes"), named("alloc_space", "bytes"));
        assert_eq!(of("", "calls"), named("calls", "count"));
        assert_eq!(of("", "samples"), named("total", "count"));
    }

    #[test]
    fn the_first_version_had_only_samples() {
        let text = "--- Execution profile ---\nTotal:                 5\nUnknown (native):      1 (20.00%)\n\n\
                    Samples: 4 (80.00%)\n\t[ 0] f\n\t[ 1] main\n\n... a lot of output omitted ...\n\n   4 (80.00%) f\n";
        let profile = load(text).unwrap();
        assert_eq!(to_notation(&profile), "main;f 4");
        assert!(profile.meta.warnings[0].starts_with("1 of 5 samples"));
    }

    #[test]
    fn reports_without_stacks_and_malformed_ones_are_rejected() {
        let error = |text: &str| load(text).unwrap_err().to_string();
        let flat = format!("{SUMMARY}{TABLE}");
        assert_eq!(sniff(flat.as_bytes()), Confidence::Certain);
        let message = "async-profiler: this report has no stacks; record with `-o collapsed` or `-o traces`";
        assert_eq!(error(&flat), message);
        assert_eq!(sniff(b"# --- Execution profile ---\n"), Confidence::No);
        let header = "--- 5 ns (1.00%), 1 sample\n";
        assert_eq!(error(header), "async-profiler: file is truncated: this stack has no frames (line 1)");
        let large = "--- 9223372036854775808 ns (1.00%), 1 sample\n  [ 0] f\n";
        assert_eq!(error(large), "async-profiler: the number does not fit in 64 bits (line 1)");
        assert_eq!(error("  [ 0] f\n  [ 1] g\n"), "async-profiler: not a frame of a stack (line 1)");
        let profile = load(&format!("{header}  [ 0] f\n  at g\n")).unwrap();
        assert_eq!(
            profile.meta.warnings,
            ["1 line was skipped, the first at line 3: not a frame of a stack"]
        );
    }
}
