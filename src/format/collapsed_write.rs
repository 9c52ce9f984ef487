//! Writes collapsed stacks: one stack per line, followed by the value of one metric.
//!
//! Names may contain characters that would break a line: `;` becomes `:`, line breaks and other control
//! characters but tabs become spaces, and if the end of a name looks like a weight (`worker 12`) its last space
//! becomes `_`. Blanks at the end of a stack are left out, because they are not read either.

use std::borrow::Cow;
use std::io::{self, Write};

use hashbrown::HashMap;

use crate::format::write::{Part, Writer, no_second_metric};
use crate::name::is_python;
use crate::profile::{Column, FrameId, LoadOptions, Profile, StackId, StackTable, StringId};

/// The entry in the list of writable formats.
pub(super) static WRITER: Writer = Writer {
    name: "collapsed",
    title: "collapsed stacks",
    endings: &[".folded", ".collapsed", ".txt"],
    packed_endings: &[],
    packed: false,
    holds: &[Part::Negatives],
    holds_calls: false,
    second_metric: no_second_metric,
    read_as: &[("samples", "count")],
    needs: LoadOptions { labels: false, times: false, ..LoadOptions::LEAST },
    write,
};

fn write(profile: &Profile, metric: usize, out: &mut dyn Write) -> io::Result<Vec<String>> {
    let metric_row = &profile.meta.metrics[metric];
    let lines = CollapsedLines::of(profile, metric);
    let mut escaper = Escaper::default();
    let mut line = String::new();
    for (stack, sums) in lines.sums.enumerate() {
        line.clear();
        for (depth, &frame) in lines.stacks.stacks.frames(stack).iter().enumerate() {
            if depth > 0 {
                line.push(';');
            }
            line.push_str(&escaper.of_name(&text(profile, frame)));
        }
        let has_frames = !lines.stacks.stacks.frames(stack).is_empty();
        let stack = escaper.of_line(&line, has_frames);
        // Positive and negative values must not cancel: the total is the sum of absolute values.
        for sum in sums.iter().filter(|&&sum| sum != 0) {
            writeln!(out, "{stack} {}", decimal(i128::from(*sum), metric_row.divisor))?;
        }
    }
    let mut changes = escaper.changes();
    if !1_000_000u64.is_multiple_of(metric_row.divisor.max(1)) {
        changes.push("collapsed: values are rounded to 6 decimals".to_string());
    }
    Ok(changes)
}

/// File and line of a frame read from py-spy's collapsed stacks, where they are part of the text. Of other stacks they are not
/// written: a few frames with a place among others would be read as names.
fn place(profile: &Profile, frame: FrameId) -> Option<(StringId, u32)> {
    let symbols = &profile.symbols;
    let frame = &symbols.frames[frame];
    let function = &symbols.functions[frame.function];
    let is_read = profile.meta.format == WRITER.name
        && function.by_place
        && function.line == 0
        && is_python(symbols.strings.get(function.file));
    is_read.then_some((function.file, frame.line))
}

/// The text of a frame: `main`, or `main (shop/orders.py:31)`.
fn text(profile: &Profile, frame: FrameId) -> Cow<'_, str> {
    let symbols = &profile.symbols;
    let name = symbols.frame_name(frame);
    match place(profile, frame).map(|(file, line)| (symbols.strings.get(file), line)) {
        None => Cow::Borrowed(name),
        Some((file, 0)) => Cow::Owned(format!("{name} ({file})")),
        Some((file, line)) => Cow::Owned(format!("{name} ({file}:{line})")),
    }
}

/// Stacks with equal text, with the sum of positive values and the sum of negative values of each.
struct CollapsedLines {
    stacks: StackTable,
    sums: Column<StackId, [i64; 2]>,
}

impl CollapsedLines {
    fn of(profile: &Profile, metric: usize) -> CollapsedLines {
        let mut lines = CollapsedLines { stacks: StackTable::default(), sums: Column::new() };
        let mut first: HashMap<(StringId, Option<(StringId, u32)>), FrameId> = HashMap::new();
        let symbols = &profile.symbols;
        // The first frame with a given text represents all frames with that text.
        let stand_in: Column<FrameId, FrameId> = symbols
            .frames
            .ids()
            .map(|id| {
                let name = symbols.functions[symbols.frames[id].function].name;
                *first.entry((name, place(profile, id))).or_insert(id)
            })
            .collect();
        let mut frames = Vec::new();
        let mut line_of = Column::<StackId, Option<StackId>>::filled(None, profile.stacks.len());
        for (&stack, &value) in profile.samples.stack.iter().zip(&profile.samples.values[metric]) {
            let line = *line_of[stack].get_or_insert_with(|| {
                frames.clear();
                frames.extend(profile.stacks.frames(stack).iter().map(|&frame| stand_in[frame]));
                lines.stacks.intern(&frames).expect("no more frames than the profile has")
            });
            while lines.sums.len() < lines.stacks.stacks.len() {
                lines.sums.push([0, 0]);
            }
            lines.sums[line][usize::from(value < 0)] += value;
        }
        lines
    }
}

/// Escapes names, and counts the changes.
#[derive(Default)]
struct Escaper {
    semicolons: bool,
    blanks: bool,
    controls: bool,
    ends: bool,
}

impl Escaper {
    /// Escapes a name for use between two `;`.
    fn of_name<'a>(&mut self, name: &'a str) -> Cow<'a, str> {
        let is_control = |c: char| c.is_ascii_control() && c != '\t';
        if !name.contains(|c: char| c == ';' || is_control(c)) {
            return Cow::Borrowed(name);
        }
        self.semicolons |= name.contains(';');
        self.controls |= name.contains(is_control);
        let spell = |c: char| match c {
            ';' => ':',
            c if is_control(c) => ' ',
            c => c,
        };
        Cow::Owned(name.chars().map(spell).collect())
    }

    /// Escapes the names of a stack for use before a weight.
    fn of_line<'a>(&mut self, line: &'a str, has_frames: bool) -> Cow<'a, str> {
        let trimmed = line.trim_ascii_end();
        self.blanks |= trimmed.len() < line.len();
        let line = trimmed;
        // A comment, or a line that would be read as a sample without a stack.
        let comment = line.starts_with('#') || line.starts_with("//");
        let nothing = has_frames && line.is_empty();
        let weight = line.rsplit_once([' ', '\t']).filter(|(_, last)| is_weight(last));
        if !comment && !nothing && weight.is_none() {
            return Cow::Borrowed(line);
        }
        self.ends = true;
        let mut spelled = match weight {
            Some((rest, last)) => format!("{rest}_{last}"),
            None => line.to_string(),
        };
        if comment {
            spelled.replace_range(..1, "_");
        }
        if nothing {
            spelled.push('_');
        }
        Cow::Owned(spelled)
    }

    fn changes(&self) -> Vec<String> {
        let all = [
            (self.semicolons, "collapsed: `;` in names is replaced by `:`"),
            (self.blanks, "collapsed: blanks at the ends of stacks are left out"),
            (self.controls, "collapsed: line breaks and control characters in names are replaced by spaces"),
            (self.ends, "collapsed: names that look like a comment or a sample count are written with `_`"),
        ];
        all.iter().filter(|(happened, _)| *happened).map(|(_, text)| (*text).to_string()).collect()
    }
}

/// Whether a word would be read as a weight.
fn is_weight(word: &str) -> bool {
    let digits = word.strip_prefix('-').unwrap_or(word);
    let mut seen = 0;
    let plain = digits.chars().all(|c| {
        seen += usize::from(c.is_ascii_digit());
        c.is_ascii_digit() || c == '.'
    });
    plain && seen > 0
}

/// Maximum number of decimals written: as many as the reader keeps.
const DECIMALS: u32 = 6;

/// `value` ÷ `divisor` as a decimal number, rounded to six decimals.
pub(super) fn decimal(value: i128, divisor: u64) -> String {
    if divisor <= 1 {
        return value.to_string();
    }
    let one = 10i128.pow(DECIMALS);
    let divisor = i128::from(divisor);
    let scaled = value.abs().saturating_mul(one);
    let rounded = (scaled + divisor / 2) / divisor;
    let sign = if value < 0 { "-" } else { "" };
    let digits = format!("{sign}{}.{:06}", rounded / one, rounded % one);
    digits.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{self, Source};
    use crate::profile::{from_notation, to_notation};

    fn written(profile: &Profile) -> (String, Vec<String>) {
        let mut bytes = Vec::new();
        let changes = write(profile, 0, &mut bytes).unwrap();
        (String::from_utf8(bytes).unwrap(), changes)
    }

    fn named(names: &[&str]) -> Profile {
        let mut builder = crate::profile::ProfileBuilder::new("test", LoadOptions::default());
        builder.metric("samples", "count");
        let frames: Vec<FrameId> = names.iter().map(|name| builder.named_frame(name)).collect();
        let stack = builder.stack(&frames);
        builder.sample(stack, crate::profile::LabelSetId::default(), None, &[3]);
        builder.finish().unwrap()
    }

    #[test]
    fn one_line_per_distinct_stack_of_names() {
        let profile = from_notation("main;a@a.c:1 3\nmain;a@a.c:2 4\nmain;a -2\n 5");
        assert_eq!(written(&profile), ("main;a 7\nmain;a -2\n 5\n".to_string(), vec![]));
    }

    #[test]
    fn names_that_would_break_a_line_are_escaped() {
        for (names, line) in [
            (&["a;b", "c\nd"][..], "a:b;c d 3\n"),
            (&["main", "worker 12"], "main;worker_12 3\n"),
            (&["# main", "a "], "_ main;a 3\n"),
            (&[" a \t", "b\tc", "d\t1"], " a \t;b\tc;d_1 3\n"),
            (&["a ", "b \t"], "a ;b 3\n"),
            (&["//x"], "_/x 3\n"),
            (&[" "], "_ 3\n"),
            (&["", "a"], ";a 3\n"),
            (&["operator new(unsigned long)"], "operator new(unsigned long) 3\n"),
        ] {
            assert_eq!(written(&named(names)).0, line, "{names:?}");
        }
        let changes = written(&named(&["a;b\n", "c\nd 1 "])).1;
        assert_eq!(changes.len(), 4);
    }

    #[test]
    fn decimals() {
        for (value, divisor, text) in [
            (5, 1, "5"),
            (-225, 100, "-2.25"),
            (200, 100, "2"),
            (1, 3, "0.333333"),
            (-1, 1_000_000, "-0.000001"),
        ] {
            assert_eq!(decimal(value, divisor), text);
        }
    }

    #[test]
    fn stacks_survive_a_round_trip() {
        let text = "main;a;b\tc 2.5\nmain;a 3\n 7\nx;;y 1\n";
        let load = |text: &str| {
            let options = LoadOptions::default();
            format::load(&mut Source::from_bytes(text.into()), options, format::named("collapsed")).unwrap()
        };
        let (again, changes) = written(&load(text));
        assert_eq!((again.as_str(), changes), (text, vec![]));
        assert_eq!(to_notation(&load(&again)), to_notation(&load(text)));
    }
}
