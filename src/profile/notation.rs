//! A text notation for small profiles, so that tests and examples can show stacks before and after.
//!
//! Each line is one sample: its stack (root first), then its values, then its labels:
//!
//! ```text
//! main;work@work.rs:12;+helper 3 {endpoint=/users bytes=4096}
//! ```
//!
//! `+` marks a frame that was inlined into the one before it; `@file:line` is optional.

use std::fmt::Write;

use crate::profile::{
    Frame, FrameId, Function, Id, Label, LabelValue, LoadOptions, Profile, ProfileBuilder, StackId,
};

/// Parses a profile from the notation. The metrics are called `samples`, then `metric1`, `metric2` …
///
/// # Panics
/// If the text does not follow the notation, which is meant for tests.
pub fn from_notation(text: &str) -> Profile {
    let mut builder =
        ProfileBuilder::new("notation", LoadOptions { labels: true, times: false, ..LoadOptions::LEAST });
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
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
        builder.sample(stack, labels, None, &values);
    }
    builder.finish().expect("profiles in tests are small")
}

fn read_frame(builder: &mut ProfileBuilder, text: &str) -> FrameId {
    let (text, inlined) = text.strip_prefix('+').map_or((text, false), |rest| (rest, true));
    let (name, place) = text.split_once('@').unwrap_or((text, ""));
    let (file, line) = place.split_once(':').unwrap_or((place, "0"));
    let (name, file) = (builder.string(name), builder.string(file));
    let function = builder.function(Function { name, file, line: 0, column: 0, by_place: false });
    let line = line.parse().expect("a line number");
    builder.frame(Frame { function, line, inlined, ..Frame::default() })
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
}
