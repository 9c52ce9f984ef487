//! A text notation for small profiles, so that tests and examples can show stacks before and after.
//!
//! Each line is one sample: its stack (root first), then its values, its labels, and its time in nanoseconds:
//!
//! ```text
//! main;work@work.rs:12;+helper 3 {endpoint=/users bytes=4096} @1500000
//! ```
//!
//! `+` marks a frame that was inlined into the one before it. What else is known of a frame is optional:
//!
//! | frame | stands for |
//! |---|---|
//! | `work@work.rs:12` | line 12 of `work` |
//! | `(anonymous)@app.js:12:7` | a function that begins there, as in JavaScript, where functions are told apart by place |
//! | `work!/bin/server+0x5010` | `work` at an address of a binary |
//! | `!/bin/server+0x5010` | code at that address without a name |
//!
//! [`to_notation`] writes names, lines, values and labels.

use std::fmt::Write;

use crate::profile::{
    Frame, FrameId, Function, Id, Label, LabelValue, LoadOptions, Mapping, MappingId, Profile,
    ProfileBuilder, StackId,
};

/// Parses a profile from the notation. The metrics are called `samples`, then `metric1`, `metric2` …
///
/// # Panics
/// If the text does not follow the notation, which is meant for tests.
pub fn from_notation(text: &str) -> Profile {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let times = lines().any(|line| split_time(line).1.is_some());
    let mut builder =
        ProfileBuilder::new("notation", LoadOptions { labels: true, times, ..LoadOptions::LEAST });
    for line in lines() {
        let (line, time) = split_time(line);
        let (rest, labels) = match line.split_once(" {") {
            Some((rest, labels)) => (rest, labels.trim_end_matches('}')),
            None => (line, ""),
        };
        let mut words: Vec<&str> = rest.split(' ').collect();
        let mut values = Vec::new();
        while let Some(value) = words.last().and_then(|word| word.parse::<i64>().ok()) {
            values.insert(0, value);
            words.pop();
        }
        while builder.meta.metrics.len() < values.len() {
            let number = builder.meta.metrics.len();
            let name = if number == 0 { "samples".to_string() } else { format!("metric{number}") };
            builder.metric(&name, "count");
        }
        let stack = words.join(" ");
        let frames: Vec<FrameId> = stack
            .split(';')
            .filter(|frame| !frame.is_empty())
            .map(|frame| read_frame(&mut builder, frame))
            .collect();
        let stack = builder.stack(&frames);
        let mut labels: Vec<Label> =
            labels.split_whitespace().map(|label| read_label(&mut builder, label)).collect();
        let labels = builder.label_set(&mut labels);
        builder.sample(stack, labels, time, &values);
    }
    builder.finish().expect("profiles in tests are small")
}

/// A line without its time, and the time.
fn split_time(line: &str) -> (&str, Option<i64>) {
    let split = line.rsplit_once(" @").and_then(|(rest, time)| Some((rest, time.parse().ok()?)));
    split.map_or((line, None), |(rest, time)| (rest, Some(time)))
}

fn read_frame(builder: &mut ProfileBuilder, text: &str) -> FrameId {
    let (text, inlined) = text.strip_prefix('+').map_or((text, false), |rest| (rest, true));
    let binary = text.rsplit_once("+0x").and_then(|(text, address)| Some((text.split_once('!')?, address)));
    let (text, mapping, address) = match binary {
        Some(((text, file), address)) => {
            let file = builder.string(file);
            let mapping = builder.mapping(Mapping { file, ..Mapping::default() });
            (text, mapping, u64::from_str_radix(address, 16).expect("an address"))
        }
        None => (text, MappingId::default(), 0),
    };
    let (name, place) = text.split_once('@').unwrap_or((text, ""));
    let mut place = place.splitn(3, ':');
    let file = builder.string(place.next().unwrap_or_default());
    let mut number = || place.next().map(|number| number.parse::<u32>().expect("a line or a column"));
    let (line, column) = (number().unwrap_or(0), number());
    let function = if name.is_empty() && address > 0 {
        builder.unnamed_function(mapping)
    } else {
        let (name, start) = (builder.string(name), if column.is_some() { line } else { 0 });
        let (column, by_place) = (column.unwrap_or(0), column.is_some());
        builder.function(Function { name, file, line: start, column, by_place })
    };
    builder.frame(Frame { function, line, address, mapping, inlined })
}

fn read_label(builder: &mut ProfileBuilder, text: &str) -> Label {
    let (key, value) = text.split_once('=').expect("key=value");
    let key = builder.string(key);
    let digits = value.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(value.len());
    let value = match value[..digits].parse() {
        Ok(number) => LabelValue::Number(number, builder.string(&value[digits..])),
        Err(_) => LabelValue::Text(builder.string(value)),
    };
    Label { key, value }
}

/// Writes the samples of a profile in the notation, sorted so that two profiles can be compared.
pub fn to_notation(profile: &Profile) -> String {
    let mut lines: Vec<String> = (0..profile.samples.len()).map(|row| row_text(profile, row)).collect();
    lines.sort();
    lines.join("\n")
}

fn row_text(profile: &Profile, row: usize) -> String {
    let stack: Vec<String> = profile
        .stacks
        .frames(profile.samples.stack[row])
        .iter()
        .map(|&frame| frame_text(profile, frame))
        .collect();
    let mut line = stack.join(";");
    for column in &profile.samples.values {
        let _ = write!(line, " {}", column[row]);
    }
    let labels = profile.label_sets.labels(profile.samples.labels[row]);
    if !labels.is_empty() {
        let strings = &profile.symbols.strings;
        let mut pairs: Vec<String> = labels
            .iter()
            .map(|label| match label.value {
                LabelValue::Text(value) => format!("{}={}", strings.get(label.key), strings.get(value)),
                LabelValue::Number(number, unit) => {
                    format!("{}={number}{}", strings.get(label.key), strings.get(unit))
                }
            })
            .collect();
        pairs.sort();
        let _ = write!(line, " {{{}}}", pairs.join(" "));
    }
    line
}

fn frame_text(profile: &Profile, id: FrameId) -> String {
    let symbols = &profile.symbols;
    let frame = symbols.frames[id];
    let mut text = String::from(if frame.inlined { "+" } else { "" });
    text.push_str(symbols.frame_name(id));
    let file = symbols.function_file(frame.function);
    if !file.is_empty() || frame.line != 0 {
        let _ = write!(text, "@{file}:{}", frame.line);
    }
    text
}

impl Profile {
    /// The stack ids in order, for tests and for code that visits every stack.
    pub fn stack_ids(&self) -> impl Iterator<Item = StackId> + use<> {
        (0..self.stacks.len()).map(StackId::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writing_and_parsing_are_inverse() {
        let notation = " 2\nmain;work@work.rs:12;+helper 3 {bytes=4096 endpoint=/users}";
        assert_eq!(to_notation(&from_notation(notation)), notation);
    }
    #[test]
    fn places_addresses_and_times_can_be_drawn() {
        let drawn = "main;(anonymous)@app.js:12:7;work!/bin/server+0x5010;!/bin/server+0x5020 3 @1500000";
        let profile = from_notation(drawn);
        let symbols = &profile.symbols;
        let frames = profile.stacks.frames(profile.samples.stack[0]);
        let frame = |index: usize| (symbols.frames[frames[index]], symbols.frame_name(frames[index]));
        let (anonymous, name) = frame(1);
        let function = symbols.functions[anonymous.function];
        assert_eq!((name, function.line, function.column, function.by_place), ("(anonymous)", 12, 7, true));
        let (work, name) = frame(2);
        assert_eq!((name, work.address, symbols.mapping_file(work.mapping)), ("work", 0x5010, "/bin/server"));
        let (unnamed, name) = frame(3);
        assert_eq!((name, unnamed.address, unnamed.mapping), ("[server]", 0x5020, work.mapping));
        assert_eq!(profile.samples.time.as_ref().map(|times| times[0]), Some(1_500_000));
    }
}
