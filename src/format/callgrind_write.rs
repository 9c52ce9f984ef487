//! Writes callgrind's format: the self cost of each line of each function, and the cost of its calls.
//!
//! The metric that is shown comes first, since readers show the first one by default.
//!
//! Stacks themselves are lost. A call that occurs several times in a stack counts once for that stack. Stacks
//! do not tell how often a function was called, so every call count is written as 1 and the header says so:
//! after `calls=0`, `callgrind_annotate` would treat the cost of the call as self cost.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use crate::format::write::{Part, Writer, no_second_metric};
use crate::profile::{
    CallTable, Column, Cycles, FrameId, FunctionId, Id, LoadOptions, MappingId, Metric, Profile, StackId,
    StringId, Symbols,
};
use crate::unit::plural;

/// The entry in the list of writable formats.
pub(super) static WRITER: Writer = Writer {
    name: "callgrind",
    title: "callgrind",
    endings: &[".callgrind"],
    packed_endings: &[],
    packed: false,
    holds: &[Part::Metrics, Part::MetricNames, Part::MetricUnits, Part::Files, Part::Lines],
    holds_calls: true,
    second_metric: no_second_metric,
    read_as: &[],
    needs: LoadOptions { labels: false, times: false, ..LoadOptions::LEAST },
    write,
};

/// The header text for profiles without call counts.
pub(super) const UNCOUNTED: &str = "calls: not counted";

fn write(profile: &Profile, metric: usize, out: &mut dyn Write) -> io::Result<Vec<String>> {
    let mut metrics: Vec<usize> = (0..profile.meta.metrics.len()).collect();
    metrics.sort_by_key(|&other| other != metric);
    let graph = match &profile.calls {
        Some(calls) => CostGraph::of_calls(profile, calls, metrics),
        None => CostGraph::of_stacks(profile, metrics),
    };
    writeln!(out, "# callgrind format\nversion: 1")?;
    if profile.calls.as_ref().is_none_or(|calls| calls.calls_metric().is_none()) {
        writeln!(out, "desc: {UNCOUNTED}")?;
    }
    writeln!(out, "creator: prof {}", env!("CARGO_PKG_VERSION"))?;
    let metrics = graph.metrics.iter().map(|&metric| event(&profile.meta.metrics[metric]));
    writeln!(out, "positions: line\nevents: {}", metrics.collect::<Vec<_>>().join(" "))?;
    let mut names = NameWriter { symbols: &profile.symbols, seen: BTreeSet::new() };
    for (function, node) in graph.nodes.enumerate().filter(|(_, node)| node.is_there) {
        writeln!(out)?;
        names.function(function, node.mapping, "", out)?;
        let mut file = profile.symbols.functions[function].file;
        for (&(place, line), costs) in &node.costs {
            names.switch_file(&mut file, place, out)?;
            writeln!(out, "{line} {}", joined(costs))?;
        }
        for (&(place, line, callee), call) in &node.calls {
            names.switch_file(&mut file, place, out)?;
            names.function(callee, graph.nodes[callee].mapping, "c", out)?;
            let start = profile.symbols.functions[callee].line;
            writeln!(out, "calls={} {start}\n{line} {}", call.count.max(1), joined(&call.costs))?;
        }
    }
    let mut changes = Vec::new();
    if graph.no_stack.iter().any(|&value| value != 0) {
        names.no_stack(out)?;
        writeln!(out, "0 {}", joined(&graph.no_stack))?;
        changes
            .push(format!("callgrind: samples without a stack are those of a function called `{NO_STACK}`"));
    }
    for metric in graph.metrics.iter().map(|&metric| &profile.meta.metrics[metric]) {
        if metric.divisor != 1 {
            changes.push(format!(
                "callgrind: values of {} are multiplied by {}, because the format only stores integers",
                metric.name, metric.divisor
            ));
        }
    }
    match &profile.calls {
        None => {
            changes.push(
                "callgrind: stacks are lost; the format only stores functions and their calls".to_string(),
            );
        }
        Some(calls) => changes.extend(changes_of_calls(profile, calls)),
    }
    Ok(changes)
}

/// The name of the function that samples without a stack are counted for.
const NO_STACK: &str = "(no stack)";

/// What changes in a profile of calls.
fn changes_of_calls(profile: &Profile, calls: &CallTable) -> Vec<String> {
    let mut changes = Vec::new();
    if let Some(metric) = calls.calls_metric() {
        let total = profile.meta.metrics[metric].total;
        let known = calls.edge_values[metric].iter().map(|&count| i128::from(count)).sum::<i128>();
        let lost = i128::from(total) - known;
        if lost > 0 {
            changes.push(format!(
                "callgrind: {lost} {} lost, because the file does not say who called",
                plural(u64::try_from(lost).unwrap_or(u64::MAX), "call is", "calls are")
            ));
        }
    }
    if has_cycles(calls) {
        changes.push(
            "callgrind: some functions are mutually recursive; the format does not store their totals, and totals \
             computed from the calls may be larger"
                .to_string(),
        );
    }
    changes
}

/// Whether the call graph has cycles of several functions, so that totals cannot be derived from the calls.
fn has_cycles(calls: &CallTable) -> bool {
    let ends = |(caller, callee): (&FunctionId, &FunctionId)| (caller.index(), callee.index());
    let edges = calls.caller.iter().zip(&calls.callee).map(ends);
    let cycles = Cycles::find(calls.frame.len(), edges);
    (0..calls.frame.len()).any(|function| cycles.holds(function))
}

/// The name of a metric in the header: `cpu_(nanoseconds)`. A space would split it into two metrics.
fn event(metric: &Metric) -> String {
    let word = |text: &str| text.replace(|c: char| c.is_whitespace() || c.is_control(), "_");
    let name = if metric.name.is_empty() { "value".to_string() } else { word(&metric.name) };
    match metric.unit.as_str() {
        "" | "count" => name,
        unit => format!("{name}_({})", word(unit)),
    }
}

fn joined(costs: &[i64]) -> String {
    costs.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Functions and calls with their costs, one value per metric.
struct CostGraph {
    /// Indices of the metrics that are written as costs.
    metrics: Vec<usize>,
    nodes: Column<FunctionId, FunctionCosts>,
    /// The values of samples without a stack.
    no_stack: Vec<i64>,
}

#[derive(Clone, Default)]
struct FunctionCosts {
    is_there: bool,
    mapping: MappingId,
    /// Self cost, by file and line.
    costs: BTreeMap<(StringId, u32), Vec<i64>>,
    /// Calls, by file and line of the call and by callee.
    calls: BTreeMap<(StringId, u32, FunctionId), CallCosts>,
}

#[derive(Clone, Default)]
struct CallCosts {
    count: i64,
    costs: Vec<i64>,
}

fn add(sums: &mut Vec<i64>, values: &[i64]) {
    sums.resize(values.len(), 0);
    for (sum, &value) in sums.iter_mut().zip(values) {
        *sum = sum.saturating_add(value);
    }
}

impl CostGraph {
    fn of_calls(profile: &Profile, calls: &CallTable, mut metrics: Vec<usize>) -> CostGraph {
        let functions = &profile.symbols.functions;
        metrics.retain(|&metric| !calls.counts_calls(metric));
        let mut nodes = Column::filled(FunctionCosts::default(), functions.len());
        let pick = |columns: &[Vec<i64>], row: usize| -> Vec<i64> {
            metrics.iter().map(|&metric| columns[metric][row]).collect()
        };
        for (id, frame) in calls.functions() {
            nodes[id].is_there = true;
            nodes[id].mapping = profile.symbols.frames[frame].mapping;
        }
        let place = |frame: FrameId| {
            let frame = profile.symbols.frames[frame];
            (functions[frame.function].file, frame.line)
        };
        for row in 0..calls.lines.place.len() {
            let node = &mut nodes[calls.lines.function[row]];
            let values = pick(&calls.lines.self_values, row);
            add(node.costs.entry(place(calls.lines.place[row])).or_default(), &values);
        }
        for (id, _) in calls.functions().filter(|_| !calls.has_lines()) {
            let costs = metrics.iter().map(|&metric| calls.self_values[metric][id]).collect();
            nodes[id].costs.insert((functions[id].file, functions[id].line), costs);
        }
        for edge in 0..calls.edge_count() {
            let (caller, callee) = (calls.caller[edge], calls.callee[edge]);
            let (file, line) =
                calls.site[edge].map_or((functions[caller].file, functions[caller].line), place);
            let call = nodes[caller].calls.entry((file, line, callee)).or_default();
            call.count += calls.calls_metric().map_or(0, |metric| calls.edge_values[metric][edge]);
            add(&mut call.costs, &pick(&calls.edge_values, edge));
        }
        CostGraph { metrics, nodes, no_stack: Vec::new() }
    }

    fn of_stacks(profile: &Profile, metrics: Vec<usize>) -> CostGraph {
        let nodes = Column::filled(FunctionCosts::default(), profile.symbols.functions.len());
        let mut graph = CostGraph { metrics, nodes, no_stack: Vec::new() };
        let sums: Vec<_> = graph.metrics.iter().map(|&metric| positive_by_stack(profile, metric)).collect();
        let mut values = vec![0; sums.len()];
        for stack in profile.stacks.ids() {
            for (value, sums) in values.iter_mut().zip(&sums) {
                *value = sums[stack];
            }
            // Skip stacks without costs in these metrics, such as those of freed allocations.
            if values.iter().all(|&value| value == 0) {
                continue;
            }
            match profile.stacks.frames(stack) {
                [] => add(&mut graph.no_stack, &values),
                frames => graph.add_stack(&profile.symbols, frames, &values),
            }
        }
        graph
    }

    fn add_stack(&mut self, symbols: &Symbols, frames: &[FrameId], values: &[i64]) {
        let mut seen = BTreeSet::new();
        for (depth, &frame) in frames.iter().enumerate() {
            let frame = symbols.frames[frame];
            let file = symbols.functions[frame.function].file;
            let node = &mut self.nodes[frame.function];
            if !node.is_there {
                (node.is_there, node.mapping) = (true, frame.mapping);
            }
            match frames.get(depth + 1) {
                None => add(node.costs.entry((file, frame.line)).or_default(), values),
                Some(&callee) => {
                    let callee = symbols.frames[callee].function;
                    if seen.insert((frame.function, callee)) {
                        add(&mut node.calls.entry((file, frame.line, callee)).or_default().costs, values);
                    }
                }
            }
        }
    }
}

/// The values of a metric by stack, without negative values, which costs cannot have.
fn positive_by_stack(profile: &Profile, metric: usize) -> Column<StackId, i64> {
    let mut sums = Column::filled(0, profile.stacks.len());
    for (&stack, &value) in profile.samples.stack.iter().zip(&profile.samples.values[metric]) {
        sums[stack] += value.max(0);
    }
    sums
}

/// Writes a name once, and its number afterwards: `fn=(3) main`, `fn=(3)`.
struct NameWriter<'a> {
    symbols: &'a Symbols,
    seen: BTreeSet<(&'static str, usize)>,
}

impl NameWriter<'_> {
    /// Writes a function with its binary and file; `prefix` is `c` for a callee.
    fn function(
        &mut self,
        id: FunctionId,
        mapping: MappingId,
        prefix: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let symbols = self.symbols;
        let function = symbols.functions[id];
        let file_key = if prefix.is_empty() { "fl" } else { "cfi" };
        self.name(&format!("{prefix}ob"), "ob", mapping.index(), symbols.mapping_file(mapping), out)?;
        self.name(file_key, "fl", function.file.index(), symbols.function_file(id), out)?;
        self.name(&format!("{prefix}fn"), "fn", id.index(), symbols.function_name(id), out)
    }

    /// Begins the function of samples without a stack, which no table has.
    fn no_stack(&mut self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out)?;
        self.name("ob", "ob", MappingId::default().index(), "", out)?;
        self.name("fl", "fl", StringId::default().index(), "", out)?;
        self.name("fn", "fn", self.symbols.functions.len(), NO_STACK, out)
    }

    /// Switches to another file for inlined code, if needed.
    fn switch_file(&mut self, file: &mut StringId, next: StringId, out: &mut dyn Write) -> io::Result<()> {
        if std::mem::replace(file, next) == next {
            return Ok(());
        }
        self.name("fi", "fl", next.index(), self.symbols.strings.get(next), out)
    }

    fn name(
        &mut self,
        key: &str,
        kind: &'static str,
        number: usize,
        name: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        // Numbers start at 1; an unknown name is written as `???`.
        let number = number + 1;
        if !self.seen.insert((kind, number)) {
            return writeln!(out, "{key}=({number})");
        }
        let name = if name.is_empty() { "???" } else { name };
        writeln!(out, "{key}=({number}) {}", name.replace(|c: char| c.is_control(), " "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{self, Source};
    use crate::profile::{LabelSetId, from_notation};

    fn written(profile: &Profile) -> String {
        let mut bytes = Vec::new();
        write(profile, 0, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    fn load(text: &str) -> Profile {
        let options = LoadOptions::default();
        format::load(&mut Source::from_bytes(text.into()), options, None).unwrap()
    }

    #[test]
    fn stacks_become_functions_and_calls() {
        let text = written(&from_notation("main@m.c:3;work@w.c:7 5\nmain@m.c:4 2"));
        let profile = load(&text);
        let calls = profile.calls.as_ref().unwrap();
        assert_eq!(profile.meta.metrics[0].total, 7);
        assert_eq!(calls.totals[0].iter().sum::<i64>(), 7 + 5);
        assert_eq!(calls.edge_values[0], [5]);
    }

    #[test]
    fn samples_without_a_stack_keep_their_values() {
        let mut builder = crate::profile::ProfileBuilder::new("test", LoadOptions::ALL);
        builder.metric("samples", "count");
        let frame = builder.named_frame("main");
        let (main, nothing) = (builder.stack(&[frame]), builder.stack(&[]));
        for (stack, value) in [(main, 2), (nothing, 3)] {
            builder.sample(stack, LabelSetId::default(), None, &[value]);
        }
        let profile = builder.finish().unwrap();
        let mut bytes = Vec::new();
        let changes = write(&profile, 0, &mut bytes).unwrap();
        assert!(changes[0].contains("function called `(no stack)`"), "{changes:?}");
        let again = load(std::str::from_utf8(&bytes).unwrap());
        assert_eq!(again.meta.metrics[0].total, 5);
        let names = again.symbols.functions.ids().map(|id| again.symbols.function_name(id));
        assert_eq!(names.collect::<Vec<_>>(), ["main", "(no stack)"]);
    }

    #[test]
    fn calls_without_a_caller_are_reported() {
        let text = "events: Ir\nfl=a.c\nfn=f\n1 10\ncfn=g\ncalls=2 1\n8 5\nfn=g\n4 5\n";
        let mut profile = load(text);
        let change = |profile: &Profile| write(profile, 0, &mut Vec::new()).unwrap().first().cloned();
        assert_eq!(change(&profile), None);
        let calls = profile.calls.as_ref().unwrap().calls_metric().unwrap();
        profile.meta.metrics[calls].total += 3;
        let lost = "callgrind: 3 calls are lost, because the file does not say who called";
        assert_eq!(change(&profile).as_deref(), Some(lost));
    }

    #[test]
    fn stacks_without_costs_are_omitted() {
        let profile = load(&written(&from_notation("main;work 5 0\nmain;gone 0 0")));
        let functions = profile.symbols.functions.ids();
        let names: Vec<_> = functions.map(|id| profile.symbols.function_name(id)).collect();
        assert_eq!(names, ["main", "work"]);
    }

    /// A written profile reads back with the same metric and functions.
    #[test]
    fn the_selected_metric_comes_first() {
        let profile = from_notation("main;work 5 0\nmain;old 0 7");
        let mut bytes = Vec::new();
        write(&profile, 1, &mut bytes).unwrap();
        let again = load(std::str::from_utf8(&bytes).unwrap());
        let metrics: Vec<_> = again.meta.metrics.iter().map(|metric| (&*metric.name, metric.total)).collect();
        let names = [&profile.meta.metrics[1].name, &profile.meta.metrics[0].name];
        assert_eq!(metrics, [(&**names[0], 7), (&**names[1], 5), ("calls", 0)]);
        assert_eq!(again.meta.default_metric, 0);
    }

    #[test]
    fn lines_survive_a_round_trip() {
        let text = "events: Ir\nfl=a.c\nfn=f\n1 10\nfi=b.h\n7 20\ncfi=a.c\ncfn=g\ncalls=2 1\n8 5\nfe=a.c\n2 30\nfn=g\n4 5\n";
        let (first, again) = (load(text), load(&written(&load(text))));
        let lines = |profile: &Profile| {
            let calls = profile.calls.as_ref().unwrap();
            let place = |frame: FrameId| {
                let frame = profile.symbols.frames[frame];
                format!("{}:{}", profile.symbols.function_file(frame.function), frame.line)
            };
            let lines: BTreeSet<String> = (0..calls.lines.place.len())
                .map(|row| format!("{} {}", place(calls.lines.place[row]), calls.lines.self_values[0][row]))
                .collect();
            (lines, calls.site.iter().map(|site| site.map(place)).collect::<Vec<_>>())
        };
        assert_eq!(lines(&first), lines(&again));
        assert_eq!(lines(&first).1, [Some("b.h:8".to_string())]);
    }

    #[test]
    fn calls_survive_a_round_trip() {
        let text = "events: Ir Time_(ns)\nob=lib.so\nfl=a.c\nfn=f\n1 1 10\ncfi=b.c\ncfn=g\ncalls=2 1\n1 5 50\nfl=b.c\nfn=g\n1 5 50\n";
        let (first, again) = (load(text), load(&written(&load(text))));
        let (a, b) = (first.calls.as_ref().unwrap(), again.calls.as_ref().unwrap());
        assert_eq!((&a.self_values, &a.totals, &a.edge_values), (&b.self_values, &b.totals, &b.edge_values));
        assert_eq!(first.meta.metrics, again.meta.metrics);
        assert_eq!(
            again.symbols.mapping_file(again.symbols.frames[b.frame[FunctionId::new(0)].unwrap()].mapping),
            "lib.so"
        );
    }
}
