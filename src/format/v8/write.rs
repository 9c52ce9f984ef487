//! Writes V8 CPU profiles: a call tree, and a sequence of samples.
//!
//! A sample lasts until the next one. So samples are written without gaps, each as long as its value, which is either
//! a time or a number that is treated as microseconds.

use std::io::{self, Write};

use hashbrown::HashMap;
use serde::Serialize;

use crate::format::v8::cpuprofile::NAME;
use crate::format::write::{Part, Writer, rows_in_time};
use crate::profile::{Column, FunctionId, LoadOptions, Metric, Profile, StackId};
use crate::unit::{Family, Unit};

/// The entry in the list of writable formats.
pub(in crate::format) static WRITER: Writer = Writer {
    name: NAME,
    title: "V8 CPU profile",
    endings: &[".cpuprofile"],
    packed_endings: &[],
    packed: false,
    holds: &[Part::Files, Part::Places],
    holds_calls: false,
    second_metric: count_of_rows,
    read_as: &[("cpu", "microseconds")],
    needs: LoadOptions { labels: false, times: true, ..LoadOptions::LEAST },
    write,
};

/// The metric that is 1 for every sample: readers restore it by counting the samples.
fn count_of_rows(profile: &Profile, metric: usize) -> Option<usize> {
    let samples = profile.meta.metric_named("samples").filter(|&samples| samples != metric)?;
    let is_one = profile.samples.values[samples].iter().all(|&value| value == 1);
    (is_one && profile.samples.time.is_some()).then_some(samples)
}

/// A node of the call tree, as serialized.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WrittenNode<'a> {
    id: usize,
    call_frame: WrittenCallFrame<'a>,
    hit_count: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    children: Vec<usize>,
}

/// A function. Lines and columns are counted from 0; -1 means none.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WrittenCallFrame<'a> {
    function_name: &'a str,
    script_id: &'static str,
    url: &'a str,
    line_number: i64,
    column_number: i64,
}

fn write(profile: &Profile, metric: usize, mut out: &mut dyn Write) -> io::Result<Vec<String>> {
    let values = &profile.samples.values[metric];
    let mut tree = WrittenTree::new(profile);
    let (mut nodes, mut moments) = (Vec::new(), Vec::new());
    let mut clock = MicrosecondClock::of(&profile.meta.metrics[metric]);
    let mut passed: i128 = 0;
    for row in rows_in_time(profile, &[metric]).into_iter().filter(|&row| values[row] >= 0) {
        nodes.push(tree.node_of(profile, profile.samples.stack[row]));
        moments.push(clock.microseconds(passed));
        passed += i128::from(values[row]);
    }
    if clock.is_time && values.iter().any(|&value| !clock.is_whole(value.into())) {
        clock.changes.push("cpuprofile: times are rounded to microseconds".to_string());
    }
    if tree.lacks_names {
        clock.changes.push("cpuprofile: functions without a name are called (anonymous)".to_string());
    }
    out.write_all(b"{\"nodes\":[")?;
    for (index, node) in tree.nodes.iter().enumerate() {
        out.write_all(if index == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut out, node)?;
    }
    write!(out, "\n],\"startTime\":0,\"endTime\":{},\"samples\":", clock.microseconds(passed))?;
    serde_json::to_writer(&mut out, &nodes)?;
    // The time before each sample. Timestamps are rounded rather than differences, which keeps the sum exact.
    let before = std::iter::once(&0).chain(&moments);
    let deltas: Vec<i128> = moments.iter().zip(before).map(|(moment, before)| moment - before).collect();
    out.write_all(b",\"timeDeltas\":")?;
    serde_json::to_writer(&mut out, &deltas)?;
    out.write_all(b"}\n")?;
    Ok(clock.changes)
}

/// Converts the values of a metric to µs.
struct MicrosecondClock {
    factor: i128,
    divisor: i128,
    is_time: bool,
    changes: Vec<String>,
}

impl MicrosecondClock {
    fn of(metric: &Metric) -> MicrosecondClock {
        let (unit, divisor) = (Unit::parse(&metric.unit), i128::from(metric.divisor.max(1)));
        match unit.factor_to(&Unit::NANOSECONDS) {
            Some(factor) if unit.family() == Family::Time => {
                let divisor = divisor * 1000;
                MicrosecondClock { factor: i128::from(factor), divisor, is_time: true, changes: Vec::new() }
            }
            _ => {
                let unit = if metric.unit.is_empty() { String::new() } else { format!(" ({})", metric.unit) };
                let change = format!(
                    "cpuprofile: the file counts microseconds, each of which stands for one unit of {}{unit}",
                    metric.name
                );
                MicrosecondClock { factor: 1, divisor, is_time: false, changes: vec![change] }
            }
        }
    }

    fn is_whole(&self, value: i128) -> bool {
        value.saturating_mul(self.factor) % self.divisor == 0
    }

    fn microseconds(&self, value: i128) -> i128 {
        (value.saturating_mul(self.factor) + self.divisor / 2) / self.divisor
    }
}

/// The call tree of the samples written so far.
struct WrittenTree<'a> {
    nodes: Vec<WrittenNode<'a>>,
    children: HashMap<(usize, FunctionId), usize>,
    /// The index of the node for the leaf of each stack.
    of_stack: Column<StackId, Option<usize>>,
    /// Whether a function has no name.
    lacks_names: bool,
}

impl<'a> WrittenTree<'a> {
    fn new(profile: &Profile) -> Self {
        let call_frame = WrittenCallFrame {
            function_name: "(root)",
            script_id: "0",
            url: "",
            line_number: -1,
            column_number: -1,
        };
        let root = WrittenNode { id: 1, call_frame, hit_count: 0, children: Vec::new() };
        let of_stack = Column::filled(None, profile.stacks.len());
        WrittenTree { nodes: vec![root], children: HashMap::new(), of_stack, lacks_names: false }
    }

    /// Returns the index of the node for the leaf of a stack, and increments its hit count.
    fn node_of(&mut self, profile: &'a Profile, stack: StackId) -> usize {
        let number = self.of_stack[stack].unwrap_or_else(|| {
            let frames = profile.stacks.frames(stack).iter();
            let functions = frames.map(|&frame| profile.symbols.frames[frame].function);
            functions.fold(1, |parent, function| self.child(profile, parent, function))
        });
        self.of_stack[stack] = Some(number);
        self.nodes[number - 1].hit_count += 1;
        number
    }

    fn child(&mut self, profile: &'a Profile, parent: usize, function: FunctionId) -> usize {
        let nodes = &mut self.nodes;
        *self.children.entry((parent, function)).or_insert_with(|| {
            let id = nodes.len() + 1;
            let call_frame = call_frame(profile, function);
            self.lacks_names |= profile.symbols.function_name(function).is_empty();
            nodes.push(WrittenNode { id, call_frame, hit_count: 0, children: Vec::new() });
            nodes[parent - 1].children.push(id);
            id
        })
    }
}

fn call_frame(profile: &Profile, id: FunctionId) -> WrittenCallFrame<'_> {
    let function = profile.symbols.functions[id];
    let name = profile.symbols.function_name(id);
    WrittenCallFrame {
        // V8 writes an empty name for these functions, and readers show `(anonymous)`.
        function_name: if name == "(anonymous)" { "" } else { name },
        // Functions without a script are identified by their name, see `CallFrame::is_native`.
        script_id: if function.by_place { "1" } else { "0" },
        url: profile.symbols.function_file(id),
        line_number: i64::from(function.line) - 1,
        column_number: i64::from(function.column) - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{self, Source};
    use crate::profile::{from_notation, to_notation};

    #[test]
    fn samples_are_written_without_gaps() {
        let mut profile = from_notation("main 1500\nmain;work@w.js:0 2700\n 700\nmain -5");
        (profile.meta.metrics[0].name, profile.meta.metrics[0].unit) = ("cpu".into(), "nanoseconds".into());
        let mut bytes = Vec::new();
        assert_eq!(
            write(&profile, 0, &mut bytes).unwrap(),
            ["cpuprofile: times are rounded to microseconds"]
        );
        let again = format::load(&mut Source::from_bytes(bytes), LoadOptions::default(), None).unwrap();
        // Timestamps 0, 1.5, 4.2 and the end at 4.9 µs become 0, 2, 4 and 5.
        assert_eq!(to_notation(&again), " 1 1\nmain 1 2\nmain;work@w.js:0 1 2");
        assert_eq!(again.meta.format, "cpuprofile");
        let counts = from_notation("main 3");
        assert_eq!(write(&counts, 0, &mut Vec::new()).unwrap().len(), 1);
    }

    #[test]
    fn functions_called_root_survive() {
        let mut profile = from_notation("(root) 3\n(root);a 5\nb;(root);c 2\n 7");
        (profile.meta.metrics[0].name, profile.meta.metrics[0].unit) = ("cpu".into(), "microseconds".into());
        let mut bytes = Vec::new();
        assert!(write(&profile, 0, &mut bytes).unwrap().is_empty());
        let again = format::load(&mut Source::from_bytes(bytes), LoadOptions::default(), None).unwrap();
        assert_eq!(to_notation(&again), " 1 7\n(root) 1 3\n(root);a 1 5\nb;(root);c 1 2");
        let nameless = Source::from_bytes(b"main;;work 3\n".to_vec());
        let nameless = format::load(&mut { nameless }, LoadOptions::default(), format::named("collapsed"));
        assert_eq!(
            write(&nameless.unwrap(), 0, &mut Vec::new()).unwrap()[1],
            "cpuprofile: functions without a name are called (anonymous)"
        );
    }
}
