//! Reads the report of gprof: the call graph and the flat profile of GNU, BSD, macOS and AIX.
//!
//! ```text
//! index % time    self  children    called     name
//!                 0.00    0.13      10/10          main [1]            callers
//! [5]     39.7    0.00    0.13      10         update [5]              the function
//!                 0.03    0.10      42/42          file <cycle 3> [8]  callees
//! -----------------------------------------------
//! ```
//!
//! Times have two decimals. If there is only a flat profile, the total of a function is the number of calls times the total per call.
//! Within a cycle, a report says how often functions call each other, but not for how long: that is estimated.

mod cycles;

use std::collections::BTreeMap;

use hashbrown::HashMap;

use crate::format::gprof::cycles::Cycle;
use crate::format::text::{is_binary, lossy};
use crate::format::{Confidence, Format, LoadError, ParseError, Source, finished};
use crate::profile::{FunctionId, LoadOptions, Profile, ProfileBuilder};
use crate::unit::fixed;

/// The entry in the list of readable formats.
pub(super) static GPROF: Format = Format { name: NAME, title: "gprof's report", sniff, read };

const NAME: &str = "gprof";

fn sniff(head: &[u8]) -> Confidence {
    if is_binary(head) {
        return Confidence::No;
    }
    // Every text is searched for these lines.
    let mut start = 0;
    let mut lines = memchr::memchr_iter(b'\n', head).chain([head.len()]).map(|end| {
        let line = &head[start..end];
        start = end + 1;
        line
    });
    if lines.any(|line| is_graph_header(line) || is_flat_header(line)) {
        Confidence::Likely
    } else {
        Confidence::No
    }
}

/// `index % time    self  children    called     name`, or `index  %time    self descendents  called+self    name`
fn is_graph_header(line: &[u8]) -> bool {
    // Every text is searched for this line, so words are only made of lines that begin like it.
    if !line.trim_ascii_start().starts_with(b"index") {
        return false;
    }
    let text = lossy(line);
    let words: Vec<&str> = text.split_whitespace().collect();
    // Embedded processors count cycles instead of time.
    let (["index", "%", "time", rest @ ..] | ["index", "%time" | "%", rest @ ..]) = &words[..] else {
        return false;
    };
    let ["self", children, called, "name", ..] = rest else { return false };
    ["children", "descendents", "descendants"].contains(children) && called.starts_with("called")
}

/// `  %   cumulative   self              self     total`
fn is_flat_header(line: &[u8]) -> bool {
    if !line.trim_ascii_start().starts_with(b"%") {
        return false;
    }
    let text = lossy(line);
    let words: Vec<&str> = text.split_whitespace().collect();
    matches!(&words[..], ["%", "cumulative", "self", ..] | ["%", "cycles", "cycles", "calls", ..])
}

/// The line below a header that says in what cycles are counted: `  (K)     (K)`.
fn cycles_per_unit(line: &[u8]) -> Option<i64> {
    let text = lossy(line);
    let mut words = text.split_whitespace();
    let unit = words.next()?;
    let size = [("(K)", 1_000), ("(M)", 1_000_000), ("(G)", 1_000_000_000)];
    let size = size.into_iter().find(|(name, _)| *name == unit)?.1;
    words.all(|word| word == unit).then_some(size)
}

/// How many of the units of times per call are one of the other times: 1000 for `  time   seconds   seconds    calls  ms/call  ms/call  name`.
fn units_per_call(header: &str) -> Option<i128> {
    let unit = header.split_whitespace().find_map(|word| word.strip_suffix("/call"))?;
    // Cycles have no unit here.
    let sizes = [("", 1), ("s", 1), ("ms", 1_000), ("us", 1_000_000), ("ns", 1_000_000_000)];
    Some(sizes.into_iter().find(|(name, _)| *name == unit)?.1)
}

fn read(source: &mut Source, options: LoadOptions) -> Result<Profile, LoadError> {
    let mut builder = ProfileBuilder::new(NAME, options);
    builder.metric("cpu", "microseconds");
    let calls = builder.metric("calls", "count");
    builder.calls_metric(calls);
    let mut report = Report {
        builder,
        functions: HashMap::new(),
        flat: HashMap::new(),
        block: Vec::new(),
        cycles: BTreeMap::new(),
        recursive: 0,
        part: Part::Elsewhere,
        cycles_per_unit: None,
        per_call: None,
        has_products: false,
        graphs: 0,
        flats: 0,
        said: 0,
    };
    while let Some(line) = source.line()? {
        report.line(line);
    }
    report.end_graph();
    Ok(report.finish()?)
}

/// The part of the report that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Elsewhere,
    Graph,
    Flat,
}

/// A function of the report.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    self_time: i64,
    calls: i64,
    /// With the functions that it calls, if the report says so.
    total: Option<i64>,
}

impl Known {
    fn add_total(&mut self, total: i64) {
        self.total = Some(self.total.unwrap_or(0).saturating_add(total));
    }
}

struct Report {
    builder: ProfileBuilder,
    functions: HashMap<FunctionId, Known>,
    /// Those of the flat profile, which may come before the call graph or alone.
    flat: HashMap<FunctionId, Known>,
    /// The lines about one function.
    block: Vec<Entry>,
    /// The cycles of the call graph by number.
    cycles: BTreeMap<u32, Cycle>,
    /// The number of functions in cycles.
    recursive: usize,
    part: Part,
    /// What one of the report's numbers stands for, if it counts cycles.
    cycles_per_unit: Option<i64>,
    /// How many of the units of times per call are one of the other times.
    per_call: Option<i128>,
    /// Whether totals are times per call times calls.
    has_products: bool,
    /// How many call graphs and flat profiles the file has; a report has one of each.
    graphs: u64,
    flats: u64,
    /// The time of all functions, as the call graphs say.
    said: i64,
}

/// A line of the call graph.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) is_primary: bool,
    /// The share of all time, in millionths of a percent, of the function that the lines are about.
    pub(super) share: i64,
    pub(super) self_time: i64,
    children_time: i64,
    /// `42+482` or `5/737`; empty if the function was not called, or by unknown code.
    called: String,
    pub(super) name: String,
    /// The number of the cycle that the function is in.
    cycle: Option<u32>,
}

impl Entry {
    /// `                0.00    0.13      10/10          main [1]`
    pub(super) fn parse(line: &str) -> Option<Entry> {
        let mut rest = line.trim();
        let is_primary = rest.starts_with('[');
        let mut share = 0;
        if is_primary {
            rest = rest.split_once(']')?.1.trim_start();
            let word = rest.split_whitespace().next()?;
            share = time(word)?;
            rest = rest[word.len()..].trim_start();
        }
        let mut times = [0; 2];
        for slot in &mut times {
            let word = rest.split_whitespace().next()?;
            let Some(value) = time(word) else { break };
            *slot = value;
            rest = rest[word.len()..].trim_start();
        }
        let word = rest.split_whitespace().next()?;
        let is_count = word.starts_with(|c: char| c.is_ascii_digit())
            && word.chars().all(|c| c.is_ascii_digit() || c == '/' || c == '+');
        let called = if is_count { word } else { "" };
        let (name, cycle) = name_and_cycle(rest[called.len()..].trim_start());
        let [self_time, children_time] = times;
        (!name.is_empty()).then(|| Entry {
            is_primary,
            share,
            self_time,
            children_time,
            called: called.to_string(),
            name: name.to_string(),
            cycle,
        })
    }

    /// How often the function was called, calls by itself included.
    fn calls(&self) -> i64 {
        let count = self.called.split('/').next().unwrap_or_default();
        count.split('+').map(|part| part.parse::<i64>().unwrap_or(0)).fold(0, i64::saturating_add)
    }

    /// The time with callees.
    pub(super) fn total(&self) -> i64 {
        self.self_time.saturating_add(self.children_time)
    }

    /// Whether it is neither a cycle as a whole nor code that is not known.
    pub(super) fn is_function(&self) -> bool {
        !self.name.starts_with("<spontaneous>") && !self.name.ends_with(" as a whole>")
    }
}

/// A name without the number of its cycle and its index: `file <cycle 3> [8]`, or `mcount (41)` if the call graph leaves it out.
fn name(text: &str) -> &str {
    name_and_cycle(text).0
}

/// The same, with the number of the cycle.
fn name_and_cycle(text: &str) -> (&str, Option<u32>) {
    let text = text.trim();
    let is_number = |text: &str| text.parse::<u32>().is_ok();
    let index = text.rsplit_once(' ').filter(|(_, index)| {
        let inner = index.strip_prefix('[').and_then(|index| index.strip_suffix(']'));
        inner.or_else(|| index.strip_prefix('(')?.strip_suffix(')')).is_some_and(is_number)
    });
    let text = index.map_or(text, |(name, _)| name).trim_end();
    if let Some(whole) = text.strip_suffix(" as a whole>") {
        return (text, whole.strip_prefix("<cycle ").and_then(|number| number.parse().ok()));
    }
    let in_cycle = text.rsplit_once(" <cycle ").and_then(|(name, number)| {
        let number = number.strip_suffix('>')?.parse().ok()?;
        Some((name.trim_end(), Some(number)))
    });
    in_cycle.unwrap_or((text, None))
}

/// A time in seconds, which has decimals, in microseconds.
fn time(word: &str) -> Option<i64> {
    let (whole, decimals) = word.split_once('.')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(decimals) || decimals.len() > 6 {
        return None;
    }
    let fraction = decimals.parse::<i64>().ok()? * 10i64.pow(6 - decimals.len() as u32);
    whole.parse::<i64>().ok()?.checked_mul(1_000_000)?.checked_add(fraction)
}

/// The time of all functions: `granularity: each sample hit covers 2 byte(s) for 0.00% of 1211.24 seconds`.
fn time_of_all(line: &str) -> Option<i64> {
    let rest = line.trim_start().strip_prefix("granularity: ")?;
    let (_, seconds) = rest.trim_end().strip_suffix(" seconds")?.rsplit_once("% of ")?;
    time(seconds)
}

/// A warning if the functions take less than the report says, as where some were left out. Each time is rounded to 10 ms.
fn missing_time(said: i64, found: i64, functions: usize) -> Option<String> {
    const ROUNDED: i64 = 10_000;
    let rounding = (found / 100).saturating_add(ROUNDED.saturating_mul(functions as i64));
    let is_less = said.saturating_sub(found) > rounding;
    let seconds = |time: i64| fixed(time, 1_000_000, 2);
    is_less.then(|| {
        format!(
            "costs do not add up: the report says {} seconds, its functions sum to {}; some are missing",
            seconds(said),
            seconds(found)
        )
    })
}

impl Report {
    fn line(&mut self, line: &[u8]) {
        if is_graph_header(line) {
            self.end_graph();
            self.part = Part::Graph;
            self.graphs += 1;
        } else if is_flat_header(line) {
            self.end_block();
            self.part = Part::Flat;
            self.flats += 1;
            self.per_call = units_per_call(&lossy(line));
        } else if let Some(cycles) = cycles_per_unit(line) {
            self.cycles_per_unit = Some(cycles);
        } else if line.starts_with(b"-----") {
            self.end_block();
        } else if line.starts_with(b"\x0c") || line.starts_with(b"Index by function name") {
            self.end_block();
            self.part = Part::Elsewhere;
        } else {
            let text = lossy(line);
            match self.part {
                Part::Graph => self.block.extend(Entry::parse(&text)),
                Part::Flat => self.flat(&text),
                Part::Elsewhere => self.said = self.said.saturating_add(time_of_all(&text).unwrap_or(0)),
            }
        }
    }

    /// The value of the metric for a number of the report, in millionths.
    fn value(&self, millionths: i64) -> i64 {
        let cycles = |size| i64::try_from(i128::from(millionths) * i128::from(size) / 1_000_000);
        self.cycles_per_unit.map_or(millionths, |size| cycles(size).unwrap_or(i64::MAX))
    }

    fn function(&mut self, name: &str) -> FunctionId {
        self.builder.named_function(name, "")
    }

    /// Adds the lines about a function.
    fn end_block(&mut self) {
        let block = std::mem::take(&mut self.block);
        let Some(at) = block.iter().position(|entry| entry.is_primary) else { return };
        let primary = &block[at];
        if !primary.is_function() {
            self.add_whole(primary);
            return;
        }
        let function = self.function(&primary.name);
        let [self_time, children_time] =
            [primary.self_time, primary.children_time].map(|time| self.value(time));
        let known = self.functions.entry(function).or_default();
        known.self_time = known.self_time.saturating_add(self_time);
        known.calls = known.calls.saturating_add(primary.calls());
        let total = self_time.saturating_add(children_time);
        match primary.cycle {
            Some(number) => self.add_member(number, function, total, &block[..at]),
            None => known.add_total(total),
        }
        for callee in block[at + 1..].iter().filter(|entry| entry.is_function() && !entry.is_primary) {
            let called = self.function(&callee.name);
            self.functions.entry(called).or_default();
            match primary.cycle.filter(|_| callee.cycle == primary.cycle) {
                Some(number) => self.cycle(number).add_calls(function, called, callee.calls()),
                None => {
                    let values = [self.value(callee.total()), callee.calls()];
                    self.builder.call_edge(function, called, None, &values);
                }
            }
        }
    }

    fn cycle(&mut self, number: u32) -> &mut Cycle {
        self.cycles.entry(number).or_default()
    }

    /// Notes what a cycle costs as a whole.
    fn add_whole(&mut self, primary: &Entry) {
        if let Some(number) = primary.cycle {
            let total = self.value(primary.total());
            self.cycle(number).whole = Some(total);
        }
    }

    /// Adds a function of a cycle, given the lines about its callers.
    fn add_member(&mut self, number: u32, function: FunctionId, own: i64, callers: &[Entry]) {
        self.cycle(number).add_own(function, own);
        for caller in callers.iter().filter(|caller| caller.cycle != Some(number)) {
            let time = self.value(caller.total());
            self.cycle(number).add_entry(function, time);
        }
    }

    /// Ends a call graph: what its functions cost within cycles is now known as well as it can be.
    fn end_graph(&mut self) {
        self.end_block();
        for cycle in std::mem::take(&mut self.cycles).into_values() {
            let (totals, calls) = cycle.estimate();
            self.recursive += totals.len();
            for (function, total) in totals {
                self.functions.entry(function).or_default().add_total(total);
            }
            for call in calls {
                self.builder.call_edge(call.caller, call.callee, None, &[call.time, call.calls]);
            }
        }
    }

    /// ` 18.18      0.06     0.06    23480     0.00     0.00  find_char_unquote`
    fn flat(&mut self, text: &str) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (Some(_), Some(_), Some(self_time)) = (
            words.first().and_then(|word| time(word)),
            words.get(1).and_then(|word| time(word)),
            words.get(2).and_then(|word| time(word)),
        ) else {
            self.per_call = units_per_call(text).or(self.per_call);
            return;
        };
        let counted = words.get(3).and_then(|word| word.parse::<i64>().ok());
        // After the number of calls come the times per call, self and total, which may be missing.
        let per_call: Vec<i64> = match counted {
            Some(_) => words[4..].iter().take(2).map_while(|word| time(word)).collect(),
            None => Vec::new(),
        };
        let skipped = 3 + usize::from(counted.is_some()) + per_call.len();
        let mut rest = text.trim_start();
        for word in &words[..skipped] {
            rest = rest[word.len()..].trim_start();
        }
        let name = name(rest);
        if name.is_empty() {
            return;
        }
        let function = self.function(name);
        let self_time = self.value(self_time);
        // A time per call of 0.00 says nothing: a function of 6.73 s may have been called a billion times.
        let product = match per_call[..] {
            [_, total] if total > 0 => self.product(counted.unwrap_or(0), total),
            _ => None,
        };
        let known = self.flat.entry(function).or_default();
        known.self_time = known.self_time.saturating_add(self_time);
        known.calls = known.calls.saturating_add(counted.unwrap_or(0));
        // The product is rounded, but a total is at least self.
        let total = product.unwrap_or(0).max(self_time);
        known.add_total(total);
        self.has_products |= product.is_some();
    }

    /// What so many calls take, if one takes a time of the report in the unit of times per call.
    fn product(&self, calls: i64, per_call: i64) -> Option<i64> {
        let millionths = i128::from(calls) * i128::from(per_call) / self.per_call?;
        Some(self.value(i64::try_from(millionths).unwrap_or(i64::MAX)))
    }

    fn finish(mut self) -> Result<Profile, ParseError> {
        if self.functions.is_empty() && !self.flat.is_empty() {
            let note = if self.has_products {
                "totals are approximate: without a call graph, they are calls × total per call, which is rounded to two decimals"
            } else {
                "totals are not known: without a call graph, that of a function is only what is known to be its own"
            };
            self.builder.meta.notes.push(note.to_string());
        }
        let reports = self.graphs.max(self.flats);
        if reports > 1 {
            self.builder
                .warn(format!("the file has {reports} reports; what they say about a function is added up"));
        }
        if self.recursive > 0 {
            self.builder.meta.notes.push(format!(
                "totals of {} functions in cycles are estimates: within a cycle, gprof counts calls but not their time",
                self.recursive
            ));
        }
        for (function, flat) in self.flat {
            // The call graph has the same function with the same time.
            let known = self.functions.entry(function).or_default();
            if known.total.is_none() {
                *known = flat;
            }
        }
        if self.functions.is_empty() {
            return Err(ParseError::whole(NAME, "the report lists no functions"));
        }
        let mut functions: Vec<_> = self.functions.into_iter().collect();
        functions.sort_unstable_by_key(|(function, _)| *function);
        let mut time: i64 = 0;
        let count = functions.len();
        for (function, known) in functions {
            time = time.saturating_add(known.self_time);
            self.builder.call_node(function, &[known.self_time, known.calls]);
            if let Some(total) = known.total {
                self.builder.call_total(function, &[total, known.calls]);
            }
        }
        if self.cycles_per_unit.is_none() {
            self.builder.meta.warnings.extend(missing_time(self.said, time, count));
        }
        if time == 0 {
            self.builder.meta.default_metric = 1;
        }
        if self.cycles_per_unit.is_some() {
            let metric = &mut self.builder.meta.metrics[0];
            (metric.name, metric.unit) = ("cycles".into(), "count".into());
        }
        finished(self.builder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_not_part_of_names() {
        for (text, expected) in [
            ("mcount (41)", "mcount"),
            ("file <cycle 3> [8]", "file"),
            ("operator()(int) [7]", "operator()(int)"),
            ("std::f(int, 41)", "std::f(int, 41)"),
        ] {
            assert_eq!(name(text), expected);
        }
    }

    /// As for Xtensa processors: the header has no `time`, and a line below it names the unit.
    #[test]
    fn embedded_processors_count_cycles() {
        let text = "Flat profile:\n                                         self      total\n     cumulative       self             \
            cycles     cycles\n  %      cycles     cycles    calls     /call      /call  name\n           (K)        (K)                \
            (K)        (K)\n62.50     2.50       2.50        2      1.25       1.25  work\n\n\t\t     Call graph\n\nindex    \
            %      self  children    called     name\n                (K)     (K)\n[1]    100.0    1.50    2.50                 main [1]\n\
            \x20               2.50    0.00       2/2           work [2]\n-----\n                2.50    0.00       2/2           main [1]\n\
            [2]     62.5    2.50    0.00       2         work [2]\n-----\n";
        let profile = read(&mut Source::from_bytes(text.into()), LoadOptions::default()).unwrap();
        assert_eq!((&*profile.meta.metrics[0].name, &*profile.meta.metrics[0].unit), ("cycles", "count"));
        let totals: Vec<i64> = profile.meta.metrics.iter().map(|metric| metric.total).collect();
        assert_eq!(totals, [4_000, 2]);
        assert_eq!(sniff(text.as_bytes()), Confidence::Likely);
    }

    #[test]
    fn functions_that_are_missing_are_reported() {
        let warnings = |seconds: &str| {
            let text = format!(
                "granularity: each sample hit covers 2 byte(s) for 0.10% of {seconds} seconds\n\n\
                 index % time    self  children    called     name\n                                                 <spontaneous>\n\
                 [1]     49.2  596.28    0.00                 .mcount [1]\n-----\n"
            );
            read(&mut Source::from_bytes(text.into()), LoadOptions::default()).unwrap().meta.warnings
        };
        assert_eq!(
            warnings("1211.24"),
            [
                "costs do not add up: the report says 1,211.24 seconds, its functions sum to 596.28; some are missing"
            ]
        );
        assert_eq!(warnings("597.00"), [""; 0]);
    }

    /// Self is 0.5 s + 0.25 s + 0.25 s + 0, so a total is at most 1 s.
    #[test]
    fn a_flat_profile_has_totals_per_call() {
        let flat = |unit: &str, rows: &str| {
            let text = format!(
                "Flat profile:\n\nEach sample counts as 0.01 seconds.\n  %   cumulative   self              self     total           \n \
                 time   seconds   seconds    calls  {unit}/call  {unit}/call  name    \n{rows}"
            );
            read(&mut Source::from_bytes(text.into()), LoadOptions::default()).unwrap()
        };
        let totals = |profile: &Profile| -> Vec<i64> {
            profile.calls.as_ref().unwrap().totals[0].iter().map(|total| total / 1000).collect()
        };
        let rows = " 50.00      0.50     0.50       10    50.00    75.00  parse\n 25.00      0.75     0.25 99999999     0.00     0.00  next\n \
                    25.00      1.00     0.25                             main\n  0.00      1.00     0.00        3     0.00   100.00  setup\n  \
                    0.00      1.00     0.00        9     0.00   900.00  loop\n";
        let profile = flat("ms", rows);
        assert_eq!(totals(&profile), [750, 250, 250, 300, 1000]);
        assert!(profile.meta.notes[0].contains("calls × total per call"));
        let rows = " 50.00      0.50     0.50        1     0.50     0.75  parse\n 50.00      1.00     0.50                             main\n";
        assert_eq!(totals(&flat("s", rows)), [750, 500]);
    }

    #[test]
    fn several_reports_are_added_with_a_warning() {
        let flat = "  %   cumulative   self              self     total           \n time   seconds   seconds    calls  ms/call  ms/call  name    \n\
                    100.00      0.50     0.50                             main\n";
        let warnings = |text: &str| {
            let profile = read(&mut Source::from_bytes(text.into()), LoadOptions::default()).unwrap();
            (profile.meta.metrics[0].total, profile.meta.warnings)
        };
        assert_eq!(warnings(flat), (500_000, Vec::new()));
        let graph = "index % time    self  children    called     name\n[1]    100.0    0.50    0.00                 main [1]\n-----\n";
        assert_eq!(warnings(&format!("{flat}\n{graph}")), (500_000, Vec::new()));
        let (total, warnings) = warnings(&format!("{flat}\nAfter the change:\n{flat}"));
        assert_eq!(total, 1_000_000);
        assert_eq!(warnings, ["the file has 2 reports; what they say about a function is added up"]);
    }

    /// `a` runs for 0.4 s itself, and `b`, which `a` calls, for 0.3 s; now and then `b` calls `a` back.
    #[test]
    fn in_a_cycle_costs_are_charged_to_those_nearer_to_its_entry() {
        let text = "index % time    self  children    called     name\n\
            [1]    100.0    0.10    0.70                 main [1]\n\
            \x20               0.40    0.30       1/1           a <cycle 1> [3]\n-----\n\
            [2]     87.5    0.70    0.00       1+5       <cycle 1 as a whole> [2]\n\
            \x20               0.40    0.00       3             a <cycle 1> [3]\n\
            \x20               0.30    0.00       3             b <cycle 1> [4]\n-----\n\
            \x20                                  2             b <cycle 1> [4]\n\
            \x20               0.40    0.30       1/1           main [1]\n\
            [3]     50.0    0.40    0.00       3         a <cycle 1> [3]\n\
            \x20                                  3             b <cycle 1> [4]\n-----\n\
            \x20                                  3             a <cycle 1> [3]\n\
            [4]     37.5    0.30    0.00       3         b <cycle 1> [4]\n\
            \x20                                  2             a <cycle 1> [3]\n-----\n";
        let profile = read(&mut Source::from_bytes(text.into()), LoadOptions::default()).unwrap();
        let calls = profile.calls.as_ref().unwrap();
        let name = |id: FunctionId| profile.symbols.function_name(id);
        let totals: Vec<_> =
            calls.functions().map(|(id, _)| (name(id), calls.totals[0][id] / 1000)).collect();
        assert_eq!(totals, [("main", 800), ("a", 700), ("b", 300)]);
        let edge = |edge: usize| {
            let ends = (name(calls.caller[edge]), name(calls.callee[edge]));
            (ends, [0, 1].map(|metric| calls.edge_values[metric][edge]))
        };
        let edges: Vec<_> = (0..calls.edge_count()).map(edge).collect();
        let expected = [(("main", "a"), [700_000, 1]), (("a", "b"), [300_000, 3]), (("b", "a"), [0, 2])];
        assert_eq!(edges, expected);
        assert!(profile.meta.notes[0].contains("functions in cycles are estimates"));
    }
}
