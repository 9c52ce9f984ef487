//! Reads tables of stacks that Windows Performance Analyzer and xperf export as CSV: one sample per line.
//!
//! ```text
//! Process Name, Display Name, Process, Stack, Module, Function, Address, Thread ID, CPU, Weight, % Weight, Count, TimeStamp
//! shop.exe, shop.exe, shop.exe (4144), [Root]/ntdll.dll!RtlUserThreadStart/shop.exe!main, shop.exe, main, 0x1f1506, 5104, 0, 1.001237, 0.01, 1, 9.77
//! ```
//!
//! The stack starts with the root. Weights are in milliseconds, times in seconds.

use crate::format::labels::sample_labels;
use crate::format::text::{BadLines, csv_fields, decimal, lossy};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{Frame, FrameId, LoadOptions, Profile, ProfileBuilder};

/// The entry in the list of readable formats.
pub(super) static XPERF: Format = Format { name: NAME, title: "xperf table", sniff, read };

const NAME: &str = "xperf";

fn sniff(head: &[u8]) -> Confidence {
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if Columns::of(&lossy(first)).is_some() { Confidence::Certain } else { Confidence::No }
}

/// Where the fields of a line are.
struct Columns {
    stack: usize,
    weight: usize,
    count: Option<usize>,
    time: Option<usize>,
    process: Option<usize>,
    thread: Option<usize>,
    processor: Option<usize>,
}

impl Columns {
    fn of(header: &str) -> Option<Columns> {
        let names = csv_fields(header.trim_start_matches('\u{feff}').trim());
        let find = |wanted: &str| names.iter().position(|name| name.trim() == wanted);
        let (weight, process) = (find("Weight")?, find("Process").or_else(|| find("Process Name")));
        Some(Columns {
            stack: find("Stack").filter(|_| process.is_some())?,
            weight,
            count: find("Count"),
            time: find("TimeStamp"),
            process,
            thread: find("Thread ID"),
            processor: find("CPU"),
        })
    }
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut builder = ProfileBuilder::new(NAME, options);
    builder.metric("samples", "count");
    builder.meta.default_metric = builder.metric("cpu", "nanoseconds");
    let header = source.line()?.map(|line| lossy(line).into_owned()).unwrap_or_default();
    let columns = Columns::of(&header).ok_or_else(|| {
        ParseError::at_line(NAME, 1, "expected a header with the columns Process, Stack and Weight")
    })?;
    let (mut bad, mut good, mut number) = (BadLines::default(), 0, 1);
    while let Some(line) = source.line()? {
        number += 1;
        if line.trim_ascii().is_empty() {
            continue;
        }
        match add(&lossy(line), &columns, &mut builder) {
            Some(()) => good += 1,
            None => bad.add(number),
        }
    }
    bad.settle(&mut builder, good, "expected a stack and a weight in milliseconds")?;
    Ok(finished(builder)?)
}

fn add(line: &str, columns: &Columns, builder: &mut ProfileBuilder) -> Option<()> {
    let fields = csv_fields(line);
    let field = |column: Option<usize>| fields.get(column?).map(|field| field.trim());
    let scaled = |text: &str, factor: f64| {
        let number: f64 = text.parse().ok().filter(|number: &f64| number.is_finite())?;
        Some((number * factor).round() as i64)
    };
    let weight = scaled(field(Some(columns.weight))?, 1e6)?;
    let count = match field(columns.count) {
        Some(count) => decimal(count.as_bytes())?,
        None => 1,
    };
    let time = field(columns.time).and_then(|time| scaled(time, 1e9));
    let stack = field(Some(columns.stack))?;
    let names = stack.split('/').filter(|name| !["", "[Root]"].contains(name));
    let frames: Vec<FrameId> = names.map(|name| frame(name, builder)).collect();
    let stack = builder.stack(&frames);
    let labels = sample_labels(builder, |labels| {
        labels.text_if_known("process", field(columns.process).unwrap_or_default());
        labels.text_if_known("tid", field(columns.thread).unwrap_or_default());
        labels.text_if_known("cpu", field(columns.processor).unwrap_or_default());
    });
    builder.sample(stack, labels, time, &[count, weight]);
    Some(())
}

/// `ntdll.dll!RtlUserThreadStart`, or `?` where the stack could not be walked.
fn frame(name: &str, builder: &mut ProfileBuilder) -> FrameId {
    let Some((module, name)) = name.split_once('!') else { return builder.named_frame(name) };
    let mapping = builder.named_mapping(module);
    let function = builder.named_function(name, "");
    builder.frame(Frame { function, mapping, ..Frame::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::to_notation;

    #[test]
    fn columns_are_found_by_name() {
        let text = "Process Name, Stack, Thread ID, Weight, Count, TimeStamp\r\n\
            a.exe, [Root]/n.dll!start/a.exe!\"f<int, char>\"/?, 7, 1.001237, 1, 9.5\r\na.exe, [Root]/n.dll!start, 7, 2, 3, 10\r\n";
        assert_eq!(sniff(text.as_bytes()), Confidence::Certain);
        let options = LoadOptions { times: false, ..LoadOptions::ALL };
        let profile = read(&mut Source::from_bytes(text.into()), options).unwrap();
        assert_eq!(
            to_notation(&profile),
            "start 3 2000000 {process=a.exe tid=7}\nstart;f<int, char>;? 1 1001237 {process=a.exe tid=7}"
        );
        assert_eq!(sniff(b"Stack, Weight\n"), Confidence::No);
    }
}
