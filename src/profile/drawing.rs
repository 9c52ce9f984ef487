//! Profiles drawn as text, so that tests show stacks before and after.
//!
//! A line is a sample: its stack root first, then its values, then its labels:
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

/// Makes a profile of a drawing. The metrics are called `samples`, then `metric1`, `metric2` …
///
/// # Panics
/// Where the drawing is not as described: it is meant for tests.
pub fn from_picture(picture: &str) -> Profile {
    let mut builder =
        ProfileBuilder::new("picture", LoadOptions { labels: true, times: false, ..LoadOptions::LEAST });
    for line in picture.lines().map(str::trim).filter(|line| !line.is_empty()) {
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
    builder.finish().expect("a drawing is small")
}

fn read_frame(builder: &mut ProfileBuilder, drawn: &str) -> FrameId {
    let (drawn, inlined) = drawn.strip_prefix('+').map_or((drawn, false), |rest| (rest, true));
    let (name, place) = drawn.split_once('@').unwrap_or((drawn, ""));
    let (file, line) = place.split_once(':').unwrap_or((place, "0"));
    let (name, file) = (builder.string(name), builder.string(file));
    let function = builder.function(Function { name, file, line: 0, column: 0, by_place: false });
    let line = line.parse().expect("a line number");
    builder.frame(Frame { function, line, inlined, ..Frame::default() })
}

fn read_label(builder: &mut ProfileBuilder, drawn: &str) -> Label {
    let (key, value) = drawn.split_once('=').expect("key=value");
    let key = builder.string(key);
    let digits = value.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(value.len());
    let value = match value[..digits].parse() {
        Ok(number) => LabelValue::Number(number, builder.string(&value[digits..])),
        Err(_) => LabelValue::Text(builder.string(value)),
    };
    Label { key, value }
}

/// Draws the samples of a profile, sorted, so that drawings can be compared.
pub fn draw(profile: &Profile) -> String {
    let mut lines: Vec<String> = (0..profile.samples.len()).map(|row| draw_row(profile, row)).collect();
    lines.sort();
    lines.join("\n")
}

fn draw_row(profile: &Profile, row: usize) -> String {
    let stack: Vec<String> = profile
        .stacks
        .frames(profile.samples.stack[row])
        .iter()
        .map(|&frame| draw_frame(profile, frame))
        .collect();
    let mut line = stack.join(";");
    for column in &profile.samples.values {
        let _ = write!(line, " {}", column[row]);
    }
    let labels = profile.label_sets.labels(profile.samples.labels[row]);
    if !labels.is_empty() {
        let strings = &profile.symbols.strings;
        let mut drawn: Vec<String> = labels
            .iter()
            .map(|label| match label.value {
                LabelValue::Text(text) => format!("{}={}", strings.get(label.key), strings.get(text)),
                LabelValue::Number(number, unit) => {
                    format!("{}={number}{}", strings.get(label.key), strings.get(unit))
                }
            })
            .collect();
        drawn.sort();
        let _ = write!(line, " {{{}}}", drawn.join(" "));
    }
    line
}

fn draw_frame(profile: &Profile, id: FrameId) -> String {
    let symbols = &profile.symbols;
    let frame = symbols.frames[id];
    let mut drawn = String::from(if frame.inlined { "+" } else { "" });
    drawn.push_str(symbols.frame_name(id));
    let file = symbols.function_file(frame.function);
    if !file.is_empty() || frame.line != 0 {
        let _ = write!(drawn, "@{file}:{}", frame.line);
    }
    drawn
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
    fn drawing_and_reading_are_inverse() {
        let picture = " 2\nmain;work@work.rs:12;+helper 3 {bytes=4096 endpoint=/users}";
        assert_eq!(draw(&from_picture(picture)), picture);
    }
}
