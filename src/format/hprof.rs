//! Reads the text that HPROF, the profiler of Java up to version 8, wrote (`java -Xrunhprof:cpu=samples`, `cpu=times`,
//! `heap=sites`, `monitor=y`).
//!
//! ```text
//! JAVA PROFILE 1.0.1, created Fri Nov 27 13:18:54 2015
//! TRACE 301133: (thread=200001)
//!         java.io.FileInputStream.read(FileInputStream.java:220)
//!         App.main(App.java:12)
//! CPU SAMPLES BEGIN (total = 32495) Fri Nov 27 13:20:40 2015
//! rank   self  accum   count trace method
//!    1 78.05% 78.05%   25362 301133 java.io.FileInputStream.read
//! CPU SAMPLES END
//! ```
//!
//! A section may occur several times, each with all that happened since the start; the last one counts.

use hashbrown::HashMap;

use crate::format::labels::sample_labels;
use crate::format::text::lossy;
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{Frame, FrameId, LabelSetId, LoadOptions, Profile, ProfileBuilder, StackId};
use crate::unit::{duration, group_thousands, saturated};

/// The entry in the list of readable formats.
pub(super) static HPROF: Format = Format { name: NAME, title: "HPROF text", sniff, read };

const NAME: &str = "hprof";
const MAGIC: &[u8] = b"JAVA PROFILE 1.0";

fn sniff(head: &[u8]) -> Confidence {
    // Heap dumps start with the same words; there, a zero comes after the version.
    let first = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let is_text = first.starts_with(MAGIC) && memchr::memmem::find(first, b", created ").is_some();
    if is_text && !first.contains(&0) { Confidence::Certain } else { Confidence::No }
}

/// A kind of section, and the metrics that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Samples,
    Times,
    Sites,
    Monitors,
}

impl Section {
    const ALL: [(Section, &'static str); 4] = [
        (Section::Samples, "CPU SAMPLES BEGIN"),
        (Section::Times, "CPU TIME (ms) BEGIN"),
        (Section::Sites, "SITES BEGIN"),
        (Section::Monitors, "MONITOR TIME BEGIN"),
    ];

    fn metrics(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Section::Samples => &[("samples", "count")],
            Section::Times => &[("calls", "count"), ("cpu", "microseconds")],
            Section::Sites => &[
                ("alloc_objects", "count"),
                ("alloc_space", "bytes"),
                ("inuse_objects", "count"),
                ("inuse_space", "bytes"),
            ],
            Section::Monitors => &[("contentions", "count"), ("delay", "microseconds")],
        }
    }
}

/// A row: the stack's number, and a value per metric of the section.
type Row = (u64, Vec<i64>);

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut reader = HprofReader {
        builder: ProfileBuilder::new(NAME, options),
        threads: HashMap::new(),
        traces: HashMap::new(),
        trace: None,
        rows: Default::default(),
        ends: Default::default(),
    };
    let mut section: Option<(Section, i64)> = None;
    let mut number = 0;
    let first = source.head(MAGIC.len())?;
    if !first.starts_with(MAGIC) {
        return Err(ParseError::at_line(NAME, 1, "expected `JAVA PROFILE 1.0` and a version").into());
    }
    while let Some(line) = source.line()? {
        number += 1;
        let text = lossy(line);
        if let Some(found) = Section::ALL.iter().find(|(_, start)| text.starts_with(start)) {
            reader.end_trace();
            section = Some((found.0, total(&text)));
            reader.rows[found.0 as usize] = Some(Vec::new());
            reader.ends[found.0 as usize] = None;
        } else if text.ends_with(" END") {
            section = None;
        } else if let Some((section, total)) = section {
            if !reader.row(section, total, &text) && !text.is_empty() && !is_heading(&text) {
                return Err(ParseError::at_line(NAME, number, "expected a rank, shares and counts").into());
            }
        } else {
            reader.line(&text);
        }
    }
    reader.end_trace();
    if let Some((section, _)) = section {
        reader.truncated(section)?;
    }
    Ok(reader.finish()?)
}

/// The lines above a table.
fn is_heading(text: &str) -> bool {
    let text = text.trim_start();
    ["rank ", "percent ", "self "].iter().any(|start| text.starts_with(start))
}

/// `CPU TIME (ms) BEGIN (total = 13851) Sat Mar 15`
fn total(text: &str) -> i64 {
    let number =
        text.split_once("(total = ").map(|(_, rest)| rest.split([')', ' ']).next().unwrap_or_default());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// A share in hundredths of a percent. Some languages write a comma: `23,26%`.
fn hundredths(word: &str) -> Option<i64> {
    let (whole, decimals) = word.strip_suffix('%')?.split_once(['.', ','])?;
    format!("{whole}{decimals}").parse().ok().filter(|_| decimals.len() == 2)
}

/// A stack, as soon as all of its lines were read.
#[derive(Clone, Copy, Debug)]
struct Trace {
    stack: StackId,
    thread: u64,
}

struct HprofReader {
    builder: ProfileBuilder,
    /// Names of threads.
    threads: HashMap<u64, String>,
    traces: HashMap<u64, Trace>,
    /// The stack that is being read: its number, its thread, and its frames, the leaf first.
    trace: Option<(u64, u64, Vec<FrameId>)>,
    /// The rows of each section.
    rows: [Option<Vec<Row>>; 4],
    /// The total of each section, and the share of it that the rows have together, in hundredths of a percent.
    ends: [Option<(i64, i64)>; 4],
}

impl HprofReader {
    fn line(&mut self, text: &str) {
        if let Some(rest) = text.strip_prefix("TRACE ") {
            self.end_trace();
            let Some((number, rest)) = rest.split_once(':') else { return };
            let Ok(number) = number.parse() else { return };
            let thread = rest.trim().strip_prefix("(thread=").and_then(|rest| rest.strip_suffix(')'));
            self.trace =
                Some((number, thread.and_then(|thread| thread.parse().ok()).unwrap_or(0), Vec::new()));
        } else if let Some(rest) = text.strip_prefix("THREAD START (") {
            self.end_trace();
            let id =
                rest.split_once("id = ").and_then(|(_, rest)| rest.split([',', ')']).next()?.parse().ok());
            let name = rest.split_once("name=\"").and_then(|(_, rest)| rest.split_once('"'));
            if let (Some(id), Some((name, _))) = (id, name) {
                self.threads.insert(id, name.to_string());
            }
        } else if text.starts_with(['\t', ' ']) && self.trace.is_some() {
            let text = text.trim();
            // `<empty>`
            if !text.starts_with('<') {
                let frame = self.frame(text);
                if let Some((.., frames)) = &mut self.trace {
                    frames.push(frame);
                }
            }
        } else {
            self.end_trace();
        }
    }

    /// `java.net.Socket.read(Socket.java:184)`, or `Unknown line` and `Unknown Source` in the parentheses.
    fn frame(&mut self, text: &str) -> FrameId {
        let (name, place) =
            text.strip_suffix(')').and_then(|text| text.rsplit_once('(')).unwrap_or((text, ""));
        let (file, line) = place.rsplit_once(':').unwrap_or((place, ""));
        let file = if file.contains("Unknown Source") || file.contains("Native Method") { "" } else { file };
        let function = self.builder.named_function(name, file);
        self.builder.frame(Frame { function, line: line.parse().unwrap_or(0), ..Frame::default() })
    }

    /// The file ends within a table: without a row, nothing of it is known.
    fn truncated(&mut self, section: Section) -> Result<(), ParseError> {
        let start = Section::ALL[section as usize].1;
        if self.rows[section as usize].as_ref().is_none_or(Vec::is_empty) {
            let message = format!("file is truncated after `{start}`: the table has no rows");
            return Err(ParseError::whole(NAME, message));
        }
        self.ends[section as usize] = None;
        self.builder.warn(format!("file is truncated: rows are missing after `{start}`"));
        Ok(())
    }

    /// HPROF leaves out stacks with less than its `cutoff`, 0.01 % unless it was told another.
    fn note_of_rest(&self, section: Section, rows: &[Row]) -> Option<String> {
        let (total, accumulated) = self.ends[section as usize]?;
        let rest = match section {
            Section::Samples => {
                let counted = rows.iter().fold(0i64, |sum, (_, values)| sum.saturating_add(values[0]));
                let rest = total.checked_sub(counted).filter(|&rest| rest > 0)?;
                format!("{} of {} samples", group_thousands(rest.into()), group_thousands(total.into()))
            }
            Section::Times | Section::Monitors => {
                let rest = 10_000i64.checked_sub(accumulated).filter(|&rest| total > 0 && rest > 0)?;
                let of = duration(total.saturating_mul(1_000_000));
                format!("{}.{:02}% of {of}", rest / 100, rest % 100)
            }
            Section::Sites => return None,
        };
        Some(format!("{rest} are not in the file: HPROF leaves out stacks below its cutoff"))
    }

    fn end_trace(&mut self) {
        if let Some((number, thread, mut frames)) = self.trace.take() {
            frames.reverse();
            let stack = self.builder.stack(&frames);
            self.traces.insert(number, Trace { stack, thread });
        }
    }

    /// Reads a row of a table; returns false for other lines.
    fn row(&mut self, section: Section, total: i64, text: &str) -> bool {
        let words: Vec<&str> = text.split_whitespace().collect();
        let Some(rows) = &mut self.rows[section as usize] else { return false };
        let number = |at: usize| words.get(at).and_then(|word| word.parse::<i64>().ok());
        let share = |at: usize| words.get(at).and_then(|word| hundredths(word));
        let (Some(_), Some(share), accumulated) = (number(0), share(1), share(2)) else { return false };
        self.ends[section as usize] = accumulated.map(|accumulated| (total, accumulated));
        let time = || saturated(i128::from(total) * i128::from(share) / 10);
        let row = match section {
            Section::Samples => number(3).zip(number(4)).map(|(count, trace)| (trace, vec![count])),
            Section::Times | Section::Monitors => {
                number(3).zip(number(4)).map(|(count, trace)| (trace, vec![count, time()]))
            }
            Section::Sites => (|| Some((number(7)?, vec![number(6)?, number(5)?, number(4)?, number(3)?])))(),
        };
        let row = row.and_then(|(trace, values)| Some((u64::try_from(trace).ok()?, values)));
        let found = row.is_some();
        rows.extend(row);
        found
    }

    fn finish(mut self) -> Result<Profile, ParseError> {
        let sections: Vec<(Section, Vec<Row>)> = Section::ALL
            .iter()
            .filter_map(|&(section, _)| Some((section, self.rows[section as usize].take()?)))
            .collect();
        if sections.is_empty() {
            let message = "the file has no samples, times or sites; the program may have been killed";
            return Err(ParseError::whole(NAME, message));
        }
        let mut first = Vec::new();
        for (section, _) in &sections {
            let metrics = section.metrics();
            let numbers: Vec<usize> =
                metrics.iter().map(|(name, unit)| self.builder.metric(name, unit)).collect();
            first.push(numbers[0]);
        }
        // What took time, else what is in use.
        self.builder.meta.default_metric = first[0] + sections[0].0.metrics().len() - 1;
        if sections.iter().any(|(section, _)| matches!(section, Section::Times | Section::Monitors)) {
            let warning = "times are shares of the total, which HPROF rounds to 0.01%";
            self.builder.warn(warning.to_string());
        }
        let notes = sections.iter().filter_map(|(section, rows)| self.note_of_rest(*section, rows));
        let notes: Vec<String> = notes.collect();
        self.builder.meta.notes.extend(notes);
        let width = self.builder.meta.metrics.len();
        let mut labels: HashMap<u64, LabelSetId> = HashMap::new();
        for ((_, rows), first) in sections.iter().zip(first) {
            for (number, values) in rows {
                let trace = self.traces.get(number).copied();
                let stack = match trace {
                    Some(trace) => trace.stack,
                    None => self.builder.stack(&[]),
                };
                let thread = trace.map_or(0, |trace| trace.thread);
                let name = self.threads.get(&thread).map(String::as_str).unwrap_or_default();
                let builder = &mut self.builder;
                let set = *labels.entry(thread).or_insert_with(|| match name {
                    "" => LabelSetId::default(),
                    name => sample_labels(builder, |labels| labels.text("thread", name)),
                });
                let mut all = vec![0; width];
                all[first..first + values.len()].copy_from_slice(values);
                builder.sample(stack, set, None, &all);
            }
        }
        finished(self.builder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    fn load(text: &str) -> Result<Profile, LoadError> {
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        read(&mut Source::from_bytes(text.into()), LoadOptions { times: false, ..LoadOptions::ALL })
    }

    const START: &str = "JAVA PROFILE 1.0.1, created Fri Nov 27 13:18:54 2015\n\n--------\n\
        THREAD START (obj=50000170, id = 200001, name=\"main\", group=\"main\")\n\
        TRACE 7: (thread=200001)\n\tA.f(A.java:Unknown line)\n\tA.main(A.java:12)\nTRACE 8:\n\t<empty>\n";

    #[test]
    fn the_last_of_several_tables_counts() {
        let table = |count: i64| {
            format!(
                "CPU SAMPLES BEGIN (total = 9) Fri\nrank   self  accum   count trace method\n   1 77,78% 77,78%       {count} 7 A.f\n   2 22,22% 100,00%       2 8 x\nCPU SAMPLES END\n"
            )
        };
        let profile = load(&format!("{START}{}{}", table(1), table(7))).unwrap();
        assert_eq!(to_notation(&profile), " 2\nA.main@A.java:12;A.f@A.java:0 7 {thread=main}");
    }

    #[test]
    fn a_note_says_what_is_left_out() {
        let samples = "CPU SAMPLES BEGIN (total = 3000) Fri\nrank   self  accum   count trace method\n   1 60.00% 60.00%    1800 7 A.f\n   2 30.00% 90.00%     900 8 x\nCPU SAMPLES END\n";
        let times = "CPU TIME (ms) BEGIN (total = 13851) Sat\nrank   self  accum   count trace method\n   1 98.84% 98.84%  9 7 A.f\nCPU TIME (ms) END\n";
        let profile = load(&format!("{START}{samples}{times}")).unwrap();
        assert_eq!(
            profile.meta.notes,
            [
                "300 of 3,000 samples are not in the file: HPROF leaves out stacks below its cutoff",
                "1.16% of 13.85s are not in the file: HPROF leaves out stacks below its cutoff",
            ]
        );
        let whole = samples.replace("3000", "2700");
        assert_eq!(load(&format!("{START}{whole}")).unwrap().meta.notes, [""; 0]);
    }

    #[test]
    fn times_are_shares_and_sites_have_sizes() {
        let times = "CPU TIME (ms) BEGIN (total = 13851) Sat\nrank   self  accum   count trace method\n   1  7.72%  7.72%  337651 7 A.f\nCPU TIME (ms) END\n";
        let sites = "SITES BEGIN (ordered by live bytes) Fri\n          percent          live          alloc'ed  stack class\n rank   self  accum     bytes objs     bytes  objs trace name\n    1 16.66% 16.66%    270128  345    500000  400     7 byte[]\nSITES END\n";
        let profile = load(&format!("{START}{times}{sites}")).unwrap();
        assert_eq!(
            to_notation(&profile),
            "A.main@A.java:12;A.f@A.java:0 337651 1069297 400 500000 345 270128 {thread=main}"
        );
        assert!(load(START).unwrap_err().to_string().contains("no samples, times or sites"));
        let cut = format!("{START}{times}{sites}");
        let cut_after = |words: &str| load(&cut[..cut.find(words).unwrap() + words.len()]);
        assert_eq!(
            cut_after("337651 7 A.f\n").unwrap().meta.warnings[0],
            "file is truncated: rows are missing after `CPU TIME (ms) BEGIN`"
        );
        for words in ["SITES BEGIN (ord", "trace name\n"] {
            let error = cut_after(words).unwrap_err().to_string();
            assert_eq!(error, "hprof: file is truncated after `SITES BEGIN`: the table has no rows");
        }
        let error = read(&mut Source::from_bytes(b"JAVA PROF".to_vec()), LoadOptions::ALL).unwrap_err();
        assert_eq!(error.to_string(), "hprof: expected `JAVA PROFILE 1.0` and a version (line 1)");
        assert_eq!(sniff(b"JAVA PROFILE 1.0.2\0\0\0\0\x08"), Confidence::No);
    }
}
